"""Every end that people want to hear of leaves word in the outbox, once."""

from datetime import timedelta

import pytest

from cadenza.deliveries.permit import PermitRequest, permit
from cadenza.deliveries.rescue import rescue
from tests.deliveries.conftest import Road


async def told(road: Road) -> list[tuple[str, str]]:
    return [(row["kind"], row["subject_id"]) for row in await road.rows("outbox")]


async def test_content_that_does_not_fit_is_told(road: Road) -> None:
    id_ = await road.post()
    (ticket,) = await road.claim()
    request = PermitRequest(ticket, "a1", await road.epoch(ticket), 0, ("too long",))
    await road.operations.run(lambda tx, now: permit(tx, now, [request]))
    assert await told(road) == [("delivery.failed", id_)]


async def test_what_was_missed_is_told(road: Road) -> None:
    id_ = await road.post(due=timedelta(hours=-3))
    (ticket,) = await road.claim()
    await road.permit(ticket)
    assert await told(road) == [("delivery.missed", id_)]


@pytest.mark.parametrize(("permitted", "kind"), [(True, "unconfirmed"), (False, "failed")])
async def test_what_a_dead_worker_left_is_told(road: Road, permitted: bool, kind: str) -> None:
    id_ = await road.post()
    (ticket,) = await road.claim(lease=timedelta())
    if permitted:
        await road.permit(ticket)
    for _ in range(2):
        await road.operations.run(lambda tx, now: rescue(tx, now, crash_limit=1))
    assert await told(road) == [(f"delivery.{kind}", id_)]
