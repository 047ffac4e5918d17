"""A short page is no end of a list: networks filter after they cut, and say themselves if more follows."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from cadenza.demo.simulator.faults import Kind
from cadenza.demo.simulator.wire import say
from cadenza.providers.outcome import Absent, CannotTell
from tests.providers.contract import Scene
from tests.providers.linkedin.fixtures import linkedin
from tests.providers.threads.fixtures import threads
from tests.providers.x.fixtures import x

Opened = AbstractAsyncContextManager[tuple[Scene, Any]]
NEXT = {"links": [{"rel": "next", "href": "/rest/posts?start=50"}]}
ONE = [{"id": "1", "text": "Another thing", "created_at": "2099-01-01T00:00:00Z"}]
# How each is opened, its list, and how it says that more follows.
LISTS: dict[str, tuple[Callable[[], Opened], str, dict[str, Any]]] = {
    "linkedin": (
        lambda: linkedin(page=True),
        "GET /rest/posts",
        {"elements": [], "paging": NEXT},
    ),
    "threads": (
        threads,
        "GET /{version}/{account}/threads",
        {"data": [], "paging": {"next": "https://graph.threads.net/v1.0/1/threads?after=a"}},
    ),
    "x": (
        x,
        "GET /2/users/{id}/tweets",
        {"data": ONE, "meta": {"result_count": 1, "next_token": "n"}},
    ),
}


@pytest.mark.parametrize("name", LISTS)
async def test_a_list_that_goes_on_proves_no_absence(name: str) -> None:
    opens, route, page = LISTS[name]
    async with opens() as (scene, simulated):
        now = scene.simulator.clock.now()
        call = replace(scene.call(), state={"whole": "17841400000000000"}, key="k1")
        call = replace(call, began_at=now, now=now + timedelta(hours=2))
        simulated.faults.plan(Kind.ERROR_BEFORE, route, answer=say(200, page))
        assert isinstance(await scene.provider.find_out(call), CannotTell)
        assert await scene.provider.find_out(call) == Absent()  # when it ends
