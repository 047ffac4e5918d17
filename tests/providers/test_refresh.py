"""Renewing tokens, network by network: every fault, and every row of the sign-in tables, over the wire.

Trouble on the way disconnects nobody. Only X's tokens are used up by the exchange, so there a lost answer
is `Unconfirmed`; elsewhere the same exchange may be made again and is.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest

from cadenza.demo.simulator.faults import Kind
from cadenza.demo.simulator.wire import say
from cadenza.providers.errors import Refusal, Table
from cadenza.providers.linkedin.errors import SIGN_IN as LINKEDIN
from cadenza.providers.linkedin.errors import SIGN_IN_CODES as LINKEDIN_CODES
from cadenza.providers.message import Tokens
from cadenza.providers.outcome import (
    Disconnected,
    Forbidden,
    Outcome,
    Transient,
    TryLater,
    Unconfirmed,
    WaitScope,
)
from cadenza.providers.x.errors import SIGN_IN as X
from tests.providers.bluesky.fixtures import bluesky
from tests.providers.contract import FAULTS, Scene, bare, fault_name
from tests.providers.facebook.fixtures import facebook
from tests.providers.instagram.fixtures import instagram
from tests.providers.linkedin.fixtures import linkedin
from tests.providers.threads.fixtures import threads
from tests.providers.x.fixtures import x

Stage = Callable[[], AbstractAsyncContextManager[tuple[Scene, Any]]]
A_DAY_OLD = timedelta(hours=25)  # Meta renews no younger token


@asynccontextmanager
async def _partner() -> AsyncGenerator[tuple[Scene, Any]]:
    async with linkedin(refreshes=True) as pair:
        yield pair


NETWORKS: dict[str, tuple[Stage, str]] = {
    "bluesky": (bluesky, "POST /xrpc/com.atproto.server.refreshSession"),
    "facebook": (facebook, "GET /{version}/oauth/access_token"),
    "facebook's page": (facebook, "GET /{version}/{node}"),
    "instagram": (instagram, "GET /refresh_access_token"),
    "linkedin": (_partner, "POST /oauth/v2/accessToken"),
    "threads": (threads, "GET /refresh_access_token"),
    "x": (x, "POST /2/oauth2/token"),
}
# Faults that leave no answer, though the exchange was made or may have been.
LOST = {
    *(Kind.DROP_BEFORE, Kind.RESET_AFTER, Kind.DROP_AFTER, Kind.SILENCE_AFTER, Kind.DELAY),
    *(Kind.TRUNCATE_AFTER, Kind.DRIP, Kind.HTML_AFTER),
}


# A proxy that repeats the exchange uses X's token up, and nobody can tell: that one is left out.
TROUBLE = [
    (network, kind, details)
    for network in NETWORKS
    for kind, details in FAULTS
    if kind is not Kind.EXPIRE and (network, kind) != ("x", Kind.TWICE)
]


@pytest.mark.parametrize(("network", "kind", "details"), TROUBLE, ids=fault_name)
async def test_trouble_on_the_way_disconnects_nobody(
    network: str, kind: Kind, details: dict[str, Any]
) -> None:
    shared, route = NETWORKS[network]
    async with shared() as (scene, simulated):
        scene.simulator.clock.advance(A_DAY_OLD)
        fault = simulated.faults.plan(kind, route, **details)
        first = await scene.provider.refresh(scene.call())
        assert fault.met
        lost = isinstance(first, Unconfirmed)
        assert isinstance(first, Tokens | Transient | TryLater) or (lost and network == "x")
        if lost:
            assert kind in LOST
        await scene.simulator.quiet()
        if network != "x" and not isinstance(first, Tokens):
            assert isinstance(await scene.provider.refresh(scene.call()), Tokens)


ROWS: list[tuple[int, str, Outcome]] = [
    (400, "invalid_client", Forbidden("", "invalid_client")),
    (401, "invalid_client", Forbidden("", "invalid_client")),
    (400, "unauthorized_client", Forbidden("", "unauthorized_client")),
    (400, "invalid_grant", Disconnected("", "")),
    (400, "something_new", Disconnected("", "")),
    (401, "access_denied", Disconnected("", "")),
    (429, "slow_down", TryLater(timedelta(), WaitScope.APP, "")),
    (500, "server_error", Transient("", out_of_order=True)),
    (503, "temporarily_unavailable", Transient("", out_of_order=True)),
]


@pytest.mark.parametrize("network", ["linkedin", "x"])
@pytest.mark.parametrize(("status", "word", "expected"), ROWS)
async def test_a_refused_exchange_means_what_its_row_says(
    status: int, word: str, expected: Outcome, network: str
) -> None:
    shared, route = NETWORKS[network]
    async with shared() as (scene, simulated):
        body = {"error": word, "error_description": "Words of the network"}
        simulated.faults.plan(Kind.ERROR_BEFORE, route, answer=say(status, body))
        said = await scene.provider.refresh(scene.call())
        assert type(said) is type(expected)
        if isinstance(expected, Forbidden):
            assert bare(said) == bare(expected)
        if isinstance(said, TryLater):
            assert said.reach is WaitScope.APP


@pytest.mark.parametrize("table", [LINKEDIN, X], ids=["linkedin", "x"])
def test_every_row_is_met_by_a_case(table: Table) -> None:
    met = [
        table.row(Refusal(status=status, code=word if word in LINKEDIN_CODES else None))
        for status, word, _ in ROWS
    ]
    assert [row for row in table.rows if row not in met] == []
