"""Every network with a page to sign in at, from the button to the account: what an HTTP API will do.

`begin` names the page; a browser goes there (the world's own page, over the wire) and comes back with
code and state; `complete` brings the accounts. The state comes back as it went, a code is bound to the
verifier where the network has PKCE, and a person who says no brings no code.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from cadenza.providers.connect import Connected, Connecting, Redirect
from cadenza.providers.http.outcome import Reply
from cadenza.providers.http.redact import Secret
from cadenza.providers.http.request import Request
from cadenza.providers.message import App
from cadenza.providers.outcome import Disconnected, Forbidden, Rejected
from cadenza.providers.registry import all_connectors
from tests.providers.facebook.fixtures import facebook
from tests.providers.instagram.fixtures import instagram
from tests.providers.linkedin.fixtures import linkedin
from tests.providers.mail_oauth.fixtures import mail_oauth
from tests.providers.mastodon.fixtures import mastodon
from tests.providers.threads.fixtures import threads
from tests.providers.x.fixtures import x

BACK = "https://cadenza.example/connect/back"
STATE = "a-state-that-nobody-guesses"
VERIFIER = "a-verifier-that-is-long-enough-to-be-one-0123456789"
Began = tuple[Connecting, Any]


def _connecting(scene: Any, app: App, **typed: str) -> Connecting:
    return Connecting(
        http=scene.http,
        app=app,
        now=scene.simulator.clock.now(),
        typed=dict(typed),
        redirect_uri=BACK,
        state=STATE,
        verifier=VERIFIER,
    )


@asynccontextmanager
async def _mastodon() -> AsyncGenerator[Began]:
    async with mastodon() as (scene, simulated):
        yield _connecting(scene, App(base_url=""), instance=simulated.url()), simulated


@asynccontextmanager
async def _x() -> AsyncGenerator[Began]:
    async with x() as (scene, simulated):
        client = simulated.add_app(BACK)
        app = App(
            base_url=simulated.url(),
            client_id=client.id,
            client_secret=Secret(client.secret or ""),
            options={"sign_in_url": simulated.url()},
        )
        yield _connecting(scene, app), simulated


@asynccontextmanager
async def _linkedin() -> AsyncGenerator[Began]:
    async with linkedin() as (scene, simulated):
        client = simulated.add_app(BACK)
        app = App(
            base_url=simulated.url(),
            client_id=client.id,
            client_secret=Secret(client.secret),
            options={"sign_in_url": simulated.url()},
        )
        yield _connecting(scene, app), simulated


@asynccontextmanager
async def _facebook() -> AsyncGenerator[Began]:
    async with facebook() as (scene, simulated):
        simulated.add_page("Ada's garden", "ada")
        app = replace(scene.app, options={**scene.app.options, "www": simulated.url()})
        yield _connecting(scene, app), simulated


@asynccontextmanager
async def _instagram() -> AsyncGenerator[Began]:
    async with instagram() as (scene, simulated):
        app = replace(scene.app, options={**scene.app.options, "www": simulated.url()})
        yield _connecting(scene, app), simulated


@asynccontextmanager
async def _instagram_by_facebook() -> AsyncGenerator[Began]:
    async with instagram(by_facebook=True) as (scene, simulated):
        app = replace(scene.app, options={**scene.app.options, "www": simulated.url("facebook")})
        yield _connecting(scene, app), simulated


@asynccontextmanager
async def _threads() -> AsyncGenerator[Began]:
    async with threads() as (scene, simulated):
        app = replace(scene.app, options={**scene.app.options, "www": simulated.url()})
        yield _connecting(scene, app), simulated


@asynccontextmanager
async def _mail(name: str) -> AsyncGenerator[Began]:
    async with mail_oauth(name) as (scene, simulated):
        simulated.add_app(BACK)
        client = next(reversed(simulated.clients.values()))
        app = replace(scene.app, client_id=client.id, client_secret=Secret(client.secret))
        yield _connecting(scene, app), simulated


Stage = Callable[[], AbstractAsyncContextManager[Began]]
STAGES: dict[str, tuple[str, Stage]] = {
    "mastodon": ("mastodon", _mastodon),
    "x": ("x", _x),
    "linkedin": ("linkedin", _linkedin),
    "facebook": ("facebook", _facebook),
    "instagram": ("instagram", _instagram),
    "instagram by facebook": ("instagram", _instagram_by_facebook),
    "threads": ("threads", _threads),
    "google_mail": ("google_mail", lambda: _mail("google_mail")),
    "microsoft_mail": ("microsoft_mail", lambda: _mail("microsoft_mail")),
}
PKCE = ("mastodon", "x", "google_mail", "microsoft_mail")  # the networks that check a verifier


async def _browse(connecting: Connecting, url: str) -> dict[str, str]:
    """Go to the page as a browser would, and read where it sends us back to."""
    reply = await connecting.http.send(Request("GET", url))
    assert isinstance(reply, Reply)
    assert reply.status == 302, reply
    place = reply.header("location") or ""
    assert place.startswith(f"{BACK}?")
    return {name: values[0] for name, values in parse_qs(urlsplit(place).query).items()}


async def _begun(name: str, connecting: Connecting) -> Redirect:
    begun = await all_connectors()[name].begin(connecting)
    assert isinstance(begun, Redirect), begun
    return begun


@pytest.mark.parametrize("case", STAGES)
async def test_a_person_goes_there_and_comes_back_with_an_account(case: str) -> None:
    name, shared = STAGES[case]
    async with shared() as (connecting, _):
        begun = await _begun(name, connecting)
        brought = await _browse(connecting, begun.url)
        assert brought["state"] == STATE
        connected = await all_connectors()[name].complete(
            connecting, begun.keep, Secret(brought["code"])
        )
        assert isinstance(connected, tuple), connected
        assert all(isinstance(each, Connected) for each in connected)
        assert len({each.remote_id for each in connected}) == len(connected) >= 1
        assert brought["code"] not in repr(connected)
        again = await all_connectors()[name].complete(
            connecting, begun.keep, Secret(brought["code"])
        )
        assert isinstance(again, Disconnected | Rejected | Forbidden)


async def test_one_sign_in_brings_every_page() -> None:
    async with _facebook() as (connecting, _):
        begun = await _begun("facebook", connecting)
        brought = await _browse(connecting, begun.url)
        pages = await all_connectors()["facebook"].complete(
            connecting, begun.keep, Secret(brought["code"])
        )
        assert isinstance(pages, tuple)
        assert sorted(each.name for each in pages) == ["Ada's bakery", "Ada's garden"]


@pytest.mark.parametrize("case", STAGES)
async def test_who_says_no_comes_back_without_a_code(case: str) -> None:
    name, shared = STAGES[case]
    async with shared() as (connecting, simulated):
        simulated.refuses = True
        begun = await _begun(name, connecting)
        brought = await _browse(connecting, begun.url)
        assert brought["error"] == "access_denied"
        assert "code" not in brought


@pytest.mark.parametrize("name", PKCE)
async def test_a_code_without_its_verifier_is_worth_nothing(name: str) -> None:
    async with STAGES[name][1]() as (connecting, _):
        begun = await _begun(name, connecting)
        brought = await _browse(connecting, begun.url)
        stolen = {**begun.keep, "verifier": Secret("another-verifier-of-a-thief-0123456789-0123")}
        refused = await all_connectors()[name].complete(connecting, stolen, Secret(brought["code"]))
        assert isinstance(refused, Disconnected)


def test_every_network_with_a_page_is_played_here() -> None:
    typed_at_once = {
        *("bluesky", "discord", "slack", "smtp", "telegram", "unipile", "webhook"),
        "telegram_person",
    }
    assert {name for name, _ in STAGES.values()} == set(all_connectors()) - typed_at_once
