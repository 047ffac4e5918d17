"""Once a pause is committed, nobody claims any more, whoever was in the middle of it."""

import asyncio
import time
from datetime import timedelta

import pytest

from cadenza.engine.job import NewJob, Scope
from tests.races.conftest import Shared

LEASE = timedelta(minutes=5)


@pytest.mark.parametrize("lane", [None, "ada"], ids=["plain", "lane"])
async def test_no_claim_begun_after_the_pause_brings_a_job(
    shared: Shared, lane: str | None
) -> None:
    await shared.store.insert([NewJob(task="greet", lane=lane) for _ in range(5000)])
    crew = shared.crew
    for number in range(len(crew)):
        crew.tell(number, "claim_until_told")
    while (await _waiting(shared)) > 4900:  # they are in full swing
        await asyncio.sleep(0)
    await shared.store.set_gate(Scope("default", lane), paused=True)
    paused = time.monotonic()
    left = await _waiting(shared)
    for _ in range(20):
        batch = await shared.store.claim("default", limit=9, worker="ada", lease=LEASE)
        assert batch.jobs == []
    for number in range(len(crew)):
        crew.tell(number, "stop")
    claims = [tuple(one) for hand in crew.hear_all() for one in hand]
    assert sum(count for _, count in claims) > 0
    assert [count for begun, count in claims if begun > paused and count] == []
    assert await _waiting(shared) == left > 0


async def _waiting(shared: Shared) -> int:
    return sum(t.count for t in await shared.store.tally() if t.state.value == "waiting")
