"""A real name server on loopback whose answers change, and a resolver that asks it.

The server speaks enough DNS over UDP: A and AAAA, time to live 0, and gives each name's answers in
turn, the last one for ever. That is what a rebinding attack looks like on the wire.
"""

from __future__ import annotations

import asyncio
import struct
from dataclasses import dataclass, field
from ipaddress import IPv4Address, ip_address
from typing import Self

A, AAAA = 1, 28
Answers = list[list[str]]


@dataclass
class NameServer(asyncio.DatagramProtocol):
    """Answers for the names it has; counts what it was asked."""

    names: dict[str, Answers]
    requested: list[str] = field(default_factory=list[str])
    port: int = 0

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.create_datagram_endpoint(
            lambda: self, local_addr=("127.0.0.1", 0)
        )
        self.port = self._transport.get_extra_info("sockname")[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._transport.close()
        await asyncio.sleep(0)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        name, kind, end = question(data)
        turns = self.names.get(name)
        if turns is None:
            self._transport.sendto(data[:2] + b"\x81\x83" + data[4:end], addr)  # no such name
            return
        if kind == A:
            self.requested.append(name)
        turn = turns[0]
        if kind == AAAA and len(turns) > 1:  # the second question of a look-up turns the page
            turns.pop(0)
        found = [ip_address(each) for each in turn]
        version = 4 if kind == A else 6
        records = [each.packed for each in found if each.version == version]
        head = data[:2] + struct.pack(">HHHHH", 0x8180, 1, len(records), 0, 0)
        body = b"".join(
            b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 0, len(record)) + record
            for record in records
        )
        self._transport.sendto(head + data[12:end] + body, addr)

    @property
    def resolver(self) -> Ask:
        return Ask(self.port)


def question(data: bytes) -> tuple[str, int, int]:
    labels, at = list[str](), 12
    while data[at]:
        labels.append(data[at + 1 : at + 1 + data[at]].decode())
        at += 1 + data[at]
    (kind,) = struct.unpack_from(">H", data, at + 1)
    return ".".join(labels), kind, at + 5


@dataclass
class Ask:
    """The `Resolver` port, over UDP, to one name server; it caches nothing."""

    server: int

    async def resolve(self, host: str, port: int) -> list[str]:
        try:
            return [str(ip_address(host))]
        except ValueError:
            pass
        return await self._ask(host, A) + await self._ask(host, AAAA)

    async def _ask(self, host: str, kind: int) -> list[str]:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[bytes] = loop.create_future()

        class Waits(asyncio.DatagramProtocol):
            def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
                if not answer.done():
                    answer.set_result(data)

        transport, _ = await loop.create_datagram_endpoint(
            Waits, remote_addr=("127.0.0.1", self.server)
        )
        try:
            name = b"".join(bytes([len(each)]) + each.encode() for each in host.split("."))
            head = struct.pack(">HHHHHH", 7, 0x0100, 1, 0, 0, 0)
            transport.sendto(head + name + b"\0" + struct.pack(">HH", kind, 1))
            return records(await answer, kind)
        finally:
            transport.close()


def records(data: bytes, kind: int) -> list[str]:
    flags, _, count = struct.unpack_from(">HHH", data, 2)
    if flags & 0xF:
        raise OSError("no such name")
    at, found = question(data)[2], list[str]()
    for _ in range(count):
        _, length = struct.unpack_from(">IH", data, at + 6)
        packed = data[at + 12 : at + 12 + length]
        found.append(str(IPv4Address(packed) if kind == A else ip_address(packed)))
        at += 12 + length
    return found
