"""A small name server on loopback, written with dnspython's messages: TXT records, silence and failures on demand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import dns.flags
import dns.message
import dns.rcode
import dns.rdataclass
import dns.rdatatype
import dns.rrset


@dataclass
class NameServer:
    """What is published, by name; `broken` names fail, `silent` ones get no answer."""

    texts: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    broken: set[str] = field(default_factory=set[str])
    asked: list[str] = field(default_factory=list[str])
    address: str = ""

    def answer(self, raw: bytes) -> bytes:
        query = dns.message.from_wire(raw)
        reply = dns.message.make_response(query)
        reply.flags |= dns.flags.RA
        question = query.question[0]
        name = question.name.to_text(omit_final_dot=True).lower()
        self.asked.append(name)
        if name in self.broken:
            reply.set_rcode(dns.rcode.SERVFAIL)
        elif name not in self.texts:
            reply.set_rcode(dns.rcode.NXDOMAIN)
        elif question.rdtype == dns.rdatatype.TXT:
            quoted = [_quoted(each) for each in self.texts[name]]
            reply.answer.append(dns.rrset.from_text(question.name, 60, "IN", "TXT", *quoted))
        return reply.to_wire(max_size=65535)


def _quoted(text: str) -> str:
    """Write a text in pieces of 255 letters, as long keys are published."""
    pieces = [text[start : start + 255] for start in range(0, len(text), 255)]
    return " ".join('"' + each.replace("\\", "\\\\").replace('"', '\\"') + '"' for each in pieces)


class _Protocol(asyncio.DatagramProtocol):
    def __init__(self, server: NameServer) -> None:
        self._server = server
        self._transport: Any = None

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self._transport.sendto(self._server.answer(data), addr)


@asynccontextmanager
async def name_server(texts: dict[str, list[str]]) -> AsyncGenerator[NameServer]:
    """Run one."""
    server = NameServer(texts)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(
        lambda: _Protocol(server), local_addr=("127.0.0.1", 0)
    )
    server.address = f"127.0.0.1:{transport.get_extra_info('sockname')[1]}"
    try:
        yield server
    finally:
        transport.close()
