"""A refused token is renewed in the pipeline; a lost account holds its work until a person chooses."""

import asyncio
import itertools
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from cadenza.accounts.connect import reconnect
from cadenza.accounts.disconnect import disconnect
from cadenza.accounts.open import row_name
from cadenza.accounts.refresher import Refresher
from cadenza.accounts.seal import Keyring, load_keyring, seal_tokens
from cadenza.core.channels import Channel
from cadenza.core.clock import SystemClock
from cadenza.core.ids import SeededRandom
from cadenza.deliveries.cancel_account import Canceled, cancel_account
from cadenza.deliveries.claim import has_crashed
from cadenza.deliveries.open_sender import sender_opener
from cadenza.deliveries.publish import Publisher
from cadenza.deliveries.resume_plan import HeldDeliveries, NotConnected, find_stuck, reopen
from cadenza.deliveries.source import QUEUE, DeliverySource
from cadenza.demo.simulator.faults import Kind
from cadenza.engine.worker import Worker
from cadenza.providers.connect import Connected
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import Tokens
from cadenza.providers.outcome import Disconnected
from cadenza.queues.resume import ResumeChoice, Resumed, resume
from cadenza.sql.tx import Tx
from tests.deliveries.conftest import HOME, Pipeline
from tests.deliveries.test_publish import NoFiles, until
from tests.providers.contract import Scene
from tests.providers.facebook.fixtures import PHOTOS, facebook
from tests.providers.pictures import png
from tests.providers.x.fixtures import POSTS, x

TOKENS = "POST /2/oauth2/token"


@pytest.fixture
def ring(tmp_path: Path) -> Keyring:
    return load_keyring(tmp_path / "keys")


@asynccontextmanager
async def working(
    pipeline: Pipeline, scene: Scene, ring: Keyring, provider: str = "x"
) -> AsyncGenerator[None]:
    """Run the pipeline with Ada's own sealed tokens and a refresher."""
    await pipeline.operations.run(
        lambda tx, now: tx.run(
            """
            UPDATE account SET provider = :provider, remote_id = :remote_id, sealed = :sealed, token_issued_at = :now
            WHERE id = 'ada'
            """,
            provider=provider,
            remote_id=scene.account.remote_id,
            sealed=seal_tokens(ring, scene.tokens, row=row_name(HOME, "ada")),
            now=now,
        )
    )
    ids = itertools.count(1)
    of = {"provider_of": lambda _: scene.provider, "app_of": lambda _: scene.app}
    clock = SystemClock()
    source = DeliverySource(pipeline.operations)
    publisher = Publisher(
        source,
        pipeline.operations,
        open_sender=sender_opener(ring, **of),
        http=scene.http,
        files=NoFiles(),
        clock=clock,
        rng=SeededRandom(1),
        new_id=lambda: f"attempt-{next(ids):06}",
        refresher=Refresher(pipeline.operations, ring=ring, http=scene.http, clock=clock, **of),
    )
    lease = timedelta(seconds=5)
    worker = Worker(
        source, publisher, name="w1", queues=[QUEUE], clock=clock, lease=lease, poll=0.05
    )
    running = asyncio.create_task(worker.run())
    await worker.started.wait()
    try:
        yield
    finally:
        worker.stop()
        await running


async def wait_for_state(pipeline: Pipeline, state: str) -> None:
    async with asyncio.timeout(60):
        while (await pipeline.row("account", "ada"))["state"] != state:
            await asyncio.sleep(0.02)


async def test_a_refused_token_is_renewed_once_and_the_post_leaves_under_its_permit(
    pipeline: Pipeline, ring: Keyring
) -> None:
    async with x() as (scene, simulated), working(pipeline, scene, ring):
        simulated.faults.plan(Kind.EXPIRE, POSTS)
        id_ = await pipeline.post(channel=Channel.X, content='{"text":"Good morning"}')
        row = await until(pipeline, id_, "sent", "failed")
        assert (row["state"], row["attempts"]) == ("sent", 1)
        assert scene.visible() == ["Good morning"]
        assert sum(each.path == "/2/oauth2/token" for each in simulated.received) == 1
        assert (await pipeline.row("account", "ada"))["state"] == "connected"


async def test_preparing_goes_on_with_the_renewed_token_where_it_was(
    pipeline: Pipeline, ring: Keyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def read(*_: object) -> bytes:
        return png()

    monkeypatch.setattr(NoFiles, "read", read)
    file = {"file": "a.png", "kind": "image", "mime": "image/png", "size": len(png())}
    async with facebook() as (scene, simulated), working(pipeline, scene, ring, "facebook"):
        fault = simulated.faults.plan(Kind.EXPIRE, PHOTOS, nth=3)
        content = json.dumps({"text": "Three", "media": [file] * 3})
        id_ = await pipeline.post(channel=Channel.FACEBOOK_PAGE, content=content)
        row = await until(pipeline, id_, "sent", "failed")
        assert fault.met
        assert (row["state"], scene.visible()) == ("sent", ["Three"])
        assert len(simulated.photos) == 3


async def test_a_thread_goes_on_with_the_renewed_token(pipeline: Pipeline, ring: Keyring) -> None:
    async with x() as (scene, simulated), working(pipeline, scene, ring):
        simulated.faults.plan(Kind.EXPIRE, POSTS)
        content = '{"text":"one","parts":["two","three"]}'
        id_ = await pipeline.post(channel=Channel.X, content=content)
        await until(pipeline, id_, "sent", "failed")
        assert scene.visible() == ["one", "two", "three"]
        assert sum(each.path == "/2/oauth2/token" for each in simulated.received) == 1


async def test_trouble_at_renewing_parks_the_lane_and_disconnects_nobody(
    pipeline: Pipeline, ring: Keyring
) -> None:
    async with x() as (scene, simulated), working(pipeline, scene, ring):
        simulated.faults.plan(Kind.EXPIRE, POSTS)
        simulated.faults.plan(Kind.ERROR_BEFORE, TOKENS, status=503)
        id_ = await pipeline.post(channel=Channel.X, content='{"text":"Good morning"}')
        await wait_for_state(pipeline, "expiring")
        async with asyncio.timeout(60):
            while (row := await pipeline.row("delivery", id_))["deferrals"] == 0:
                await asyncio.sleep(0.02)
        assert (row["state"], row["attempts"]) == ("scheduled", 0)
        assert (await pipeline.row("lane", "account:ada"))["parked_until"] is not None
        assert await pipeline.rows("outbox") == []


async def test_tokens_that_cannot_be_renewed_hold_the_work_until_a_reconnect(
    pipeline: Pipeline, ring: Keyring
) -> None:
    async with x() as (scene, simulated), working(pipeline, scene, ring):
        simulated.tokens.clear()
        simulated.refreshes.clear()
        ids = [
            await pipeline.post(channel=Channel.X, content=f'{{"text":"post {n}"}}')
            for n in range(3)
        ]
        await wait_for_state(pipeline, "needs_reconnect")
        async with asyncio.timeout(60):
            while (await pipeline.row("lane", "account:ada"))["parked_by"] != "reconnect":
                await asyncio.sleep(0.02)
        kinds = [row["kind"] for row in await pipeline.rows("outbox")]
        assert kinds == ["account.needs_reconnect"]
        assert await ask_offer(pipeline) == NotConnected("needs_reconnect")

        fresh = simulated.issue(
            scene.account.remote_id, ("tweet.write", "tweet.read", "users.read")
        )
        await come_back(pipeline, ring, scene, fresh)
        held = await ask_offer(pipeline)
        assert isinstance(held, HeldDeliveries)
        assert sorted(held.held) == ids
        await asyncio.sleep(0.3)
        assert scene.visible() == [], "nothing floods out before somebody chose"

        plan = await choose(pipeline, ResumeChoice.SEND, timedelta(seconds=1))
        due = [move.now_at for move in plan.moved]
        assert [later - due[0] for later in due] == [timedelta(seconds=n) for n in range(3)]
        for id_ in ids:
            await until(pipeline, id_, "sent")
        assert sorted(scene.visible()) == ["post 0", "post 1", "post 2"]


async def come_back(pipeline: Pipeline, ring: Keyring, scene: Scene, access: str = "new") -> None:
    who = Connected(
        remote_id=scene.account.remote_id,
        handle="@ada",
        name="Ada",
        tokens=Tokens(access=Secret(access)),
    )
    await pipeline.operations.run(
        lambda tx, now: reconnect(
            tx, now, workspace_id=HOME, account_id="ada", connected=who, ring=ring
        )
    )


async def ask_offer(pipeline: Pipeline) -> HeldDeliveries | NotConnected:
    return await pipeline.operations.run(
        lambda tx, now: reopen(tx, now, workspace_id=HOME, account_id="ada")
    )


async def choose(
    pipeline: Pipeline, choice: ResumeChoice, spacing: timedelta = timedelta(minutes=5)
) -> Resumed:
    key: dict[str, Any] = {"workspace_id": HOME, "account_id": "ada", "by": "member:ada"}
    answer = await pipeline.operations.run(
        lambda tx, now: resume(tx, now, **key, choice=choice, spacing=spacing)
    )
    assert isinstance(answer, Resumed)
    return answer


async def lose(pipeline: Pipeline) -> None:
    (ticket,) = await pipeline.claim()
    await pipeline.settle(ticket, Disconnected("revoked"), None)


async def mend(pipeline: Pipeline) -> None:
    await pipeline.operations.run(
        lambda tx, _: tx.run("UPDATE account SET state = 'connected' WHERE id = 'ada'")
    )


async def test_what_is_held_can_go_back_to_drafts(pipeline: Pipeline) -> None:
    due = await pipeline.post()
    later = await pipeline.post(due=timedelta(hours=3))
    await lose(pipeline)
    await mend(pipeline)
    assert await pipeline.claim() == []
    assert await ask_offer(pipeline) == HeldDeliveries((due,))
    plan = await choose(pipeline, ResumeChoice.DRAFT)
    assert plan.taken_back == (due,)
    assert (await pipeline.row("delivery", due))["state"] == "draft"
    lane = await pipeline.row("lane", "account:ada")
    assert lane["parked_until"] is None
    assert lane["runnable_at"] == (await pipeline.row("delivery", later))["due_at"]


async def test_with_nothing_held_a_reconnect_opens_the_lane_at_once(pipeline: Pipeline) -> None:
    id_ = await pipeline.post()
    await lose(pipeline)
    await mend(pipeline)
    await pipeline.operations.run(
        lambda tx, now: tx.run(
            "UPDATE delivery SET due_at = :later WHERE id = :id",
            later=now + timedelta(hours=1),
            id=id_,
        )
    )
    assert await ask_offer(pipeline) == HeldDeliveries(())
    assert (await pipeline.row("lane", "account:ada"))["parked_until"] is None


async def test_a_posts_channels_that_were_due_together_leave_together(pipeline: Pipeline) -> None:
    now: datetime = await pipeline.operations.read(lambda _, now: now)
    await pipeline.post()
    await lose(pipeline)
    feed = await pipeline.post(post_id="p1", channel=Channel.INSTAGRAM_FEED)
    story = await pipeline.post(post_id="p1", channel=Channel.INSTAGRAM_STORY)
    other = await pipeline.post(post_id="p2")
    await pipeline.operations.run(
        lambda tx, _: tx.run(
            "UPDATE delivery SET due_at = :t WHERE post_id = 'p1'", t=now - timedelta(minutes=1)
        )
    )
    await mend(pipeline)
    plan = await choose(pipeline, ResumeChoice.SEND)
    assert len({move.now_at for move in plan.moved}) == 3
    due = [(await pipeline.row("delivery", id_))["due_at"] for id_ in (feed, story, other)]
    assert due[0] == due[1] != due[2]


async def test_what_is_due_after_a_reconnect_goes_while_the_rest_waits_for_a_choice(
    pipeline: Pipeline,
) -> None:
    held = await pipeline.post()
    await lose(pipeline)
    await mend(pipeline)
    assert await ask_offer(pipeline) == HeldDeliveries((held,))
    fresh = await pipeline.post()
    assert [ticket.id for ticket in await pipeline.claim()] == [fresh]
    lane = await pipeline.row("lane", "account:ada")
    assert (lane["parked_until"], lane["runnable_at"]) == (None, None)
    assert (await pipeline.row("delivery", held))["state"] == "scheduled"


async def test_a_crashed_job_that_waits_for_a_choice_is_not_taken(pipeline: Pipeline) -> None:
    held = await pipeline.post()
    await lose(pipeline)
    await mend(pipeline)
    await ask_offer(pipeline)
    await pipeline.operations.run(
        lambda tx, _: tx.run("UPDATE delivery SET crashes = 1 WHERE id = :id", id=held)
    )
    assert not await pipeline.operations.read(has_crashed)
    fresh = await pipeline.post()
    assert [ticket.id for ticket in await pipeline.claim()] == [fresh]


async def test_a_lane_that_waits_for_a_connected_account_is_found(pipeline: Pipeline) -> None:
    await pipeline.post()
    await lose(pipeline)
    assert await pipeline.operations.read(find_stuck) == []
    await mend(pipeline)
    assert await pipeline.operations.read(find_stuck) == [(HOME, "ada")]
    await ask_offer(pipeline)
    assert await pipeline.operations.read(find_stuck) == []


async def test_a_refusal_of_old_tokens_does_not_lose_a_fresh_connection(
    pipeline: Pipeline, ring: Keyring
) -> None:
    async with x() as (scene, _):
        id_ = await pipeline.post()
        (ticket,) = await pipeline.claim()
        before = await pipeline.operations.read(lambda _, now: now - timedelta(hours=1))
        used = structs.replace(ticket.account, token_issued_at=before)
        ticket = structs.replace(ticket, account=used)
        await pipeline.operations.run(
            lambda tx, _: tx.run(
                "UPDATE account SET remote_id = :r WHERE id = 'ada'", r=scene.account.remote_id
            )
        )
        await come_back(pipeline, ring, scene)
        await pipeline.settle(ticket, Disconnected("an old token"), None)
        assert (await pipeline.row("account", "ada"))["state"] == "connected"
        assert [ticket.id for ticket in await pipeline.claim()] == [id_]


async def test_an_account_that_goes_takes_its_planned_work_along_with_a_reason(
    pipeline: Pipeline,
) -> None:
    waiting = [await pipeline.post(due=timedelta(hours=n)) for n in range(1, 4)]
    draft = await pipeline.post(approved=False)
    bens = await pipeline.post("ben")
    in_hand_id = await pipeline.post()
    tickets = {ticket.id: ticket for ticket in await pipeline.claim()}

    async def go() -> Canceled:
        def leave(tx: Tx, now: datetime) -> Canceled:
            key = {"workspace_id": HOME, "account_id": "ada", "reason": "Ada left"}
            disconnect(tx, now, **key)
            return cancel_account(tx, now, **key)

        return await pipeline.operations.run(leave)

    assert await go() == Canceled(4, 1, 0)
    for id_ in (*waiting, draft):
        row = await pipeline.row("delivery", id_)
        assert (row["state"], row["reason"]) == ("canceled", "Ada left")
    await pipeline.permit(tickets[in_hand_id])
    assert (await pipeline.row("delivery", in_hand_id))["state"] == "canceled"
    assert await go() == Canceled(0, 0, 0)
    assert (await pipeline.row("delivery", bens))["state"] == "scheduled"
