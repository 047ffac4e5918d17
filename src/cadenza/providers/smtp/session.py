"""One dialogue with a mail server, told as a value: taken, refused at a stage, or lost at a stage.

The connection comes from the guarded door, never from the library's own dialling. The dot that ends
the message is the one irreversible byte: what is lost or stalls before it was surely not taken, what is
lost after it may have been. One way to sign in is tried, once: guessing on would lock accounts out.
"""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import aiosmtplib

from cadenza.providers.base import LONGEST
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.dial import Plug
from cadenza.providers.http.exchange import Exchange
from cadenza.providers.http.outcome import NeverLeft
from cadenza.providers.http.redact import Secret
from cadenza.providers.http.request import Timeouts
from cadenza.providers.http.write_down import hushed
from cadenza.providers.smtp.errors import Stage

PORTS = frozenset({25, 465, 587, 2525})
TIMES = Timeouts(connect=10, read=30, total=LONGEST.total_seconds())
# Seconds until the mail itself may go, well within the time of a call: what stalls before that is no doubt.
BEFORE_DATA = 16.0


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
class Letter:
    """A mail in its envelope."""

    sender: str
    to: str
    data: bytes
    utf8: bool = False


@dataclass(frozen=True, slots=True)
class Taken:
    """The server has it and says so."""

    says: str


@dataclass(frozen=True, slots=True)
class Refused:
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
    says: str


Ending = Taken | Refused | Lost | Unfit | NeverLeft


@dataclass(slots=True)
class _At:
    """How far the dialogue has come; what was taken stays taken, however they part."""

    stage: Stage = Stage.CONNECT
    taken: Taken | None = None
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
    def __init__(self, code: str, says: str) -> None:
        super().__init__(says)
        self.ending = Unfit(code, says)


async def deliver(
    http: OutboundClient, server: Server, letter: Letter | None, secrets: tuple[Secret, ...] = ()
) -> Ending:
    """Hand a letter over; without one, only sign in and leave. `secrets` do not show in what is kept."""
    at = _At()
    began_at, started = http.clock.now(), http.clock.monotonic()
    ending: Ending | None = None
    try:
        return (ending := await _converse(http, server, letter, at))
    finally:
        if http.notes is not None:
            status = at.heard[-1][1] if at.heard else None
            http.note(
                Exchange(
                    began_at=began_at,
                    seconds=http.clock.monotonic() - started,
                    method="SMTP",
                    place=hushed(f"{server.host}:{server.port} ({server.security})"),
                    body="\n".join(hushed(each, secrets) for each in at.said),
                    status=status if status and status >= 200 else None,
                    reply="\n".join(
                        hushed(f"{verb}: {code} {text}", secrets) for verb, code, text in at.heard
                    ),
                    says=_how_it_ended(ending),
                )
            )


def _how_it_ended(ending: Ending | None) -> str:
    match ending:
        case Lost(stage):
            return f"The line went silent ({stage.value})."
        case NeverLeft(says=says) | Unfit(says=says):
            return says
        case None:
            return "We stopped waiting for an answer."
        case _:
            return ""


async def _converse(http: OutboundClient, server: Server, letter: Letter | None, at: _At) -> Ending:
    try:
        async with asyncio.timeout(BEFORE_DATA) as limit:
            plug = await http.connect(server.host, server.port, ports=PORTS, timeouts=TIMES)
            if isinstance(plug, NeverLeft):
                return plug
            async with _signed_in(plug, server, at) as client:
                if letter is not None:
                    await _hand_over(client, letter, plug.timeouts, at, limit)
                at.taken = at.taken or Taken("signed in")
    except _Unfit as unfit:
        return unfit.ending
    except (aiosmtplib.SMTPException, OSError, TimeoutError) as failure:
        return at.taken or _ending(failure, at.stage)
    return at.taken


def _ending(failure: Exception, stage: Stage) -> Refused | Lost:
    if isinstance(failure, aiosmtplib.SMTPResponseException) and failure.code >= 200:
        return Refused(stage, failure.code, str(failure.message))
    in_tls = isinstance(failure, ssl.SSLError) or isinstance(failure.__cause__, ssl.SSLError)
    return Lost(Stage.TLS if in_tls and stage is not Stage.DOT else stage)


@asynccontextmanager
async def _signed_in(plug: Plug, server: Server, at: _At) -> AsyncGenerator[aiosmtplib.SMTP]:
    """Greet, encrypt, sign in; hang up at the end, politely where the other side still listens."""
    if server.security == "none" and not plug.vouched:
        plug.sock.close()
        raise _Unfit("plain", "Mail is not sent unencrypted; choose STARTTLS or TLS.")
    client = aiosmtplib.SMTP(
        hostname=plug.host,
        sock=plug.sock,
        use_tls=server.security == "tls",
        start_tls=False,
        tls_context=plug.tls,
        local_hostname=server.hello,
        timeout=plug.timeouts.read,
    )
    try:
        await client.connect()
        at.stage = Stage.HELLO
        await at.say(f"EHLO {server.hello}", client.ehlo())
        if server.security == "starttls":
            await _encrypt(client, server, at)
        if server.secret is not None and server.username:
            at.stage = Stage.AUTH
            await _sign_in(client, server, server.secret, at)
        yield client
        await _leave(client, plug.timeouts)
    finally:
        client.close()


async def _encrypt(client: aiosmtplib.SMTP, server: Server, at: _At) -> None:
    at.stage = Stage.TLS
    if not client.supports_extension("starttls"):
        says = "The mail server offers no encryption on this port; choose TLS or another port."
        raise _Unfit("no_starttls", says)
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
        says = "The mail server offers no way to sign in that we know; check port and encryption."
        raise _Unfit("no_auth", says)
    await at.say("AUTH [hidden]", way(server.username, secret.reveal()))


async def _hand_over(
    client: aiosmtplib.SMTP, letter: Letter, timeouts: Timeouts, at: _At, limit: asyncio.Timeout
) -> None:
    at.stage = Stage.MAIL
    options: list[str] = []
    if client.supports_extension("size"):
        options.append(f"SIZE={len(letter.data)}")
    if letter.utf8:
        if not client.supports_extension("smtputf8"):
            says = "This mail server takes only addresses in plain letters."
            raise _Unfit("no_smtputf8", says)
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
    at.taken = Taken(" ".join(reply.message.split()))


def _stuffed(data: bytes) -> bytes:
    """Double the dots that begin a line, and end with the one that counts."""
    if not data.endswith(b"\r\n"):
        data += b"\r\n"
    data = b"." + data if data.startswith(b".") else data
    return data.replace(b"\r\n.", b"\r\n..") + b".\r\n"


async def _leave(client: aiosmtplib.SMTP, timeouts: Timeouts) -> None:
    try:
        await client.quit(timeout=min(timeouts.read, 2))
    except (aiosmtplib.SMTPException, OSError, TimeoutError):
        return  # it was taken; how they part is of no matter
