"""Shows what the planner would do: times, days by account, the finish, what binds, and warnings.

It runs the planner's own two steps over everybody who waits, and stores nothing. Limit: 200,000 people.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import date, datetime

from cadenza.accounts.model import read_accounts
from cadenza.contacts import store as contacts
from cadenza.deliveries.model import Action
from cadenza.outreach.model import Enrolled, NoSuchSequence, Sequence
from cadenza.outreach.plan import Placed, choose_all, lay_out, list_waiting, read_desk, zones_of
from cadenza.outreach.read_agenda import AccountAgenda
from cadenza.outreach.store import find_sequence
from cadenza.sql.tx import Tx

LOADED = 5_000  # contacts at a time
FAR = 60  # days: a plan that ends later is worth a warning


@dataclass(frozen=True, slots=True, kw_only=True)
class DayPlan:
    """One local date of one account: this sequence's messages, and what else counts against the day."""

    account_id: str
    action: str
    day: date
    planned: int
    others: int
    expected: int  # follow-ups whose time is not known yet: an estimate
    cap: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanWarning:
    """Something to know before it starts."""

    code: str
    message: str
    account_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanPreview:
    """A plan as it would be made now."""

    sequence_id: str
    messages: int  # with a time
    without_time: int
    first_at: datetime | None
    last_at: datetime | None
    finish_on: date | None  # with follow-ups, an estimate
    binding: str | None  # what keeps most messages from an earlier time
    days: tuple[DayPlan, ...]
    warnings: tuple[PlanWarning, ...]
    times: tuple[Placed, ...]


def preview(
    tx: Tx, now: datetime, *, workspace_id: str, sequence_id: str
) -> PlanPreview | NoSuchSequence:
    """Plan everybody who waits, and store nothing."""
    there = find_sequence(tx, workspace_id, sequence_id)
    if isinstance(there, NoSuchSequence):
        return there
    people = [one for one in list_waiting(tx, now, workspace_id, sequence_id) if one.step(there)]
    desk = read_desk(tx, now, there)
    fresh = [one for one in people if one.account_id is None]
    chosen = {one.contact_id: one.account_id for one in people if one.account_id is not None}
    chosen |= choose_all(tx, there, desk, fresh)
    groups: dict[str, list[Enrolled]] = defaultdict(list)
    for one in people:
        if (account_id := chosen.get(one.contact_id)) is not None:
            groups[account_id].append(one)
    zones = _zones(tx, there, people)
    accounts = read_accounts(tx, [(workspace_id, id_) for id_ in groups])
    placed: list[Placed] = []
    agendas: dict[str, dict[str, AccountAgenda]] = {}
    for account_id, mine in sorted(groups.items()):
        account = accounts[workspace_id, account_id]
        agendas[account_id] = {}
        placed += lay_out(tx, now, there, account, mine, zones, agendas[account_id])
    return _show(there, placed, agendas, len(people) - len(placed))


def _zones(tx: Tx, sequence: Sequence, people: list[Enrolled]) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    if sequence.recipient_hours:
        ids = [one.contact_id for one in people]
        for begin in range(0, len(ids), LOADED):
            part = contacts.load(tx, sequence.workspace_id, ids[begin : begin + LOADED])
            found |= zones_of(sequence, part)
    return found


def _show(
    sequence: Sequence,
    placed: list[Placed],
    agendas: dict[str, dict[str, AccountAgenda]],
    unassigned: int,
) -> PlanPreview:
    timed = [each for each in placed if each.at is not None]
    instants = [each.at for each in timed if each.at is not None]
    limits = Counter(each.limit for each in placed if each.limit is not None)
    binding = limits.most_common(1)[0][0] if limits else None
    days = _days(timed, agendas)
    finish = max((each.day for each in days if each.planned or each.expected), default=None)
    without = len(placed) - len(timed) + unassigned
    return PlanPreview(
        sequence_id=sequence.id,
        messages=len(timed),
        without_time=without,
        first_at=min(instants, default=None),
        last_at=max(instants, default=None),
        finish_on=finish,
        binding=binding,
        days=tuple(days),
        warnings=tuple(_warnings(sequence, placed, agendas, unassigned)),
        times=tuple(sorted(timed, key=lambda each: (each.at, each.person.position))),
    )


def _days(timed: list[Placed], agendas: dict[str, dict[str, AccountAgenda]]) -> list[DayPlan]:
    counted = Counter((each.account_id, each.step.action, each.day) for each in timed)
    found: list[DayPlan] = []
    for account_id, known in sorted(agendas.items()):
        for action, made in sorted(known.items()):
            own = {day for id_, what, day in counted if (id_, what) == (account_id, action) and day}
            dates = own | {date.fromordinal(day) for day in made.expected}
            for day in sorted(dates):
                ordinal = day.toordinal()
                planned = counted[account_id, Action(action), day]
                expected = made.expected[ordinal]
                others = made.agenda.planned_on(ordinal) - planned - expected
                cap = made.agenda.cap_on(ordinal)
                found.append(
                    DayPlan(
                        account_id=account_id,
                        action=action,
                        day=day,
                        planned=planned,
                        others=others,
                        expected=expected,
                        cap=cap,
                    )
                )
    return found


def _warnings(
    sequence: Sequence,
    placed: list[Placed],
    agendas: dict[str, dict[str, AccountAgenda]],
    unassigned: int,
) -> list[PlanWarning]:
    found: list[PlanWarning] = []
    if unassigned:
        message = f"{unassigned} people have no account that can write to them now."
        found.append(PlanWarning(code="no_account", message=message))
    for account_id, known in sorted(agendas.items()):
        for action, made in sorted(known.items()):
            mine = [p for p in placed if (p.account_id, p.step.action) == (account_id, action)]
            found += _of_account(account_id, made, mine)
    return found


def _of_account(account_id: str, made: AccountAgenda, mine: list[Placed]) -> list[PlanWarning]:
    found: list[PlanWarning] = []
    days = [each.day for each in mine if each.day is not None]
    if days and made.caps.day is not None:
        reachable = made.agenda.reachable_on(min(days).toordinal())
        if reachable < made.caps.day:
            message = f"The day's hours hold about {reachable} messages, fewer than the {made.caps.day} allowed."
            found.append(
                PlanWarning(code="cap_unreachable", message=message, account_id=account_id)
            )
    if lost := sum(1 for each in mine if each.at is None):
        message = f"{lost} messages find no time within a year."
        found.append(PlanWarning(code="beyond_horizon", message=message, account_id=account_id))
    if days and (max(days) - min(days)).days > FAR:
        message = f"It takes until {max(days)}: add accounts, or raise limits."
        found.append(PlanWarning(code="saturated", message=message, account_id=account_id))
    return found
