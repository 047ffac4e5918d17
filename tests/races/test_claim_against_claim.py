"""Two claimers never share a job, and neither waits for the other."""

import asyncio
from collections import Counter
from datetime import timedelta

from cadenza.engine.job import NewJob
from cadenza.engine.stores.memory import MemoryStore
from cadenza.engine.stores.postgres import PostgresStore
from tests.races.conftest import Shared
from tests.races.hold import Holder

LEASE = timedelta(minutes=5)
JOB = "SELECT * FROM cadenza.job WHERE id = $1"


async def test_eight_processes_never_share_a_job(shared: Shared) -> None:
    answers = await shared.store.insert([NewJob(task="greet") for _ in range(800)])
    claimed = Counter(id_ for hand in shared.crew.all_do("claim_all", limit=7) for id_, _ in hand)
    assert claimed == Counter(answer.id for answer in answers)


async def test_eight_processes_never_share_a_job_of_a_lane(shared: Shared) -> None:
    lanes = [f"lane-{number % 20}" for number in range(400)]
    answers = await shared.store.insert([NewJob(task="greet", lane=lane) for lane in lanes])
    claimed = Counter(id_ for hand in shared.crew.all_do("claim_all", limit=7) for id_, _ in hand)
    # A claimer leaves a lane that another one holds to him, so the last ones may be left over.
    rest = await shared.store.claim("default", limit=400, worker="ada", lease=LEASE)
    claimed += Counter(job.id for job in rest.jobs)
    assert claimed == Counter(answer.id for answer in answers)


async def test_no_two_processes_are_given_one_lease(shared: Shared) -> None:
    await shared.store.insert([NewJob(task="greet") for _ in range(400)])
    hands = shared.crew.all_do("claim_all", limit=3)
    leases = [{lease for _, lease in hand} for hand in hands]
    assert sum(map(len, leases)) == len(set().union(*leases))


async def test_a_claimer_passes_a_job_that_another_one_holds(
    pair: tuple[PostgresStore, PostgresStore], holder: Holder
) -> None:
    first, second = await pair[0].insert([NewJob(task="greet"), NewJob(task="greet")])
    async with holder.hold(JOB, first.id):
        async with asyncio.timeout(10):  # it does not wait: the row is held until after this block
            batch = await pair[1].claim("default", limit=1, worker="ben", lease=LEASE)
        assert [job.id for job in batch.jobs] == [second.id]
    batch = await pair[1].claim("default", limit=1, worker="ben", lease=LEASE)
    assert [job.id for job in batch.jobs] == [first.id]


async def test_eight_tasks_of_one_process_never_share_a_job() -> None:
    store = MemoryStore()
    answers = await store.insert([NewJob(task="greet") for _ in range(80)])
    batches = await asyncio.gather(
        *(store.claim("default", limit=10, worker=f"w{n}", lease=LEASE) for n in range(8))
    )
    claimed = Counter(job.id for batch in batches for job in batch.jobs)
    assert claimed == Counter(answer.id for answer in answers)
