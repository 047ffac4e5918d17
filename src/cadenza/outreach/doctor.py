"""Walks the list of what can keep outreach from going out, and says for each what to do.

Is something due and waiting? Is the account connected? Is it within its hours? Is a limit set, and is it reached? Does
the ledger hold what was sent? Does somebody wait without a time? It changes nothing.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cadenza.accounts.hours import hours_of
from cadenza.accounts.model import Account, read_accounts
from cadenza.core.windows import is_open, next_opening
from cadenza.core.zones import day_bounds, get_zone, local_day
from cadenza.deliveries.daily_cap import WARMING, daily_cap
from cadenza.deliveries.gates import BRAKE
from cadenza.deliveries.model import Action
from cadenza.outreach.check_limits import check_limits
from cadenza.outreach.model import ACTIONS, Sequence, SequenceState
from cadenza.outreach.read_agenda import read_caps
from cadenza.outreach.store import can_send, list_sequences
from cadenza.sql.tx import Tx

LATE = timedelta(minutes=5)
MOVING = timedelta(minutes=30)
RECENT = timedelta(days=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorFinding:
    """One check: how it stands, and what to do if it is a problem."""

    code: str
    is_problem: bool
    message: str
    what_to_do: str | None = None
    account_id: str | None = None
    sequence_id: str | None = None


def examine(
    tx: Tx, now: datetime, *, workspace_id: str, account_ids: frozenset[str] | None = None
) -> list[DoctorFinding]:
    """Examine a workspace's outreach; of some accounts, or of all."""
    sequences = [
        each
        for each in list_sequences(tx, workspace_id=workspace_id)
        if each.state in (SequenceState.RUNNING, SequenceState.PAUSED)
        and (account_ids is None or set(each.account_ids) <= account_ids)
    ]
    found = _worker(tx, now)
    for each in sequences:
        found += _sequence(tx, each)
    used = {id_ for each in sequences for id_ in each.account_ids}
    accounts = read_accounts(tx, [(workspace_id, id_) for id_ in used])
    for _, account in sorted(accounts.items()):
        found += _account(tx, now, account)
    breaks = check_limits(tx, now, workspace_id=workspace_id, account_ids=account_ids)
    if breaks:
        total = sum(each.messages for each in breaks)
        found.append(
            DoctorFinding(
                code="beyond_limits",
                is_problem=True,
                message=f"{total} planned messages do not keep the limits.",
                what_to_do="Run `cadenza limits repair --dry-run`, then without --dry-run.",
            )
        )
    return found


def _worker(tx: Tx, now: datetime) -> list[DoctorFinding]:
    beat: datetime | None = tx.value("SELECT beat_at FROM installation WHERE id = 'this'")
    if beat is not None and now - beat <= BRAKE:
        return []
    return [
        DoctorFinding(
            code="no_worker",
            is_problem=True,
            message="No worker has given a sign of life for five minutes.",
            what_to_do="Start one: `cadenza worker`, or `cadenza up` for everything.",
        )
    ]


def _sequence(tx: Tx, sequence: Sequence) -> list[DoctorFinding]:
    if sequence.state is SequenceState.PAUSED:
        return [
            DoctorFinding(
                code="paused",
                is_problem=True,
                message=f"{sequence.name} is paused: {sequence.state_reason or 'no reason given'}.",
                what_to_do=f"`cadenza outreach resume {sequence.id}` goes on.",
                sequence_id=sequence.id,
            )
        ]
    rows = tx.all(
        """
        SELECT detail, count(*) AS people FROM sequence_contact
        WHERE workspace_id = :workspace_id AND sequence_id = :id AND state = 'waiting' AND cause = 'no_time'
        GROUP BY detail ORDER BY detail
        """,
        workspace_id=sequence.workspace_id,
        id=sequence.id,
    )
    return [
        DoctorFinding(
            code="no_time",
            is_problem=True,
            message=f"{row['people']} people of {sequence.name} have no time: {row['detail']}.",
            what_to_do="Add an account that can send, widen its hours, or raise its limits.",
            sequence_id=sequence.id,
        )
        for row in rows
    ]


def _account(tx: Tx, now: datetime, account: Account) -> list[DoctorFinding]:
    name = account.handle or account.remote_id
    key = {"workspace_id": account.workspace_id, "account_id": account.id}
    found: list[DoctorFinding] = []
    if not account.can_send:
        found.append(
            DoctorFinding(
                code="not_connected",
                is_problem=True,
                message=f"{name} is {account.state}: {account.state_reason or 'no reason known'}.",
                what_to_do="Connect the account again; its messages wait.",
                account_id=account.id,
            )
        )
    late = tx.one(
        """
        SELECT count(*) AS messages, min(due_at) AS since_at FROM delivery
        WHERE workspace_id = :workspace_id AND account_id = :account_id AND sequence_id IS NOT NULL
            AND state = 'scheduled' AND due_at <= :late_at
        """,
        late_at=now - LATE,
        **key,
    )
    if late is not None and late["messages"]:
        since = late["since_at"].astimezone(UTC)
        stuck = not _moves(tx, now, account) and not _is_closed(now, account)
        found.append(
            DoctorFinding(
                code="due",
                is_problem=stuck,
                message=f"{name}: {late['messages']} messages are due, the first since {since:%Y-%m-%d %H:%M} UTC"
                f"{'' if stuck else '; they go one after the other'}.",
                what_to_do="`cadenza explain DELIVERY` says what each waits for."
                if stuck
                else None,
                account_id=account.id,
            )
        )
    for action in sorted({ACTIONS[channel] for channel in ACTIONS if can_send(account, channel)}):
        found += _action(tx, now, account, name, action)
    found += _ledger(tx, now, account, name)
    return found


def _moves(tx: Tx, now: datetime, account: Account) -> bool:
    """Say whether the account sent something lately: the others wait for their gap."""
    last = tx.value(
        """
        SELECT max(reserved_at) AS last_at FROM activity
        WHERE workspace_id = :workspace_id AND account_id = :account_id AND reserved_at > :since
        """,
        workspace_id=account.workspace_id,
        account_id=account.id,
        since=now - MOVING,
    )
    return last is not None


def _is_closed(now: datetime, account: Account) -> bool:
    known = [hours_of(account, action) for action in set(ACTIONS.values())]
    return all(hours is not None and not is_open(hours, now) for hours in known)


def _action(
    tx: Tx, now: datetime, account: Account, name: str, action: Action
) -> list[DoctorFinding]:
    found: list[DoctorFinding] = []
    hours = hours_of(account, action)
    if hours is not None and not is_open(hours, now):
        opening = next_opening(hours, now)
        said = "never opens" if opening is None else f"opens {opening:%Y-%m-%d %H:%M} UTC"
        found.append(
            DoctorFinding(
                code="outside_hours",
                is_problem=opening is None,
                message=f"{name}: outside its hours for {action}; it {said}.",
                what_to_do="Change the account's hours if that is too late.",
                account_id=account.id,
            )
        )
    caps, _, _ = read_caps(tx, now, account, action)
    if caps.day is None:
        found.append(
            DoctorFinding(
                code="no_limit",
                is_problem=True,
                message=f"{name} has no limit a day for {action}.",
                what_to_do="Set one: `cadenza account limits`.",
                account_id=account.id,
            )
        )
        return found
    zone = get_zone(account.zone)
    start, end = day_bounds(local_day(now, zone), zone)
    used = tx.value(
        """
        SELECT count(*) AS used FROM activity
        WHERE workspace_id = :workspace_id AND account_id = :account_id AND action = :action
            AND mode = 'live' AND counts AND reserved_at >= :start_at AND reserved_at < :end_at
        """,
        workspace_id=account.workspace_id,
        account_id=account.id,
        action=action.value,
        start_at=start,
        end_at=end,
    )
    cap = daily_cap(tx, now, account, action, caps.day)
    reached = used >= cap.amount
    warming = f" while it warms up ({caps.day} later)" if cap.lowered_by == WARMING else ""
    found.append(
        DoctorFinding(
            code="limit_reached" if reached else "limit",
            is_problem=False,
            message=f"{name}: {used} of {cap.amount} {action} today{warming}.",
            what_to_do="The rest goes on the next allowed days." if reached else None,
            account_id=account.id,
        )
    )
    return found


def _ledger(tx: Tx, now: datetime, account: Account, name: str) -> list[DoctorFinding]:
    """Compare what was sent with what the ledger holds."""
    missing = tx.value(
        """
        SELECT count(*) AS missing FROM delivery
        WHERE workspace_id = :workspace_id AND account_id = :account_id AND sequence_id IS NOT NULL
            AND state = 'sent' AND sent_at > :since AND NOT EXISTS (
                SELECT 1 FROM activity WHERE activity.workspace_id = delivery.workspace_id
                    AND activity.account_id = delivery.account_id AND activity.delivery_id = delivery.id
            )
        """,
        workspace_id=account.workspace_id,
        account_id=account.id,
        since=now - RECENT,
    )
    if not missing:
        return []
    return [
        DoctorFinding(
            code="ledger",
            is_problem=True,
            message=f"{name}: {missing} sent messages are not in the ledger that limits count by.",
            what_to_do="Run `cadenza limits audit`, and report it: this is a defect.",
            account_id=account.id,
        )
    ]
