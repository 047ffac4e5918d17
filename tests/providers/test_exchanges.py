"""What was said with each network can be read afterwards, and no secret is ever in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any

import pytest

from cadenza.demo.simulator.faults import Kind
from cadenza.providers.http.exchange import Exchange, ExchangeLog
from cadenza.providers.message import Tokens
from cadenza.providers.outcome import Sent
from cadenza.providers.registry import all_providers
from cadenza.providers.telegram_person import PROVIDER as PERSON
from tests.providers.bluesky.fixtures import bluesky
from tests.providers.contract import Scene, drive, no_secret_in, patient_client
from tests.providers.discord.test_publish import discord
from tests.providers.facebook.fixtures import facebook
from tests.providers.instagram.fixtures import instagram
from tests.providers.linkedin.fixtures import linkedin
from tests.providers.mail_oauth.fixtures import mail_oauth
from tests.providers.mastodon.fixtures import mastodon
from tests.providers.pictures import film, picture
from tests.providers.slack.test_publish import slack
from tests.providers.smtp.fixtures import mail_server
from tests.providers.telegram.fixtures import telegram
from tests.providers.telegram_person.fixtures import made_ready, person
from tests.providers.threads.fixtures import threads
from tests.providers.unipile.fixtures import unipile
from tests.providers.webhook.test_publish import webhook
from tests.providers.x.fixtures import x

TEXT = "Good morning, dear reader"
SCENES: dict[str, Callable[[], AbstractAsyncContextManager[tuple[Scene, Any]]]] = {
    "bluesky": lambda: bluesky(TEXT, media=(picture(),)),
    "discord": lambda: discord(TEXT, media=(picture(),)),
    "facebook": lambda: facebook(TEXT, media=(picture(),)),
    "google_mail": lambda: mail_oauth("google_mail", TEXT),
    "instagram": lambda: instagram(TEXT),
    "instagram by facebook": lambda: instagram(TEXT, by_facebook=True),
    "linkedin": lambda: linkedin(TEXT, media=(picture(),), refreshes=True),
    "mastodon": lambda: mastodon(TEXT, parts=("And good night",), media=(picture(),)),
    "microsoft_mail": lambda: mail_oauth("microsoft_mail", TEXT),
    "slack": lambda: slack(TEXT),
    "smtp": mail_server,
    "telegram": lambda: telegram(TEXT, media=(picture(),)),
    "threads": lambda: threads(TEXT, files=("sea.png",)),
    "unipile": lambda: unipile(text=TEXT),
    "webhook": lambda: webhook(TEXT),
    "x": lambda: x(TEXT, media=(film(),)),
}
MAIL = ("smtp", "google_mail", "microsoft_mail")  # of a mail only the size is kept
TROUBLES = (None, Kind.ERROR_AFTER, Kind.DROP_AFTER, Kind.HTML_AFTER, Kind.EXPIRE)


class Everything(ExchangeLog):
    """Keeps all of a long drive."""

    def __init__(self) -> None:
        super().__init__()
        self.all: list[Exchange] = []

    def add(self, exchange: Exchange) -> None:
        self.all.append(exchange)


def texts_of(exchanges: list[Exchange]) -> list[str]:
    return [json.dumps(each.as_data(), ensure_ascii=False) for each in exchanges]


def secrets_in(scene: Scene, simulated: Any) -> set[str]:
    """Gather whatever opens a door: what we were given, and what the network gave out since."""
    tokens: Tokens = scene.tokens
    given = [tokens.access, tokens.refresh, scene.app.client_secret, *tokens.extra.values()]
    found = {secret.reveal() for secret in given if secret}
    found |= {str(each) for each in getattr(simulated, "tokens", ())}
    addresses = {each for each in found if "://" in each}
    addresses |= {str(value) for value in scene.account.settings.values() if "/hook" in str(value)}
    return {each.split("://")[-1].partition("/")[2] for each in addresses} | (found - {""})


@pytest.mark.parametrize("trouble", TROUBLES, ids=str)
@pytest.mark.parametrize("name", SCENES)
async def test_no_secret_shows_in_what_is_kept(name: str, trouble: Kind | None) -> None:
    async with SCENES[name]() as (scene, simulated):
        notes = Everything()
        scene.http = scene.http.recording_to(notes)
        if trouble is not None:
            scene.simulated.faults.plan(trouble)
        await drive(scene)
        assert notes.all, "nothing was written down"
        secrets = secrets_in(scene, simulated)
        assert secrets
        no_secret_in(texts_of(notes.all), secrets)


def test_every_network_is_tried_here() -> None:
    tried = {name.partition(" ")[0] for name in SCENES} | {"telegram_person"}
    assert tried == set(all_providers())


@pytest.mark.parametrize("name", SCENES)
async def test_what_was_sent_and_what_came_back_can_be_read(name: str) -> None:
    async with SCENES[name]() as (scene, _world), patient_client(scene.simulated) as http:
        notes = Everything()
        scene.http = http.recording_to(notes)
        ended = await drive(scene)
        assert isinstance(ended.outcome, Sent)
        told = "\n".join(texts_of(notes.all))
        assert TEXT in told or name in MAIL, "the text that went out does not show"
        assert all(each.status is not None or each.message for each in notes.all)


async def test_a_person_on_telegram_leaves_no_session_in_what_is_kept() -> None:
    async with person(TEXT) as (call, simulated):
        notes = Everything()
        ready = await made_ready(replace(call, http=call.http.recording_to(notes)))
        assert isinstance(await PERSON.publish(ready), Sent)
        told = texts_of(notes.all)
        assert any("SendMessage" in each for each in told)
        no_secret_in(told, [simulated.session, "canary-hash-of-our-app"])
