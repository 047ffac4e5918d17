"""A month of outreach on a virtual clock: the real planner, permits and settlements, workers side by side.

Workers, planners and people are generators that say how long they wait; whoever is first goes on, and each step is one
real operation on a real database in memory. Clocks change in this month in New York and in Berlin. What the network saw is judged by
a checker that knows nothing of the planner; after each planning the plan is judged, too. A planted mistake must be found.
"""

import heapq
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Generator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from functools import partial
from itertools import count, pairwise
from typing import Any
from unittest.mock import patch

from cadenza.bootstrap.register_planners import register_planners
from cadenza.contacts.model import Contact, ContactForm
from cadenza.contacts.save import create_contact
from cadenza.core.budgets import Counted, Period, period_key
from cadenza.core.channels import Channel
from cadenza.core.clock import SystemClock
from cadenza.core.ids import CountedIds
from cadenza.core.zones import get_zone
from cadenza.deliveries import permit, settle
from cadenza.deliveries.audit_limits import audit_limits
from cadenza.deliveries.claim import claim
from cadenza.deliveries.init_account import init_account
from cadenza.deliveries.model import Action, ClaimedDelivery
from cadenza.deliveries.read_budgets import Rule
from cadenza.deliveries.record_external import record_external
from cadenza.deliveries.refund import rearm_gaps
from cadenza.deliveries.set_limit import Limit, set_limits
from cadenza.outreach import count as counting
from cadenza.outreach import enroll as enrolling
from cadenza.outreach import plan as planning
from cadenza.outreach import run, stop
from cadenza.outreach.enroll import PeopleEnrolled, enroll
from cadenza.outreach.list_ready import list_ready, ready_accounts
from cadenza.outreach.model import Sequence, Step, StepVariant, StopCause
from cadenza.outreach.read_agenda import read_agenda
from cadenza.outreach.store import SequenceForm, create_sequence
from cadenza.people.workspaces import NewWorkspace, create_workspace
from cadenza.providers.outcome import Sent
from cadenza.sql.transactions import SqliteOperations
from cadenza.sql.tx import Tx
from cadenza.templates.model import Template, TemplateContent
from cadenza.templates.store import create_template
from tests.outreach.checker import Rules, broken
from tests.simulation.memory import lend

HOME, BY = "home", "member:ada"
START = datetime(2026, 3, 2, 6, tzinfo=UTC)  # a Monday
DAYS = 31
WEEKDAYS = frozenset({1, 2, 3, 4, 5})
# zone, a day's cap, seconds between two (without a gap, calls of two sequences go at once)
ACCOUNTS = {
    "new-york": ("America/New_York", 6, 360),
    "berlin": ("Europe/Berlin", 5, 360),
    "sydney": ("Australia/Sydney", 7, 0),
}
# No worker runs for two days: what came due meanwhile waits, and goes on under the same limits.
DOWN = (START + timedelta(days=7, hours=12), START + timedelta(days=9, hours=20))
SEQUENCES, PEOPLE = 5, 22  # each
WORKERS = 4
MOST_TURNS = 15_000  # a month takes about half of them
LEASE = timedelta(minutes=5)
Steps = Generator[float, None, None]


class StillClock(SystemClock):
    """Time that stands still until somebody moves it."""

    def __init__(self) -> None:
        super().__init__()
        self.instant = START

    def now(self) -> datetime:
        return self.instant


@dataclass(frozen=True, slots=True)
class Call:
    """What the network saw."""

    account: str
    sequence: str
    contact: str
    step: int
    began: datetime
    ended: datetime


@dataclass
class Month:
    """One world; `faults` says what broke."""

    seed: int
    clock: StillClock = field(default_factory=StillClock)
    calls: list[Call] = field(default_factory=list[Call])
    replies: dict[str, datetime] = field(default_factory=dict[str, datetime])
    faults: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.dice = random.Random(self.seed)
        self.operations = SqliteOperations(lend(self.clock), CountedIds("row"))
        self._turns: list[tuple[datetime, int, Steps]] = []
        self._order = count()
        self.sequences: list[Sequence] = []

    def do(self, operation: Callable[[Tx, datetime], Any]) -> Any:
        """Run one operation at this instant: in memory nothing is waited for."""
        coroutine = self.operations.run(operation)
        try:
            coroutine.send(None)
        except StopIteration as done:
            return done.value
        raise AssertionError("an operation waited")

    def go(self, steps: Steps, after: float = 0.0) -> None:
        at = self.clock.instant + timedelta(seconds=after)
        heapq.heappush(self._turns, (at, next(self._order), steps))

    def live(self) -> None:
        """Let everybody act in turn until the month is over."""
        end = START + timedelta(days=DAYS)
        while self._turns and not self.faults:
            at, number, steps = heapq.heappop(self._turns)
            if number > MOST_TURNS:
                self.faults.append("somebody asks again and again, and nothing moves on")
            if at > end:
                return
            self.clock.instant = max(at, self.clock.instant)
            wait = next(steps, None)
            if wait is not None:
                self.go(steps, wait)

    # ------------------------------------------------------------ who acts

    def worker(self, name: str) -> Steps:
        while True:
            if DOWN[0] <= self.clock.instant < DOWN[1]:
                yield (DOWN[1] - self.clock.instant).total_seconds()
            claimed = self.do(partial(claim, limit=1, worker=name, lease=LEASE))
            for ticket in claimed:
                yield self.dice.uniform(0.01, 2.0)
                yield from self._send(ticket)
            if not claimed:
                yield self._until_next()

    def _send(self, ticket: ClaimedDelivery) -> Steps:
        request = permit.PermitRequest(ticket, f"attempt-{next(self._order)}")
        (answer,) = self.do(partial(permit.permit, requests=[request]))
        if not isinstance(answer, permit.Permitted):
            return
        began, row = self.clock.instant, ticket.delivery
        yield self.dice.uniform(0.5, 20.0)
        self.calls.append(
            Call(
                row.account_id,
                row.sequence_id or "",
                row.contact_id or "",
                row.step,
                began,
                self.clock.instant,
            )
        )
        yield self.dice.uniform(0.0, 0.5)
        result = settle.Result(ticket, Sent(f"<{ticket.id}>"), answer.attempt_id)
        self.do(partial(settle.settle, results=[result]))
        if row.step == 0 and self.dice.random() < 0.25:
            self.go(self._reply(row.contact_id or ""), timedelta(days=3).total_seconds())

    def _until_next(self) -> float:
        """Sleep until a lane has something, six hours at most."""
        found: datetime | None = self.do(
            lambda tx, _: tx.value("SELECT min(runnable_at) AS next_at FROM lane WHERE NOT paused")
        )
        most = timedelta(hours=6).total_seconds()
        if found is None:
            return most
        return min(most, max(0.2, (found - self.clock.instant).total_seconds()))

    def planner(self) -> Steps:
        """Plan whoever waits, ten minutes apart, and judge the plan."""
        while True:
            for _, sequence_id in self.do(list_ready):
                about = {"workspace_id": HOME, "sequence_id": sequence_id}
                while self.do(partial(planning.assign_chunk, **about)):
                    continue
                for account in self.do(partial(ready_accounts, **about)):
                    while self.do(partial(planning.plan_account, account_id=account, **about)).left:
                        continue
            self.faults += self.judge_plan()
            yield 600.0

    def _reply(self, contact: str) -> Steps:
        self.do(lambda tx, now: stop.stop_for(tx, now, HOME, contact, StopCause.REPLY))
        self.replies.setdefault(contact, self.clock.instant)
        return
        yield 0.0

    def person(self) -> Steps:
        """Somebody writes mail by hand from the same mailboxes, and records it."""
        while True:
            yield timedelta(hours=self.dice.uniform(20, 60)).total_seconds()
            account = self.dice.choice(sorted(ACCOUNTS))
            what = partial(
                record_external,
                workspace_id=HOME,
                account_id=account,
                action=Action.EMAIL,
                count=self.dice.randint(1, 4),
                by=BY,
            )
            self.do(what)

    # ------------------------------------------------------------ what must hold

    def judge_plan(self) -> list[str]:
        """Judge what is planned for later: hours, caps with what is counted, and gaps."""
        now = self.clock.instant
        rows = self.do(
            lambda tx, _: tx.all(
                "SELECT account_id, due_at FROM delivery WHERE state = 'scheduled' AND due_at > :now",
                now=now,
            )
        )
        times: dict[str, list[datetime]] = defaultdict(list)
        for row in rows:
            times[row["account_id"]].append(row["due_at"])
        return [
            f"planned for {account}: {fault}"
            for account, mine in times.items()
            for fault in broken(_rules(account), mine)
        ]

    def judge_calls(self) -> list[str]:
        """Judge what the network saw, and the ledger."""
        faults: list[str] = []
        for account, (_, _, gap) in ACCOUNTS.items():
            mine = sorted((call for call in self.calls if call.account == account), key=_began)
            faults += broken(_rules(account)._replace(shortest=timedelta()), map(_began, mine))
            faults += [
                f"{account}: {after.began - before.ended} after the call before"
                for before, after in pairwise(mine)
                if gap and after.began - before.ended < timedelta(seconds=gap)
            ]
        twice = Counter((call.sequence, call.contact, call.step) for call in self.calls)
        faults += [f"{key} was written to twice" for key, times in twice.items() if times > 1]
        faults += [
            f"{call.contact} was written to after the reply"
            for call in self.calls
            if call.contact in self.replies and call.began > self.replies[call.contact]
        ]
        audit = self.do(partial(audit_limits, whole=True))
        faults += [] if audit.clean else [f"the audit is not clean: {audit}"]
        return faults


def _began(call: Call) -> datetime:
    return call.began


def _rules(account: str) -> Rules:
    zone, cap, gap = ACCOUNTS[account]
    return Rules(zone, time(9), time(18), WEEKDAYS, cap, timedelta(seconds=gap))


def furnish(tx: Tx, now: datetime) -> list[Sequence]:
    """Three mailboxes, five sequences of two mails, and people in them."""
    create_workspace(tx, now, new=NewWorkspace(id=HOME, name=HOME, zone="UTC"), by=BY)
    for id_, (zone, _, _) in ACCOUNTS.items():
        tx.run(
            """
            INSERT INTO account (workspace_id, id, provider, remote_id, zone, created_at)
            VALUES (:home, :id, 'smtp', :id, :zone, :now)
            """,
            home=HOME,
            id=id_,
            zone=zone,
            now=now,
        )
        init_account(tx, now, workspace_id=HOME, account_id=id_)
    words = TemplateContent(subject="Hi {{first_name}}", body="Hello {{first_name}}")
    assert isinstance(
        create_template(tx, now, words, workspace_id=HOME, name="Hello", by=BY), Template
    )
    version = str(tx.value("SELECT id FROM template_version"))
    step = Step(channel=Channel.EMAIL, variants=(StepVariant(template_version_id=version),))
    later = Step(channel=Channel.EMAIL, variants=step.variants, wait_days=4)
    made: list[Sequence] = []
    for n in range(SEQUENCES):
        form = SequenceForm(name=f"s{n}", steps=[step, later], account_ids=sorted(ACCOUNTS))
        sequence = create_sequence(tx, now, form, workspace_id=HOME, by=BY)
        assert isinstance(sequence, Sequence)
        people: list[str] = []
        for p in range(PEOPLE):
            address = ("email", f"person{n}-{p}@example.org")
            form_ = ContactForm(first_name=f"Person {p}", addresses=[address])
            contact = create_contact(tx, now, form_, workspace_id=HOME, by=BY)
            assert isinstance(contact, Contact)
            people.append(contact.id)
        about: dict[str, Any] = {
            "workspace_id": HOME,
            "sequence_id": sequence.id,
            "by": BY,
        }
        assert isinstance(enroll(tx, now, contact_ids=people, **about), PeopleEnrolled)
        assert isinstance(run.start(tx, now, **about), Sequence)
        made.append(sequence)
    for id_, (_, cap, gap) in ACCOUNTS.items():  # joining a sequence gives the usual ones
        limits = [
            Limit(scope=f"account:{id_}", action="email", kind=kind, amount=amount)
            for kind, amount in (("day", cap), ("gap", gap))
            if amount
        ]
        set_limits(tx, now, workspace_id=HOME, account_id=id_, limits=limits, by=BY)
    return made


# ---------------------------------------------------------------- mistakes

_settle = settle.settle
_write_buckets = permit._write_buckets


def _count_when_sent(tx: Tx, now: datetime, results: Any) -> Any:
    """Document 003: count, send, then log; so what is under way is not counted."""
    answer = _settle(tx, now, results)
    for result in results:
        row = result.ticket.delivery
        zone = get_zone(ACCOUNTS[row.account_id][0])
        period = period_key(Period.DAY, now, zone)
        rule = Rule(HOME, f"account:{row.account_id}", "email", "live", "day", period)
        permit.write_buckets(tx, {rule: (1, None)})
    return answer


def _count_nothing_yet(tx: Tx, granted: Any) -> None:
    kept = [
        permit._Granted(
            one.request,
            one.facts,
            one.permit,
            tuple(b for b in one.budgets if not isinstance(b, Counted)),
            one.content_hash,
        )
        for one in granted
    ]
    _write_buckets(tx, kept)


def _a_day_later(made: Any, each: Any, zone: Any) -> datetime:
    later = each.delivery.due_at
    while later < each.until:
        later += timedelta(hours=24)
    return later


def _gap_from_start(tx: Tx, calls: Any, *, ended: datetime) -> None:
    for call in calls:
        rearm_gaps(tx, [call], ended=call.deadline_at - permit.SEND_TIMEOUT)


def _blind_planner(tx: Tx, now: datetime, account: Any, action: Any, pace: Any = None) -> Any:
    """Two planners at once without the lock: what the other has just planned is not seen."""
    rows = tx.all(
        "SELECT id FROM delivery WHERE created_at >= :now AND sequence_id <> :own",
        now=now,
        own="" if pace is None else pace.id,
    )
    return read_agenda(tx, now, account, action, pace, without={row["id"] for row in rows})


MISTAKES: dict[str, tuple[tuple[Any, str, Any], ...]] = {
    "count then send": (
        (settle, "settle", _count_when_sent),
        (permit, "_write_buckets", _count_nothing_yet),
        # Else an account's calls go one by one, and what is under way is nothing.
        (sys.modules[init_account.__module__], "set_width", lambda *_, **__: None),
    ),
    "a day is 24 hours": ((counting, "_next_time", _a_day_later),),
    "the gap begins with the call": ((settle, "rearm_gaps", _gap_from_start),),
    "two planners without the lock": ((planning, "read_agenda", _blind_planner),),
    "a stop is checked only when planning": ((stop, "cancel_waiting", lambda *_: []),),
}


def live_through(seed: int, mistake: str | None = None) -> Month:
    """Live through a month; with a mistake until it is found."""
    register_planners()
    world = Month(seed)
    with ExitStack() as planted:
        # The planner here looks by itself; there is no queue of jobs.
        planted.enter_context(patch.object(enrolling, "enqueue_in", lambda *_, **__: None))
        for module, name, instead in MISTAKES.get(mistake or "", ()):
            planted.enter_context(patch.object(module, name, instead))
        world.sequences = world.do(furnish)
        world.go(world.planner(), 1.0)
        world.go(world.person(), 2.0)
        for n in range(WORKERS):
            world.go(world.worker(f"w{n}"), 5.0 + n)
        world.live()
        world.faults += world.judge_calls()
    return world
