"""Connections for other protocols: as guarded as those for HTTP, to that protocol's ports only."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from cadenza.core.clock import SystemClock
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.connect import RawConnection
from cadenza.providers.http.outcome import NotSent, Reason
from cadenza.providers.http.policy import HostRule, Policy
from cadenza.providers.http.request import Timeouts

PORTS = frozenset({25, 465, 587})
QUICK = Timeouts(connect=1, read=1, total=1)


class Names:
    """Answers every name with the same addresses."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = list(addresses)
        self.requested: list[str] = []

    async def resolve(self, host: str, port: int) -> list[str]:
        self.requested.append(host)
        return self.addresses


@pytest.fixture
async def port() -> AsyncGenerator[int]:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 hello\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def _connect(
    host: str, port: int, *rules: HostRule, names: Names | None = None
) -> RawConnection | NotSent:
    client = OutboundClient(Policy(allow=rules), clock=SystemClock(), resolver=names)
    async with client:
        return await client.connect(host, port, ports=PORTS, timeouts=QUICK)


async def test_a_host_that_the_owner_named_is_connected(port: int) -> None:
    plug = await _connect("127.0.0.1", port, HostRule("127.0.0.1", port))
    assert isinstance(plug, RawConnection)
    assert (plug.host, plug.vouched) == ("127.0.0.1", True)
    reader, writer = await asyncio.open_connection(sock=plug.sock)
    assert await reader.readline() == b"220 hello\r\n"
    writer.close()
    await writer.wait_closed()


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.5", "169.254.169.254", "::1"])
async def test_a_name_that_leads_inside_is_refused_before_a_packet_leaves(address: str) -> None:
    names = Names("93.184.216.34", address)
    outcome = await _connect("mail.example.com", 587, names=names)
    assert outcome == NotSent(Reason.REFUSED)
    assert names.requested == ["mail.example.com"]


@pytest.mark.parametrize("port", [22, 80, 443, 3306, 0, 70000])
async def test_only_the_protocols_own_ports_are_open(port: int) -> None:
    names = Names("93.184.216.34")
    outcome = await _connect("mail.example.com", port, names=names)
    assert isinstance(outcome, NotSent)
    assert outcome.reason is Reason.BAD_ADDRESS
    assert names.requested == []


@pytest.mark.parametrize(
    "host",
    [
        "",
        "mail.example.com:22",
        "ada@mail.example.com",
        "mail.example.com/x",
        "mail.example.com\r\nEHLO",
        "2130706433",
        "0x7f.1",
        "mail..example.com",
        "mail.example.com#x",
    ],
)
async def test_a_host_that_can_be_read_in_two_ways_is_refused(host: str) -> None:
    names = Names("93.184.216.34")
    outcome = await _connect(host, 587, names=names)
    assert isinstance(outcome, NotSent)
    assert outcome.reason is Reason.BAD_ADDRESS
    assert names.requested == []


async def test_a_closed_port_and_a_missing_name_never_leave(port: int) -> None:
    server = await asyncio.start_server(lambda r, w: None, "127.0.0.1", 0)
    closed = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    rule = HostRule("127.0.0.1", closed)
    assert await _connect("127.0.0.1", closed, rule) == NotSent(Reason.CONNECT)
    assert await _connect("mail.example.com", 587, names=Names()) == NotSent(Reason.DNS)
