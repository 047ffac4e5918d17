"""Finding out by repeating the call: it may be the first to arrive, so what holds a permit holds it."""

import asyncio
import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from cadenza.accounts.require_reconnect import require_reconnect
from cadenza.core.clock import SystemClock
from cadenza.core.ids import SeededRandom
from cadenza.deliveries import lanes
from cadenza.deliveries.audit_limits import Worst, audit_limits
from cadenza.deliveries.change import NotNow, decide_unconfirmed
from cadenza.deliveries.installation import CLOCK, beat, hold
from cadenza.deliveries.model import ClaimedDelivery
from cadenza.deliveries.permit import SEND_TIMEOUT, Permitted, Refusal
from cadenza.deliveries.publish import Publisher, Sender
from cadenza.deliveries.reconcile import Reconciler
from cadenza.deliveries.source import DeliverySource
from cadenza.providers.outcome import Sent, Unconfirmed
from cadenza.providers.registry import all_providers
from cadenza.sql.tx import Tx
from tests.deliveries.conftest import HOME, Pipeline
from tests.deliveries.test_publish import NoFiles
from tests.providers.contract import Scene
from tests.providers.mastodon.fixtures import CANARY, mastodon

Act = Callable[[Tx, datetime], object]


@dataclass(slots=True)
class SkewedClock(SystemClock):
    """A worker's own clock, which is wrong."""

    skew: timedelta = timedelta()

    def now(self) -> datetime:
        return SystemClock.now(self) + self.skew


def reconciler(pipeline: Pipeline, scene: Scene, *, skew: timedelta = timedelta()) -> Reconciler:
    ids = itertools.count(1)

    def open_sender(_ticket: ClaimedDelivery) -> Sender:
        return Sender(scene.provider, scene.account, scene.tokens, scene.app)

    publisher = Publisher(
        DeliverySource(pipeline.operations),
        pipeline.operations,
        open_sender=open_sender,
        http=scene.http,
        files=NoFiles(),
        clock=SkewedClock(skew),
        rng=SeededRandom(1),
        new_id=lambda: f"attempt-{next(ids):06}",
    )
    return Reconciler(pipeline.operations, publisher.find_out, clock=SystemClock())


async def unconfirmed_send(pipeline: Pipeline, *, ago: timedelta = timedelta(minutes=2)) -> str:
    """Permit a post; its worker dies before a byte has left."""
    id_ = await pipeline.post(content='{"text":"Good morning"}')
    (ticket,) = await pipeline.claim()
    (permit,) = await pipeline.permit(ticket)
    assert isinstance(permit, Permitted)
    await pipeline.settle(ticket, Unconfirmed("its worker fell silent"), permit.attempt_id)
    await pipeline.operations.run(
        lambda tx, now: tx.run(
            "UPDATE attempt SET began_at = :began, deadline_at = :deadline",
            began=now - ago,
            deadline=now - ago + timedelta(seconds=30),
        )
    )
    return id_


async def look(pipeline: Pipeline, looking: Reconciler) -> None:
    """Look at an unconfirmed send whatever it was put off for, twice: a process first watches it for a while."""
    for _ in range(2):
        await pipeline.operations.run(
            lambda tx, now: tx.run(
                "UPDATE delivery SET look_at = :now WHERE state = 'unconfirmed'", now=now
            )
        )
        looking._watch._since = dict.fromkeys(looking._watch._since, -1000.0)
        await looking.run_once()


def stop(tx: Tx, now: datetime) -> None:
    tx.run("UPDATE workspace SET stopped_at = :now, stop_reason = 'storm'", now=now)


def start(tx: Tx, _now: datetime) -> None:
    tx.run("UPDATE workspace SET stopped_at = NULL, stop_reason = NULL")


def pause(tx: Tx, _now: datetime) -> None:
    lanes.pause(tx, workspace_id=HOME, scope="account:ada", reason="holiday")


def resume(tx: Tx, _now: datetime) -> None:
    lanes.resume(tx, workspace_id=HOME, scope="account:ada")


def sign_out(tx: Tx, now: datetime) -> None:
    require_reconnect(tx, now, workspace_id=HOME, account_id="ada", message="signed out")


def suspend(tx: Tx, _now: datetime) -> None:
    tx.run("UPDATE account SET state = 'suspended' WHERE id = 'ada'")


def let_go(tx: Tx, _now: datetime) -> None:
    tx.run("UPDATE account SET state = 'disabled' WHERE id = 'ada'")


def connect(tx: Tx, _now: datetime) -> None:
    tx.run("UPDATE account SET state = 'connected' WHERE id = 'ada'")


def hold_all(tx: Tx, now: datetime) -> None:
    beat(tx, now)
    hold(tx, now, kind=CLOCK, message="the clock jumped")


def release_all(tx: Tx, _now: datetime) -> None:
    tx.run("UPDATE installation SET held_at = NULL, hold_kind = NULL, hold_reason = NULL")


def void(tx: Tx, _now: datetime) -> None:
    tx.run("UPDATE delivery SET approved = :no", no=False)


def approve(tx: Tx, _now: datetime) -> None:
    tx.run("UPDATE delivery SET approved = :yes", yes=True)


def pass_by(tx: Tx, now: datetime) -> None:
    tx.run("UPDATE delivery SET not_after_at = :at", at=now - timedelta(seconds=1))


def allow(tx: Tx, _now: datetime) -> None:
    tx.run("UPDATE delivery SET not_after_at = NULL")


def close_hours(tx: Tx, now: datetime) -> None:
    berlin = now.astimezone(ZoneInfo("Europe/Berlin"))
    days = [(berlin.isoweekday() + 2) % 7]  # neither yesterday's nor today's
    hours = {"hours": {"post": {"start": "09:00", "end": "10:00", "days": days}}}
    tx.run("UPDATE account SET settings = :hours", hours=json.dumps(hours))


def open_hours(tx: Tx, _now: datetime) -> None:
    tx.run("UPDATE account SET settings = '{}'")


def suppress(tx: Tx, now: datetime) -> None:
    tx.run("UPDATE delivery SET recipient = 'cy@example.org'")
    tx.run(
        "INSERT INTO suppression (workspace_id, kind, value, reason, created_at)"
        " VALUES (:home, 'address', 'cy@example.org', 'unsubscribe', :now)",
        home=HOME,
        now=now,
    )


def ask_for_a_wait(tx: Tx, now: datetime) -> None:
    lanes.park(
        tx,
        now,
        workspace_id=HOME,
        lane_id="account:ada",
        until=now + timedelta(hours=1),
        reason="the network is out of order",
        by="outage",
    )


def end_the_wait(tx: Tx, _now: datetime) -> None:
    lanes.unpark(tx, accounts=[(HOME, "ada")], by=["outage"])


def unsuppress(tx: Tx, _now: datetime) -> None:
    tx.run("DELETE FROM suppression")


@pytest.mark.parametrize(
    ("shut", "opened"),
    [
        (stop, start),
        (pause, resume),
        (sign_out, connect),
        (suspend, connect),
        (let_go, connect),
        (hold_all, release_all),
        (void, approve),
        (pass_by, allow),
        (close_hours, open_hours),
        (suppress, unsuppress),
        (ask_for_a_wait, end_the_wait),
    ],
    ids=[
        *("stop", "pause", "reconnect", "suspended", "gone", "hold", "unapproved", "too late"),
        *("hours", "suppressed", "parked"),
    ],
)
async def test_nothing_is_sent_to_find_out_while_sending_is_held(
    pipeline: Pipeline, shut: Act, opened: Act
) -> None:
    id_ = await unconfirmed_send(pipeline)
    async with mastodon() as (scene, _):
        looking = reconciler(pipeline, scene)
        await pipeline.operations.run(shut)
        await look(pipeline, looking)
        held = await pipeline.row("delivery", id_)
        assert scene.visible() == []
        assert (held["state"], bool(held["reason"])) == ("unconfirmed", True)

        await pipeline.operations.run(opened)
        await look(pipeline, looking)
        assert scene.visible() == ["Good morning"]
        assert (await pipeline.row("delivery", id_))["state"] == "sent"


async def fill_gap(pipeline: Pipeline, seconds: float) -> datetime:
    """Let another call of the account have ended just now; return when the gap after it is over."""

    def arm(tx: Tx, now: datetime) -> datetime:
        free_at = now + timedelta(seconds=seconds)
        tx.run("UPDATE bucket SET free_at = :at WHERE kind = 'gap'", at=free_at)
        return free_at

    return await pipeline.operations.run(arm)


async def free_at(pipeline: Pipeline) -> datetime:
    return (await pipeline.rows("bucket"))[0]["free_at"]


async def test_a_repeat_waits_for_the_gap_and_keeps_the_next_call_away(pipeline: Pipeline) -> None:
    await pipeline.limit("ada", "post", "gap", 360)
    id_ = await unconfirmed_send(pipeline)
    over = await fill_gap(pipeline, 300)
    async with mastodon() as (scene, _):
        looking = reconciler(pipeline, scene)
        await look(pipeline, looking)
        assert scene.visible() == []
        row = await pipeline.row("delivery", id_)
        assert (row["state"], row["look_at"]) == ("unconfirmed", over)
        assert "6 min apart" in row["reason"]

        await fill_gap(pipeline, -1)
        before = await pipeline.operations.read(lambda _, now: now)
        await look(pipeline, looking)
        assert scene.visible() == ["Good morning"]
    assert (await pipeline.row("delivery", id_))["state"] == "sent"
    assert await free_at(pipeline) >= before + timedelta(seconds=360)


async def test_a_repeat_has_its_place_between_the_calls_of_a_busy_account(
    pipeline: Pipeline,
) -> None:
    """Else it would wait for ever behind posts that take each gap the moment it is over."""
    await pipeline.limit("ada", "post", "gap", 1)
    await unconfirmed_send(pipeline)
    over = await fill_gap(pipeline, 0.3)
    await pipeline.post(content='{"text":"The next"}')
    async with mastodon() as (scene, _):
        looking = reconciler(pipeline, scene)
        await look(pipeline, looking)
        (ticket,) = await pipeline.claim()
        (answer,) = await pipeline.permit(ticket)
        assert isinstance(answer, Refusal)
        assert answer.until == await free_at(pipeline) >= over + SEND_TIMEOUT + timedelta(seconds=1)

        while await pipeline.operations.read(lambda _, now: now) < over:
            await asyncio.sleep(0.01)
        await look(pipeline, looking)
        assert scene.visible() == ["Good morning"]


async def smallest_gap(pipeline: Pipeline, *, other_ended: timedelta) -> Worst:
    """Audit the gap, with a call of another post that began and ended so long ago."""

    def move(tx: Tx, now: datetime) -> None:
        at = now - other_ended
        tx.run(
            "UPDATE attempt SET began_at = :at, ended_at = :at, deadline_at = :until WHERE outcome = 'Sent'"
            " AND repeated_until IS NULL",
            at=at,
            until=at + timedelta(seconds=30),
        )
        tx.run(
            "UPDATE activity SET reserved_at = :at, settled_at = :at WHERE attempt_id IN"
            " (SELECT id FROM attempt WHERE began_at = :at)",
            at=at,
        )

    await pipeline.operations.run(move)
    (worst,) = (await pipeline.operations.read(audit_limits)).worst
    return worst


async def test_the_audit_of_limits_judges_a_repeat_as_a_call(pipeline: Pipeline) -> None:
    """And not the time in which nobody knew: other calls were made meanwhile, rightly."""
    await pipeline.limit("ada", "post", "gap", 360)
    await unconfirmed_send(pipeline, ago=timedelta(minutes=20))
    await pipeline.operations.run(
        lambda tx, now: tx.run(
            "UPDATE activity SET reserved_at = :at", at=now - timedelta(minutes=20)
        )
    )
    await fill_gap(pipeline, -1)
    await pipeline.post(content='{"text":"The next"}')
    (ticket,) = await pipeline.claim()
    (permit,) = await pipeline.permit(ticket)
    assert isinstance(permit, Permitted)
    await pipeline.settle(ticket, Sent("there"), permit.attempt_id)
    await fill_gap(pipeline, -1)
    async with mastodon() as (scene, _):
        await look(pipeline, reconciler(pipeline, scene))
        assert scene.visible() == ["Good morning"]
    assert not (await smallest_gap(pipeline, other_ended=timedelta(minutes=10))).broken
    assert (await smallest_gap(pipeline, other_ended=timedelta(minutes=1))).broken


async def test_a_repeat_takes_nothing_from_budgets_that_count(pipeline: Pipeline) -> None:
    await pipeline.limit("ada", "post", "day", 1)
    await unconfirmed_send(pipeline)
    async with mastodon() as (scene, _):
        await look(pipeline, reconciler(pipeline, scene))
        assert scene.visible() == ["Good morning"]
    assert [row["taken"] for row in await pipeline.rows("bucket")] == [1]


async def test_the_workers_clock_does_not_decide_whether_a_key_still_lives(
    pipeline: Pipeline,
) -> None:
    """The server forgot the key an hour after the call; a worker whose clock is slow must not send again."""
    await unconfirmed_send(pipeline, ago=timedelta(hours=2))
    async with mastodon() as (scene, _):
        looking = reconciler(pipeline, scene, skew=timedelta(hours=-2))
        await look(pipeline, looking)
        assert scene.visible() == []


async def test_silence_is_no_absence_while_a_repeat_may_still_arrive(pipeline: Pipeline) -> None:
    id_ = await unconfirmed_send(pipeline)
    fence = (await pipeline.row("delivery", id_))["lease"]

    async def say_it_is_not_there() -> object:
        return await pipeline.operations.run(
            lambda tx, now: decide_unconfirmed(
                tx, now, workspace_id=HOME, id=id_, fence=fence, is_there=False
            )
        )

    answers: list[object] = []
    async with mastodon() as (scene, _):
        before = type(scene.provider).find_out

        async def slowly(provider: object, call: object) -> object:
            answers.append(await say_it_is_not_there())
            return await before(provider, call)  # type: ignore[arg-type]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(scene.provider), "find_out", slowly)
            await look(pipeline, reconciler(pipeline, scene))
        assert scene.visible() == ["Good morning"]
    assert isinstance(answers[0], NotNow)


def test_adapters_that_repeat_to_find_out_say_so() -> None:
    repeating = {
        name
        for name, provider in all_providers().items()
        if provider.capabilities(provider.channels[0]).repeats
    }
    assert repeating == {"mastodon", "webhook"}


async def test_a_post_of_another_delivery_is_not_taken_for_this_one(pipeline: Pipeline) -> None:
    async with mastodon() as (scene, simulated):
        id_ = await unconfirmed_send(pipeline)
        # The same words went out by another delivery at that time, and its post is known.
        now = await pipeline.operations.read(lambda _, now: now)
        status = simulated.post_by(CANARY, "Good morning", app="Cadenza")
        status.at = now - timedelta(minutes=2)
        other = await pipeline.post(content='{"text":"Good morning"}')
        (ticket,) = await pipeline.claim()
        (permit,) = await pipeline.permit(ticket)
        assert isinstance(permit, Permitted)
        assert await pipeline.settle(ticket, Sent(status.id), permit.attempt_id)
        await look(pipeline, reconciler(pipeline, scene))
        assert (await pipeline.row("delivery", id_))["state"] == "sent"
        assert (await pipeline.row("delivery", other))["state"] == "sent"
        assert scene.visible() == ["Good morning", "Good morning"]
