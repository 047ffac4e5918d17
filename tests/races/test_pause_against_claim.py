"""Once a pause is committed, no claim that begins afterwards brings a job.

A claim that was under way when the pause was committed may still bring its job: it was the
earlier of the two, and its worker runs the job as it runs all that it held before the pause.
"""

import asyncio
import time
from datetime import timedelta

import pytest

from cadenza.engine.job import NewJob, Scope
from tests.races.conftest import Shared

LEASE = timedelta(minutes=5)
JOBS = 5000


@pytest.mark.parametrize("lane", [None, "ada"], ids=["plain", "lane"])
async def test_no_claim_begun_after_the_pause_brings_a_job(
    shared: Shared, lane: str | None
) -> None:
    await shared.store.insert([NewJob(task="greet", lane=lane) for _ in range(JOBS)])
    crew = shared.crew
    for number in range(len(crew)):
        crew.tell(number, "claim_until_told")
    while (await _waiting(shared)) > 4900:  # they are in full swing
        await asyncio.sleep(0)
    await shared.store.set_gate(Scope("default", lane), paused=True)
    paused = time.monotonic()
    for _ in range(20):
        batch = await shared.store.claim("default", limit=9, worker="ada", lease=LEASE)
        assert batch.jobs == []
    for number in range(len(crew)):
        crew.tell(number, "stop")
    claims = [tuple(one) for hand in crew.hear_all() for one in hand]
    taken = sum(count for _, count in claims)
    assert 0 < taken < JOBS
    assert [count for begun, count in claims if begun > paused and count] == []
    assert await _waiting(shared) == JOBS - taken


async def _waiting(shared: Shared) -> int:
    return sum(t.count for t in await shared.store.tally() if t.state.value == "waiting")
