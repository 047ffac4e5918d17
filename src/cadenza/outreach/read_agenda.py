"""Reads what an account has to do of an action, from any sequence or campaign, as an agenda to find times in.

Planned is what waits as a delivery; done is what the ledger counts, so that nothing is counted twice. A planned
message that has later steps behind it takes a place on their likely days too: without it, first messages would fill the
days that follow-ups need. Run under the account's lock.
"""

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from cadenza.accounts.hours import hours_of, recipient_hours
from cadenza.accounts.model import Account
from cadenza.accounts.warm_up import warm_up_of
from cadenza.core.budgets import cap_of
from cadenza.core.offset_spans import to_second
from cadenza.core.openings import Openings
from cadenza.core.windows import Hours
from cadenza.core.zones import get_zone, local_day
from cadenza.deliveries.daily_cap import count_active_days
from cadenza.deliveries.model import Action, account_scope
from cadenza.deliveries.set_limit import list_limits
from cadenza.outreach.find_time import Agenda, Caps, Pace
from cadenza.outreach.model import Sequence as OneSequence
from cadenza.outreach.store import load_sequences
from cadenza.providers.ceilings import daily_ceiling
from cadenza.sql.tx import Tx

BACK = timedelta(days=8)  # covers the longest period that a limit counts
FAR = 400  # days that a wait is looked for


@dataclass(slots=True)
class AccountAgenda:
    """An account's agenda of one action, with what planning needs besides."""

    account: Account
    action: Action
    openings: Openings
    hours: Hours | None
    caps: Caps
    agenda: Agenda
    expected: Counter[int]  # follow-ups by the ordinal of their likely day
    last_first: dict[str, int] = field(
        default_factory=dict[str, int]
    )  # by sequence: its last planned first step
    _common: dict[str, Openings] = field(default_factory=dict[str, Openings])

    def common_with(self, zone: str | None) -> Openings | None:
        """Return the hours that a recipient of that zone shares; None: the account's own."""
        theirs = recipient_hours(self.hours, zone)
        if zone is None or self.hours is None or theirs is None:
            return None
        found = self._common.get(zone)
        if found is None:
            found = self._common[zone] = Openings(self.openings.zone, self.hours, theirs)
        return found

    def earliest(self, sent: datetime | None, wait_days: int, not_before: datetime) -> int:
        """Return when a step may go at the earliest: so many open days after the one before was sent."""
        begin = to_second(not_before.astimezone(UTC)) + 1
        if sent is None or wait_days == 0:
            return begin
        day = self.day_after(self.openings.day_of(to_second(sent.astimezone(UTC))), wait_days)
        pieces = self.openings.on(day)
        return max(begin, pieces[0].start if pieces else begin)

    def day_after(self, day: int, wait_days: int) -> int:
        """Return the date so many open days later."""
        left = wait_days
        for later in range(day + 1, day + FAR):
            left -= 1 if self.openings.on(later) else 0
            if left == 0:
                return later
        return day + FAR


def read_agenda(
    tx: Tx,
    now: datetime,
    account: Account,
    action: Action,
    pace: OneSequence | None = None,
    *,
    without: Container[str] = (),
) -> AccountAgenda:
    """Read one; `pace` is the sequence whose gaps hold for what is planned next, `without` are planned again."""
    caps, minimum, shares = read_caps(tx, now, account, action)
    gaps = (
        Pace(minimum=minimum)
        if pace is None
        else Pace(pace.shortest_gap, pace.longest_gap, minimum, even=pace.even)
    )
    made = open_agenda(account, action, caps, gaps)
    every = "" if shares else "AND action = :action"
    rows = tx.all(
        f"""
        SELECT id, due_at, sequence_id, contact_id, step FROM delivery
        WHERE workspace_id = :workspace_id AND account_id = :account_id AND state IN ('draft', 'scheduled')
            AND action IN ('email', 'message', 'connection_request', 'inmail') {every}
        ORDER BY due_at
        """,  # noqa: S608 - constants
        workspace_id=account.workspace_id,
        account_id=account.id,
        **({} if shares else {"action": action.value}),
    )
    planned = [row for row in rows if row["id"] not in without]
    followed = _follow_ups(
        tx,
        account.workspace_id,
        {row["sequence_id"] for row in planned if row["sequence_id"]},
        action,
    )
    present = to_second(now.astimezone(UTC))
    for row in planned:
        at = to_second(row["due_at"].astimezone(UTC))
        made.agenda.book(max(at, present))
        if row["step"] == 0 and row["sequence_id"] is not None:
            made.last_first[row["sequence_id"]] = at
        waits = followed.get(row["sequence_id"] or "", ())
        expect(made, made.openings.day_of(max(at, present)), waits[row["step"] + 1 :])
    for at in list_done(tx, now, account, action, shares=shares):
        made.agenda.book(at)
    return made


def open_agenda(account: Account, action: Action, caps: Caps, gaps: Pace) -> AccountAgenda:
    """Return an account's agenda with nothing in it."""
    zone = get_zone(account.zone)
    hours = hours_of(account, action)
    openings = Openings(zone) if hours is None else Openings(zone, hours)
    agenda = Agenda(openings, gaps, caps)
    return AccountAgenda(account, action, openings, hours, caps, agenda, Counter())


def expect(made: AccountAgenda, day: int, waits: Sequence[int | None]) -> None:
    """Count later steps on their likely days; None is a step of another action."""
    for wait in waits:
        if wait is None:
            return  # when it goes is not known, nor what follows it
        day = _with_room(made, made.day_after(day, wait) if wait else day)
        made.agenda.expect(day)
        made.expected[day] += 1


def _with_room(made: AccountAgenda, day: int) -> int:
    """Return the date, or the next open one whose cap is not reached."""
    for later in range(day, day + FAR):
        cap = made.agenda.cap_on(later)
        if made.openings.on(later) and (cap is None or made.agenda.planned_on(later) < cap):
            return later
    return day


def waits_of(sequence: OneSequence, action: Action) -> tuple[int | None, ...]:
    """Return each step's wait; None where it is of another action, or waits for a person."""
    return tuple(
        step.wait_days if step.action is action and step.only_if is None else None
        for step in sequence.steps
    )


def read_caps(tx: Tx, now: datetime, account: Account, action: Action) -> tuple[Caps, int, bool]:
    """Return an account's caps, its minimum gap, and whether a limit covers all actions together."""
    found: dict[str, int] = {}
    shares = False
    for row in list_limits(tx, account.workspace_id, account_scope(account.id)):
        if row["action"] not in (action.value, "*"):
            continue
        kind, amount = row["kind"], row["amount"]
        shares = shares or (row["action"] == "*" and kind in ("day", "week", "hour", "rolling_day"))
        known = found.get(kind)
        if known is None or (amount > known) == (kind == "gap"):
            found[kind] = amount
    day, warm, active = found.get("day"), warm_up_of(account, action), 0
    if day is not None:
        day = cap_of(day, ceiling=daily_ceiling(account.provider, action))
        if warm is not None:
            active = count_active_days(tx, now, account, action, warm, day)
    warms = warm is not None and active < warm.days_to(day or 0)
    caps = Caps(
        day=day,
        ramp=warm.ramp if warm is not None and warms else None,
        active_days=active,
        today=local_day(now, get_zone(account.zone)).toordinal(),
        week=found.get("week"),
        hour=found.get("hour"),
        rolling_day=found.get("rolling_day"),
    )
    return caps, found.get("gap", 0), shares


def _follow_ups(
    tx: Tx, workspace_id: str, ids: set[str], action: Action
) -> Mapping[str, tuple[int | None, ...]]:
    found = load_sequences(tx, workspace_id, ids) if ids else {}
    return {id_: waits_of(each, action) for id_, each in found.items()}


def list_done(
    tx: Tx, now: datetime, account: Account, action: Action, *, shares: bool
) -> list[int]:
    """List what the ledger counts of the last days, in seconds since 1970."""
    every = "AND action <> 'post'" if shares else "AND action = :action"
    rows = tx.all(
        f"""
        SELECT reserved_at FROM activity
        WHERE workspace_id = :workspace_id AND account_id = :account_id AND counts AND mode = 'live'
            AND reserved_at > :since {every}
        """,  # noqa: S608 - constants
        workspace_id=account.workspace_id,
        account_id=account.id,
        since=now - BACK,
        **({} if shares else {"action": action.value}),
    )
    return [to_second(row["reserved_at"].astimezone(UTC)) for row in rows]
