"""An error of our own before the call: a try like another, with a wait and an end, never a spin.

One behind the call, while its result is written, is an unconfirmed send.
"""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from cadenza.accounts.seal import CannotOpen
from cadenza.deliveries import request_permit, source
from cadenza.deliveries.permit import Answer, PermitRequest
from cadenza.deliveries.permit import permit as really_permit
from cadenza.deliveries.publish import Publisher
from cadenza.deliveries.settle import Result
from cadenza.deliveries.settle import settle as really_settle
from cadenza.sql.tx import Row, Tx
from tests.deliveries.conftest import Pipeline
from tests.deliveries.test_publish import until, working
from tests.providers.mastodon.fixtures import mastodon


async def until_put_off(pipeline: Pipeline, id_: str) -> Row:
    async with asyncio.timeout(30):
        while True:
            row = await pipeline.row("delivery", id_)
            if row["reason"] is not None and row["leased_until"] is None:
                return row
            await asyncio.sleep(0.02)


async def test_a_mistake_in_an_adapter_is_a_try_with_a_wait_and_an_end(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    def validate(*_: object) -> list[object]:
        raise ZeroDivisionError("a mistake in an adapter")

    async with mastodon() as (scene, _world), working(pipeline, scene):
        monkeypatch.setattr(type(scene.provider), "validate", validate)
        id_ = await pipeline.post()
        first = await until_put_off(pipeline, id_)
        assert (first["state"], first["attempts"], first["failures"]) == ("scheduled", 0, 1)
        assert first["due_at"] > first["created_at"]
        last = await pipeline.post("ben", retry_limit=0)
        failed = await until(pipeline, last, "failed")
        assert "ZeroDivisionError" in failed["reason"]
        assert scene.visible() == []


async def test_credentials_that_no_key_opens_hold_the_account_and_fail_nothing(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = 0

    def cannot(*_: object) -> Any:
        nonlocal opened
        opened += 1
        raise CannotOpen("no key 'k1' is at hand")

    async with mastodon() as (scene, _world), working(pipeline, scene):
        with monkeypatch.context() as broken:
            broken.setattr(Publisher, "_load", cannot)
            ids = [await pipeline.post(), await pipeline.post()]
            row = await until_put_off(pipeline, ids[0])
            assert (row["state"], row["attempts"], row["failures"]) == ("scheduled", 0, 0)
            lane = await pipeline.row("lane", "account:ada")
            assert lane["park_reason"] == "no key 'k1' is at hand"
            await asyncio.sleep(0.3)
            assert opened == 1, "what waits behind it is not looked at either"
        await pipeline.wait_out()
        for id_ in ids:
            await until(pipeline, id_, "sent")


async def test_content_that_is_mended_while_it_is_looked_at_goes_out_at_once(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The permit is stale by then: the delivery goes back, and no crash is counted."""
    async with mastodon() as (scene, _world):
        id_ = await pipeline.post(content='{"text":7}')
        requested = Publisher._refused_content

        async def mend_first(self: Publisher, *args: Any) -> Any:
            await pipeline.operations.run(
                lambda tx, _: tx.run(
                    "UPDATE delivery SET content = :content, revision = revision + 1 WHERE id = :id",
                    content='{"text":"mended"}',
                    id=id_,
                )
            )
            return await requested(self, *args)

        monkeypatch.setattr(Publisher, "_refused_content", mend_first)
        async with working(pipeline, scene), asyncio.timeout(3):  # less than the lease
            row = await until(pipeline, id_, "sent", "failed")
        assert (row["state"], row["crashes"]) == ("sent", 0)
        assert scene.visible() == ["mended"]


async def test_a_wish_that_cannot_be_answered_spoils_no_other(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = 0

    def permit(tx: Tx, now: datetime, requests: Sequence[PermitRequest]) -> list[Answer]:
        nonlocal together
        together = max(together, len(requests))
        if any(request.ticket.delivery.account_id == "ben" for request in requests):
            raise ZeroDivisionError("an account like no other")
        return really_permit(tx, now, requests)

    monkeypatch.setattr(request_permit, "permit", permit)
    async with mastodon() as (scene, _world):
        bad = await pipeline.post("ben")
        good = [await pipeline.post(name) for name in await crowd(pipeline, 8)]
        async with working(pipeline, scene):
            for id_ in good:
                row = await until(pipeline, id_, "sent")
                assert row["failures"] == 0
            assert (await until_put_off(pipeline, bad))["failures"] == 1
    assert together > 1


async def crowd(pipeline: Pipeline, count: int) -> list[str]:
    names = [f"friend-{n}" for n in range(count)]
    for name in names:
        await pipeline.connect(name)
    return names


async def test_a_result_that_cannot_be_written_becomes_unconfirmed_and_the_worker_goes_on(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken: list[str] = []

    def settle(tx: Tx, now: datetime, results: Sequence[Result]) -> list[bool]:
        if any(result.ticket.id in broken for result in results):
            raise ZeroDivisionError("a mistake in writing this one")
        return really_settle(tx, now, results)

    monkeypatch.setattr(source, "settle", settle)
    lease = timedelta(seconds=1)
    async with mastodon() as (scene, _world), working(pipeline, scene, lease) as (_, worker):
        broken.append(await pipeline.post(content='{"text":"broken"}', due=timedelta(seconds=0.5)))
        beside = await pipeline.post("ben", content='{"text":"beside"}', due=timedelta(seconds=0.5))
        await until(pipeline, beside, "sent")
        uncertain = await until(pipeline, broken[0], "unconfirmed", "failed")
        behind = await pipeline.post("ben", content='{"text":"behind"}')
        await until(pipeline, behind, "sent")
        assert uncertain["state"] == "unconfirmed"
        assert worker.meters.dropped == 1
        assert sorted(scene.visible()) == ["behind", "beside", "broken"]
