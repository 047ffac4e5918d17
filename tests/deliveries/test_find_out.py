"""Finding out by repeating the call: it may be the first to arrive, so what holds a permit holds it."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest

from cadenza.accounts.ask_reconnect import ask_reconnect
from cadenza.core.clock import SystemClock
from cadenza.core.ids import SeededChance
from cadenza.deliveries import lanes
from cadenza.deliveries.change import NotNow, decide_doubt
from cadenza.deliveries.installation import CLOCK, beat, hold
from cadenza.deliveries.permit import Permitted
from cadenza.deliveries.publish import Publisher, Sender
from cadenza.deliveries.reconcile import Reconciler
from cadenza.deliveries.source import DeliverySource
from cadenza.providers.outcome import Sent, Unconfirmed
from cadenza.providers.registry import all_providers
from cadenza.sql.tx import Row, Tx
from tests.deliveries.conftest import HOME, Road
from tests.deliveries.test_publish import NoFiles
from tests.providers.contract import Scene
from tests.providers.mastodon.stage import CANARY, mastodon

Act = Callable[[Tx, datetime], object]


@dataclass(slots=True)
class SkewedClock(SystemClock):
    """A worker's own clock, which is wrong."""

    skew: timedelta = timedelta()

    def now(self) -> datetime:
        return SystemClock.now(self) + self.skew


def reconciler(road: Road, scene: Scene, *, skew: timedelta = timedelta()) -> Reconciler:
    ids = itertools.count(1)

    def open_sender(_account: Row, _delivery: Row) -> Sender:
        return Sender(scene.provider, scene.account, scene.tokens, scene.app)

    publisher = Publisher(
        DeliverySource(road.operations),
        road.operations,
        open_sender=open_sender,
        http=scene.http,
        files=NoFiles(),
        clock=SkewedClock(skew),
        chance=SeededChance(1),
        new_id=lambda: f"attempt-{next(ids):06}",
    )
    return Reconciler(road.operations, publisher.find_out, clock=SystemClock())


async def in_doubt(road: Road, *, ago: timedelta = timedelta(minutes=2)) -> str:
    """Permit a post; its worker dies before a byte has left."""
    id_ = await road.post(content='{"text":"Good morning"}')
    (ticket,) = await road.claim()
    (permit,) = await road.permit(ticket)
    assert isinstance(permit, Permitted)
    await road.settle(ticket, Unconfirmed("its worker fell silent"), permit.attempt_id)
    await road.operations.run(
        lambda tx, now: tx.run(
            "UPDATE attempt SET began_at = :began, deadline_at = :deadline",
            began=now - ago,
            deadline=now - ago + timedelta(seconds=30),
        )
    )
    return id_


async def look(road: Road, looking: Reconciler) -> None:
    """Look at a doubt whatever it was put off for, twice: a process first watches it for a while."""
    for _ in range(2):
        await road.operations.run(
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
    lanes.pause(tx, workspace_id=HOME, lane_id="account:ada", reason="holiday")


def resume(tx: Tx, _now: datetime) -> None:
    lanes.resume(tx, workspace_id=HOME, lane_id="account:ada")


def sign_out(tx: Tx, now: datetime) -> None:
    ask_reconnect(tx, now, workspace_id=HOME, account_id="ada", says="signed out")


def suspend(tx: Tx, _now: datetime) -> None:
    tx.run("UPDATE account SET state = 'suspended' WHERE id = 'ada'")


def let_go(tx: Tx, _now: datetime) -> None:
    tx.run("UPDATE account SET state = 'disabled' WHERE id = 'ada'")


def connect(tx: Tx, _now: datetime) -> None:
    tx.run("UPDATE account SET state = 'connected' WHERE id = 'ada'")


def hold_all(tx: Tx, now: datetime) -> None:
    beat(tx, now)
    hold(tx, now, kind=CLOCK, says="the clock jumped")


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
    ],
    ids=["stop", "pause", "reconnect", "suspended", "gone", "hold", "unapproved", "too late"],
)
async def test_nothing_is_sent_to_find_out_while_sending_is_held(
    road: Road, shut: Act, opened: Act
) -> None:
    id_ = await in_doubt(road)
    async with mastodon() as (scene, _):
        looking = reconciler(road, scene)
        await road.operations.run(shut)
        await look(road, looking)
        held = await road.row("delivery", id_)
        assert scene.visible() == []
        assert (held["state"], bool(held["reason"])) == ("unconfirmed", True)

        await road.operations.run(opened)
        await look(road, looking)
        assert scene.visible() == ["Good morning"]
        assert (await road.row("delivery", id_))["state"] == "sent"


async def test_the_workers_clock_does_not_decide_whether_a_key_still_lives(road: Road) -> None:
    """The server forgot the key an hour after the call; a worker whose clock is slow must not send again."""
    await in_doubt(road, ago=timedelta(hours=2))
    async with mastodon() as (scene, _):
        looking = reconciler(road, scene, skew=timedelta(hours=-2))
        await look(road, looking)
        assert scene.visible() == []


async def test_silence_is_no_absence_while_a_repeat_may_still_arrive(road: Road) -> None:
    id_ = await in_doubt(road)
    fence = (await road.row("delivery", id_))["lease"]

    async def say_it_is_not_there() -> object:
        return await road.operations.run(
            lambda tx, now: decide_doubt(
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
            await look(road, reconciler(road, scene))
        assert scene.visible() == ["Good morning"]
    assert isinstance(answers[0], NotNow)


def test_adapters_that_repeat_to_find_out_say_so() -> None:
    repeating = {
        name
        for name, provider in all_providers().items()
        if provider.capabilities(provider.channels[0]).repeats
    }
    assert repeating == {"mastodon", "webhook"}


async def test_a_post_of_another_delivery_is_not_taken_for_this_one(road: Road) -> None:
    async with mastodon() as (scene, world):
        id_ = await in_doubt(road)
        # The same words went out by another delivery at that time, and its post is known.
        now = await road.operations.read(lambda _, now: now)
        status = world.post_by(CANARY, "Good morning", app="Cadenza")
        status.at = now - timedelta(minutes=2)
        other = await road.post(content='{"text":"Good morning"}')
        (ticket,) = await road.claim()
        (permit,) = await road.permit(ticket)
        assert isinstance(permit, Permitted)
        assert await road.settle(ticket, Sent(status.id), permit.attempt_id)
        await look(road, reconciler(road, scene))
        assert (await road.row("delivery", id_))["state"] == "sent"
        assert (await road.row("delivery", other))["state"] == "sent"
        assert scene.visible() == ["Good morning", "Good morning"]
