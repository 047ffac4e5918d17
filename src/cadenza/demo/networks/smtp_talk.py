"""One dialogue of a mail server with a client, line by line: which command may come when, and its reply."""

from cadenza.demo.networks.smtp_lines import (
    decode,
    read_cram,
    read_oauth,
    read_path,
    read_plain,
)
from cadenza.demo.networks.smtp_model import ReplyLine
from cadenza.demo.networks.smtp_wire import Hangup, Wire

LONGEST = 1000
CHALLENGE = "<1896.697170952@simulated.example>"
NOT_ACCEPTED = '{"status":"401","schemes":"Bearer","scope":"https://mail.google.com/"}'
OK = ReplyLine(250, "2.0.0 OK")
BAD_ORDER = ReplyLine(503, "5.5.1 Bad sequence of commands")
SYNTAX = ReplyLine(501, "5.5.4 Syntax error in parameters")


class Dialogue(Wire):
    """The state of one dialogue."""

    encrypted = False
    greeted = False
    sender: str | None = None
    to: str | None = None

    async def run(self, *, encrypted: bool) -> None:
        """Speak until one side has enough."""
        self.encrypted = encrypted
        await self.perform("CONNECT", lambda: ReplyLine(220, "simulated.example ESMTP"))
        while True:
            line = await self.reader.readline()
            if not line:
                return
            verb, _, rest = line.decode("utf-8", "replace").rstrip("\r\n").partition(" ")
            if not await self._command(verb.upper(), rest, line):
                return

    async def _command(self, verb: str, rest: str, line: bytes) -> bool:
        if len(line) > LONGEST or not line.endswith(b"\r\n"):
            await self.say(ReplyLine(500, "5.5.2 Line too long or badly ended"))
        elif verb in {"EHLO", "HELO"}:
            await self.perform("EHLO", lambda: self._hello(verb, rest))
        elif verb == "STARTTLS":
            await self._start_tls()
        elif verb == "AUTH":
            await self._auth(rest)
        elif verb == "MAIL":
            await self.perform("MAIL", lambda: self._mail(rest))
        elif verb == "RCPT":
            await self.perform("RCPT", lambda: self._rcpt(rest))
        elif verb == "DATA":
            await self._data()
        elif verb in {"RSET", "NOOP"}:
            self.sender = self.to = None
            await self.say(OK)
        elif verb == "QUIT":
            await self.perform("QUIT", lambda: ReplyLine(221, "2.0.0 Bye"))
            return False
        else:
            await self.say(ReplyLine(502, "5.5.1 Command not implemented"))
        return True

    # Commands

    def _hello(self, verb: str, name: str) -> ReplyLine:
        if not name.strip():
            return SYNTAX
        self.greeted, self.sender, self.to = True, None, None
        if verb == "HELO":
            return ReplyLine(250, "simulated.example")
        rules = self.simulated.rules
        lines = ["simulated.example", f"SIZE {rules.size}", "8BITMIME", "ENHANCEDSTATUSCODES"]
        if rules.utf8:
            lines.append("SMTPUTF8")
        if self.simulated.tls and not self.encrypted:
            lines.append("STARTTLS")
        if rules.offers_auth and (self.encrypted or not self.simulated.tls):
            lines.append(f"AUTH {rules.offers_auth}")
        return ReplyLine(250, "\n".join(lines))

    async def _start_tls(self) -> None:
        tls = self.simulated.tls
        if tls is None or self.encrypted:
            await self.say(BAD_ORDER)
            return
        line = await self.perform("STARTTLS", lambda: ReplyLine(220, "2.0.0 Ready to start TLS"))
        if line.code == 220:
            await self.writer.start_tls(tls)
            self.encrypted, self.greeted = True, False

    async def _auth(self, rest: str) -> None:
        way, _, first = rest.partition(" ")
        if self.simulated.tls and not self.encrypted:
            await self.say(ReplyLine(538, "5.7.11 Encryption required"))
            return
        if way.upper() not in self.simulated.rules.offers_auth.split() or self.who:
            await self.say(ReplyLine(504, "5.5.4 Unrecognized authentication type"))
            return
        if way.upper() == "PLAIN":
            name, secret = read_plain(first or await self.ask(""))
        elif way.upper() == "LOGIN":
            name = decode(first or await self.ask("Username:"))
            secret = decode(await self.ask("Password:"))
        elif way.upper() == "CRAM-MD5":
            name, proof = read_cram(await self.ask(CHALLENGE))
            secret = self.simulated.known_by(name, CHALLENGE, proof)
        else:
            name, secret = read_oauth(first)
        self.who = name
        by_token = self.simulated.sign_in(name, secret) if way.upper() == "XOAUTH2" else None
        if by_token is not None and by_token.code != 235:
            await self.ask(NOT_ACCEPTED)  # to be answered with an empty line
        line = await self.perform("AUTH", lambda: by_token or self.simulated.sign_in(name, secret))
        if line.code != 235:
            self.who = ""

    def _mail(self, rest: str) -> ReplyLine:
        sender, options = read_path(rest, "FROM:")
        if not self.greeted or self.sender is not None:
            return BAD_ORDER
        if self.simulated.rules.needs_auth and not self.who:
            return ReplyLine(530, "5.7.0 Authentication required")
        if sender is None:
            return SYNTAX
        for option in options:
            name, _, value = option.partition("=")
            if name == "SIZE" and int(value) > self.simulated.rules.size:
                return ReplyLine(552, "5.3.4 Message size exceeds fixed limit")
            if name not in {"SIZE", "SMTPUTF8", "BODY"}:
                return ReplyLine(555, "5.5.4 Unsupported option")
        if not sender.isascii() and "SMTPUTF8" not in options:
            return ReplyLine(553, "5.6.7 Address needs SMTPUTF8")
        self.sender = sender
        return ReplyLine(250, "2.1.0 OK")

    def _rcpt(self, rest: str) -> ReplyLine:
        to, _ = read_path(rest, "TO:")
        if self.sender is None:
            return BAD_ORDER
        if to is None:
            return SYNTAX
        line = self.simulated.recipient(self.sender, to, self.who)
        if line.code == 250:
            self.to = to
        return line

    async def _data(self) -> None:
        if self.to is None:
            await self.say(BAD_ORDER)
            return
        line = await self.perform("DATA", lambda: ReplyLine(354, "Go ahead"))
        if line.code != 354:
            return
        data = bytearray()
        while (row := await self.reader.readline()) != b".\r\n":
            if not row:
                raise Hangup
            data += row.removeprefix(b".")
        to, mail = self.to, bytes(data)
        self.sender = self.to = None
        await self.perform("DOT", lambda: self.simulated.take(self.who, to, mail))
