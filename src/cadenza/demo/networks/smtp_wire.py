"""The wire of a mail dialogue: commands carried out and answered, with faults struck around each.

A command whose client has gone is still carried out, as servers do: that is what makes a lost reply
different from a lost mail.
"""

import asyncio
import base64
import socket  # noqa: TID251 - a reset needs the socket's linger option
import ssl
import struct
from collections.abc import Callable
from typing import Protocol

from cadenza.demo.networks.smtp_lines import as_bytes
from cadenza.demo.networks.smtp_model import ReplyLine, Rules
from cadenza.demo.simulator.faults import Fault, Faults, Kind
from cadenza.demo.simulator.network import SharedState

_SILENT = (Kind.DROP_AFTER, Kind.RESET_AFTER, Kind.SILENCE_AFTER, Kind.TRUNCATE_AFTER)


class Hangup(Exception):
    """The server ends the dialogue without a word."""


class MailServer(Protocol):
    """The server behind a dialogue."""

    rules: Rules
    tls: ssl.SSLContext | None
    faults: Faults

    @property
    def shared(self) -> SharedState: ...

    def sign_in(self, name: str, secret: str) -> ReplyLine: ...

    def known_by(self, name: str, challenge: str, proof: str) -> str: ...

    def recipient(self, sender: str, to: str, who: str) -> ReplyLine: ...

    def take(self, who: str, to: str, data: bytes) -> ReplyLine: ...

    def revoke(self, who: str) -> None: ...


class Wire:
    """One connection."""

    def __init__(
        self,
        simulated: MailServer,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        at_work: set[asyncio.Future[ReplyLine]],
    ) -> None:
        self.simulated, self.reader, self.writer = simulated, reader, writer
        self.at_work = at_work
        self.who = ""

    async def perform(self, verb: str, act: Callable[[], ReplyLine]) -> ReplyLine:
        """Carry a command out and answer it, as far as its fault lets it."""
        fault = self.simulated.faults.take(f"SMTP {verb}", self.who or None)
        if fault is not None and fault.kind is Kind.SILENCE_BEFORE:
            await self._fall_silent(ReplyLine(0, ""), Kind.SILENCE_AFTER)
        work = asyncio.ensure_future(self._work(act, fault))
        self.at_work.add(work)
        work.add_done_callback(self.at_work.discard)
        line = await asyncio.shield(work)
        return await self._answer(line, fault)

    async def _work(self, act: Callable[[], ReplyLine], fault: Fault | None) -> ReplyLine:
        match fault:
            case Fault(kind=Kind.DROP_BEFORE):
                return ReplyLine(0, "")
            case Fault(kind=Kind.ERROR_BEFORE):
                return ReplyLine.of(fault.reply())
            case Fault(kind=Kind.DELAY):
                await self.simulated.shared.clock.really_wait(fault.seconds)
            case Fault(kind=Kind.EXPIRE):
                self.simulated.revoke(self.who)
            case _:
                pass
        line = act()
        return act() if fault is not None and fault.kind is Kind.TWICE else line

    async def _answer(self, line: ReplyLine, fault: Fault | None) -> ReplyLine:
        kind = fault.kind if fault else None
        if line.code == 0 or kind in _SILENT:
            await self._fall_silent(line, kind)
        if fault is not None and kind is Kind.ERROR_AFTER:
            line = ReplyLine.of(fault.reply())
        if kind is Kind.HTML_AFTER:
            self.writer.write(b"<html>it works</html>\r\n")
            await self.writer.drain()
        elif fault is not None and kind is Kind.DRIP:
            for byte in as_bytes(line):
                self.writer.write(bytes([byte]))
                await self.writer.drain()
                await self.simulated.shared.clock.really_wait(fault.seconds / len(as_bytes(line)))
        else:
            await self.say(line)
        if line.code == 421:
            raise Hangup
        return line

    async def _fall_silent(self, line: ReplyLine, kind: Kind | None) -> None:
        if kind is Kind.SILENCE_AFTER:
            await self.reader.read()  # until the client has enough
        if kind is Kind.TRUNCATE_AFTER:
            self.writer.write(as_bytes(line)[:2])
            await self.writer.drain()
        if kind is Kind.RESET_AFTER:
            sock: socket.socket = self.writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.writer.transport.abort()
        raise Hangup

    async def ask(self, words: str) -> str:
        """Ask for the next step of a sign-in."""
        await self.say(ReplyLine(334, base64.b64encode(words.encode()).decode()))
        return (await self.reader.readline()).decode().strip()

    async def say(self, line: ReplyLine) -> None:
        """Answer."""
        self.writer.write(as_bytes(line))
        await self.writer.drain()
