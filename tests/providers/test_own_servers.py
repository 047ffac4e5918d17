"""Where people choose the server of their account, what stands before one server holds up no other's accounts."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Any

import pytest

from cadenza.demo.simulator.faults import Kind
from cadenza.demo.simulator.wire import Answer
from cadenza.providers.outcome import TryLater, WaitScope
from tests.providers.bluesky.fixtures import PUTS, bluesky
from tests.providers.contract import Scene, drive
from tests.providers.mastodon.fixtures import POSTS, mastodon
from tests.providers.pictures import picture
from tests.providers.unipile.fixtures import MESSAGES, unipile

Stage = Callable[[], AbstractAsyncContextManager[tuple[Scene, Any]]]
NETWORKS: dict[str, tuple[Stage, str]] = {
    "mastodon": (mastodon, POSTS),
    "mastodon's files": (lambda: mastodon(media=(picture(),)), "POST /api/v2/media"),
    "bluesky": (bluesky, PUTS),
    "unipile": (unipile, MESSAGES),
}
A_DAY = Answer(429, b"<html>slow down", (("retry-after", "86400"),))


@pytest.mark.parametrize("network", NETWORKS)
async def test_a_gateway_that_asks_for_a_day_parks_its_account_alone(network: str) -> None:
    shared, route = NETWORKS[network]
    async with shared() as (scene, simulated):
        simulated.faults.plan(Kind.ERROR_BEFORE, route, answer=A_DAY)
        ended = await drive(scene)
        (wait,) = [each for each in ended.trail if isinstance(each, TryLater)]
        assert (wait.reach, wait.wait) == (WaitScope.ACCOUNT, timedelta(days=1))
