"""Preparing that fails: each failure is a try, tries are bounded, and the end is told; what was made stays."""

import asyncio
import json
from datetime import datetime, timedelta

import pytest

from cadenza.core.channels import Channel
from cadenza.deliveries.change import retry
from cadenza.demo.simulator.faults import Kind
from cadenza.providers.outcome import NotReady, Transient, TryLater, WaitScope
from cadenza.sql.tx import Row
from tests.deliveries.conftest import HOME, Pipeline
from tests.deliveries.test_publish import NoFiles, until, working
from tests.providers.facebook.fixtures import FEED, PHOTOS, facebook
from tests.providers.pictures import png


async def fail_to_prepare(pipeline: Pipeline) -> None:
    """Claim what waits and let its preparing fail; it never comes to a call."""
    await _make_due(pipeline)
    (ticket,) = await pipeline.claim()
    assert await pipeline.settle(ticket, Transient("the upload broke off"), None)


async def wait_of(pipeline: Pipeline, id_: str) -> timedelta:
    due: datetime = (await pipeline.row("delivery", id_))["due_at"]
    return due - await pipeline.operations.read(lambda _, now: now)


async def test_preparing_that_keeps_failing_ends_and_is_told(pipeline: Pipeline) -> None:
    id_ = await pipeline.post(retry_limit=3)
    waits: list[timedelta] = []
    for _ in range(3):
        await fail_to_prepare(pipeline)
        waits.append(await wait_of(pipeline, id_))
    assert (await pipeline.row("delivery", id_))["state"] == "scheduled"
    assert waits == sorted(waits)
    assert waits[-1] > timedelta(seconds=15)

    await fail_to_prepare(pipeline)
    row = await pipeline.row("delivery", id_)
    assert (row["state"], row["attempts"], row["failures"]) == ("failed", 0, 4)
    assert [told["kind"] for told in await pipeline.rows("outbox")] == ["delivery.failed"]


async def test_a_retry_by_hand_begins_again(pipeline: Pipeline) -> None:
    id_ = await pipeline.post(retry_limit=0)
    await fail_to_prepare(pipeline)
    assert (await pipeline.row("delivery", id_))["state"] == "failed"
    await pipeline.operations.run(lambda tx, now: retry(tx, now, workspace_id=HOME, id=id_))
    assert (await pipeline.row("delivery", id_))["failures"] == 0


async def find_unready(pipeline: Pipeline, id_: str, *, hours: float = 0) -> Row:
    """Ask the network once more, so long after it was not ready for the first time."""
    await pipeline.operations.run(
        lambda tx, now: tx.run(
            "UPDATE delivery SET unready_at = :since WHERE unready_at IS NOT NULL",
            since=now - timedelta(hours=hours),
        )
    )
    await pipeline.wait_out()
    (ticket,) = await pipeline.claim()
    await pipeline.settle(ticket, NotReady(timedelta(minutes=1), "still converting"), None)
    return await pipeline.row("delivery", id_)


async def test_a_network_that_never_gets_ready_ends_in_a_failure(pipeline: Pipeline) -> None:
    id_ = await pipeline.post(retry_limit=1)
    for hours in (0, 1, 5.9):
        row = await find_unready(pipeline, id_, hours=hours)
        assert (row["state"], row["failures"]) == ("scheduled", 0), "it takes its time"
    row = await find_unready(pipeline, id_, hours=6.1)
    assert (row["state"], row["failures"]) == ("scheduled", 1)
    assert row["prepared"] is None, "it is made again"
    assert "still converting" in row["reason"]
    row = await find_unready(pipeline, id_)
    assert (row["state"], row["failures"]) == ("scheduled", 1), "with as much time as before"
    assert (await find_unready(pipeline, id_, hours=6.1))["state"] == "failed"


async def test_a_wait_beside_does_not_begin_its_patience_again(pipeline: Pipeline) -> None:
    id_ = await pipeline.post()
    since = (await find_unready(pipeline, id_))["unready_at"]
    for outcome, then in (
        (TryLater(timedelta(minutes=1), WaitScope.RECIPIENT, "slower"), since),
        (Transient("it stumbled"), None),
    ):
        await pipeline.wait_out()
        (ticket,) = await pipeline.claim()
        await pipeline.settle(ticket, outcome, None)
        assert (await pipeline.row("delivery", id_))["unready_at"] == then


THREE = [
    {"file": f"{name}.png", "kind": "image", "mime": "image/png", "size": len(png())}
    for name in ("a", "b", "c")
]


@pytest.mark.parametrize(("route", "nth"), [(PHOTOS, 2), (PHOTOS, 3), (FEED, 1)])
async def test_what_was_made_before_a_failure_is_not_made_again(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch, route: str, nth: int
) -> None:
    async def read(*_: object) -> bytes:
        return png()

    monkeypatch.setattr(NoFiles, "read", read)
    async with facebook() as (scene, simulated), working(pipeline, scene):
        fault = simulated.faults.plan(Kind.ERROR_BEFORE, route, nth=nth, status=503)
        content = json.dumps({"text": "Three", "media": THREE})
        id_ = await pipeline.post(content=content, channel=Channel.FACEBOOK_PAGE)
        async with asyncio.timeout(30):
            while not (await pipeline.row("delivery", id_))["failures"]:
                await asyncio.sleep(0.02)
        assert fault.met
        await _make_due(pipeline)
        await until(pipeline, id_, "sent", "failed")
        assert scene.visible() == ["Three"]
        assert len(simulated.photos) == 3


async def _make_due(pipeline: Pipeline) -> None:
    await pipeline.operations.run(
        lambda tx, now: tx.run(
            "UPDATE delivery SET due_at = :now WHERE state = 'scheduled' AND due_at > :now", now=now
        )
    )
    await pipeline.operations.run(
        lambda tx, now: tx.run("UPDATE lane SET runnable_at = :now", now=now)
    )
