"""Is what is planned within the limits? And new times for what is not, after a limit was lowered or hours changed.

Planned messages of an account are gone through in their order, on top of what the ledger counts; what no longer
keeps the hours, a cap or the minimum gap is a break. A repair moves those that a sequence planned, in order, to the
next free times; what was sent stays, and so do posts and campaigns. Run repairs under `repair_locks`.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, date, datetime

from cadenza.accounts.hours import recipient_hours
from cadenza.accounts.model import Account, read_accounts
from cadenza.core.offset_spans import to_instant, to_second
from cadenza.core.windows import is_open
from cadenza.db import audit
from cadenza.deliveries.model import COLUMNS, Action, Delivery
from cadenza.deliveries.move_due import move_due
from cadenza.deliveries.read_recipients import read_zones
from cadenza.deliveries.reasons import Code, Reason
from cadenza.outreach.find_time import Agenda, Caps, Found, Limit, Pace, luck_of
from cadenza.outreach.model import account_lock
from cadenza.outreach.read_agenda import AccountAgenda, list_done, open_agenda, read_caps
from cadenza.sql.tx import Tx
from cadenza.sql.values import Key, read_values

REASON = Reason.of(Code.OVER_LIMITS)
_WEEK = 7
_HOUR = 3_600
_DAY = 86_400


@dataclass(frozen=True, slots=True)
class LimitBreak:
    """A planned message that does not keep a limit."""

    delivery: Delivery
    limit: Limit
    day: date
    zone: str | None  # of a recipient whose hours hold


@dataclass(frozen=True, slots=True)
class LimitFinding:
    """What one account has planned on one date beyond a limit."""

    account_id: str
    action: str
    day: date
    limit: Limit
    messages: int


@dataclass(frozen=True, slots=True)
class MessageMoved:
    """A message with its old and its new time; None: there is none within a year."""

    delivery_id: str
    sequence_id: str
    contact_id: str
    account_id: str
    limit: Limit
    was_at: datetime
    now_at: datetime | None


def check_limits(
    tx: Tx, now: datetime, *, workspace_id: str, account_ids: frozenset[str] | None = None
) -> list[LimitFinding]:
    """List where more is planned than the limits allow; of some accounts, or of all."""
    counted: Counter[tuple[str, str, date, Limit]] = Counter()
    for account, action in _planning(tx, workspace_id, account_ids):
        for each in find_breaks(tx, now, account, action)[0]:
            counted[account.id, action.value, each.day, each.limit] += 1
    return [LimitFinding(*key, messages=count) for key, count in sorted(counted.items())]


def repair_limits(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    by: str,
    account_ids: frozenset[str] | None = None,
) -> list[MessageMoved]:
    """Move what a sequence planned beyond the limits to the next free times; return every move."""
    moved: list[MessageMoved] = []
    moves: list[tuple[Delivery, datetime]] = []
    for account, action in _planning(tx, workspace_id, account_ids):
        breaks, kept = find_breaks(tx, now, account, action)
        for each in breaks:
            row = each.delivery
            if row.sequence_id is None:
                continue
            found = _next(kept, row, now, each.zone)
            if found is not None:
                moves.append((row, found))
            moved.append(
                MessageMoved(
                    row.id,
                    row.sequence_id,
                    row.contact_id or "",
                    row.account_id,
                    each.limit,
                    row.due_at,
                    found,
                )
            )
    if moves:
        move_due(tx, now, moves, reason=REASON)
    audit.record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="outreach.repair_limits",
        subject_id=workspace_id,
        after={"moved": len(moves)},
    )
    return moved


def repair_locks(tx: Tx, workspace_id: str, account_ids: frozenset[str] | None = None) -> list[str]:
    """Name what a repair holds: every account that has something planned."""
    found = {account.id for account, _ in _planning(tx, workspace_id, account_ids)}
    return [account_lock(workspace_id, id_) for id_ in sorted(found)]


def find_breaks(
    tx: Tx, now: datetime, account: Account, action: Action
) -> tuple[list[LimitBreak], AccountAgenda]:
    """Part planned messages into those that break a limit, and an agenda with all the others."""
    caps, minimum, shares = read_caps(tx, now, account, action)
    kept = open_agenda(account, action, caps, Pace(minimum=minimum))
    judge = _Judge(kept, caps, minimum)
    for at in sorted(list_done(tx, now, account, action, shares=shares)):
        judge.keep(at)
    breaks: list[LimitBreak] = []
    present = to_second(now.astimezone(UTC))
    planned = _planned(tx, account, None if shares else action)
    zones = read_zones(tx, {each.key: each for each in planned})
    for each in planned:
        at = to_second(each.due_at.astimezone(UTC))
        if at <= present:  # it goes when it may
            judge.keep(present)
            continue
        limit = judge.why_not(at, zones.get(each.key))
        if limit is None or each.action is not action:
            judge.keep(at)
        else:
            day = date.fromordinal(kept.openings.day_of(at))
            breaks.append(LimitBreak(each, limit, day, zones.get(each.key)))
    return breaks, kept


class _Judge:
    """Counts messages in their order, and says which limit the next one breaks."""

    def __init__(self, made: AccountAgenda, caps: Caps, minimum: int) -> None:
        self._made = made
        self._caps = caps
        self._minimum = minimum
        self._days: Counter[int] = Counter()
        self._weeks: Counter[int] = Counter()
        self._hours: Counter[int] = Counter()
        self._times: list[int] = []

    def keep(self, at: int) -> None:
        day = self._made.openings.day_of(at)
        self._days[day] += 1
        self._weeks[(day - 1) // _WEEK] += 1
        self._hours[at // _HOUR] += 1
        self._times.append(at)
        self._made.agenda.book(at, day=day)

    def why_not(self, at: int, zone: str | None) -> Limit | None:
        day = self._made.openings.day_of(at)
        caps, hours = self._caps, self._made.hours
        if hours is not None and not is_open(hours, to_instant(at)):
            return Limit.HOURS
        theirs = recipient_hours(hours, zone)
        if theirs is not None and not is_open(theirs, to_instant(at)):
            return Limit.RECIPIENT_HOURS
        cap = self._made.agenda.cap_on(day)
        if cap is not None and self._days[day] >= cap:
            return Limit.DAY_CAP
        if caps.week is not None and self._weeks[(day - 1) // _WEEK] >= caps.week:
            return Limit.WEEK_CAP
        if caps.hour is not None and self._hours[at // _HOUR] >= caps.hour:
            return Limit.HOUR_CAP
        recent = self._times[-(caps.rolling_day or 1) :]
        if caps.rolling_day is not None and (
            caps.rolling_day == 0 or (len(recent) == caps.rolling_day and at - recent[0] < _DAY)
        ):
            return Limit.ROLLING_CAP
        if self._times and at - self._times[-1] < self._minimum:
            return Limit.GAP
        return None


def _next(kept: AccountAgenda, row: Delivery, now: datetime, zone: str | None) -> datetime | None:
    agenda: Agenda = kept.agenda
    luck = luck_of(row.sequence_id, row.account_id, row.contact_id, row.step, row.due_at)
    begin = to_second(max(now, row.due_at).astimezone(UTC))
    found = agenda.find(begin, luck, common=kept.common_with(zone))
    if not isinstance(found, Found):
        return None
    agenda.book(found.at, day=found.day)
    return to_instant(found.at)


def _planning(
    tx: Tx, workspace_id: str, account_ids: frozenset[str] | None
) -> list[tuple[Account, Action]]:
    rows = tx.all(
        """
        SELECT DISTINCT account_id, action FROM delivery
        WHERE workspace_id = :workspace_id AND state IN ('draft', 'scheduled')
            AND action IN ('email', 'message', 'connection_request', 'inmail')
        """,
        workspace_id=workspace_id,
    )
    keys: set[Key] = {(workspace_id, row["account_id"]) for row in rows}
    accounts = read_accounts(tx, keys)
    return [
        (accounts[workspace_id, id_], Action(action))
        for id_, action in sorted((row["account_id"], row["action"]) for row in rows)
        if account_ids is None or id_ in account_ids
    ]


def _planned(tx: Tx, account: Account, action: Action | None) -> list[Delivery]:
    every = "" if action is None else "AND action = :action"
    rows = tx.all(
        f"""
        SELECT {COLUMNS} FROM delivery
        WHERE workspace_id = :workspace_id AND account_id = :account_id AND state IN ('draft', 'scheduled')
            AND action IN ('email', 'message', 'connection_request', 'inmail') {every}
        ORDER BY due_at, id
        """,  # noqa: S608 - constants
        workspace_id=account.workspace_id,
        account_id=account.id,
        **({} if action is None else {"action": action.value}),
    )
    return read_values(Delivery, rows)
