"""Signing in as a person: a number, a code, a password if there is one; nothing else is kept."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest

from cadenza.providers.base import Call
from cadenza.providers.connect import Ask, Connected, Connecting
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import Tokens
from cadenza.providers.outcome import Rejected
from cadenza.providers.telegram_person import CONNECTOR, auth
from tests.providers.telegram_person.stage import APP, person
from tests.providers.telegram_person.standin import CODE, PASSWORD, PHONE, Telegram


@asynccontextmanager
async def signing_in(
    monkeypatch: pytest.MonkeyPatch, *, phone: str = f"+{PHONE}"
) -> AsyncGenerator[tuple[Connecting, Telegram, Call]]:
    """Begin where a key with the server exists: the stand-in does not play its exchange."""
    async with person() as (call, world):
        world.signed_in = False
        monkeypatch.setattr(auth, "blank", lambda: Secret(world.session))
        typed: dict[str, str | Secret] = {"phone": phone, "chat": "@news"}
        yield (
            Connecting(http=call.http, app=APP, now=datetime.now(UTC), typed=typed),
            world,
            call,
        )


async def test_a_code_signs_a_person_in(monkeypatch: pytest.MonkeyPatch) -> None:
    async with signing_in(monkeypatch) as (connecting, _, _call):
        asked = await CONNECTOR.begin(connecting)
        assert isinstance(asked, Ask)
        assert [each.name for each in asked.fields] == ["code"]
        done = await CONNECTOR.complete(connecting, asked.keep, Secret(f" {CODE} "))
        assert isinstance(done, tuple)
        (ada,) = done
        assert isinstance(ada, Connected)
        assert (ada.remote_id, ada.handle, ada.settings) == ("41", "@ada", {"chat": "@news"})
        assert isinstance(ada.tokens, Tokens)
        assert CODE not in repr(ada)


async def test_a_password_is_asked_for_and_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    async with signing_in(monkeypatch) as (connecting, world, _call):
        world.has_password = True
        asked = await CONNECTOR.begin(connecting)
        assert isinstance(asked, Ask)
        more = await CONNECTOR.complete(connecting, asked.keep, Secret(CODE))
        assert isinstance(more, Ask)
        assert [each.name for each in more.fields] == ["password"]
        wrong = await CONNECTOR.complete(connecting, more.keep, Secret("wrong"))
        assert isinstance(wrong, Rejected)
        assert wrong.code == "PASSWORD_HASH_INVALID"
        done = await CONNECTOR.complete(connecting, more.keep, Secret(PASSWORD))
        assert isinstance(done, tuple)


async def test_a_wrong_code_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async with signing_in(monkeypatch) as (connecting, _, _call):
        asked = await CONNECTOR.begin(connecting)
        assert isinstance(asked, Ask)
        refused = await CONNECTOR.complete(connecting, asked.keep, Secret("11111"))
        assert isinstance(refused, Rejected)
        assert refused.code == "PHONE_CODE_INVALID"


@pytest.mark.parametrize("phone", ["", "Ada", "+1"])
async def test_what_is_no_number_is_told(monkeypatch: pytest.MonkeyPatch, phone: str) -> None:
    async with signing_in(monkeypatch, phone=phone) as (connecting, _, _call):
        refused = await CONNECTOR.begin(connecting)
        assert isinstance(refused, Rejected)
        assert refused.code == "PHONE_NUMBER_INVALID"
