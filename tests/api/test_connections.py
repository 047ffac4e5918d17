"""A connection that brings nothing, too slowly or too often is ended, and the others are served."""

import asyncio
import errno
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

import pytest
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from cadenza.api.connections import (
    BREAK,
    Connection,
    Limits,
    OpenConnections,
    most_connections,
)
from cadenza.api.serve import serve
from tests.api.conftest import Place

PATIENCE = 20  # seconds, for a busy machine
SOON = Limits(head=0.3, body=0.3, answer=0.3, linger=0.3)
HEAD = b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n"
SIGN_IN = (
    b"POST /api/v1/auth/sign-in HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
)
Pipe = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def serving(
    place: Place, limits: Limits, *, proxies: Sequence[str] = ()
) -> AsyncGenerator[Callable[[], Awaitable[Pipe]]]:
    """Serve, and give what opens a connection; all of them end with it."""
    port: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    serve_it = serve(
        place.app,
        "127.0.0.1",
        0,
        place.stop,
        proxies=proxies,
        started=port.set_result,
        limits=limits,
    )
    task = asyncio.create_task(serve_it)
    opened: list[asyncio.StreamWriter] = []

    async def connect() -> Pipe:
        reader, writer = await asyncio.open_connection("127.0.0.1", await port, limit=1024)
        opened.append(writer)
        return reader, writer

    try:
        async with asyncio.timeout(PATIENCE):
            yield connect
    finally:
        for writer in opened:
            writer.transport.abort()
        place.stop.set()
        await asyncio.wait_for(task, PATIENCE)


async def read_to_the_end(reader: asyncio.StreamReader) -> bytes:
    """Read until the other side ends the connection."""
    try:
        return await reader.read()
    except ConnectionError:
        return b""


async def ask(pipe: Pipe) -> bytes:
    """Ask whether it is alive; return the first line of the answer, or nothing."""
    reader, writer = pipe
    try:
        writer.write(HEAD + b"\r\n")
        await writer.drain()
        return await reader.readuntil(b"\r\n")
    except (ConnectionError, asyncio.IncompleteReadError):
        return b""


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET /healthz HT",
        HEAD,
        SIGN_IN + b"content-length: 100\r\n\r\n",
        SIGN_IN + b'content-length: 100\r\n\r\n{"email":',
        SIGN_IN + b'transfer-encoding: chunked\r\n\r\n2\r\n{"\r\n',
    ],
    ids=["nothing", "a word", "half a head", "no body", "half a body", "a chunk"],
)
async def test_a_request_that_does_not_arrive_is_ended(
    small: Place, caplog: pytest.LogCaptureFixture, sent: bytes
) -> None:
    async with serving(small, SOON) as connect:
        reader, writer = await connect()
        writer.write(sent)
        assert b"408 Request Timeout" in await read_to_the_end(reader)
    assert [each.getMessage() for each in caplog.records if each.levelno >= logging.WARNING] == []


async def test_a_head_that_drips_is_ended(small: Place) -> None:
    async with serving(small, SOON) as connect:
        reader, writer = await connect()
        ended = asyncio.ensure_future(read_to_the_end(reader))
        writer.write(HEAD)
        while not ended.done():
            writer.write(b"x: y\r\n")
            await asyncio.wait({ended}, timeout=0.05)


def test_a_body_is_waited_for_as_long_as_it_keeps_its_rate() -> None:
    limits = Limits(body=30, rate=1000)
    assert limits.wait_until(began=0, last=0, received=0) == 30
    assert limits.wait_until(began=0, last=25, received=5_000) == 35, "five seconds for 5,000 bytes"
    assert limits.wait_until(began=0, last=600, received=600_000) == 630
    assert limits.wait_until(began=0, last=10, received=600_000) == 40, "it came to a stop"


async def test_a_body_that_drips_is_ended(small: Place) -> None:
    async with serving(small, Limits(head=1, body=0.5, rate=1000)) as connect:
        reader, writer = await connect()
        ended = asyncio.ensure_future(read_to_the_end(reader))
        writer.write(SIGN_IN + b"content-length: 10000\r\n\r\n")
        while not ended.done():
            writer.write(b" ")
            await asyncio.wait({ended}, timeout=0.05)
        assert b"408" in await ended


async def test_the_second_request_of_a_connection_has_its_time_too(small: Place) -> None:
    async with serving(small, SOON) as connect:
        reader, writer = await connect()
        assert await ask((reader, writer)) == b"HTTP/1.1 200 OK\r\n"
        writer.write(HEAD)
        assert b"408 Request Timeout" in await read_to_the_end(reader)


async def test_an_answer_that_nobody_reads_is_given_up(small: Place) -> None:
    ended = asyncio.Event()

    async def pieces() -> AsyncGenerator[bytes]:
        try:
            while True:
                yield b"x" * 65536
                await asyncio.sleep(0)
        finally:
            ended.set()

    async def endless(request: Request) -> StreamingResponse:
        return StreamingResponse(pieces())

    small.app.router.routes.insert(0, Route("/endless", endless))
    async with serving(small, SOON) as connect:
        _, writer = await connect()
        writer.write(b"GET /endless HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
        await ended.wait()


async def test_a_refused_body_is_not_read_and_its_sender_learns_why(small: Place) -> None:
    async with serving(small, SOON) as connect:
        reader, writer = await connect()
        writer.write(SIGN_IN + b"content-length: 900000\r\n\r\n" + b" " * 100_000)
        assert b" 413 " in await reader.readuntil(b"\r\n")
        await read_to_the_end(reader)  # it ends, although the body never came


async def test_a_refused_sender_who_is_gone_is_no_fault_of_ours(
    small: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    drain = Connection._drain_refused

    def fail() -> None:
        raise OSError(errno.ENOTCONN, "its reset has arrived, and was not read yet")

    def gone_by_then(self: Connection) -> None:
        monkeypatch.setattr(self.transport, "write_eof", fail)
        drain(self)

    monkeypatch.setattr(Connection, "_drain_refused", gone_by_then)
    async with serving(small, SOON) as connect:
        reader, writer = await connect()
        writer.write(SIGN_IN + b"content-length: 900000\r\n\r\n" + b" " * 100_000)
        await read_to_the_end(reader)
    assert [each.getMessage() for each in caplog.records if each.levelno >= logging.WARNING] == []


async def test_many_refused_senders_cost_no_more_than_one(
    small: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[float] = []
    read_on = Connection.read_on

    def counted(self: Connection) -> bool:
        goes_on = read_on(self)
        if goes_on:
            reads.append(self.loop.time())
        return goes_on

    monkeypatch.setattr(Connection, "read_on", counted)
    async with serving(small, Limits(linger=1.0)) as connect:

        async def send() -> bytes:
            reader, writer = await connect()
            writer.write(SIGN_IN + b"content-length: 9000000\r\n\r\n" + b" " * 9_000_000)
            return await read_to_the_end(reader)

        answers = await asyncio.gather(*(send() for _ in range(20)))
    assert all(b" 413 " in each for each in answers), "each learned why"
    lasted = reads[-1] - reads[0]
    assert len(reads) <= lasted / BREAK + 2, "one after another, not each at its own pace"


async def test_one_address_holds_no_more_than_its_share(small: Place) -> None:
    async with serving(small, Limits(per_address=3)) as connect:
        pipes = [await connect() for _ in range(3)]
        assert [await ask(each) for each in pipes] == [b"HTTP/1.1 200 OK\r\n"] * 3
        assert await ask(await connect()) == b""
        pipes[0][1].close()
        await pipes[0][1].wait_closed()
        while not await ask(await connect()):
            await asyncio.sleep(0.01)  # until the server has seen the end, too


async def test_a_named_proxy_may_hold_more(small: Place) -> None:
    async with serving(small, Limits(per_address=1), proxies=["127.0.0.0/8"]) as connect:
        pipes = [await connect() for _ in range(5)]
        assert [await ask(each) for each in pipes] == [b"HTTP/1.1 200 OK\r\n"] * 5


def test_connections_leave_room_for_files() -> None:
    assert 0 < most_connections() <= 20_000
    crowd = OpenConnections(most=2)
    assert crowd.enter("192.0.2.0") == "192.0.2.0"
    assert crowd.enter("192.0.2.0") is None, "nobody holds more than half"
    assert crowd.enter("192.0.2.1") == "192.0.2.1"
    assert crowd.enter("192.0.2.2") is None
    crowd.leave("192.0.2.0")
    assert crowd.enter("192.0.2.9") == "192.0.2.9"


def test_an_ipv6_network_is_one_address() -> None:
    crowd = OpenConnections(limits=Limits(per_address=2))
    assert crowd.enter("2001:db8::1") == crowd.enter("2001:db8::2") == "2001:db8::/64"
    assert crowd.enter("2001:db8::3") is None
    assert crowd.enter("2001:db8:0:1::1") is not None
    assert crowd.enter("::ffff:192.0.2.1") == "192.0.2.1"
