"""Writing as a person: the real Telethon against a stand-in that speaks Telegram's protocol."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import pytest

from cadenza.providers.base import AttemptContext
from cadenza.providers.http.policy import Policy
from cadenza.providers.http.redact import Secret
from cadenza.providers.http.request import Timeouts
from cadenza.providers.message import App, Tokens
from cadenza.providers.outcome import (
    Absent,
    CannotTell,
    Disconnected,
    Forbidden,
    Found,
    RecipientGone,
    Rejected,
    Sent,
    Transient,
    Unconfirmed,
)
from cadenza.providers.registry import all_connectors, all_providers
from cadenza.providers.telegram_person import PROVIDER, port
from cadenza.providers.telegram_person.publish import random_id
from tests.providers.contract import no_secret_in
from tests.providers.pictures import film, picture, png
from tests.providers.telegram_person.fixtures import made_ready, person, ready


async def test_a_message_goes_out_once_with_its_number() -> None:
    async with person() as (call, simulated):
        sent = await PROVIDER.publish(await made_ready(call))
        assert sent == Sent("100")
        assert [(each["text"], each["to"]) for each in simulated.sent] == [
            ("Good morning", "InputPeerUser")
        ]


@pytest.mark.parametrize(
    ("to", "kind", "url"),
    [
        ("@news", "InputPeerChannel", "https://t.me/news/100"),
        ("+49 151 1", "InputPeerUser", None),
        ("me", "InputPeerSelf", None),
    ],
)
async def test_chats_are_found_by_name_or_number(to: str, kind: str, url: str | None) -> None:
    async with person(to=to) as (call, simulated):
        assert PROVIDER.validate(call.message, call.account) == []
        assert await PROVIDER.publish(await made_ready(call)) == Sent("100", url)
        assert simulated.sent[0]["to"] == kind


async def test_nobody_of_that_name_is_the_recipients_end_alone() -> None:
    async with person(to="@nobody") as (call, simulated):
        assert isinstance(await ready(call), RecipientGone)
        assert simulated.sent == []


@pytest.mark.parametrize(
    ("item", "media"),
    [(picture(), "InputMediaUploadedPhoto"), (film(), "InputMediaUploadedDocument")],
)
async def test_a_file_goes_up_first_and_then_with_its_words(item: object, media: str) -> None:
    async with person("Look", media=(item,)) as (begun, simulated):  # pyright: ignore[reportArgumentType]
        call = await made_ready(begun)
        assert simulated.sent == []
        assert isinstance(await PROVIDER.publish(call), Sent)
        assert [(each["text"], each["media"]) for each in simulated.sent] == [("Look", media)]


async def test_a_file_has_time_by_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    quick = Timeouts(connect=10, read=0.5, total=60)
    async with person("Look", media=(picture(data=png() + bytes(500_000)),)) as (call, simulated):
        monkeypatch.setattr(port, "TIMES", quick)
        simulated.slow = 0.3  # for each of four pieces
        assert isinstance(await made_ready(call), AttemptContext)


async def test_the_next_part_answers_the_one_before() -> None:
    async with person("One", parts=("Two",)) as (begun, simulated):
        call = await made_ready(begun)
        first = await PROVIDER.publish(call)
        assert isinstance(first, Sent)
        second = replace(call, part=1, key="next", sent_parts=(first.remote_id or "",))
        assert isinstance(await PROVIDER.publish(second), Sent)
        assert [each["answers"] for each in simulated.sent] == [None, 100]


async def test_the_same_attempt_twice_is_one_message() -> None:
    async with person() as (begun, simulated):
        call = await made_ready(begun)
        assert isinstance(await PROVIDER.publish(call), Sent)
        again = await PROVIDER.publish(call)
        assert isinstance(again, Sent)
        assert again.remote_id is None
        assert len(simulated.sent) == 1
        found = await PROVIDER.find_out(call)
        assert isinstance(found, Found)
        assert found.remote_id == "100"


def test_an_id_is_of_one_account_attempt_and_part() -> None:
    seen: set[int] = set()
    for account in ("a", "b"):
        for key in ("k", "l"):
            for part in (0, 1):
                seen.add(_id(account, key, part))
    assert len(seen) == 8
    assert all(-(2**63) <= each < 2**63 and each for each in seen)


@pytest.mark.parametrize(("when", "shown"), [("before", 0), ("after", 1)])
async def test_a_line_that_breaks_in_the_call_is_unconfirmed_that_history_settles(
    when: str, shown: int
) -> None:
    async with person() as (begun, simulated):
        call = await made_ready(begun)
        simulated.hangs_up.append(when)
        assert isinstance(await PROVIDER.publish(call), Unconfirmed)
        assert len(simulated.sent) == shown
        found = await PROVIDER.find_out(call)
        assert isinstance(found, Found) if shown else found == Absent()
        again = await PROVIDER.publish(call)  # as the pipeline would, under the same key
        assert isinstance(again, Sent)
        assert len(simulated.sent) == 1


async def test_a_text_with_space_at_its_ends_is_known_again() -> None:
    async with person("\n Good  morning \n") as (begun, _):
        call = await made_ready(begun)
        assert isinstance(await PROVIDER.publish(call), Sent)
        assert isinstance(await PROVIDER.find_out(call), Found)


async def test_an_older_message_of_the_same_words_is_not_taken_for_ours() -> None:
    async with person() as (begun, _):
        call = await made_ready(begun)
        assert isinstance(await PROVIDER.publish(call), Sent)
        assert call.began_at is not None
        later = replace(call, began_at=call.began_at + timedelta(hours=1))
        assert await PROVIDER.find_out(later) == Absent()


async def test_a_server_that_is_away_costs_an_attempt_and_is_not_unconfirmed() -> None:
    async with person() as (begun, simulated):
        call = await made_ready(begun)
        session = simulated.session
    dead = replace(call, tokens=Tokens(access=Secret(session)))
    assert isinstance(await PROVIDER.publish(dead), Transient)
    assert isinstance(await PROVIDER.find_out(dead), CannotTell)


async def test_the_socket_comes_through_the_guarded_door() -> None:
    async with person() as (call, simulated):
        call.http._route.network._policy = Policy()
        call.http._route = replace(call.http._route, policy=Policy())
        assert isinstance(await PROVIDER.prepare(call), Transient)
        assert simulated.requested == []


async def test_a_session_that_was_ended_elsewhere_asks_to_sign_in() -> None:
    async with person() as (begun, simulated):
        call = await made_ready(begun)
        simulated.refusals.append((401, "SESSION_REVOKED"))
        assert isinstance(await PROVIDER.publish(call), Disconnected)
        assert isinstance(await PROVIDER.refresh(call), Disconnected)


async def test_without_the_extra_a_person_reads_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(port, "load", lambda: None)
    async with person() as (call, _):
        refused = await PROVIDER.prepare(call)
        assert isinstance(refused, Forbidden)
        assert "cadenza[telegram]" in refused.message
    assert "telegram_person" in all_providers()
    assert "telegram_person" in all_connectors()


async def test_without_an_app_nothing_is_sent() -> None:
    async with person() as (call, simulated):
        assert isinstance(await PROVIDER.prepare(replace(call, app=App(base_url=""))), Rejected)
        assert simulated.requested == []


async def test_no_secret_shows(caplog: pytest.LogCaptureFixture) -> None:
    async with person() as (begun, simulated):
        call = await made_ready(begun)
        simulated.refusals.append((400, "PEER_FLOOD"))
        outcome = await PROVIDER.publish(call)
        texts = [caplog.text, repr(outcome), repr(call), repr(dict(call.state))]
        no_secret_in(texts, [simulated.session, "canary-hash-of-our-app"])


@pytest.mark.parametrize(
    ("text", "to", "code"),
    [
        ("", "@ben", "empty"),
        ("x" * 4097, "@ben", "too_long"),
        ("Hi", "", "no_chat"),
        ("Hi", "-100", "chat"),
    ],
)
async def test_validate_tells_what_telegram_would_not_take(text: str, to: str, code: str) -> None:
    async with person(text, to=to) as (call, _):
        assert [each.code for each in PROVIDER.validate(call.message, call.account)] == [code]


async def test_what_validate_lets_through_telegram_takes() -> None:
    async with person("😀" * 4096) as (call, _):
        assert PROVIDER.validate(call.message, call.account) == []
        assert isinstance(await PROVIDER.publish(await made_ready(call)), Sent)


def _id(account: str, key: str, part: int) -> int:
    return random_id(
        SimpleNamespace(account=SimpleNamespace(id=account), key=key, part=part)  # pyright: ignore[reportArgumentType]
    )
