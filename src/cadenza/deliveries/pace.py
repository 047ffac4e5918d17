"""How an account slows down when its network asks for it, and wins its own pace back.

A wait that the network named is kept to the second, with a little luck on top so that not all come back at once. Where
it named none the account waits 1, 2, 4, 8, then 10 minutes. Each such wait halves the account's pace; a tenth of its
best comes back with every ten clean minutes, never above its own limit. Calls that were under way when the network
said so belong to the same wait. What holds at an instant is computed from one row an account. Posts keep their times.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from cadenza.core.backoff import Backoff, delay
from cadenza.core.budgets import Rate, next_period
from cadenza.core.zones import get_zone
from cadenza.deliveries.model import Action, ClaimedDelivery, Delivery, account_scope
from cadenza.providers.outcome import TryLater, WaitScope
from cadenza.sql.tx import Tx
from cadenza.sql.values import Key, columns, read_values

UNNAMED = Backoff(base=timedelta(minutes=1), cap=timedelta(minutes=10), jitter=0)
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
HOUR = timedelta(hours=1)
LEAST = 60  # an hour
CLEAN = timedelta(minutes=10)  # without a wait win back
TENTH = 10  # of the best pace comes back then
PACE = "*:pace"  # the budget's key


class AccountPace(Struct, frozen=True):
    """A row of `account_pace`."""

    workspace_id: str
    account_id: str
    times: int
    until_at: datetime
    per_hour: int | None
    most_per_hour: int | None

    def at(self, now: datetime) -> int | None:
        """Return how many an hour it may send; None: it has won all back."""
        if self.per_hour is None or self.most_per_hour is None:
            return None
        clean = max(0, (now - self.until_at) // CLEAN)
        pace = self.per_hour + clean * self.most_per_hour // TENTH
        return None if pace >= self.most_per_hour else pace

    def budget(self, now: datetime, free_at: datetime | None) -> Rate | None:
        """Return its pace as a limit."""
        pace = self.at(now)
        return None if pace is None else Rate(PACE, HOUR / pace, due=free_at)


COLUMNS = columns(AccountPace, "account_pace")


def read_paces(tx: Tx, accounts: Iterable[Key]) -> dict[Key, AccountPace]:
    """Return the paces of accounts that were asked to slow down."""
    rows = tx.all(
        f"""
        SELECT {COLUMNS} FROM TABLE(:accounts) AS asked (workspace_id text, id text)
        JOIN account_pace ON account_pace.workspace_id = asked.workspace_id AND account_pace.account_id = asked.id
        """,  # noqa: S608 - constants
        accounts=sorted(set(accounts)),
    )
    return {(each.workspace_id, each.account_id): each for each in read_values(AccountPace, rows)}


def slow_down(
    tx: Tx, now: datetime, asked: Sequence[tuple[ClaimedDelivery, TryLater, float]]
) -> list[TryLater]:
    """Say how long each asked wait lasts, and write the paces that it leaves. Run under the accounts' locks."""
    paces = read_paces(tx, {ticket.delivery.account_key for ticket, _, _ in asked})
    waits: list[TryLater] = []
    for ticket, outcome, luck in asked:
        key = ticket.delivery.account_key
        if outcome.period is not None:
            until = next_period(outcome.period, now, get_zone(ticket.account.zone))
            waits.append(_lasting(outcome, until - now))
            continue
        there = paces.get(key)
        under_way = there is not None and there.until_at > now
        times = (0 if there is None else there.times) + (0 if under_way or outcome.named else 1)
        wait = _wait(outcome, times, luck)
        waits.append(_lasting(outcome, wait))
        if ticket.delivery.mode == "live" and outcome.reach is not WaitScope.RECIPIENT:
            pace = (None, None) if there is None else (there.per_hour, there.most_per_hour)
            if ticket.delivery.action is not Action.POST and not (under_way and pace[0]):
                pace = _halved(tx, now, ticket.delivery, there)
            until = max(now + wait, there.until_at if there else now)
            paces[key] = AccountPace(*key, times, until, *pace)
    _write(tx, [paces[key] for key in sorted(paces)])
    return waits


def end_slow_row(tx: Tx, now: datetime, sent: Iterable[Key]) -> None:
    """Let the next wait without a named time begin at a minute again: these accounts have sent since."""
    accounts = sorted(set(sent))
    if accounts:
        tx.run(
            """
            UPDATE account_pace SET times = 0
            FROM TABLE(:accounts) AS asked (workspace_id text, id text)
            WHERE account_pace.workspace_id = asked.workspace_id AND account_pace.account_id = asked.id
                AND times > 0 AND until_at <= :now
            """,
            accounts=accounts,
            now=now,
        )


def _lasting(outcome: TryLater, wait: timedelta) -> TryLater:
    return TryLater(
        wait, outcome.reach, outcome.message, outcome.block, outcome.named, outcome.period
    )


def _wait(outcome: TryLater, times: int, luck: float) -> timedelta:
    if not outcome.named and outcome.reach is not WaitScope.RECIPIENT:
        return delay(UNNAMED, max(1, times))
    return outcome.wait + luck * min(MINUTE, outcome.wait / 10)


def _halved(
    tx: Tx, now: datetime, delivery: Delivery, there: AccountPace | None
) -> tuple[int, int]:
    """Return the pace that is left, and the best one."""
    most = _best(tx, now, delivery)
    pace = most if there is None else min(most, there.at(now) or most)
    return max(LEAST, pace // 2), max(LEAST, most)


def _best(tx: Tx, now: datetime, delivery: Delivery) -> int:
    """Return what an account may send in an hour by its own limits, else what its last minute comes to."""
    limits = [
        3600 * row["amount"] // (row["per_seconds"] or 60)
        if row["kind"] == "rate"
        else 3600 // row["amount"]
        for row in tx.all(
            """
            SELECT kind, amount, per_seconds FROM budget
            WHERE workspace_id = :workspace_id AND scope = :scope AND kind IN ('rate', 'gap') AND amount > 0
                AND action IN ('*', :action)
            """,
            workspace_id=delivery.workspace_id,
            scope=account_scope(delivery.account_id),
            action=delivery.action.value,
        )
    ]
    if limits:
        return min(limits)
    seen = tx.one(
        """
        SELECT count(*) AS n, min(reserved_at) AS since_at FROM activity
        WHERE workspace_id = :workspace_id AND account_id = :account_id
            AND mode = 'live' AND reserved_at > :since AND reserved_at <= :now
        """,
        workspace_id=delivery.workspace_id,
        account_id=delivery.account_id,
        since=now - MINUTE,
        now=now,
    )
    if seen is None or seen["since_at"] is None:
        return 2 * LEAST
    return int(seen["n"] * HOUR / max(SECOND, now - seen["since_at"]))


def _write(tx: Tx, paces: Sequence[AccountPace]) -> None:
    if paces:
        tx.run(
            """
            INSERT INTO account_pace (workspace_id, account_id, times, until_at, per_hour, most_per_hour)
            SELECT workspace_id, account_id, times, until_at, per_hour, most_per_hour
            FROM TABLE(:new) AS new (
                workspace_id text, account_id text, times integer, until_at timestamptz,
                per_hour bigint, most_per_hour bigint
            ) WHERE true
            ON CONFLICT (workspace_id, account_id) DO UPDATE SET times = excluded.times,
                until_at = excluded.until_at, per_hour = excluded.per_hour,
                most_per_hour = excluded.most_per_hour
            """,
            new=[
                (
                    each.workspace_id,
                    each.account_id,
                    each.times,
                    each.until_at,
                    each.per_hour,
                    each.most_per_hour,
                )
                for each in paces
            ],
        )
