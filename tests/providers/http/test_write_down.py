"""What is written down of a request and its answer: enough to see what went wrong, never a key."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.core.clock import SystemClock
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.exchange import FIRST, LAST, Exchange, ExchangeLog, Step
from cadenza.providers.http.outcome import MayHaveArrived, NotSent, Reason, Reply
from cadenza.providers.http.policy import HostRule, Policy
from cadenza.providers.http.record import MOST, record, redacted
from cadenza.providers.http.redact import Secret
from cadenza.providers.http.request import File, Form, Json, Multipart, Request, Stream

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
CANARY = "canary-2b7f-that-nobody-may-read"
URL = "https://api.example.com/v1/posts"


def written(
    request: Request, reply: Reply | None = None, secrets: tuple[Secret, ...] = ()
) -> Exchange:
    return record(request, reply, began_at=NOON, seconds=0.25, secrets=secrets)


def answer(
    body: bytes | str, kind: str = "application/json", status: int = 200, **headers: str
) -> Reply:
    data = body.encode() if isinstance(body, str) else body
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status, {"content-type": kind, **named}, data, URL, 0.25)


def everything(exchange: Exchange) -> str:
    return json.dumps(exchange.as_data(), ensure_ascii=False)


def test_a_request_and_its_answer_can_be_read() -> None:
    request = Request(
        "POST", URL + "?limit=5", {"Accept": "application/json"}, Json({"text": "Hi"})
    )
    told = written(request, answer('{"id": "77"}', status=201, x_request_id="req-1"))
    assert told.method == "POST"
    assert told.place == URL + "?limit=5"
    assert told.headers == {"accept": "application/json"}
    assert json.loads(told.body or "") == {"text": "Hi"}
    assert told.status == 201
    assert told.reply_headers["x-request-id"] == "req-1"
    assert json.loads(told.reply or "") == {"id": "77"}
    assert told.message == ""


@pytest.mark.parametrize(
    "url",
    [
        f"https://api.telegram.org/bot5550001111:{CANARY}/sendMessage",
        f"https://discord.com/api/webhooks/123456789/{CANARY}",
        f"https://hooks.slack.com/services/T01/B02/{CANARY}",
        f"https://bucket.s3.example.com/up/a.png?X-Amz-Signature={CANARY}&X-Amz-Expires=60",
        f"https://graph.example.com/v26.0/me?access_token={CANARY}&fields=id",
        f"https://upload.example.com/put?unheard_of={CANARY}",
        f"https://ada:{CANARY}@example.com/v1",
        "https://upload.example.com/dms/D4E10AQGcanary9fJx0kQ2/0",
    ],
)
def test_an_address_shows_no_key_although_nobody_named_it(url: str) -> None:
    told = everything(written(Request("GET", url)))
    assert "anary" not in told
    assert url.split("/")[2].rsplit("@", maxsplit=1)[-1] in told  # the host does show
    inside = written(Request("POST", URL, body=Json({"picture": f"see {url} there"})))
    assert "anary" not in everything(inside)


def test_a_whole_address_that_is_a_secret_shows_its_host_alone() -> None:
    hook = "https://hooks.example.com/plain/words/only"
    told = written(Request("POST", hook + "?wait=true", secrets=(Secret(hook),)))
    assert told.place == "https://hooks.example.com/[secret]"


def test_headers_show_by_list_and_the_others_by_name() -> None:
    request = Request(
        "POST", URL, {"Authorization": Secret(f"Bearer {CANARY}"), "X-Odd": CANARY, "Accept": "*/*"}
    )
    told = written(request, answer("{}", set_cookie=CANARY, x_ratelimit_remaining="3"))
    assert told.headers == {"authorization": "[hidden]", "x-odd": "[hidden]", "accept": "*/*"}
    assert "set-cookie" not in told.reply_headers
    assert told.reply_headers["x-ratelimit-remaining"] == "3"


@pytest.mark.parametrize(
    "body",
    [
        Json({"text": "Hi", "inner": [{"refresh_token": CANARY}]}),
        Json({"text": "Hi", "anything": Secret(CANARY)}),
        Json({"text": f"Hi {CANARY}"}),
        Form({"text": "Hi", "client_secret": CANARY, "grant": Secret(CANARY)}),
        Form({"text": "Hi", "payload": json.dumps({"accessJwt": CANARY})}),
        Multipart({"file": File(CANARY.encode(), "sea.png", "image/png")}, {"password": CANARY}),
        json.dumps({"text": "Hi", "apiKey": CANARY}).encode(),
        f"text=Hi&token={CANARY}".encode(),
        CANARY.encode(),
    ],
    ids=str,
)
def test_credentials_in_a_body_are_hidden_by_name_by_kind_and_by_value(body: Any) -> None:
    kinds = ("application/json", "application/x-www-form-urlencoded", "image/png")
    for kind in kinds:
        request = Request("POST", URL, {"content-type": kind}, body, secrets=(Secret(CANARY),))
        assert CANARY not in everything(written(request))


@pytest.mark.parametrize(
    "body",
    [
        json.dumps({"error": f"bad token {CANARY}", "deep": {"access_token": "EAAB1x"}}),
        f"<html>you sent Bearer {CANARY}</html>",
        json.dumps(["EAAGm0PX4ZCpsBO9kZB3QZDZDfoo1BARx2mNQnJ8zPw"]),
    ],
)
def test_a_server_that_echoes_what_it_was_given_teaches_nobody(body: str) -> None:
    request = Request("GET", URL, {"Authorization": Secret(f"Bearer {CANARY}")})
    told = everything(written(request, answer(body, kind="text/html")))
    assert CANARY not in told
    assert "EAA" not in told


def test_secrets_of_the_run_are_blotted_out_although_the_request_does_not_know_them() -> None:
    told = written(Request("GET", URL), answer(json.dumps({"hint": CANARY})), (Secret(CANARY),))
    assert CANARY not in everything(told)


def test_long_bodies_are_cut_and_huge_ones_only_counted() -> None:
    long = written(Request("POST", URL, body=Json({f"line {n}": "x" * 900 for n in range(30)})))
    assert len(long.body or "") < MOST + 60
    huge = written(Request("GET", URL), answer(b"[" + b"1," * 300_000 + b"1]"))
    assert huge.reply == "(600003 bytes of application/json)"
    film = written(Request("GET", URL), answer(b"\0" * 50, kind="video/mp4"))
    assert film.reply == "(50 bytes of video/mp4)"


def test_a_stream_is_only_counted() -> None:
    async def chunks() -> AsyncGenerator[bytes]:
        yield b"x"

    told = written(Request("PUT", URL, body=Stream(chunks(), 7)))
    assert told.body == "(7 bytes)"


@pytest.mark.parametrize(
    "body",
    [
        b'{"a": "\\ud800"}',
        b'"\\u0000"',
        b"\xff\xfe",
        b"[" * 100_000,
        b"[1e999, 123456789012345678901234567890]",
    ],
)
def test_what_no_database_takes_is_made_harmless(body: bytes) -> None:
    told = everything(written(Request("GET", URL), answer(body)))
    told.encode()
    assert "\0" not in told


def test_a_missing_answer_says_why() -> None:
    def lost(came: Any) -> str:
        return record(Request("POST", URL), came, began_at=NOON, seconds=1).message

    assert lost(NotSent(Reason.DNS)) == "The address could not be reached."
    assert "not known" in lost(MayHaveArrived(Reason.READING))
    assert lost(None) == "We stopped waiting for an answer."


names = st.text(alphabet="abcdefgh_", min_size=1, max_size=8)
leaves = st.sampled_from([CANARY, f"x {CANARY} y", f"https://x.example/{CANARY}", "plain", 7, None])
data = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3)
)


@given(sent=data, came=data)
def test_a_known_secret_shows_nowhere_however_deep_it_stands(sent: Any, came: Any) -> None:
    request = Request("POST", URL, body=Json({"data": sent}), secrets=(Secret(CANARY),))
    assert CANARY not in everything(written(request, answer(json.dumps(came))))


def test_a_notebook_keeps_the_beginning_and_the_end_of_a_long_run() -> None:
    notes = ExchangeLog()
    for number in range(100):
        notes.add(written(Request("GET", f"{URL}/{number}")))
    kept = notes.take()
    numbers = [int(each.place.rpartition("/")[2]) for each in kept]
    assert numbers == [*range(FIRST), *range(100 - LAST, 100)]
    assert [each.left_out for each in kept if each.left_out] == [100 - FIRST - LAST]
    assert notes.take() == ()


async def test_a_call_that_is_given_up_is_written_down_too() -> None:
    """The time for the whole call ends while the server says nothing."""
    silent = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await silent.wait()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    notes = ExchangeLog()
    notes.step = Step.PUBLISH
    policy = Policy(allow=(HostRule("127.0.0.1", port),))
    async with server, OutboundClient(policy, clock=SystemClock()) as http:
        sending = http.recording_to(notes).send(Request("POST", f"http://127.0.0.1:{port}/post"))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await sending
        silent.set()
        assert http.notes is None  # the client that is lent out stays as it was
    (told,) = notes.take()
    assert told.message == "We stopped waiting for an answer."
    assert told.step is Step.PUBLISH


def test_texts_of_other_protocols_are_hushed() -> None:
    assert redacted(f"550 no {CANARY}", (Secret(CANARY),)) == "550 no [secret]"
