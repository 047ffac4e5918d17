"""Ways in: one round trip for one job, COPY for many, a script where rules and lanes are involved."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cadenza.engine.errors import InvalidJob
from cadenza.engine.job import Debounce, NewJob, Unique
from cadenza.engine.stores.postgres import PostgresStore
from cadenza.engine.stores.postgres.store import COPY_FROM

LEASE = timedelta(seconds=30)
HOUR = timedelta(hours=1)


@pytest.fixture
async def store(postgres_database: str) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(postgres_database)
    await store.open()
    yield store
    await store.close()


async def count_statements(store: PostgresStore, jobs: list[NewJob]) -> int:
    """Insert, and count what went over the wire; not so soon that the bell rings separately."""
    await asyncio.sleep(0.05)
    seen: list[str] = []
    slots = store._database._slots
    held = [slot.connection for slot in slots if slot.connection is not None]

    def hear(said: Any) -> None:
        if said.query != "DISCARD PLANS":  # now and then, however much is inserted
            seen.append(said.query)

    for connection in held:
        connection.add_query_logger(hear)
    await store.insert(jobs)
    await asyncio.sleep(0.05)  # loggers are called by the event loop
    for connection in held:
        connection.remove_query_logger(hear)
    return len(seen)


async def test_one_job_costs_one_round_trip(store: PostgresStore) -> None:
    await store.insert([NewJob(task="greet")])
    assert await count_statements(store, [NewJob(task="greet")]) == 1


async def test_a_handful_of_jobs_costs_one_round_trip(store: PostgresStore) -> None:
    handful = [NewJob(task="greet")] * (COPY_FROM - 1)
    await store.insert(handful)
    assert await count_statements(store, handful) == 1


async def test_copied_jobs_are_answered_and_claimed_in_order(store: PostgresStore) -> None:
    answers = await store.insert([NewJob(task="greet", payload=f'{{"n":{n}}}') for n in range(200)])
    batch = await store.claim("default", limit=1_000, worker="ada", lease=LEASE)
    assert [job.id for job in batch.jobs] == [answer.id for answer in answers]
    assert [job.payload for job in batch.jobs] == [f'{{"n":{n}}}' for n in range(200)]


async def test_copied_jobs_keep_all_that_they_were_given(store: PostgresStore) -> None:
    at = datetime(2030, 1, 1, 12, tzinfo=UTC)
    job = NewJob(
        task="greet",
        payload='{"text":"tab\\there"}',
        queue="mail",
        priority=-3,
        run_at=at,
        tags=("spring", 'quoted "x"', "back\\slash", "{}", "NULL", ""),
        options='{"retries":3}',
        schedule="daily",
    )
    answers = await store.insert([job] * COPY_FROM)
    few = await store.insert([job])
    (copied,) = await store.get([answers[0].id])
    (inserted,) = await store.get([few[0].id])
    for shown in (copied, inserted):
        assert (shown.payload, shown.queue, shown.priority) == (job.payload, "mail", -3)
        assert (shown.run_at, shown.tags) == (at, job.tags)
        assert (shown.options, shown.schedule) == (job.options, "daily")


async def test_copied_jobs_that_are_not_due_wait(store: PostgresStore) -> None:
    await store.insert([NewJob(task="greet", delay=HOUR)] * COPY_FROM)
    batch = await store.claim("default", limit=10, worker="ada", lease=LEASE)
    assert batch.jobs == []
    assert batch.next_due is not None


async def test_rules_in_a_large_batch_answer_each_job_in_its_place(store: PostgresStore) -> None:
    plain = NewJob(task="plain")
    unique = NewJob(task="unique", rule=Unique("ada"))
    later = NewJob(task="later", rule=Debounce("ben", timedelta(seconds=9)))
    answers = await store.insert([plain, unique, later] * 40)
    assert [answer.outcome for answer in answers[:3]] == ["inserted"] * 3
    assert [answer.outcome for answer in answers[3:6]] == ["inserted", "existing", "debounced"]
    assert {answer.id for answer in answers[1::3]} == {answers[1].id}


async def test_a_schema_with_a_name_that_sql_would_misread_is_refused() -> None:
    with pytest.raises(InvalidJob, match="small letters"):
        PostgresStore("postgresql:///x", schema='jobs"; DROP')


async def test_two_schemas_in_one_database_know_nothing_of_each_other(
    postgres_database: str,
) -> None:
    first = PostgresStore(postgres_database, schema="first")
    second = PostgresStore(postgres_database, schema="second")
    await first.open()
    await second.open()
    await first.insert([NewJob(task="greet", lane="ada", rule=Unique("k"))])
    assert await second.tally() == []
    assert (await second.insert([NewJob(task="greet", rule=Unique("k"))]))[0].inserted
    await first.close()
    await second.close()


async def test_jobs_alike_keep_all_that_their_template_says(store: PostgresStore) -> None:
    at = datetime(2031, 5, 6, 7, 8, 9, 123456, tzinfo=UTC)
    template = NewJob(
        task="grüßen",
        queue="späte-post",
        priority=-3,
        run_at=at,
        tags=("ada", "bén"),
        options='{"retries":2}',
    )
    payloads = [f'{{"n":{n},"text":"żółw 🐢"}}' for n in range(COPY_FROM * 50)]
    answers = await store.insert_uniform(template, lambda: iter(payloads), len(payloads))
    jobs = await store.get([answer.id for answer in answers])
    assert [job.payload for job in jobs] == payloads
    kept = {(j.task, j.queue, j.priority, j.run_at, j.tags, j.options) for j in jobs}
    assert kept == {("grüßen", "späte-post", -3, at, ("ada", "bén"), '{"retries":2}')}
