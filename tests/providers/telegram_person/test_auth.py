"""Signing in as a person: a number, a code, a password if there is one; nothing else is kept."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from telethon import TelegramClient
from telethon.client import telegrambaseclient

from cadenza.core.clock import SystemClock
from cadenza.providers.base import AttemptContext
from cadenza.providers.connect import Ask, Connected, Connecting
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.policy import HostRule, Policy
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import Tokens
from cadenza.providers.outcome import Rejected, Sent
from cadenza.providers.telegram_person import CONNECTOR, PROVIDER, auth
from cadenza.providers.telegram_person.port import blank
from tests.providers.telegram_person.exchange import show_public_key
from tests.providers.telegram_person.fixtures import APP, made_ready, person
from tests.providers.telegram_person.standin import CODE, PASSWORD, PHONE, Telegram, telegram


@asynccontextmanager
async def signing_in(
    monkeypatch: pytest.MonkeyPatch, *, phone: str = f"+{PHONE}"
) -> AsyncGenerator[tuple[Connecting, Telegram, AttemptContext]]:
    """Begin where a key with the server exists already."""
    async with person() as (call, simulated):
        simulated.signed_in = False
        monkeypatch.setattr(auth, "blank", lambda: Secret(simulated.session))
        typed: dict[str, str | Secret] = {"phone": phone, "chat": "@news"}
        yield (
            Connecting(http=call.http, app=APP, now=datetime.now(UTC), typed=typed),
            simulated,
            call,
        )


async def test_a_code_signs_a_person_in(monkeypatch: pytest.MonkeyPatch) -> None:
    async with signing_in(monkeypatch) as (connecting, _, _call):
        requested = await CONNECTOR.begin(connecting)
        assert isinstance(requested, Ask)
        assert [each.name for each in requested.fields] == ["code"]
        done = await CONNECTOR.complete(connecting, requested.keep, Secret(f" {CODE} "))
        assert isinstance(done, tuple)
        (ada,) = done
        assert isinstance(ada, Connected)
        assert (ada.remote_id, ada.handle, ada.settings) == ("41", "@ada", {"chat": "@news"})
        assert isinstance(ada.tokens, Tokens)
        assert CODE not in repr(ada)


async def test_a_password_is_asked_for_and_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    async with signing_in(monkeypatch) as (connecting, simulated, _call):
        simulated.has_password = True
        requested = await CONNECTOR.begin(connecting)
        assert isinstance(requested, Ask)
        more = await CONNECTOR.complete(connecting, requested.keep, Secret(CODE))
        assert isinstance(more, Ask)
        assert [each.name for each in more.fields] == ["password"]
        wrong = await CONNECTOR.complete(connecting, more.keep, Secret("wrong"))
        assert isinstance(wrong, Rejected)
        assert wrong.code == "PASSWORD_HASH_INVALID"
        done = await CONNECTOR.complete(connecting, more.keep, Secret(PASSWORD))
        assert isinstance(done, tuple)


async def test_a_wrong_code_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async with signing_in(monkeypatch) as (connecting, _, _call):
        requested = await CONNECTOR.begin(connecting)
        assert isinstance(requested, Ask)
        refused = await CONNECTOR.complete(connecting, requested.keep, Secret("11111"))
        assert isinstance(refused, Rejected)
        assert refused.code == "PHONE_CODE_INVALID"


@pytest.mark.parametrize("phone", ["", "Ada", "+1"])
async def test_what_is_no_number_is_told(monkeypatch: pytest.MonkeyPatch, phone: str) -> None:
    async with signing_in(monkeypatch, phone=phone) as (connecting, _, _call):
        refused = await CONNECTOR.begin(connecting)
        assert isinstance(refused, Rejected)
        assert refused.code == "PHONE_NUMBER_INVALID"


async def test_a_number_of_another_data_centre_signs_in_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        TelegramClient, "_config", None
    )  # which centres there are, kept by the class
    show_public_key()
    async with telegram() as there, signing_in(monkeypatch) as (connecting, here, call):
        there.signed_in, here.lives_in = False, there
        rules = tuple(HostRule("127.0.0.1", simulated.port) for simulated in (here, there))
        async with OutboundClient(Policy(allow=rules), clock=SystemClock()) as http:
            requested = await CONNECTOR.begin(replace(connecting, http=http))
            assert isinstance(requested, Ask), requested
            done = await CONNECTOR.complete(
                replace(connecting, http=http), requested.keep, Secret(CODE)
            )
            assert isinstance(done, tuple)
            ready = await made_ready(replace(call, http=http, tokens=done[0].tokens))
            assert isinstance(await PROVIDER.publish(ready), Sent)
        assert [each["text"] for each in there.sent] == ["Good morning"]
        assert here.sent == []


async def test_somebody_new_agrees_on_a_key_first(monkeypatch: pytest.MonkeyPatch) -> None:
    show_public_key()
    async with signing_in(monkeypatch) as (connecting, simulated, _call):
        monkeypatch.setattr(auth, "blank", blank)
        monkeypatch.setattr(telegrambaseclient, "DEFAULT_IPV4_IP", "127.0.0.1")
        monkeypatch.setattr(telegrambaseclient, "DEFAULT_PORT", simulated.port)
        requested = await CONNECTOR.begin(connecting)
        assert isinstance(requested, Ask), requested
        assert len(simulated.keys) == 2
        done = await CONNECTOR.complete(connecting, requested.keep, Secret(CODE))
        assert isinstance(done, tuple)
