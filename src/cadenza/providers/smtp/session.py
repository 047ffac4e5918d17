"""One dialogue with a mail server, told as a value: taken, refused at a stage, or lost at a stage.

The connection comes from the guarded door, never from the library's own dialling. The dot that ends
the message is the one irreversible byte: what is lost or stalls before it was surely not taken, what is
lost after it may have been. A connection that took a mail stays open for a moment (`http/idle.py`) and may carry
the next one, if it still answers; if it fails before the mail is handed over, a new one is made. One way to sign
in is tried, once: guessing on would lock accounts out.
"""

import asyncio
import ssl
from collections.abc import Awaitable
from dataclasses import dataclass, field

import aiosmtplib

from cadenza.providers.base import LONGEST
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.exchange import Exchange
from cadenza.providers.http.outcome import NotSent
from cadenza.providers.http.record import redacted
from cadenza.providers.http.redact import Secret
from cadenza.providers.http.request import Timeouts
from cadenza.providers.smtp.errors import Stage

PORTS = frozenset({25, 465, 587, 2525})
TIMES = Timeouts(connect=10, read=30, total=LONGEST.total_seconds())
# Seconds until the mail itself may go, well within the time of a call: what stalls before that is no doubt.
BEFORE_DATA = 16.0
STILL_THERE = 3.0  # seconds for a kept connection to show that it is alive
MAILS = 50  # over one connection; servers close it after some number of their own


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Where an account's mail goes, and who it signs in as."""

    host: str
    port: int = 587
    security: str = "starttls"  # starttls, tls, none
    username: str = ""
    secret: Secret | None = None
    oauth: bool = False  # the secret is an access token
    hello: str = "localhost"  # the name that we greet with


@dataclass(frozen=True, slots=True)
class OutgoingMail:
    """A mail in its envelope."""

    sender: str
    to: str
    data: bytes
    utf8: bool = False


@dataclass(frozen=True, slots=True)
class MailAccepted:
    """The server has it and says so."""

    message: str


@dataclass(frozen=True, slots=True)
class MailRefused:
    """The server answered no."""

    stage: Stage
    code: int
    text: str


@dataclass(frozen=True, slots=True)
class Lost:
    """No answer came; after the dot it may have been taken."""

    stage: Stage

    @property
    def perhaps(self) -> bool:
        return self.stage is Stage.DOT


@dataclass(frozen=True, slots=True)
class Unfit:
    """The server lacks what we need; nothing was sent."""

    code: str
    message: str


Ending = MailAccepted | MailRefused | Lost | Unfit | NotSent


@dataclass(slots=True)
class _At:
    """How far the dialogue has come; what it ended with stays, however they part."""

    stage: Stage = Stage.CONNECT
    ending: Ending | None = None
    said: list[str] = field(default_factory=list[str])  # commands, without mail and credentials
    heard: list[tuple[str, int, str]] = field(default_factory=list[tuple[str, int, str]])

    async def say(self, command: str, doing: Awaitable[aiosmtplib.SMTPResponse]) -> None:
        """Give a command and keep what was answered to it, a refusal too."""
        self.said.append(command)
        verb = command.partition(" ")[0]
        try:
            reply = await doing
        except aiosmtplib.SMTPResponseException as refused:
            self.heard.append((verb, refused.code, str(refused.message)))
            raise
        self.heard.append((verb, reply.code, reply.message))


class _Unfit(Exception):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.ending = Unfit(code, message)


async def deliver(
    http: OutboundClient,
    server: Server,
    letter: OutgoingMail | None,
    secrets: tuple[Secret, ...] = (),
) -> Ending:
    """Hand a letter over; without one, only sign in and leave. `secrets` do not show in what is kept."""
    at = _At()
    began_at, started = http.clock.now(), http.clock.monotonic()
    ending: Ending | None = None
    try:
        return (ending := await _run_dialogue(http, server, letter, at))
    finally:
        if http.notes is not None:
            status = at.heard[-1][1] if at.heard else None
            http.note(
                Exchange(
                    began_at=began_at,
                    seconds=http.clock.monotonic() - started,
                    method="SMTP",
                    place=redacted(f"{server.host}:{server.port} ({server.security})"),
                    body="\n".join(redacted(each, secrets) for each in at.said),
                    status=status if status and status >= 200 else None,
                    reply="\n".join(
                        redacted(f"{verb}: {code} {text}", secrets) for verb, code, text in at.heard
                    ),
                    message=_how_it_ended(ending),
                )
            )


def _how_it_ended(ending: Ending | None) -> str:
    match ending:
        case Lost(stage):
            return f"The line went silent ({stage.value})."
        case NotSent(message=message) | Unfit(message=message):
            return message
        case None:
            return "We stopped waiting for an answer."
        case _:
            return ""


async def _run_dialogue(
    http: OutboundClient, server: Server, letter: OutgoingMail | None, at: _At
) -> Ending:
    try:
        async with asyncio.timeout(BEFORE_DATA) as limit:
            kept = http.idle.take(server) if letter is not None else None
            if isinstance(kept, _Line):
                ending = await _use(http, server, kept, letter, at, limit)
                if not _is_stale(ending):
                    return ending
                at.said.append("(the kept connection was of no use; a new one)")
                at.ending, at.stage = None, Stage.CONNECT
            line = await _dial(http, server)
            if not isinstance(line, _Line):
                return line
            return await _use(http, server, line, letter, at, limit)
    except TimeoutError:
        return at.ending or Lost(at.stage)


@dataclass(slots=True, eq=False)
class _Line:
    """A connection, and how many mails it has carried."""

    client: aiosmtplib.SMTP
    timeouts: Timeouts
    mails: int = 0

    async def leave(self) -> None:
        """Say QUIT where the other side still listens, and hang up."""
        try:
            if self.client.is_connected:
                await self.client.quit(timeout=min(self.timeouts.read, 2))
        except (aiosmtplib.SMTPException, OSError, TimeoutError):
            pass  # how they part is of no matter
        finally:
            self.client.close()


async def _dial(http: OutboundClient, server: Server) -> _Line | NotSent | Unfit:
    """Open a connection by the guarded door."""
    plug = await http.connect(server.host, server.port, ports=PORTS, timeouts=TIMES)
    if isinstance(plug, NotSent):
        return plug
    if server.security == "none" and not plug.vouched:
        plug.sock.close()
        return Unfit("plain", "Mail is not sent unencrypted; choose STARTTLS or TLS.")
    client = aiosmtplib.SMTP(
        hostname=plug.host,
        sock=plug.sock,
        use_tls=server.security == "tls",
        start_tls=False,
        tls_context=plug.tls,
        local_hostname=server.hello,
        timeout=plug.timeouts.read,
    )
    return _Line(client, plug.timeouts)


async def _use(
    http: OutboundClient,
    server: Server,
    line: _Line,
    letter: OutgoingMail | None,
    at: _At,
    limit: asyncio.Timeout,
) -> Ending:
    """Speak over a connection, then keep it, leave it, or hang up."""
    parted = False
    try:
        ending = at.ending = await _talk(line, server, letter, at, limit)
        if isinstance(ending, MailAccepted) and letter is not None and line.mails < MAILS:
            http.idle.keep(server, line)
        elif isinstance(ending, MailAccepted | MailRefused | Unfit):
            await line.leave()
        else:
            line.client.close()
        parted = True
        return ending
    finally:
        if not parted:
            line.client.close()


async def _talk(
    line: _Line, server: Server, letter: OutgoingMail | None, at: _At, limit: asyncio.Timeout
) -> Ending:
    try:
        if line.mails:
            at.stage = Stage.HELLO
            await at.say("RSET", line.client.rset(timeout=STILL_THERE))
        else:
            await _greet(line.client, server, at)
        if letter is None:
            return MailAccepted("signed in")
        taken = await _hand_over(line.client, letter, line.timeouts, at, limit)
    except _Unfit as unfit:
        return unfit.ending
    except (aiosmtplib.SMTPException, OSError) as failure:
        return _ending(failure, at.stage)
    line.mails += 1
    return taken


def _is_stale(ending: Ending) -> bool:
    """Say whether a kept connection failed as such, and not the mail: nothing was handed over yet."""
    match ending:
        case Lost(stage):
            return stage is not Stage.DOT
        case MailRefused(stage, code):
            early = stage in {Stage.HELLO, Stage.MAIL} and code < 500
            return early or (code == 421 and stage is not Stage.DOT)
        case _:
            return False


def _ending(failure: Exception, stage: Stage) -> MailRefused | Lost:
    if isinstance(failure, aiosmtplib.SMTPResponseException) and failure.code >= 200:
        return MailRefused(stage, failure.code, str(failure.message))
    in_tls = isinstance(failure, ssl.SSLError) or isinstance(failure.__cause__, ssl.SSLError)
    return Lost(Stage.TLS if in_tls and stage is not Stage.DOT else stage)


async def _greet(client: aiosmtplib.SMTP, server: Server, at: _At) -> None:
    """Greet, encrypt, sign in."""
    await client.connect()
    at.stage = Stage.HELLO
    await at.say(f"EHLO {server.hello}", client.ehlo())
    if server.security == "starttls":
        await _encrypt(client, server, at)
    if server.secret is not None and server.username:
        at.stage = Stage.AUTH
        await _sign_in(client, server, server.secret, at)


async def _encrypt(client: aiosmtplib.SMTP, server: Server, at: _At) -> None:
    at.stage = Stage.TLS
    if not client.supports_extension("starttls"):
        message = "The mail server offers no encryption on this port; choose TLS or another port."
        raise _Unfit("no_starttls", message)
    await at.say("STARTTLS", client.starttls())
    at.stage = Stage.HELLO
    await at.say(f"EHLO {server.hello}", client.ehlo())


async def _sign_in(client: aiosmtplib.SMTP, server: Server, secret: Secret, at: _At) -> None:
    offered = client.server_auth_methods
    if server.oauth:
        ways = {"xoauth2": client.auth_xoauth2}
    else:
        ways = {
            "plain": client.auth_plain,
            "login": client.auth_login,
            "cram-md5": client.auth_crammd5,
        }
    way = next((ways[name] for name in ways if name in offered), None)
    if way is None:
        message = (
            "The mail server offers no way to sign in that we know; check port and encryption."
        )
        raise _Unfit("no_auth", message)
    await at.say("AUTH [hidden]", way(server.username, secret.reveal()))


async def _hand_over(
    client: aiosmtplib.SMTP,
    letter: OutgoingMail,
    timeouts: Timeouts,
    at: _At,
    limit: asyncio.Timeout,
) -> MailAccepted:
    at.stage = Stage.MAIL
    options: list[str] = []
    if client.supports_extension("size"):
        options.append(f"SIZE={len(letter.data)}")
    if letter.utf8:
        if not client.supports_extension("smtputf8"):
            message = "This mail server takes only addresses in plain letters."
            raise _Unfit("no_smtputf8", message)
        options.append("SMTPUTF8")
    encoding = "utf-8" if letter.utf8 else "ascii"
    told = " ".join((f"MAIL FROM:<{letter.sender}>", *options))
    await at.say(told, client.mail(letter.sender, options=options, encoding=encoding))
    at.stage = Stage.RCPT
    await at.say(f"RCPT TO:<{letter.to}>", client.rcpt(letter.to, encoding=encoding))
    at.stage = Stage.DATA
    started = await client.execute_command(b"DATA")
    at.said.append("DATA")
    at.heard.append(("DATA", started.code, started.message))
    if started.code != 354:
        raise aiosmtplib.SMTPDataError(started.code, started.message)
    protocol = client.protocol
    if protocol is None:
        raise aiosmtplib.SMTPServerDisconnected("Connection lost")
    at.stage = Stage.DOT
    limit.reschedule(asyncio.get_running_loop().time() + timeouts.total)
    protocol.write(_stuffed(letter.data))
    at.said.append(f"(the mail: {len(letter.data)} bytes)")
    # The final reply may take long; the whole dialogue's time bounds it.
    reply = await protocol.read_response(timeout=timeouts.total)
    at.heard.append(("mail", reply.code, reply.message))
    if reply.code // 100 != 2:
        raise aiosmtplib.SMTPDataError(reply.code, reply.message)
    return MailAccepted(" ".join(reply.message.split()))


def _stuffed(data: bytes) -> bytes:
    """Double the dots that begin a line, and end with the one that counts."""
    if not data.endswith(b"\r\n"):
        data += b"\r\n"
    data = b"." + data if data.startswith(b".") else data
    return data.replace(b"\r\n.", b"\r\n..") + b".\r\n"
