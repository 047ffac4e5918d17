"""Mailboxes of Google and Microsoft: signed in to on their page, proven at the mail server, renewed by their rules."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from cadenza.demo.simulator.faults import Kind
from cadenza.demo.simulator.wire import say
from cadenza.providers.connect import Redirect
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import AccountRef, Tokens
from cadenza.providers.outcome import Disconnected, Forbidden, Rejected, Sent, Transient
from cadenza.providers.registry import all_connectors
from tests.providers.contract import drive, no_secret_in
from tests.providers.mail_oauth.fixtures import KINDS, mail_oauth


@pytest.mark.parametrize("name", KINDS)
async def test_who_signs_in_can_send_at_once(name: str) -> None:
    async with mail_oauth(name) as (scene, simulated):
        connected = await scene.sign_in(all_connectors()[name], from_name="Ada of the bakery")
        assert isinstance(connected, tuple), connected
        (ada,) = connected
        assert (ada.remote_id, ada.settings["auth"]) == ("ada@example.com", "oauth")
        assert ada.tokens.refresh is not None
        assert ada.tokens.expires_at == scene.simulator.clock.now() + timedelta(hours=1)
        assert simulated.sign_ins == 1, "the token was proven, once"
        scene.account = AccountRef(id="a1", remote_id=ada.remote_id, settings=ada.settings)
        scene.tokens = ada.tokens
        ended = await drive(scene)
        assert isinstance(ended.outcome, Sent)
        assert b"From: Ada of the bakery <ada@example.com>" in simulated.raw[0]
        no_secret_in([repr(connected), repr(ended)], [ada.tokens.access.reveal()])


@pytest.mark.parametrize("name", KINDS)
async def test_a_stolen_code_is_of_no_use_without_the_verifier(name: str) -> None:
    async with mail_oauth(name) as (scene, _):
        connector = all_connectors()[name]
        begun = await connector.begin(scene.connecting())
        assert isinstance(begun, Redirect)
        brought = await scene.browse(begun)
        stolen = {**begun.keep, "verifier": Secret("of somebody else" * 4)}
        refused = await connector.complete(scene.connecting(), stolen, Secret(brought["code"]))
        assert isinstance(refused, Disconnected)


@pytest.mark.parametrize("name", KINDS)
async def test_a_token_is_renewed_and_nothing_that_renews_is_lost(name: str) -> None:
    async with mail_oauth(name) as (scene, _):
        before = scene.tokens
        fresh = await scene.provider.refresh(scene.call())
        assert isinstance(fresh, Tokens)
        assert fresh.access.reveal() != before.access.reveal()
        assert fresh.refresh is not None
        assert before.refresh is not None
        same = fresh.refresh.reveal() == before.refresh.reveal()
        assert same == (name == "google_mail"), "Microsoft replaces it, Google keeps it"
        scene.tokens = fresh
        assert isinstance((await drive(scene)).outcome, Sent)


@pytest.mark.parametrize("name", KINDS)
async def test_access_that_was_taken_back_disconnects_and_trouble_does_not(name: str) -> None:
    async with mail_oauth(name) as (scene, simulated):
        route = next(r.name for r in simulated._routes if r.name.endswith("oken"))
        trouble = say(503, {"error": "temporarily_unavailable"})
        simulated.faults.plan(Kind.ERROR_BEFORE, route, answer=trouble)
        assert isinstance(await scene.provider.refresh(scene.call()), Transient)
        simulated.faults.plan(Kind.DROP_AFTER, route, times=9)
        assert isinstance(await scene.provider.refresh(scene.call()), Transient)
        simulated.faults.clear()
        simulated.take_back("ada@example.com")
        assert isinstance(await scene.provider.refresh(scene.call()), Disconnected)
        ended = await drive(scene)
        assert isinstance(ended.outcome, Disconnected), "the mail server refuses the token too"
        assert simulated.raw == []


async def test_an_app_that_is_not_known_is_our_fault_and_disconnects_nobody() -> None:
    async with mail_oauth() as (scene, _):
        scene.app = replace(scene.app, client_secret=Secret("wrong"))
        assert isinstance(await scene.provider.refresh(scene.call()), Forbidden)


async def test_without_anything_to_renew_with_nothing_is_connected() -> None:
    async with mail_oauth() as (scene, _):
        connector = all_connectors()["google_mail"]
        begun = await connector.begin(scene.connecting())
        assert isinstance(begun, Redirect)
        online = Redirect(
            begun.url.replace("access_type=offline", "access_type=online"), begun.keep
        )
        brought = await scene.browse(online)
        refused = await connector.complete(scene.connecting(), begun.keep, Secret(brought["code"]))
        assert isinstance(refused, Rejected)
        assert refused.code == "no_refresh_token"


async def test_a_mailbox_that_may_not_send_by_smtp_is_not_connected() -> None:
    async with mail_oauth("microsoft_mail") as (scene, simulated):
        simulated.faults.plan(
            Kind.ERROR_BEFORE,
            "SMTP AUTH",
            answer=say(
                535, "5.7.139 Authentication unsuccessful, SmtpClientAuthentication is disabled"
            ),
        )
        refused = await scene.sign_in(all_connectors()["microsoft_mail"])
        assert isinstance(refused, Disconnected)
