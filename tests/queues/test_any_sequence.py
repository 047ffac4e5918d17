"""Any sequence of queue operations keeps the queue's promises, on both databases.

One delivery a slot, every slot of the schedule, order is order of instants, days within their cap, a
revision that only grows, nothing sent that moves, nothing lost, and the slot that an add gives is the one
that a plain search over all rows finds.
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
from cadenza.core.slots import LEAD, FreeSlot, next_free_slot, slot_at
from cadenza.core.zones import local_day
from cadenza.db.open import open_product
from cadenza.deliveries.claim import claim
from cadenza.deliveries.permit import Permitted, Wish, permit
from cadenza.deliveries.settle import Result, settle
from cadenza.providers.outcome import Sent
from cadenza.queues import keep
from cadenza.queues.add import Queued, To, add_pieces
from cadenza.queues.change import Changed, How, change
from cadenza.queues.clear import Cleared, clear
from cadenza.queues.late import Wish as Late
from cadenza.queues.late import rescue_missed
from cadenza.queues.model import Queue, locks
from cadenza.queues.pause import pause
from cadenza.queues.reorder import Reordered, reorder, reverse, shuffle, to_top
from cadenza.queues.resume import Choice, resume
from cadenza.queues.schedule import write
from cadenza.queues.skip import skip, skip_next, unskip
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

    def teardown(self) -> None:
        self._close()

    def run(self, operation: Callable[..., T], **words: Any) -> T:
        return self._run(
            lambda tx, _: operation(tx, self.now, workspace_id=HOME, account_id="ada", **words),
            self.now,
        )

    def read(self) -> tuple[Queue, list[Row], frozenset[datetime]]:
        def look(tx: Tx, _: datetime) -> tuple[Queue, list[Row], frozenset[datetime]]:
            queue = keep.read(tx, workspace_id=HOME, account_id="ada")
            assert isinstance(queue, Queue)
            rows = tx.all("SELECT * FROM delivery ORDER BY due_at, id")
            return queue, rows, keep.skipped(tx, queue, since=self.now)

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

    def put(self, to: To, *, channels: int, approved: bool) -> None:
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

    @rule(how=st.sampled_from(["shuffle", "reverse", "top", "order"]), seed=st.integers(0, 99))
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
            case _:
                turned = line[seed % (len(line) or 1) :] + line[: seed % (len(line) or 1)]
                answer = self.run(reorder, by=ADA, ids=turned, revision=queue.revision)
                assert isinstance(answer, Reordered)
        _, rows, _ = self.read()
        assert sorted(r["slot_at"] for r in rows if r["slot_at"] and r["state"] in LIVE) == before

    @rule(choice=st.sampled_from(list(Choice)), hours=st.integers(0, 40))
    def pause_and_resume(self, choice: Choice, hours: int) -> None:
        self.run(pause, by=ADA, reason="x")
        self.now += timedelta(hours=hours)
        self.send_one()
        self.run(resume, by=ADA, choice=choice)

    @rule()
    def clear(self) -> None:
        answer = self.run(clear, by=ADA)
        assert isinstance(answer, Cleared)
        self.cleared = answer.clear_id or self.cleared

    @precondition(lambda self: self.cleared is not None and self.cap is None)
    @rule()
    def undo(self) -> None:
        self._run(
            lambda tx, _: undo(
                tx, self.now, workspace_id=HOME, clear_id=self.cleared or "", by=ADA
            ),
            self.now,
        )

    @precondition(lambda self: self.cap is None)
    @rule(
        week=st.sampled_from(OTHER_WEEKS),
        how=st.sampled_from(list(How)),
        zone=st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"]),
    )
    def change(self, week: object, how: How, zone: str) -> None:
        plan = self.run(change, by=ADA, slots=week, how=how, zone=zone, dry_run=True)
        done = self.run(change, by=ADA, slots=week, how=how, zone=zone)
        assert type(plan) is type(done)
        if isinstance(plan, Changed) and isinstance(done, Changed):
            assert (plan.keeps, plan.moves, plan.pinned) == (done.keeps, done.moves, done.pinned)

    @rule(wish=st.sampled_from(list(Late)))
    def rescue(self, wish: Late) -> None:
        self.run(rescue_missed, by=ADA, wish=wish)

    @rule(minutes=st.sampled_from([7, 60, 180, 600, 1500]))
    def time_passes(self, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)

    @rule()
    def send_one(self) -> None:
        def road(tx: Tx, _: datetime) -> None:
            for ticket in claim(tx, self.now, limit=5, worker="w", lease=LEASE):
                self.number += 1
                epoch = tx.value("SELECT epoch FROM lane WHERE id = 'account:ada'")
                wish = Wish(ticket, f"a{self.number}", epoch)
                (answer,) = permit(tx, self.now, [wish])
                if isinstance(answer, Permitted):
                    settle(tx, self.now, [Result(ticket, Sent("remote"), answer.attempt_id)])

        self._run(road, self.now)

    @invariant()
    def keeps_its_promises(self) -> None:
        if not self.added:
            return
        queue, rows, _ = self.read()
        self._slots_are_slots_and_held_once(queue, rows)
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
            assert row["due_at"] == row["slot_at"]
            if row["slot_at"] > self.now:
                assert slot_at(queue.schedule, row["slot_at"]) is not None, row

    def _days_are_within_their_cap(self, queue: Queue, rows: list[Row]) -> None:
        if self.cap is None:
            return
        today = local_day(self.now, queue.schedule.zone)
        book = ByHand(rows, queue)
        days = {local_day(row["due_at"], queue.schedule.zone) for row in rows}
        # What a person sends now may pass the cap of today, or spill over midnight.
        over = [day for day in days if day > today and book.count(day) > self.cap]
        assert all((day - today).days <= 1 for day in over), over


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
