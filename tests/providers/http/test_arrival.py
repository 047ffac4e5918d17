"""Whether a request may have arrived is told truly, whatever the other side does."""

from __future__ import annotations

import asyncio
import functools
import gzip
import socket
import ssl
import tracemalloc
import zlib
from collections.abc import AsyncIterator
from dataclasses import replace

import httpcore2
import pytest

from cadenza.core.clock import SystemClock
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.outcome import MayHaveArrived, NotSent, Outcome, Reason, Reply, Stop
from cadenza.providers.http.policy import HostRule, Policy
from cadenza.providers.http.read import Inflate
from cadenza.providers.http.request import Json, Request, Stream, Timeouts
from tests.providers.http.rude import Manner, Rude, Visit, polite

QUICK = Timeouts(connect=0.5, read=0.5, total=5)
MIB = 1024 * 1024


def post(url: str, body: bytes = b'{"text":"hello"}', timeout: Timeouts = QUICK) -> Request:
    return Request("POST", url, body=body, timeout=timeout)


async def send(request: Request, policy: Policy) -> Outcome:
    async with OutboundClient(policy, clock=SystemClock()) as client:
        return await client.send(request)


async def treat(manner: Manner, request: Request | None = None, path: str = "/publish") -> Outcome:
    """Send a POST (or what is given) to a server of such manners."""
    async with Rude(manner) as server:
        return await send(request or post(server.url + path), server.policy)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


# ------------------------------------------------------------------ it never left


async def test_a_closed_port_means_it_never_left() -> None:
    port = free_port()
    policy = Policy(allow=(HostRule("127.0.0.1", port),))
    assert await send(post(f"http://127.0.0.1:{port}/"), policy) == NotSent(Reason.CONNECT)


async def test_a_name_without_address_means_it_never_left() -> None:
    class Nowhere:
        async def resolve(self, host: str, port: int) -> list[str]:
            raise socket.gaierror(-2, "Name or service not known")

    async with OutboundClient(Policy(), clock=SystemClock(), resolver=Nowhere()) as client:
        assert await client.send(post("https://gone.test/")) == NotSent(Reason.DNS)


async def test_a_connection_that_is_not_made_in_time_means_it_never_left() -> None:
    with socket.socket() as deaf, socket.socket() as one, socket.socket() as two:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        for filler in (one, two):  # the queue is full: the next connection is not answered
            filler.setblocking(False)
            filler.connect_ex(deaf.getsockname())
        port = deaf.getsockname()[1]
        policy = Policy(allow=(HostRule("127.0.0.1", port),))
        assert await send(post(f"http://127.0.0.1:{port}/"), policy) == NotSent(Reason.CONNECT)


async def test_a_silent_handshake_means_it_never_left() -> None:
    async with Rude(Visit.hang) as server:
        outcome = await send(post(f"https://127.0.0.1:{server.port}/"), server.policy)
        assert outcome == NotSent(Reason.CONNECT)


async def test_a_server_without_tls_means_it_never_left() -> None:
    async def plain(visit: Visit) -> None:
        await visit.reader.read(1)
        await visit.say(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    async with Rude(plain) as server:
        outcome = await send(post(f"https://127.0.0.1:{server.port}/"), server.policy)
        assert outcome == NotSent(Reason.TLS)


async def test_an_untrusted_certificate_means_it_never_left(server_tls: ssl.SSLContext) -> None:
    async with Rude(polite, tls=server_tls) as server:
        outcome = await send(post(server.url), server.policy)
        assert outcome == NotSent(Reason.TLS)
        assert not server.heads


async def test_a_crowded_pool_means_it_never_left() -> None:
    async def wait(visit: Visit) -> None:
        await visit.request()
        await visit.hang()

    async with (
        Rude(wait) as server,
        OutboundClient(server.policy, clock=SystemClock(), max_connections=1) as client,
    ):
        slow = Timeouts(connect=0.2, read=2, total=2)
        first = asyncio.ensure_future(client.send(post(server.url, timeout=slow)))
        await asyncio.sleep(0.05)
        assert await client.send(post(server.url, timeout=slow)) == NotSent(Reason.POOL)
        server.over.set()
        assert await first == MayHaveArrived(Reason.BROKEN)
        assert server.visits == 1


async def test_a_deadline_during_the_look_up_means_it_never_left() -> None:
    class Asleep:
        async def resolve(self, host: str, port: int) -> list[str]:
            await asyncio.sleep(30)
            return ["127.0.0.1"]

    slow = Timeouts(connect=30, read=30, total=0.2)
    async with OutboundClient(Policy(), clock=SystemClock(), resolver=Asleep()) as client:
        outcome = await client.send(post("https://asleep.test/", timeout=slow))
        assert outcome == NotSent(Reason.DEADLINE)


@pytest.mark.parametrize(
    "headers",
    [{"X-A": "a\r\nHost: evil"}, {"X A": "a"}, {"Host": "evil"}, {"Content-Length": "0"}],
)
async def test_a_header_that_cannot_be_sent_means_it_never_left(headers: dict[str, str]) -> None:
    async with Rude(polite) as server:
        request = Request("POST", server.url, headers=headers, timeout=QUICK)
        assert await send(request, server.policy) == NotSent(Reason.BAD_REQUEST)
        assert not server.visits


async def test_a_body_that_cannot_be_encoded_means_it_never_left() -> None:
    async with Rude(polite) as server:
        request = Request("POST", server.url, body=Json({"at": object()}), timeout=QUICK)
        assert await send(request, server.policy) == NotSent(Reason.BAD_REQUEST)


# ------------------------------------------------------------------ it may have arrived


async def test_accept_then_close_may_have_arrived() -> None:
    async def close(visit: Visit) -> None:
        await visit.request()

    assert await treat(close) == MayHaveArrived(Reason.BROKEN)


async def test_a_reset_instead_of_an_answer_may_have_arrived() -> None:
    async def reset(visit: Visit) -> None:
        await visit.request()
        visit.reset()

    assert await treat(reset) == MayHaveArrived(Reason.BROKEN)


async def test_a_reset_before_the_request_is_read_may_have_arrived() -> None:
    async def reset(visit: Visit) -> None:
        visit.reset()

    outcome = await treat(reset)
    assert isinstance(outcome, MayHaveArrived)


async def test_a_server_that_never_answers_may_have_it() -> None:
    async def mute(visit: Visit) -> None:
        await visit.request()
        await visit.hang()

    assert await treat(mute) == MayHaveArrived(Reason.READING)


@pytest.mark.parametrize("half", [b"HTT", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\ncontent-le"])
async def test_half_a_head_may_have_arrived(half: bytes) -> None:
    async def cut(visit: Visit) -> None:
        await visit.request()
        await visit.say(half)

    assert await treat(cut) == MayHaveArrived(Reason.BROKEN)


async def test_half_a_body_may_have_arrived_and_tells_the_status() -> None:
    async def cut(visit: Visit) -> None:
        await visit.request()
        await visit.say(b'HTTP/1.1 201 Created\r\ncontent-length: 100\r\n\r\n{"id":')

    assert await treat(cut) == MayHaveArrived(Reason.BROKEN, status=201)


async def test_a_chunked_body_without_its_end_may_have_arrived() -> None:
    async def cut(visit: Visit) -> None:
        await visit.request()
        await visit.say(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n")

    assert await treat(cut) == MayHaveArrived(Reason.BROKEN, status=200)


async def test_a_reset_in_the_body_may_have_arrived() -> None:
    async def reset(visit: Visit) -> None:
        await visit.request()
        await visit.say(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf")
        await asyncio.sleep(0.05)
        visit.reset()

    assert await treat(reset) == MayHaveArrived(Reason.BROKEN, status=200)


async def test_a_garbled_answer_may_have_arrived() -> None:
    async def garble(visit: Visit) -> None:
        await visit.request()
        await visit.say(b"\x00\xff SSH-2.0 hello\r\n\r\n")

    assert await treat(garble) == MayHaveArrived(Reason.BROKEN)


async def test_an_unasked_upgrade_is_no_answer() -> None:
    async def upgrade(visit: Visit) -> None:
        await visit.request()
        await visit.say(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n")
        await visit.hang()

    assert isinstance(await treat(upgrade), MayHaveArrived)


@pytest.mark.parametrize("start", [b"", b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n"])
async def test_a_slow_drip_ends_at_the_deadline(start: bytes) -> None:
    async def drip(visit: Visit) -> None:
        await visit.request()
        await visit.say(start)
        for byte in b"HTTP/1.1 200 OK\r\nx-slow: " + b"a" * 500:
            await visit.say(bytes([byte]))
            await asyncio.sleep(0.02)

    async with Rude(drip) as server:
        began = asyncio.get_running_loop().time()
        timeout = Timeouts(connect=1, read=1, total=0.5)
        outcome = await send(post(server.url, timeout=timeout), server.policy)
        assert outcome == MayHaveArrived(Reason.DEADLINE, status=200 if start else None)
        assert asyncio.get_running_loop().time() - began < 2


async def test_a_server_that_does_not_read_on_may_have_it() -> None:
    async def stuff(visit: Visit) -> None:
        await visit.reader.readuntil(b"\r\n\r\n")
        visit.writer.transport.pause_reading()  # pyright: ignore[reportAttributeAccessIssue]
        await visit.hang()

    async with Rude(stuff) as server:
        outcome = await send(post(server.url, b"x" * 32 * MIB), server.policy)
        assert outcome == MayHaveArrived(Reason.SENDING)


async def test_a_reset_while_sending_may_have_arrived() -> None:
    async def reset(visit: Visit) -> None:
        await visit.reader.readuntil(b"\r\n\r\n")
        await asyncio.sleep(0.05)
        visit.reset()

    async with Rude(reset) as server:
        outcome = await send(post(server.url, b"x" * 32 * MIB), server.policy)
        assert isinstance(outcome, MayHaveArrived)


async def test_a_source_that_breaks_while_sending_may_have_arrived() -> None:
    async def breaks() -> AsyncIterator[bytes]:
        yield b"first half"
        raise RuntimeError("the disk is gone")

    async with Rude(polite) as server:
        request = Request("POST", server.url, body=Stream(breaks(), 100), timeout=QUICK)
        assert await send(request, server.policy) == MayHaveArrived(Reason.OTHER)


# ------------------------------------------------------------------ too much of an answer


async def test_an_announced_gigabyte_is_not_read() -> None:
    async def huge(visit: Visit) -> None:
        await visit.request()
        await visit.say(b"HTTP/1.1 200 OK\r\ncontent-length: 1073741824\r\n\r\n")
        await visit.hang()

    assert await treat(huge) == MayHaveArrived(Reason.TOO_BIG, status=200)


async def test_an_unannounced_gigabyte_is_left_at_the_bound() -> None:
    sent = 0

    async def huge(visit: Visit) -> None:
        nonlocal sent
        await visit.request()
        await visit.say(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        for _ in range(1024):
            await visit.say(b"100000\r\n" + b"x" * MIB + b"\r\n")
            sent += MIB

    assert await treat(huge) == MayHaveArrived(Reason.TOO_BIG, status=200)
    assert sent < 64 * MIB  # what the kernel's buffers took, and no more


async def test_a_gzip_bomb_stops_at_the_bound() -> None:
    packer = zlib.compressobj(9, wbits=31)
    bomb = b"".join(packer.compress(b"\0" * MIB) for _ in range(200)) + packer.flush()
    assert len(bomb) < MIB

    async def bombs(visit: Visit) -> None:
        await visit.request()
        await visit.reply(bomb, "content-encoding: gzip")

    assert await treat(bombs) == MayHaveArrived(Reason.TOO_BIG, status=200)

    tracemalloc.start()
    try:
        with pytest.raises(Stop):
            Inflate(MIB).feed(bomb)
        assert tracemalloc.get_traced_memory()[1] < 8 * MIB
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("coding", "body", "reason"),
    [
        ("gzip", gzip.compress(b'{"id": 1}' * 50, mtime=0)[:-12], Reason.BROKEN),
        ("gzip", b"no gzip at all", Reason.ENCODING),
        ("br", b"anything", Reason.ENCODING),
        ("gzip, gzip", gzip.compress(gzip.compress(b"{}", mtime=0), mtime=0), Reason.ENCODING),
    ],
)
async def test_a_body_that_does_not_unpack_may_have_arrived(
    coding: str, body: bytes, reason: Reason
) -> None:
    async def packed(visit: Visit) -> None:
        await visit.request()
        await visit.reply(body, f"content-encoding: {coding}")

    assert await treat(packed) == MayHaveArrived(reason, status=200)


# ------------------------------------------------------------------ an answer


@pytest.mark.parametrize("status", [200, 201, 302, 400, 401, 404, 429, 500, 502, 503])
async def test_any_status_is_a_reply(status: int) -> None:
    async def answer(visit: Visit) -> None:
        await visit.request()
        await visit.reply(b'{"id": 7}', "Retry-After: 9", status=f"{status} Any")

    outcome = await treat(answer)
    assert isinstance(outcome, Reply)
    assert (outcome.status, outcome.json(), outcome.header("Retry-After")) == (
        status,
        {"id": 7},
        "9",
    )
    assert outcome.elapsed > 0


async def test_an_early_refusal_during_an_upload_is_a_reply() -> None:
    async def too_large(visit: Visit) -> None:
        await visit.reader.readuntil(b"\r\n\r\n")
        await visit.reply(b"too large", "connection: close", status="413 Too Large")
        while await visit.reader.read(MIB):
            pass

    async with Rude(too_large) as server:
        outcome = await send(post(server.url, b"x" * 8 * MIB), server.policy)
        assert isinstance(outcome, Reply)
        assert outcome.status == 413


async def test_a_packed_answer_of_several_members_is_unpacked_whole() -> None:
    async def packed(visit: Visit) -> None:
        await visit.request()
        body = gzip.compress(b'{"id":') + gzip.compress(b"7}")
        await visit.reply(body, "content-encoding: gzip")

    outcome = await treat(packed)
    assert isinstance(outcome, Reply)
    assert outcome.json() == {"id": 7}


async def test_a_body_that_is_no_json_is_still_a_reply() -> None:
    async def page(visit: Visit) -> None:
        await visit.request()
        await visit.reply(b"<html>gateway", status="200 OK")

    outcome = await treat(page)
    assert isinstance(outcome, Reply)
    assert outcome.json() is None


# ------------------------------------------------------------------ connections


async def hangs_up_after_one(visit: Visit) -> None:
    """Answer, seem to keep the connection, and take the next request to the grave."""
    await visit.request()
    await visit.reply()
    await visit.request()


async def answers_on(visit: Visit) -> None:
    """Answer whatever comes over the one connection."""
    while True:
        await visit.request()
        await visit.reply()


async def closes_at_once(visit: Visit) -> None:
    """Answer, and close without a word."""
    await visit.request()
    await visit.reply()


async def test_calls_that_must_not_happen_twice_share_a_connection_one_after_the_other() -> None:
    async with (
        Rude(answers_on) as server,
        OutboundClient(server.policy, clock=SystemClock()) as client,
    ):
        for _ in range(3):
            assert isinstance(await client.send(post(server.url)), Reply)
        assert server.visits == 1
        both = await asyncio.gather(client.send(post(server.url)), client.send(post(server.url)))
        assert all(isinstance(each, Reply) for each in both)
        assert server.visits == 2


async def test_without_reuse_each_call_that_must_not_happen_twice_gets_a_new_connection() -> None:
    async with Rude(hangs_up_after_one) as server:
        policy = replace(server.policy, reuse_of=(("providers.x", 0.0),))
        async with OutboundClient(policy, clock=SystemClock()) as client:
            for _ in range(3):
                outcome = await client.for_use("providers.x").send(post(server.url))
                assert isinstance(outcome, Reply)
        assert server.visits == 3


async def test_a_connection_is_not_used_again_after_its_moments() -> None:
    async with Rude(hangs_up_after_one) as server:
        policy = replace(server.policy, reuse=0.05)
        async with OutboundClient(policy, clock=SystemClock()) as client:
            for _ in range(3):
                assert isinstance(await client.send(post(server.url)), Reply)
                await asyncio.sleep(0.1)
        assert server.visits == 3


async def test_a_connection_that_was_closed_between_two_calls_is_replaced() -> None:
    async with (
        Rude(closes_at_once) as server,
        OutboundClient(server.policy, clock=SystemClock()) as client,
    ):
        for _ in range(5):
            assert isinstance(await client.send(post(server.url)), Reply)
            await asyncio.sleep(0.05)
        assert (server.visits, len(server.heads)) == (5, 5)


@pytest.mark.parametrize("manner", ["hangs_up_after_one", "resets_after_one"])
async def test_a_connection_that_dies_with_the_call_leaves_it_unconfirmed(manner: str) -> None:
    async with (
        Rude(globals()[manner]) as server,
        OutboundClient(server.policy, clock=SystemClock()) as client,
    ):
        assert isinstance(await client.send(post(server.url)), Reply)
        outcome = await client.send(post(server.url))
        assert outcome == MayHaveArrived(Reason.BROKEN)
        assert (server.visits, len(server.heads)) == (1, 2)  # it arrived, and was not sent again
        assert isinstance(await client.send(post(server.url)), Reply)


@pytest.mark.parametrize("pause", [0.0, 0.001, 0.002, 0.003, 0.004])
async def test_a_connection_that_closes_as_the_call_is_written_never_sends_it_twice(
    pause: float,
) -> None:
    async with (
        Rude(closes_at_leisure) as server,
        OutboundClient(server.policy, clock=SystemClock()) as client,
    ):
        for _ in range(20):
            before = len(server.heads)
            outcome = await client.send(post(server.url))
            assert isinstance(outcome, Reply | MayHaveArrived)
            came = len(server.heads) - before
            assert came == 1 if isinstance(outcome, Reply) else came <= 1
            await asyncio.sleep(pause)


async def resets_after_one(visit: Visit) -> None:
    """The same, less politely."""
    await hangs_up_after_one(visit)
    visit.reset()


async def closes_at_leisure(visit: Visit) -> None:
    """Answer, and close the kept connection at just about the time of the next request."""
    await visit.request()
    await visit.reply()
    await asyncio.sleep(0.002)


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("manner", [hangs_up_after_one, resets_after_one, closes_at_leisure])
async def test_a_harmless_call_is_repeated_once_when_a_kept_connection_was_dead(
    manner: Manner, method: str
) -> None:
    body = None if method == "GET" else b'{"client_name":"Cadenza"}'
    request = functools.partial(Request, method, body=body, timeout=QUICK, idempotent=True)
    async with (
        Rude(manner) as server,
        OutboundClient(server.policy, clock=SystemClock()) as client,
    ):
        for pause in (0, 0, 0.001, 0.002, 0.003):
            await asyncio.sleep(pause)
            assert isinstance(await client.send(request(server.url)), Reply)
        assert server.visits == 5


async def test_a_harmless_call_is_not_repeated_for_ever() -> None:
    async def close(visit: Visit) -> None:
        await visit.request()

    async with Rude(close) as server:
        outcome = await send(Request("GET", server.url, timeout=QUICK), server.policy)
        assert outcome == MayHaveArrived(Reason.BROKEN)
        assert server.visits == 1


async def test_the_next_address_is_tried_when_the_first_is_closed() -> None:
    class Two:
        async def resolve(self, host: str, port: int) -> list[str]:
            return ["127.0.0.3", "127.0.0.1"]

    async with Rude(polite) as server:
        policy = Policy(allow=(HostRule("two.test", server.port),))
        async with OutboundClient(policy, clock=SystemClock(), resolver=Two()) as client:
            outcome = await client.send(post(f"http://two.test:{server.port}/"))
            assert isinstance(outcome, Reply)


async def test_cancelling_the_caller_is_not_swallowed() -> None:
    async def mute(visit: Visit) -> None:
        await visit.request()
        await visit.hang()

    async with Rude(mute) as server:
        task = asyncio.ensure_future(
            send(post(server.url, timeout=Timeouts(1, 9, 9)), server.policy)
        )
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


def test_the_pool_still_tells_us_when_a_request_starts_to_leave() -> None:
    """The split rests on a note of the pool; a release that renames it must not pass unseen."""
    from inspect import getsource

    from httpcore2._async import http2, http11

    assert 'Trace("send_request_headers"' in getsource(http11)
    assert 'Trace("send_request_headers"' in getsource(http2)
    assert httpcore2.__version__.startswith("2.")
