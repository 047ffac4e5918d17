"""A mail server: EHLO, STARTTLS or TLS, AUTH, SIZE, SMTPUTF8, DATA, with faults acted out on the wire.

Faults are planned on routes like `SMTP RCPT` and `SMTP DOT`. Reproduced: scripts per recipient,
greylisting and hourly rates by real counting on the networks' clock, a mail taken although its reply is
lost, strict looks at headers and lines. The door "api" shows what arrived. Not reproduced: relaying,
PIPELINING. Bounces are written on demand. Certificates come from the caller (`tls`); without one there is no encryption.
"""

import asyncio
import contextlib
import hmac
import ssl
from datetime import datetime, timedelta
from typing import ClassVar

from cadenza.demo.networks.smtp_model import (
    Mailbox,
    ReplyLine,
    Rules,
    Script,
    read_mail,
    trouble_with,
    words_of,
    write_report,
)
from cadenza.demo.networks.smtp_talk import Dialogue
from cadenza.demo.networks.smtp_wire import Hangup
from cadenza.demo.simulator.counters import FixedWindows
from cadenza.demo.simulator.ledger import Entry
from cadenza.demo.simulator.network import EndpointServer, SimulatedNetwork

_GONE = (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ssl.SSLError)


class SimulatedSmtp(SimulatedNetwork):
    """One mail server."""

    name: ClassVar[str] = "smtp"
    endpoints: ClassVar[tuple[str, ...]] = ("api", "smtp", "smtps")

    def __init__(self, rules: Rules | None = None, *, tls: ssl.SSLContext | None = None) -> None:
        super().__init__()
        self.rules = rules or Rules()
        self.tls = tls
        self.mailboxes: dict[str, Mailbox] = {}
        self.scripts: dict[str, Script] = {}
        self.hourly = FixedWindows(1000, timedelta(hours=1))
        self.raw: list[bytes] = []
        self.sign_ins = 0
        self._met: dict[tuple[str, str], datetime] = {}

    def add_mailbox(self, name: str, password: str) -> Mailbox:
        """Let someone sign in."""
        self.mailboxes[name] = Mailbox(name, password)
        return self.mailboxes[name]

    def script(
        self, address: str, *, rcpt: tuple[ReplyLine, ...] = (), dot: tuple[ReplyLine, ...] = ()
    ) -> None:
        """Let a recipient's mailbox say these first."""
        self.scripts[address] = Script(list(rcpt), list(dot))

    def endpoint_server(self, endpoint: str) -> EndpointServer | None:
        return None if endpoint == "api" else _SmtpEndpoint(self, encrypted=endpoint == "smtps")

    # What the dialogue asks

    def sign_in(self, name: str, secret: str) -> ReplyLine:
        """Check a password."""
        self.sign_ins += 1
        box = self.mailboxes.get(name)
        if box is None or box.revoked or box.password != secret:
            return ReplyLine(535, "5.7.8 Authentication credentials invalid")
        return ReplyLine(235, "2.7.0 Authentication successful")

    def known_by(self, name: str, challenge: str, proof: str) -> str:
        """Return the password that a proof was made with, or none."""
        box = self.mailboxes.get(name)
        if box is None:
            return ""
        right = hmac.new(box.password.encode(), challenge.encode(), "md5").hexdigest()
        return box.password if hmac.compare_digest(right, proof) else ""

    def recipient(self, sender: str, to: str, who: str) -> ReplyLine:
        """Say whether mail to an address is taken now."""
        script = self.scripts.get(to)
        if script and script.rcpt:
            return script.rcpt.pop(0)
        hit = self.hourly.hit(who, self.now)
        if not hit.allowed:
            wait = int((hit.resets_at - self.now).total_seconds())
            return ReplyLine(450, f"4.7.0 Sending rate exceeded, try again in {wait} seconds")
        since = self._met.setdefault((sender, to), self.now)
        if self.now - since < self.rules.greylist:
            return ReplyLine(451, "4.7.1 Greylisted, please come again")
        return ReplyLine(250, "2.1.5 OK")

    def take(self, who: str, to: str, data: bytes) -> ReplyLine:
        """Take a mail, or say why not; once this says 250 the mail is out."""
        script = self.scripts.get(to)
        if script and script.dot:
            return script.dot.pop(0)
        if len(data) > self.rules.size:
            return ReplyLine(552, "5.3.4 Message too big for system")
        mail = read_mail(data)
        trouble = trouble_with(data, mail)
        if trouble is not None:
            return ReplyLine(550, f"5.6.0 {trouble}")
        self.raw.append(data)
        self.show(
            Entry(
                simulated=self.name,
                account=who,
                remote_id=mail["Message-ID"].strip(),
                text=words_of(mail),
                at=self.now,
                kind="email",
                to=to,
                detail={"subject": str(mail["Subject"])},
            )
        )
        return ReplyLine(250, f"2.0.0 OK queued as {self.shared.ids.hexadecimal(10).upper()}")

    def bounce(self, entry: Entry, status: str = "5.1.1") -> bytes:
        """Return a mail that was taken: write the report that its sender would get."""
        raw = next(each for each in self.raw if entry.remote_id.encode() in each)
        return write_report(raw, entry.to, status, self.now)

    def revoke(self, who: str) -> None:
        """Let a password run out."""
        for box in self.mailboxes.values():
            if who in {"", box.name}:
                box.revoked = True


class _SmtpEndpoint:
    """Speaks with the clients of one door."""

    def __init__(self, simulated: SimulatedSmtp, *, encrypted: bool) -> None:
        self._world = simulated
        self._encrypted = encrypted
        self._tasks: set[asyncio.Task[None]] = set()
        self._at_work: set[asyncio.Future[ReplyLine]] = set()

    async def welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with contextlib.suppress(*_GONE, Hangup, asyncio.CancelledError):
                if self._encrypted:
                    if self._world.tls is None:
                        return
                    await writer.start_tls(self._world.tls)
                talk = Dialogue(self._world, reader, writer, self._at_work)
                await talk.run(encrypted=self._encrypted)
        finally:
            self._tasks.discard(task)
            writer.close()

    async def cut(self) -> None:
        await self.quiet()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def quiet(self) -> None:
        while self._at_work:
            await asyncio.wait(list(self._at_work))
