"""A key that an uncommitted batch holds on MongoDB: nobody is answered with a job that may go away.

The winner and the loser are real stores; only the one write that commits is held back by a gate.
"""

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from cadenza.engine.job import Debounce, Enqueued, NewJob, Schedule, State, Throttle, Unique, While
from cadenza.engine.stores.mongo import MongoStore
from cadenza.engine.stores.mongo.commit import STILL, abort_batch
from cadenza.engine.stores.mongo.connection import MongoConnection
from cadenza.engine.stores.mongo.documents import ARRIVING
from cadenza.engine.stores.mongo.insert import insert_documents

ADA = NewJob(task="greet", rule=Unique("ada"))
DAILY = NewJob(task="greet", rule=Unique("schedule:daily", While.LIVE), schedule="daily")


class Gated:
    """A collection whose one write waits until it is let through."""

    def __init__(self, shelf: Any, write: str) -> None:
        self._shelf = shelf
        self._write = write
        self.reached, self.opened = asyncio.Event(), asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._shelf, name)
        if name != self._write:
            return real

        async def late(*args: Any, **options: Any) -> Any:
            self.reached.set()
            await self.opened.wait()
            return await real(*args, **options)

        return late


@pytest.fixture
async def stores(mongo_database: str) -> AsyncIterator[list[MongoStore]]:
    found = [MongoStore(mongo_database) for _ in range(2)]
    for store in found:
        await store.open()
    yield found
    for store in found:
        await store.close()


def hold_commits(store: MongoStore, *, of: str) -> Gated:
    shelf = getattr(ground_of(store), of)
    gate = Gated(shelf, "update_one" if of == "schedules" else "insert_one")
    setattr(ground_of(store), of, gate)
    return gate


def ground_of(store: MongoStore) -> MongoConnection:
    return store._connection


async def daily(store: MongoStore) -> datetime:
    due = await store.now()
    await store.put_schedule(Schedule(name="daily", task="greet", recurrence="{}", next_at=due))
    return due


async def fire(
    store: MongoStore, due: datetime, *, after: timedelta = timedelta(days=1)
) -> list[Enqueued] | None:
    return await store.fire(
        "daily", revision=0, expected=due, next_at=due + after, note=None, jobs=[DAILY]
    )


async def waiting(store: MongoStore) -> list[int]:
    assert await ground_of(store).jobs.count_documents({"state": ARRIVING}) == 0
    return [tally.count for tally in await store.tally() if tally.state is State.WAITING]


async def test_a_scheduler_that_stands_still_loses_the_occurrence_not_its_job(
    stores: list[MongoStore],
) -> None:
    slow, quick = stores
    due = await daily(slow)
    gate = hold_commits(slow, of="schedules")
    losing = asyncio.create_task(fire(slow, due))
    await gate.reached.wait()
    won = await fire(quick, due)
    assert won is not None
    assert [answer.outcome for answer in won] == ["inserted"]
    gate.opened.set()
    assert await losing is None
    assert await waiting(quick) == [1]
    (schedule,) = await quick.schedules()
    assert schedule.last_note == f"inserted job {won[0].id}"


async def test_a_scheduler_that_is_about_to_commit_is_waited_for(stores: list[MongoStore]) -> None:
    first, second = stores
    due = await daily(first)
    gate = hold_commits(first, of="schedules")
    winning = asyncio.create_task(fire(first, due))
    await gate.reached.wait()
    losing = asyncio.create_task(fire(second, due))
    await asyncio.sleep(STILL / 4)
    assert not losing.done(), "it must not answer with a job that may be withdrawn"
    gate.opened.set()
    won = await winning
    assert won is not None
    assert won[0].inserted
    assert await losing is None
    assert await waiting(second) == [1]


async def test_a_killed_scheduler_takes_no_occurrence_with_it(stores: list[MongoStore]) -> None:
    killed, alive = stores
    due = await daily(killed)
    gate = hold_commits(killed, of="schedules")
    dying = asyncio.create_task(fire(killed, due))
    await gate.reached.wait()
    dying.cancel()
    fired = await fire(alive, due)
    assert fired is not None
    assert fired[0].inserted
    assert await waiting(alive) == [1]


async def test_one_that_was_killed_after_its_commit_has_fired(stores: list[MongoStore]) -> None:
    killed, alive = stores
    due = await daily(killed)
    (laid,) = await insert_documents(ground_of(killed), [DAILY], batch=True, firing_of="daily")
    later = due + timedelta(days=1)
    moved = {"next_at": later, "last_at": due, "last_note": None, "firing": laid.id}
    await ground_of(killed).schedules.update_one({"_id": "daily"}, {"$set": moved})
    assert (await alive.insert([DAILY]))[0] == Enqueued("existing", laid.id, laid.run_at)
    assert await waiting(alive) == [1]


async def test_a_dropped_schedule_leaves_what_it_had_fired(stores: list[MongoStore]) -> None:
    killed, alive = stores
    await daily(killed)
    (laid,) = await insert_documents(ground_of(killed), [DAILY], batch=True, firing_of="daily")
    await ground_of(killed).schedules.update_one({"_id": "daily"}, {"$set": {"firing": laid.id}})
    assert await alive.drop_schedule("daily")
    assert await waiting(alive) == [1]


async def test_a_schedule_made_again_does_not_take_an_old_ones_firing(
    stores: list[MongoStore],
) -> None:
    slow, other = stores
    due = await daily(slow)
    gate = hold_commits(slow, of="schedules")
    firing = asyncio.create_task(fire(slow, due))
    await gate.reached.wait()
    await other.drop_schedule("daily")
    paper = await ground_of(other).jobs.find_one({"state": ARRIVING})
    assert paper is not None
    await abort_batch(ground_of(other), paper["batch"], firing_of="daily")
    again = Schedule(name="daily", task="greet", recurrence="{}", next_at=due)
    await other.put_schedule(again)
    gate.opened.set()
    fired = await firing
    assert fired is not None
    assert [job.id for job in await other.get([fired[0].id])] == [fired[0].id]


@pytest.mark.parametrize("rule", [Unique("ada"), Debounce("ada", timedelta())])
async def test_a_key_of_a_batch_that_died_is_free(
    stores: list[MongoStore], rule: Unique | Debounce
) -> None:
    await insert_documents(ground_of(stores[0]), [ADA, NewJob(task="greet")], batch=True)
    (answer,) = await stores[1].insert([NewJob(task="greet", rule=rule)])
    assert answer.outcome == "inserted"
    assert await waiting(stores[1]) == [1]


async def test_a_batch_that_was_called_off_begins_again(stores: list[MongoStore]) -> None:
    slow, quick = stores
    gate = hold_commits(slow, of="batches")
    throttled = NewJob(task="greet", rule=Throttle("ben", timedelta(hours=1)))
    late = asyncio.create_task(slow.insert([ADA, throttled, NewJob(task="greet")]))
    await gate.reached.wait()
    (won,) = await quick.insert([ADA])
    assert won.inserted
    gate.opened.set()
    ada, ben, plain = await late
    assert (ada.outcome, ada.id) == ("existing", won.id)
    assert (ben.outcome, plain.outcome) == ("inserted", "inserted")
    assert await waiting(quick) == [3]


async def test_two_batches_that_want_each_others_keys_both_end(stores: list[MongoStore]) -> None:
    keys = [f"key {n}" for n in range(20)]
    there = [NewJob(task="greet", rule=Unique(key)) for key in keys]
    answers = await asyncio.gather(stores[0].insert(there), stores[1].insert(there[::-1]))
    told = {answer.id for said in answers for answer in said}
    assert len(told) == len(keys)
    assert {job.id for job in await stores[0].get(list(told))} == told
    assert await waiting(stores[0]) == [len(keys)]
