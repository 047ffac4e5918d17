"""What goes out is what was asked for, and what comes in is what was agreed."""

from __future__ import annotations

import asyncio
import io
import json
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import parse_qs

import h2.config
import h2.connection
import h2.events
import pytest

from cadenza.core.clock import SystemClock
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.outcome import MayHaveArrived, Outcome, Reason, Reply
from cadenza.providers.http.policy import HostRule, Policy
from cadenza.providers.http.redact import Secret
from cadenza.providers.http.request import (
    Body,
    File,
    Form,
    Json,
    Multipart,
    Request,
    Stream,
    Timeouts,
)
from tests.providers.http.rude import Rude, Visit, polite

QUICK = Timeouts(connect=2, read=2, total=5)


async def deliver(body: Body, **headers: str) -> tuple[str, bytes]:
    async with Rude(polite) as server:
        request = Request("post", server.url + "/a?b=c", headers=headers, body=body, timeout=QUICK)
        async with OutboundClient(server.policy, clock=SystemClock()) as client:
            assert isinstance(await client.send(request), Reply)
        return server.heads[0].lower(), server.bodies[0]


async def test_a_json_body_reveals_its_secrets_on_the_wire_only() -> None:
    head, body = await deliver(Json({"text": "hé", "deep": [{"token": Secret("tok-1")}]}))
    assert head.startswith("post /a?b=c http/1.1\r\n")
    assert "content-type: application/json\r\n" in head
    assert json.loads(body) == {"text": "hé", "deep": [{"token": "tok-1"}]}


async def test_a_form_body_is_encoded() -> None:
    head, body = await deliver(Form({"grant": "a&b=c", "token": Secret("tok 1")}))
    assert "content-type: application/x-www-form-urlencoded" in head
    assert parse_qs(body.decode()) == {"grant": ["a&b=c"], "token": ["tok 1"]}


async def test_a_multipart_body_carries_files_and_fields() -> None:
    files = {"photo": File(b"\x89PNG", "a.png", "image/png"), "b": File(io.BytesIO(b"two"), "b")}
    head, body = await deliver(Multipart(files, {"chat": "7", "token": Secret("tok-1")}))
    assert "content-type: multipart/form-data; boundary=" in head
    for part in (b'name="chat"', b'filename="a.png"', b"image/png", b"\x89PNG", b"two", b"tok-1"):
        assert part in body


async def test_a_multipart_body_is_one_without_files_and_with_two_of_a_name() -> None:
    head, body = await deliver(Multipart({}, {"chat": "7"}))
    assert "content-type: multipart/form-data; boundary=" in head
    assert b'name="chat"\r\n\r\n7\r\n' in body
    _, body = await deliver(Multipart({"file": (File(b"one", "a"), File(b"two", "b"))}))
    assert body.count(b'name="file"; filename=') == 2


async def test_a_stream_of_known_length_is_sent_as_it_comes() -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for each in (b"one", b"two", b"three"):
            yield each

    head, body = await deliver(Stream(chunks(), 11), **{"Content-Type": "video/mp4"})
    assert "content-length: 11\r\n" in head
    assert "transfer-encoding" not in head
    assert body == b"onetwothree"


async def test_every_request_names_its_agent_and_its_host_once() -> None:
    head, _ = await deliver(b"x")
    assert head.count("\r\nhost:") == head.count("\r\nuser-agent: cadenza") == 1
    assert "cookie" not in head


async def test_cookies_are_not_kept() -> None:
    async def sets(visit: Visit) -> None:
        while True:
            await visit.request()
            await visit.reply(b"{}", "set-cookie: a=1")

    async with Rude(sets) as server:
        async with OutboundClient(server.policy, clock=SystemClock()) as client:
            for _ in range(2):
                await client.send(Request("GET", server.url, timeout=QUICK))
        assert "cookie" not in server.heads[1].lower()


async def test_proxies_of_the_environment_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Rude(polite) as server, Rude(polite) as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HTTPS_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        async with OutboundClient(server.policy, clock=SystemClock()) as client:
            assert isinstance(await client.send(Request("GET", server.url)), Reply)
        assert (server.visits, proxy.visits) == (1, 0)


@pytest.mark.parametrize(
    ("kind", "good"),
    [
        ("image/png", True),
        ("IMAGE/PNG; q=1", True),
        ("application/json", True),
        ("text/html", False),
        ("imagetext/x", False),
        ("", False),
    ],
)
async def test_an_answer_of_another_type_is_not_taken(kind: str, *, good: bool) -> None:
    async def typed(visit: Visit) -> None:
        await visit.request()
        await visit.reply(b"x", *([f"content-type: {kind}"] if kind else []))

    async with Rude(typed) as server:
        request = Request("GET", server.url, expect=("image/*", "application/json"), timeout=QUICK)
        async with OutboundClient(server.policy, clock=SystemClock()) as client:
            outcome = await client.send(request)
    if good:
        assert isinstance(outcome, Reply)
    else:
        assert outcome == MayHaveArrived(Reason.WRONG_TYPE, status=200)


async def test_an_error_page_is_a_reply_whatever_its_type() -> None:
    async def page(visit: Visit) -> None:
        await visit.request()
        await visit.reply(b"<html>", "content-type: text/html", status="502 Bad Gateway")

    async with Rude(page) as server:
        request = Request("GET", server.url, expect=("image/*",), timeout=QUICK)
        async with OutboundClient(server.policy, clock=SystemClock()) as client:
            outcome = await client.send(request)
    assert isinstance(outcome, Reply)
    assert outcome.status == 502


async def test_a_head_request_may_announce_any_length() -> None:
    async def big(visit: Visit) -> None:
        await visit.request()
        await visit.say(b"HTTP/1.1 200 OK\r\ncontent-length: 1073741824\r\n\r\n")

    async with (
        Rude(big) as server,
        OutboundClient(server.policy, clock=SystemClock()) as client,
    ):
        assert isinstance(await client.send(Request("HEAD", server.url, timeout=QUICK)), Reply)


@pytest.mark.parametrize(("method", "length"), [("GET", None), ("DELETE", None), ("POST", "0")])
async def test_a_request_without_body_announces_none(method: str, length: str | None) -> None:
    async with Rude(polite) as server:
        async with OutboundClient(server.policy, clock=SystemClock()) as client:
            assert isinstance(await client.send(Request(method, server.url)), Reply)
        head = server.heads[0].lower()
    assert "transfer-encoding" not in head
    assert ("content-length: 0" in head) == (length == "0")


# ------------------------------------------------------------------ HTTP/2


async def speak_two(visit: Visit, fate: str) -> None:
    """Serve HTTP/2 by the book; reset every stream if `fate` is reset, hang up if it is close."""
    connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
    connection.initiate_connection()
    await visit.say(connection.data_to_send())
    while data := await visit.reader.read(65536):
        for event in connection.receive_data(data):
            if not isinstance(event, h2.events.RequestReceived):
                continue
            visit.server.heads.append(str(event.headers))
            if fate == "close":
                return
            stream = event.stream_id
            assert stream is not None
            if fate == "reset":
                connection.reset_stream(stream)
            else:
                connection.send_headers(stream, [(":status", "200"), ("x-two", "yes")])
                connection.send_data(stream, b'{"id": 2}', end_stream=True)
        await visit.say(connection.data_to_send())


async def get_by_two(fate: str, tls: ssl.SSLContext, ca: Path, method: str) -> tuple[Outcome, int]:
    tls.set_alpn_protocols(["h2", "http/1.1"])

    async def manner(visit: Visit) -> None:
        chosen = visit.writer.get_extra_info("ssl_object").selected_alpn_protocol()
        await (speak_two(visit, fate) if chosen == "h2" else polite(visit))

    async with Rude(manner, tls=tls) as server:
        policy = Policy(allow=(HostRule("127.0.0.1", server.port),), ca_file=str(ca))
        async with OutboundClient(policy, clock=SystemClock()) as client:
            outcome = await client.send(Request(method, server.url, timeout=QUICK))
        await asyncio.sleep(0)
        return outcome, len(server.heads)


async def test_harmless_calls_speak_http2(server_tls: ssl.SSLContext, certificate: Path) -> None:
    outcome, _ = await get_by_two("fine", server_tls, certificate, "GET")
    assert isinstance(outcome, Reply)
    assert (outcome.header("X-Two"), outcome.json()) == ("yes", {"id": 2})


async def test_a_call_that_must_not_happen_twice_has_its_connection_alone(
    server_tls: ssl.SSLContext, certificate: Path
) -> None:
    outcome, _ = await get_by_two("fine", server_tls, certificate, "POST")
    assert isinstance(outcome, Reply)
    assert outcome.header("x-two") is None


@pytest.mark.parametrize("fate", ["reset", "close"])
async def test_a_broken_http2_stream_may_have_arrived(
    fate: str, server_tls: ssl.SSLContext, certificate: Path
) -> None:
    outcome, heads = await get_by_two(fate, server_tls, certificate, "GET")
    assert isinstance(outcome, MayHaveArrived)
    assert heads == 1
