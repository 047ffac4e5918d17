"""Any sequence of queue operations keeps the queue's promises, on both databases, while things are sent.

One delivery a slot, every slot of the schedule, one of a post's channels leading the others, no day made
fuller than its cap, a revision that only grows, nothing sent that moves, nothing lost, and the slot that an
add gives is the one that a plain search over all rows finds. Meanwhile deliveries are claimed, permitted,
sent, put off, refused, unconfirmed, or left behind by a worker that died.
"""

import asyncio
import shutil
import tempfile
from collections.abc import Callable, Generator
from contextlib import AsyncExitStack, contextmanager
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from cadenza.core.channels import Channel
from cadenza.core.clock import SystemClock
from cadenza.core.slots import LEAD, FreeSlot, next_free_slot, slot_at, upcoming_slots
from cadenza.core.zones import local_day
from cadenza.db.open import open_product
from cadenza.deliveries import change as one_delivery
from cadenza.deliveries.claim import claim
from cadenza.deliveries.model import ClaimedDelivery
from cadenza.deliveries.permit import PermitRequest, Permitted, permit
from cadenza.deliveries.rescue import rescue
from cadenza.deliveries.settle import Result, settle
from cadenza.providers.outcome import Outcome, Rejected, Sent, Transient, Unconfirmed
from cadenza.queues import store
from cadenza.queues.add import Queued, To, add_pieces
from cadenza.queues.change import ChangedSchedule, How, change
from cadenza.queues.check_slot import Named
from cadenza.queues.clear import Cleared, clear, clear_post
from cadenza.queues.missed import rescue_missed
from cadenza.queues.model import Queue, locks
from cadenza.queues.move_to_slot import MovedToSlot, move_to_slot
from cadenza.queues.pause import pause
from cadenza.queues.reorder import Reordered, move, reorder, reverse, shuffle, swap, to_top
from cadenza.queues.resume import ResumeChoice, resume
from cadenza.queues.resume import ResumeChoice as Late
from cadenza.queues.schedule import write
from cadenza.queues.skip import skip, skip_next, unskip
from cadenza.queues.stop import start, stop
from cadenza.queues.undo import undo
from cadenza.sql.tx import Row, Tx
from tests.queues.conftest import ADA, DAILY, HOME, LEASE, MONDAY, piece
from tests.queues.inline import Inline, people
from tests.servers.databases import Databases

T = TypeVar("T")
LIVE = ("draft", "scheduled", "sending", "unconfirmed")
OTHER_WEEKS: list[object] = [
    DAILY,
    {"1": ["09:00", "15:00"], "3": ["12:00"], "6": ["02:30"]},
    {str(day): ["10:00", "16:00"] for day in range(7)},
]


class ByHand:
    """What is held, straight from the rows: the plain search's book."""

    def __init__(self, rows: list[Row], queue: Queue) -> None:
        zone = queue.schedule.zone
        self._posts: dict[date, set[str]] = {}
        self._taken: dict[date, set[datetime]] = {}
        for row in rows:
            if row["state"] in (*LIVE, "sent"):
                day = local_day(row["due_at"], zone)
                self._posts.setdefault(day, set()).add(row["post_id"])
            if row["state"] in LIVE:
                for at in {row["due_at"], row["slot_at"]} - {None}:
                    self._taken.setdefault(local_day(at, zone), set()).add(at)

    def first_open(self, day: date) -> date:
        return day

    def is_capped(self, day: date) -> bool:
        return False  # it passes over no date

    def count(self, day: date) -> int:
        return len(self._posts.get(day, ()))

    def taken(self, day: date) -> set[datetime]:
        return self._taken.get(day, set())


class Sequence(RuleBasedStateMachine):
    """One account's queue in somebody's busy month."""

    make: ClassVar[Any]

    def __init__(self) -> None:
        super().__init__()
        self._run, self._close = type(self).make()
        self.now = MONDAY
        self.number = 0
        self.added: set[str] = set()
        self.sent: dict[str, datetime] = {}
        self.revision = 0
        self.cleared: str | None = None
        self.cap: int | None = None
        self.hands: list[
            tuple[ClaimedDelivery, str | None]
        ] = []  # with the attempt, once it is permitted
        self.days: dict[date, int] = {}

    def teardown(self) -> None:
        self._close()

    def run(self, operation: Callable[..., T], **words: Any) -> T:
        return self._run(
            lambda tx, _: operation(tx, self.now, workspace_id=HOME, account_id="ada", **words),
            self.now,
        )

    def everywhere(self, operation: Callable[..., T], **words: Any) -> T:
        """Run what names no account."""
        return self._run(
            lambda tx, _: operation(tx, self.now, workspace_id=HOME, **words), self.now
        )

    def read(self) -> tuple[Queue, list[Row], frozenset[datetime]]:
        def look(tx: Tx, _: datetime) -> tuple[Queue, list[Row], frozenset[datetime]]:
            queue = store.read(tx, workspace_id=HOME, account_id="ada")
            assert isinstance(queue, Queue)
            rows = tx.all("SELECT * FROM delivery ORDER BY due_at, id")
            return queue, rows, store.skipped(tx, queue, since=self.now)

        return self._run(look, self.now)

    @initialize(cap=st.sampled_from([None, 2]), posts=st.integers(0, 9))
    def begin(self, cap: int | None, posts: int) -> None:
        self.cap = cap
        self._run(lambda tx, now: people(tx, now, {"ada": "Europe/Berlin"}), self.now)
        self.run(write, slots=DAILY, by=ADA, max_per_day=cap)
        for _ in range(posts):
            self.put(To.FIRST_FREE, channels=1 + posts % 2, approved=True)

    @rule(
        to=st.sampled_from(list(To)),
        channels=st.integers(1, 2),
        approved=st.booleans(),
        many=st.integers(1, 5),
    )
    def add(self, to: To, channels: int, approved: bool, many: int) -> None:
        for _ in range(many):
            self.put(to, channels=channels, approved=approved)

    def put(self, to: To | Named, *, channels: int, approved: bool) -> None:
        self.number += 1
        post = f"p{self.number:03}"
        both = [Channel.MASTODON, Channel.BLUESKY]
        pieces = piece(post, ["ada"], both[:channels], approved=approved)
        queue, rows, skipped = self.read()
        plain = next_free_slot(
            queue.schedule, ByHand(rows, queue), not_before=self.now + LEAD, skipped=skipped
        )
        added = self._run(
            lambda tx, _: add_pieces(tx, self.now, workspace_id=HOME, pieces=pieces, by=ADA, to=to),
            self.now,
        )
        (answer,) = added.answers
        if isinstance(to, Named) and not isinstance(answer, Queued):
            return  # that slot could not be had
        assert isinstance(answer, Queued), answer
        self.added.add(post)
        if to is To.FIRST_FREE:
            assert isinstance(plain, FreeSlot)
            assert answer.at == plain.slot.instant

    @rule(hours=st.integers(1, 60))
    def add_by_hand(self, hours: int) -> None:
        self.number += 1
        post = f"h{self.number:03}"
        pieces = piece(post, ["ada"], [Channel.MASTODON])
        at = self.now + timedelta(hours=hours)
        added = self._run(
            lambda tx, _: add_pieces(tx, self.now, workspace_id=HOME, pieces=pieces, by=ADA, to=at),
            self.now,
        )
        if isinstance(added.answers[0], Queued):
            self.added.add(post)

    @rule(count=st.sampled_from([None, 1, 2]), back=st.booleans())
    def skip_some(self, count: int | None, back: bool) -> None:
        if back:
            self.run(unskip, by=ADA)
        self.run(skip_next, by=ADA, count=count)

    @rule(which=st.integers(0, 5))
    def skip_filled(self, which: int) -> None:
        _, rows, _ = self.read()
        filled = [r["slot_at"] for r in rows if r["slot_at"] and r["state"] == "scheduled"]
        coming = [at for at in filled if at > self.now]
        if coming:
            self.run(skip, by=ADA, instants=[coming[which % len(coming)]])

    @rule(
        how=st.sampled_from(["shuffle", "reverse", "top", "order", "swap", "before", "after"]),
        seed=st.integers(0, 99),
    )
    def reorder(self, how: str, seed: int) -> None:
        queue, rows, _ = self.read()
        before = sorted(r["slot_at"] for r in rows if r["slot_at"] and r["state"] in LIVE)
        line = [r["post_id"] for r in rows if r["slot_at"] and r["state"] in ("draft", "scheduled")]
        match how:
            case "shuffle":
                self.run(shuffle, by=ADA, seed=seed)
            case "reverse":
                self.run(reverse, by=ADA)
            case "top" if line:
                self.run(to_top, by=ADA, id=line[seed % len(line)])
            case "swap" if len(line) > 1:
                self.run(swap, by=ADA, ids=(line[seed % len(line)], line[seed % len(line) - 1]))
            case "before" | "after" if len(line) > 1:
                anchor = {how: line[seed % len(line) - 1]}
                self.run(move, by=ADA, id=line[seed % len(line)], **anchor)
            case _:
                turned = line[seed % (len(line) or 1) :] + line[: seed % (len(line) or 1)]
                answer = self.run(reorder, by=ADA, ids=turned, revision=queue.revision)
                assert isinstance(answer, Reordered)
        _, rows, _ = self.read()
        assert sorted(r["slot_at"] for r in rows if r["slot_at"] and r["state"] in LIVE) == before

    @rule(choice=st.sampled_from(list(ResumeChoice)), hours=st.integers(0, 40))
    def pause_and_resume(self, choice: ResumeChoice, hours: int) -> None:
        self.run(pause, by=ADA, reason="x")
        self.now += timedelta(hours=hours)
        self.send_one()
        self.run(resume, by=ADA, choice=choice)

    @rule(choice=st.sampled_from(list(ResumeChoice)), hours=st.integers(0, 40))
    def stop_and_start(self, choice: ResumeChoice, hours: int) -> None:
        self.everywhere(stop, reason="x", by=ADA)
        self.now += timedelta(hours=hours)
        self.send_one()
        self.everywhere(start, by=ADA, choice=choice)

    @rule(ahead=st.integers(0, 20), which=st.integers(0, 9), new=st.booleans())
    def point_at_a_slot(self, ahead: int, which: int, new: bool) -> None:
        queue, rows, _ = self.read()
        slots = upcoming_slots(queue.schedule, not_before=self.now + LEAD)
        at = next(slot.instant for n, slot in enumerate(slots) if n == ahead)
        waiting = sorted({r["post_id"] for r in rows if r["state"] in ("draft", "scheduled")})
        if new or not waiting:
            self.put(Named(at), channels=1 + which % 2, approved=True)
            return
        answer = self.run(move_to_slot, by=ADA, post_id=waiting[which % len(waiting)], at=at)
        assert not isinstance(answer, MovedToSlot) or answer.at == at

    @rule(which=st.integers(0, 9), whole=st.booleans())
    def take_one_off(self, which: int, whole: bool) -> None:
        """Clear one post, or cancel the channel that holds its slot alone."""
        _, rows, _ = self.read()
        queued = [r for r in rows if r["slot_at"] and r["state"] in ("draft", "scheduled")]
        if not queued:
            return
        row = queued[which % len(queued)]
        if whole:
            answer = self.everywhere(clear_post, post_id=row["post_id"], by=ADA)
            self.cleared = answer.clear_id or self.cleared
        else:
            self.everywhere(one_delivery.cancel, id=row["id"], reason="x")

    @rule()
    def clear(self) -> None:
        answer = self.run(clear, by=ADA)
        assert isinstance(answer, Cleared)
        self.cleared = answer.clear_id or self.cleared

    @precondition(lambda self: self.cleared is not None)
    @rule()
    def undo(self) -> None:
        self._run(
            lambda tx, _: undo(
                tx, self.now, workspace_id=HOME, clear_id=self.cleared or "", by=ADA
            ),
            self.now,
        )

    @rule(
        week=st.sampled_from(OTHER_WEEKS),
        how=st.sampled_from(list(How)),
        zone=st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"]),
    )
    def change(self, week: object, how: How, zone: str) -> None:
        plan = self.run(change, by=ADA, slots=week, how=how, zone=zone, dry_run=True)
        done = self.run(change, by=ADA, slots=week, how=how, zone=zone)
        assert type(plan) is type(done)
        if isinstance(plan, ChangedSchedule) and isinstance(done, ChangedSchedule):
            assert (plan.keeps, plan.moves, plan.pinned) == (done.keeps, done.moves, done.pinned)
        # Days are others' dates by now, and `keep` keeps what is over the cap: from here it is counted again.
        self.days = self.posts_a_day(*self.read()[:2])

    @rule(choice=st.sampled_from(list(Late)))
    def rescue(self, choice: Late) -> None:
        self.run(rescue_missed, by=ADA, choice=choice)

    @rule(minutes=st.sampled_from([7, 60, 180, 600, 1500]))
    def time_passes(self, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)

    @rule()
    def send_one(self) -> None:
        def pipeline(tx: Tx, _: datetime) -> None:
            for ticket in claim(tx, self.now, limit=5, worker="w", lease=LEASE):
                answer = self.ask(tx, ticket)
                if isinstance(answer, Permitted):
                    settle(tx, self.now, [Result(ticket, Sent("remote"), answer.attempt_id)])

        self._run(pipeline, self.now)

    @rule()
    def take_up(self) -> None:
        """A worker claims; what it holds stays in its hands over the next steps."""
        tickets = self._run(
            lambda tx, _: claim(tx, self.now, limit=5, worker="w", lease=LEASE), self.now
        )
        self.hands += [(ticket, None) for ticket in tickets]

    @precondition(lambda self: any(attempt is None for _, attempt in self.hands))
    @rule()
    def stand_before_the_call(self) -> None:
        ticket = next(ticket for ticket, attempt in self.hands if attempt is None)
        self.hands.remove((ticket, None))
        answer = self._run(lambda tx, _: self.ask(tx, ticket), self.now)
        if isinstance(answer, Permitted):
            self.hands.append((ticket, answer.attempt_id))

    @precondition(lambda self: any(attempt for _, attempt in self.hands))
    @rule(
        outcome=st.sampled_from(
            [Sent("remote"), Transient("busy"), Rejected("no"), Unconfirmed("lost")]
        )
    )
    def come_back(self, outcome: Outcome) -> None:
        held = next(each for each in self.hands if each[1])
        self.hands.remove(held)
        result = Result(held[0], outcome, held[1])
        self._run(lambda tx, _: settle(tx, self.now, [result]), self.now)

    @rule()
    def take_back_from_the_dead(self) -> None:
        self._run(lambda tx, _: rescue(tx, self.now, crash_limit=3), self.now)

    @rule(is_there=st.booleans())
    def settle_what_is_left(self, is_there: bool) -> None:
        """A person decides about an unconfirmed send, or tries again what failed."""
        _, rows, _ = self.read()
        for row in rows:
            if row["state"] == "unconfirmed":
                about = {"id": row["id"], "fence": row["lease"], "is_there": is_there}
                self.everywhere(one_delivery.decide_unconfirmed, **about)
            elif row["state"] == "failed":
                self.everywhere(one_delivery.retry, id=row["id"])

    def ask(self, tx: Tx, ticket: ClaimedDelivery) -> object:
        self.number += 1
        epoch = tx.value("SELECT epoch FROM lane WHERE id = 'account:ada'")
        (answer,) = permit(tx, self.now, [PermitRequest(ticket, f"a{self.number}", epoch)])
        return answer

    @invariant()
    def keeps_its_promises(self) -> None:
        if not self.added:
            return
        queue, rows, _ = self.read()
        self._slots_are_slots_and_held_once(queue, rows)
        self._followers_have_their_leader(rows)
        self._days_are_within_their_cap(queue, rows)
        assert queue.revision >= self.revision
        self.revision = queue.revision
        sent = {row["id"]: row["due_at"] for row in rows if row["state"] == "sent"}
        assert self.sent.items() <= sent.items(), "something that was sent moved"
        self.sent = sent
        assert {row["post_id"] for row in rows} == self.added, "a post was lost"

    def _slots_are_slots_and_held_once(self, queue: Queue, rows: list[Row]) -> None:
        live = [row for row in rows if row["slot_at"] is not None and row["state"] in LIVE]
        assert len({row["slot_at"] for row in live}) == len(live)
        for row in live:
            assert row["due_at"] == row["slot_at"] or pushed(row), row
            if row["slot_at"] > self.now:
                assert slot_at(queue.schedule, row["slot_at"]) is not None, row

    def _followers_have_their_leader(self, rows: list[Row]) -> None:
        held = {(r["post_id"], r["slot_at"]) for r in rows if r["slot_at"] and r["state"] in LIVE}
        for row in rows:
            waits = row["state"] in ("draft", "scheduled") and row["due_at"] > self.now
            by_hand = row["post_id"].startswith("h") or row["pinned"] or pushed(row)
            if waits and not by_hand and row["slot_at"] is None:
                assert (row["post_id"], row["due_at"]) in held, row

    def _days_are_within_their_cap(self, queue: Queue, rows: list[Row]) -> None:
        if self.cap is None:
            return
        today = local_day(self.now, queue.schedule.zone)
        before, self.days = self.days, self.posts_a_day(queue, rows)
        over = {
            day: count
            for day, count in self.days.items()
            if day > today and count > max(self.cap, before.get(day, 0))
        }
        assert not over, (over, before)

    def posts_a_day(self, queue: Queue, rows: list[Row]) -> dict[date, int]:
        """Count what the queue laid out; what is sent late or again goes when its turn comes."""
        own = [row for row in rows if not pushed(row)]
        zone = queue.schedule.zone
        occupancy = ByHand(own, queue)
        return {
            day: occupancy.count(day) for day in {local_day(row["due_at"], zone) for row in own}
        }


def pushed(row: Row) -> bool:
    """Is it tried again, or sent late by its turn?"""
    return row["attempts"] > 0 or row["deferrals"] > 0


def on_sqlite() -> tuple[Callable[..., Any], Callable[[], None]]:
    folder = Path(tempfile.mkdtemp())
    world = Inline(folder)

    def close() -> None:
        world.close()
        shutil.rmtree(folder)

    return world.run, close


@contextmanager
def on_postgres(databases: Databases) -> Generator[Callable[[], Any]]:
    loop = asyncio.new_event_loop()

    def make() -> tuple[Callable[..., Any], Callable[[], None]]:
        stack = AsyncExitStack()
        name = databases.create_product()
        address = databases.server.dsn_for(name)
        operations = loop.run_until_complete(
            stack.enter_async_context(open_product(address, clock=SystemClock()))
        )

        def run(operation: Callable[[Tx, datetime], Any], _now: datetime) -> Any:
            return loop.run_until_complete(
                operations.run(lambda tx, _: operation(tx, _now), locks=locks(HOME, "ada"))
            )

        def close() -> None:
            loop.run_until_complete(stack.aclose())
            databases.drop(name)

        return run, close

    yield make
    loop.close()


def test_any_sequence_of_operations_keeps_the_promises_on_sqlite() -> None:
    class OnSqlite(Sequence):
        make = staticmethod(on_sqlite)

    run_state_machine_as_test(
        OnSqlite,
        settings=settings(
            max_examples=150,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )


@pytest.mark.slow
def test_any_sequence_of_operations_keeps_the_promises_on_postgres(
    postgres_databases: Databases,
) -> None:
    with on_postgres(postgres_databases) as make_world:

        class OnPostgres(Sequence):
            make = staticmethod(make_world)

        run_state_machine_as_test(
            OnPostgres,
            settings=settings(
                max_examples=6,
                stateful_step_count=15,
                deadline=None,
                suppress_health_check=[HealthCheck.too_slow],
            ),
        )
