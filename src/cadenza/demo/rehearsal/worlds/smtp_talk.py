"""One dialogue of a mail server with a client, line by line; faults strike around each command.

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

from cadenza.demo.rehearsal.faults import Fault, Faults, Kind
from cadenza.demo.rehearsal.world import Stage
from cadenza.demo.rehearsal.worlds.smtp_lines import (
    as_bytes,
    decode,
    read_oauth,
    read_path,
    read_plain,
)
from cadenza.demo.rehearsal.worlds.smtp_model import Line, Rules

LONGEST = 1000
OK = Line(250, "2.0.0 OK")
BAD_ORDER = Line(503, "5.5.1 Bad sequence of commands")
SYNTAX = Line(501, "5.5.4 Syntax error in parameters")
_SILENT = (Kind.DROP_AFTER, Kind.RESET_AFTER, Kind.SILENCE_AFTER, Kind.TRUNCATE_AFTER)


class Hangup(Exception):
    """The server ends the dialogue without a word."""


class House(Protocol):
    """The server behind a dialogue."""

    rules: Rules
    tls: ssl.SSLContext | None
    faults: Faults

    @property
    def stage(self) -> Stage: ...

    def sign_in(self, name: str, secret: str) -> Line: ...

    def recipient(self, sender: str, to: str, who: str) -> Line: ...

    def take(self, who: str, to: str, data: bytes) -> Line: ...

    def revoke(self, who: str) -> None: ...


class Talk:
    """The state of one dialogue."""

    def __init__(
        self,
        world: House,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        at_work: set[asyncio.Future[Line]],
    ) -> None:
        self.world, self.reader, self.writer = world, reader, writer
        self.at_work = at_work
        self.encrypted = False
        self.greeted = False
        self.who = ""
        self.sender: str | None = None
        self.to: str | None = None

    async def run(self, *, encrypted: bool) -> None:
        """Speak until one side has enough."""
        self.encrypted = encrypted
        await self._perform("CONNECT", lambda: Line(220, "rehearsal.example ESMTP"))
        while True:
            line = await self.reader.readline()
            if not line:
                return
            verb, _, rest = line.decode("utf-8", "replace").rstrip("\r\n").partition(" ")
            if not await self._command(verb.upper(), rest, line):
                return

    async def _command(self, verb: str, rest: str, line: bytes) -> bool:
        if len(line) > LONGEST or not line.endswith(b"\r\n"):
            await self._say(Line(500, "5.5.2 Line too long or badly ended"))
        elif verb in {"EHLO", "HELO"}:
            await self._perform("EHLO", lambda: self._hello(verb, rest))
        elif verb == "STARTTLS":
            await self._start_tls()
        elif verb == "AUTH":
            await self._auth(rest)
        elif verb == "MAIL":
            await self._perform("MAIL", lambda: self._mail(rest))
        elif verb == "RCPT":
            await self._perform("RCPT", lambda: self._rcpt(rest))
        elif verb == "DATA":
            await self._data()
        elif verb in {"RSET", "NOOP"}:
            self.sender = self.to = None
            await self._say(OK)
        elif verb == "QUIT":
            await self._perform("QUIT", lambda: Line(221, "2.0.0 Bye"))
            return False
        else:
            await self._say(Line(502, "5.5.1 Command not implemented"))
        return True

    # Commands

    def _hello(self, verb: str, name: str) -> Line:
        if not name.strip():
            return SYNTAX
        self.greeted, self.sender, self.to = True, None, None
        if verb == "HELO":
            return Line(250, "rehearsal.example")
        rules = self.world.rules
        lines = ["rehearsal.example", f"SIZE {rules.size}", "8BITMIME", "ENHANCEDSTATUSCODES"]
        if rules.utf8:
            lines.append("SMTPUTF8")
        if self.world.tls and not self.encrypted:
            lines.append("STARTTLS")
        if rules.offers_auth and (self.encrypted or not self.world.tls):
            lines.append(f"AUTH {rules.offers_auth}")
        return Line(250, "\n".join(lines))

    async def _start_tls(self) -> None:
        tls = self.world.tls
        if tls is None or self.encrypted:
            await self._say(BAD_ORDER)
            return
        line = await self._perform("STARTTLS", lambda: Line(220, "2.0.0 Ready to start TLS"))
        if line.code == 220:
            await self.writer.start_tls(tls)
            self.encrypted, self.greeted = True, False

    async def _auth(self, rest: str) -> None:
        way, _, first = rest.partition(" ")
        if self.world.tls and not self.encrypted:
            await self._say(Line(538, "5.7.11 Encryption required"))
            return
        if way.upper() not in self.world.rules.offers_auth.split() or self.who:
            await self._say(Line(504, "5.5.4 Unrecognized authentication type"))
            return
        if way.upper() == "PLAIN":
            name, secret = read_plain(first or await self._ask(""))
        elif way.upper() == "LOGIN":
            name = decode(first or await self._ask("Username:"))
            secret = decode(await self._ask("Password:"))
        else:
            name, secret = read_oauth(first)
        self.who = name
        line = await self._perform("AUTH", lambda: self.world.sign_in(name, secret))
        if line.code != 235:
            self.who = ""

    def _mail(self, rest: str) -> Line:
        sender, options = read_path(rest, "FROM:")
        if not self.greeted or self.sender is not None:
            return BAD_ORDER
        if self.world.rules.needs_auth and not self.who:
            return Line(530, "5.7.0 Authentication required")
        if sender is None:
            return SYNTAX
        for option in options:
            name, _, value = option.partition("=")
            if name == "SIZE" and int(value) > self.world.rules.size:
                return Line(552, "5.3.4 Message size exceeds fixed limit")
            if name not in {"SIZE", "SMTPUTF8", "BODY"}:
                return Line(555, "5.5.4 Unsupported option")
        if not sender.isascii() and "SMTPUTF8" not in options:
            return Line(553, "5.6.7 Address needs SMTPUTF8")
        self.sender = sender
        return Line(250, "2.1.0 OK")

    def _rcpt(self, rest: str) -> Line:
        to, _ = read_path(rest, "TO:")
        if self.sender is None:
            return BAD_ORDER
        if to is None:
            return SYNTAX
        line = self.world.recipient(self.sender, to, self.who)
        if line.code == 250:
            self.to = to
        return line

    async def _data(self) -> None:
        if self.to is None:
            await self._say(BAD_ORDER)
            return
        line = await self._perform("DATA", lambda: Line(354, "Go ahead"))
        if line.code != 354:
            return
        data = bytearray()
        while (row := await self.reader.readline()) != b".\r\n":
            if not row:
                raise Hangup
            data += row.removeprefix(b".")
        to, mail = self.to, bytes(data)
        self.sender = self.to = None
        await self._perform("DOT", lambda: self.world.take(self.who, to, mail))

    # The wire

    async def _perform(self, verb: str, act: Callable[[], Line]) -> Line:
        """Carry a command out and answer it, as far as its fault lets it."""
        fault = self.world.faults.take(f"SMTP {verb}", self.who or None)
        work = asyncio.ensure_future(self._work(act, fault))
        self.at_work.add(work)
        work.add_done_callback(self.at_work.discard)
        line = await asyncio.shield(work)
        return await self._answer(line, fault)

    async def _work(self, act: Callable[[], Line], fault: Fault | None) -> Line:
        match fault:
            case Fault(kind=Kind.DROP_BEFORE):
                return Line(0, "")
            case Fault(kind=Kind.ERROR_BEFORE):
                return Line.of(fault.reply())
            case Fault(kind=Kind.DELAY):
                await self.world.stage.clock.really_wait(fault.seconds)
            case Fault(kind=Kind.EXPIRE):
                self.world.revoke(self.who)
            case _:
                pass
        line = act()
        return act() if fault is not None and fault.kind is Kind.TWICE else line

    async def _answer(self, line: Line, fault: Fault | None) -> Line:
        kind = fault.kind if fault else None
        if line.code == 0 or kind in _SILENT:
            await self._fall_silent(line, kind)
        if fault is not None and kind is Kind.ERROR_AFTER:
            line = Line.of(fault.reply())
        if kind is Kind.HTML_AFTER:
            self.writer.write(b"<html>it works</html>\r\n")
            await self.writer.drain()
        elif fault is not None and kind is Kind.DRIP:
            for byte in as_bytes(line):
                self.writer.write(bytes([byte]))
                await self.writer.drain()
                await self.world.stage.clock.really_wait(fault.seconds / len(as_bytes(line)))
        else:
            await self._say(line)
        if line.code == 421:
            raise Hangup
        return line

    async def _fall_silent(self, line: Line, kind: Kind | None) -> None:
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

    async def _ask(self, words: str) -> str:
        await self._say(Line(334, base64.b64encode(words.encode()).decode()))
        return (await self.reader.readline()).decode().strip()

    async def _say(self, line: Line) -> None:
        self.writer.write(as_bytes(line))
        await self.writer.drain()
