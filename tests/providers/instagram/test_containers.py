"""Containers that go bad or vanish: what will pass is made again, and a list that lags proves nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from cadenza.demo.networks.instagram import SimulatedInstagram
from cadenza.demo.networks.meta_model import envelope
from cadenza.demo.simulator.faults import Kind
from cadenza.providers.base import AttemptContext, StillPreparing
from cadenza.providers.outcome import CannotTell, Rejected, Sent, Transient
from tests.providers.contract import Scene, drive, judge, no_secret_in
from tests.providers.instagram.fixtures import CANARIES, CANARY, NODE, PUBLISH, instagram

# What a container's status may name though it will pass: none of it passes with the same container.
# The last is a number that no table knows.
PASSING = [
    *(2207001, 2207003, 2207020, 2207027, 2207032, 2207042, 2207053, 2207077, 2207082),
    2207999,
]


def _spoiling(
    simulated: SimulatedInstagram, error: object, times: int
) -> Callable[[str], Awaitable[None]]:
    """Let so many containers go bad."""

    async def before(step: str) -> None:
        for container in list(simulated.containers.values())[:times]:
            container.error = str(error)

    return before


@pytest.mark.parametrize("error", PASSING)
async def test_a_container_that_went_bad_for_a_moment_is_made_again(error: int) -> None:
    async with instagram(files=("waves.mp4",)) as (scene, simulated):
        scene.before = _spoiling(simulated, error, times=1)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent), ended.trail
        assert len(simulated.containers) == 2


@pytest.mark.parametrize("error", PASSING)
async def test_one_that_goes_bad_again_and_again_ends(error: int) -> None:
    async with instagram(files=("waves.mp4",)) as (scene, simulated):
        scene.before = _spoiling(simulated, error, times=999)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Transient)


@pytest.mark.parametrize(("times", "expected"), [(2, Sent), (3, Rejected)])
async def test_a_status_that_tells_of_a_file_gives_three_chances_too(
    times: int, expected: type[object]
) -> None:
    async with instagram(files=("waves.mp4",)) as (scene, simulated):
        scene.before = _spoiling(simulated, 2207052, times)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, expected), ended.trail
        assert ended.returned(Transient) == 0


async def test_a_token_in_a_status_is_not_passed_on() -> None:
    async with instagram(files=("waves.mp4",)) as (scene, simulated):
        scene.before = _spoiling(simulated, f"2207026 for {CANARY}", times=999)
        ended = await drive(scene)
        assert isinstance(ended.outcome, Rejected)
        no_secret_in([repr(ended)], CANARIES)


async def test_a_list_that_lags_is_not_taken_for_absence() -> None:
    async with instagram() as (scene, simulated):
        gone = envelope(24, "The requested resource does not exist", 2207006)
        simulated.faults.plan(Kind.ERROR_BEFORE, NODE, nth=2, times=99, answer=gone)
        simulated.faults.plan(Kind.RESET_AFTER, PUBLISH)
        simulated.lag = timedelta(minutes=2)
        ended = await drive(scene)
        judge(ended, scene)
        assert isinstance(ended.outcome, Sent), ended.trail


async def test_a_container_that_waits_for_its_bytes_is_not_waited_for_when_old() -> None:
    async with instagram(files=("waves.mp4",)) as (scene, simulated):
        item = replace(scene.message.media[0], url=None)
        scene.message = replace(scene.message, media=(item,))
        made = await scene.provider.prepare(_call(scene, {}))
        assert isinstance(made, StillPreparing)
        assert made.state["place"]
        scene.simulator.clock.advance(timedelta(hours=24))
        again = await scene.provider.prepare(_call(scene, made.state))
        assert isinstance(again, StillPreparing), again
        assert len(simulated.containers) == 2


async def test_a_rate_limit_met_while_looking_is_waited_out() -> None:
    async with instagram() as (scene, simulated):
        await drive(scene)
        simulated.faults.plan(Kind.ERROR_BEFORE, NODE, answer=envelope(80002, "Calls are used up"))
        call = _call(scene, {"part": 0, "whole": next(iter(simulated.containers))})
        found = await scene.provider.find_out(call)
        assert isinstance(found, CannotTell)
        assert found.again == timedelta(hours=1)


def _call(scene: Scene, state: Mapping[str, Any]) -> AttemptContext:
    now = scene.simulator.clock.now()
    return AttemptContext(
        account=scene.account,
        tokens=scene.tokens,
        app=scene.app,
        http=scene.http,
        now=now,
        message=scene.message,
        state=state,
        began_at=now - timedelta(minutes=2),
    )
