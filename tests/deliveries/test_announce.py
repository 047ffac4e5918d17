"""Every end that people want to hear of leaves word in the outbox, once."""

from datetime import timedelta

import pytest

from cadenza.deliveries.permit import PermitRequest, permit
from cadenza.deliveries.rescue import rescue
from tests.deliveries.conftest import Pipeline


async def told(pipeline: Pipeline) -> list[tuple[str, str]]:
    return [(row["kind"], row["subject_id"]) for row in await pipeline.rows("outbox")]


async def test_content_that_does_not_fit_is_told(pipeline: Pipeline) -> None:
    id_ = await pipeline.post()
    (ticket,) = await pipeline.claim()
    request = PermitRequest(ticket, "a1", 0, ("too long",))
    await pipeline.operations.run(lambda tx, now: permit(tx, now, [request]))
    assert await told(pipeline) == [("delivery.failed", id_)]


async def test_what_was_missed_is_told(pipeline: Pipeline) -> None:
    id_ = await pipeline.post(due=timedelta(hours=-3))
    (ticket,) = await pipeline.claim()
    await pipeline.permit(ticket)
    assert await told(pipeline) == [("delivery.missed", id_)]


@pytest.mark.parametrize(("permitted", "kind"), [(True, "unconfirmed"), (False, "failed")])
async def test_what_a_dead_worker_left_is_told(
    pipeline: Pipeline, permitted: bool, kind: str
) -> None:
    id_ = await pipeline.post()
    (ticket,) = await pipeline.claim(lease=timedelta())
    if permitted:
        await pipeline.permit(ticket)
    for _ in range(2):
        await pipeline.operations.run(lambda tx, now: rescue(tx, now, crash_limit=1))
    assert await told(pipeline) == [(f"delivery.{kind}", id_)]
