"""Many writers, one key: one of them inserts, the others are told which job it is."""

import asyncio
from collections import Counter

import asyncpg
import pytest

from cadenza.engine.job import NewJob, Unique
from cadenza.engine.stores.memory import MemoryStore
from cadenza.engine.stores.postgres import PostgresStore
from tests.races.conftest import EIGHT, Shared
from tests.races.hold import Holder

ONE = NewJob(task="greet", rule=Unique("ada"))


async def test_of_eight_processes_one_inserts_and_seven_are_told(shared: Shared) -> None:
    keys = [f"key-{number}" for number in range(40)]
    hands = shared.crew.all_do("insert_unique", keys=keys)
    for answers in zip(*hands, strict=True):
        outcomes = Counter(outcome for outcome, _ in answers)
        assert outcomes == {"inserted": 1, "existing": EIGHT - 1}
        assert len({id_ for _, id_ in answers}) == 1
    assert sum(tally.count for tally in await shared.store.tally()) == len(keys)


@pytest.mark.parametrize("commits", [True, False], ids=["commits", "rolls back"])
async def test_a_second_writer_waits_for_the_first_ones_end(
    postgres_database: str,
    pair: tuple[PostgresStore, PostgresStore],
    holder: Holder,
    *,
    commits: bool,
) -> None:
    first, second = pair
    connection = await asyncpg.connect(postgres_database)
    transaction = connection.transaction()
    await transaction.start()
    (early,) = await first.insert_on(connection, [ONE])
    late = asyncio.create_task(second.insert([ONE]))
    await holder.prove_waiting(1)
    await (transaction.commit() if commits else transaction.rollback())
    (answer,) = await late
    if commits:
        assert (answer.outcome, answer.id) == ("existing", early.id)
    else:
        assert answer.outcome == "inserted"
    await connection.close()


async def test_two_who_name_the_same_keys_in_another_order_do_not_block_each_other(
    postgres_database: str, pair: tuple[PostgresStore, PostgresStore], holder: Holder
) -> None:
    ada, ben = (NewJob(task="greet", rule=Unique(key)) for key in ("ada", "ben"))
    store, _ = pair
    early, late = [await asyncpg.connect(postgres_database) for _ in range(2)]
    async with early.transaction():
        await store.insert_on(early, [ada])
        crossing = asyncio.create_task(store.insert_on(late, [ben, ada]))
        await holder.prove_waiting(1)
        (answer,) = await store.insert_on(early, [ben])
        assert answer.inserted
    assert [one.outcome for one in await crossing] == ["existing", "existing"]
    await early.close()
    await late.close()


async def test_of_eight_tasks_of_one_process_one_inserts() -> None:
    store = MemoryStore()
    answers = [one for (one,) in await asyncio.gather(*(store.insert([ONE]) for _ in range(8)))]
    assert Counter(answer.outcome for answer in answers) == {"inserted": 1, "existing": 7}
    assert len({answer.id for answer in answers}) == 1
