"""Queues are linearizable: whatever several people and publishers ask at once, and however often nobody
answers, there is one order, one at a time, in which the plain list of `model.py` would have said the same.
"""

import asyncio
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest

from cadenza.deliveries.transition import POSTS
from cadenza.queues import reorder, store
from cadenza.queues.assign_slots import ALL, assign_slots, entries
from cadenza.queues.clear import clear
from cadenza.queues.show import View
from cadenza.sql.tx import Row, Tx
from tests.queues import model
from tests.queues.conftest import ADA, HOME, Desk
from tests.queues.linear import Done, Verdict, find_order, tell
from tests.queues.record import Recorder, screen

SEEDS = range(12)
PEOPLE = ("ada", "ben", "cy")
ACTS = 12  # of each person
FIRST = 6  # posts that are there when they begin
MINUTES = 55  # that pass meanwhile: nothing is late by an hour
UNANSWERED = 0.06  # of all requests, at most


@dataclass
class OpenConnections:
    """People and publishers at one queue, all by one seed."""

    recorder: Recorder
    rng: random.Random
    screens: dict[str, tuple[int, list[str]]] = field(default_factory=dict[str, Any])
    acts: int = 0

    async def ask(self, who: str, operation: model.Operation) -> Any:
        hasty = self.rng.random() < UNANSWERED
        patience = self.rng.random() * 0.006 if hasty else None
        answer = await self.recorder.ask(who, operation, patience=patience)
        await asyncio.sleep(self.rng.random() * 0.003)
        return answer

    async def look(self, who: str) -> None:
        view = await self.ask(who, model.Look())
        if isinstance(view, View):
            revision, lines = screen(view)
            self.screens[who] = revision, [post for post, _, kind in lines if kind == "waits"]

    async def work(self, who: str) -> None:
        """Do one thing after the other, from a screen that may be old."""
        rng = self.rng
        for n in range(ACTS):
            self.acts += 1
            self.recorder.now = MINUTES * self.acts // (ACTS * len(PEOPLE))
            verb = rng.choice(("add", "add", "look", "order", "order", "top", "swap", "clear"))
            if verb == "order" and rng.random() < 0.7:
                await self.look(who)
            revision, posts = self.screens.get(who, (0, []))
            match verb:
                case "order" if len(posts) > 1:
                    order = tuple(rng.sample(posts, rng.randint(2, len(posts))))
                    await self.ask(who, model.Reorder(order, revision))
                case "top" if posts:
                    await self.ask(who, model.ToTop(rng.choice(posts)))
                case "swap" if len(posts) > 1:
                    one, other = rng.sample(posts, 2)
                    await self.ask(who, model.Swap((one, other)))
                case "clear" if self.recorder.clears and rng.random() < 0.6:
                    name = rng.choice(sorted(self.recorder.clears))
                    await self.ask(who, model.Undo(name, self.recorder.now))
                case "clear" if rng.random() < 0.5:
                    await self.ask(who, model.Clear(f"{who}-{n}", self.recorder.now))
                case "add":
                    await self.add(who, f"{who}{n}")
                case _:
                    await self.look(who)

    async def add(self, who: str, post: str) -> None:
        """Queue a post, perhaps one that was queued before; ask again if nobody answers."""
        known = sorted({p for _, posts in self.screens.values() for p in posts})
        if known and self.rng.random() < 0.15:
            post = self.rng.choice(known)
        to = self.rng.choice(("first_free", "end", "next"))
        requested = model.Add(post, to, self.recorder.now)
        if await self.ask(who, requested) is None:
            await self.ask(who, requested)

    async def publish(self, who: str) -> None:
        """Claim what is due; give it back, or ask for the permit and send it."""
        for n in count():
            if self.acts == ACTS * len(PEOPLE):
                return
            name = f"{who}-{n}"
            if not await self.ask(who, model.Claim(name, self.recorder.now)):
                await asyncio.sleep(self.rng.random() * 0.02)
                continue
            if self.rng.random() < 0.2:
                await self.ask(who, model.Release(name))
                continue
            for step in (model.Permit(name), model.Settle(name)):
                if await self.ask(who, step) is None:
                    await self.ask(who, step)

    async def meet(self) -> list[Done]:
        """Let them all at it at once, then look at what is left."""
        for n in range(FIRST):
            await self.recorder.ask("ada", model.Add(f"first{n}", "end", 0))
        async with asyncio.TaskGroup() as group:
            for who in PEOPLE:
                group.create_task(self.work(who))
            for who in ("w1", "w2"):
                group.create_task(self.publish(who))
        await self.recorder.ask("ada", model.Look())
        await self.recorder.close()
        return await self.recorder.history()


async def judge(recorder: Recorder, seed: int) -> tuple[list[Done], Verdict[model.Queue]]:
    await recorder.open()
    history = await OpenConnections(recorder, random.Random(seed)).meet()
    return history, find_order(history, model.Queue(), model.step)


async def test_what_a_crowd_was_told_has_an_order(desk: Desk) -> None:
    for seed in SEEDS:
        history, verdict = await judge(Recorder(desk, f"queue{seed}"), seed)
        assert verdict.holds, f"seed {seed}: {tell(verdict, history)}"


class BrowserReorders(Recorder):
    """Reorders as a browser would: reads all, deals out again, writes back what it computed."""

    async def reorder(self, posts: tuple[str, ...], revision: int) -> Any:
        def read(tx: Tx, _now: object) -> Any:
            queue = store.read(tx, workspace_id=HOME, account_id=self.account)
            return queue, list(entries(tx, queue, page=ALL))  # pyright: ignore[reportArgumentType]

        queue, line = await self.desk.operations.read(read)
        wanted = [entry for post in posts for entry in line if entry.post_id == post]
        held = sorted((entry.at, entry.wall_time) for entry in wanted)
        dealt = zip(wanted, held, strict=True)
        moves = [(entry, at, wall) for entry, (at, wall) in dealt if at != entry.at]

        def write(tx: Tx, now: Any, **_words: Any) -> Any:
            moved = tuple(assign_slots(tx, now, queue, moves, by=ADA, why="a mistake"))
            return reorder.Reordered(moved, (), store.rise(tx, now, queue))

        try:
            return await self._run(write, 0)
        except Exception:  # noqa: BLE001 - the key of slots saw it; each driver has its own
            return await super().reorder(posts, revision)


class ClearsAll(Recorder):
    """Clears what workers hold as well."""

    async def clear(self, now: int) -> Any:
        waiting = "state IN ('draft', 'scheduled')"
        all_of_them = "state IN ('draft', 'scheduled', 'sending')"
        read = f"{waiting} AND leased_until IS NULL\n"
        written = f"leased_until IS NULL AND {POSTS} AND {waiting}"
        met = 0

        def run(tx: Tx, at: Any, **named: Any) -> Any:
            def execute(sql: str, params: Mapping[str, Any]) -> tuple[list[Row], int]:
                nonlocal met
                met += (read in sql) + (written in sql)
                mistaken = sql.replace(read, all_of_them).replace(written, all_of_them)
                return tx._execute(mistaken, params)

            return clear(Tx(tx.dialect, execute, tx._ids), at, **named)

        answer = await self._run(run, now, account_id=self.account)
        assert met == 2, "the words of the product have changed: plant the mistake again"
        return answer


@pytest.mark.parametrize("mistaken", [BrowserReorders, ClearsAll])
async def test_a_mistake_leaves_no_order(desk: Desk, mistaken: type[Recorder]) -> None:
    for seed in range(40):
        try:
            history, verdict = await judge(mistaken(desk, f"queue{seed}"), seed)
        except ExceptionGroup:
            continue  # a key of the database saw it; here it is to be seen without
        if not verdict.holds:
            assert "it was told" in tell(verdict, history)
            return
    pytest.fail("40 crowds did not notice it")


# The search itself, on histories of a register.


def register(value: int, operation: tuple[str, int]) -> list[tuple[Any, int]]:
    verb, new = operation
    return [("done", new)] if verb == "write" else [(value, value)]


def holds(*events: Done) -> bool:
    return find_order(events, 0, register).holds


WRITE_1, WRITE_2, READ = ("write", 1), ("write", 2), ("read", 0)


def test_overlapping_calls_may_have_happened_in_either_order() -> None:
    write = Done("ada", WRITE_1, 0.0, 4.0, "done")
    assert holds(write, Done("ben", READ, 1.0, 2.0, 0))
    assert holds(write, Done("ben", READ, 1.0, 2.0, 1))
    assert holds(write, Done("ben", READ, 1.0, 2.0, 0), Done("ben", READ, 2.5, 3.0, 1))
    assert not holds(write, Done("ben", READ, 1.0, 2.0, 1), Done("ben", READ, 2.5, 3.0, 0))


def test_what_was_answered_before_a_call_came_before_it() -> None:
    write = Done("ada", WRITE_1, 0.0, 1.0, "done")
    assert not holds(write, Done("ben", READ, 2.0, 3.0, 0))
    assert holds(write, Done("ben", READ, 2.0, 3.0, 1))


def test_what_got_no_answer_happened_or_did_not() -> None:
    lost = Done("ada", WRITE_1, 1.0)
    assert holds(lost, Done("ben", READ, 2.0, 3.0, 0))
    assert holds(lost, Done("ben", READ, 2.0, 3.0, 1))
    assert holds(lost, Done("ben", READ, 2.0, 3.0, 0), Done("ben", READ, 4.0, 5.0, 1))
    assert not holds(lost, Done("ben", READ, 2.0, 3.0, 1), Done("ben", READ, 4.0, 5.0, 0))


def test_nothing_happens_before_it_was_asked() -> None:
    assert not holds(Done("ben", READ, 0.0, 0.5, 1), Done("ada", WRITE_1, 1.0))


def test_a_broken_history_is_told_up_to_where_it_breaks() -> None:
    history = [
        Done("ada", WRITE_1, 0.0, 1.0, "done"),
        Done("ada", WRITE_2, 2.0, 3.0, "done"),
        Done("ben", READ, 4.0, 5.0, 1),
    ]
    told = tell(find_order(history, 0, register), history)
    assert "then it is 2" in told
    assert "ben: ('read', 0); right were 2; it was told 1" in told
