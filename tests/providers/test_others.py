"""A post that is known to be another delivery's is never found in place of this one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any

import pytest

from cadenza.providers.outcome import Found, Sent
from tests.providers.contract import Scene, drive
from tests.providers.linkedin.fixtures import linkedin
from tests.providers.mastodon.fixtures import mastodon
from tests.providers.unipile.fixtures import unipile
from tests.providers.x.fixtures import x

Opened = AbstractAsyncContextManager[tuple[Scene, Any]]
SCENES: dict[str, Callable[[], Opened]] = {
    "linkedin": lambda: linkedin(page=True),
    "mastodon": mastodon,
    "unipile": lambda: unipile("message"),
    "x": x,
}


@pytest.mark.parametrize("name", SCENES)
async def test_another_deliverys_post_is_not_found(name: str) -> None:
    async with SCENES[name]() as (scene, _):
        began_at = scene.simulator.clock.now()
        ended = await drive(scene)
        assert isinstance(ended.outcome, Sent)
        assert ended.outcome.remote_id
        call = replace(scene.call(), key="k2", began_at=began_at)
        if name != "mastodon":  # which would post it under its key
            assert isinstance(await scene.provider.find_out(call), Found)
        others = frozenset({ended.outcome.remote_id})
        found = await scene.provider.find_out(replace(call, others=others))
        assert getattr(found, "remote_id", None) != ended.outcome.remote_id
