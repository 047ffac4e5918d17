"""One dialogue with a mail server, told as a value: taken, refused at a stage, or lost at a stage.

The connection comes from the guarded door, never from the library's own dialling. The dot that ends
the message is the one irreversible byte: what is lost before it was surely not taken, what is lost
after it may have been. One way to sign in is tried, once: guessing on would lock accounts out.
"""

import asyncio
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import aiosmtplib

from cadenza.providers.base import LONGEST
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.dial import Plug
from cadenza.providers.http.outcome import NeverLeft
from cadenza.providers.http.redact import Secret
from cadenza.providers.http.request import Timeouts
from cadenza.providers.smtp.errors import Stage

PORTS = frozenset({25, 465, 587, 2525})
TIMES = Timeouts(connect=10, read=30, total=LONGEST.total_seconds())


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


class _Unfit(Exception):
    def __init__(self, code: str, says: str) -> None:
        super().__init__(says)
        self.ending = Unfit(code, says)


async def deliver(http: OutboundClient, server: Server, letter: Letter | None) -> Ending:
    """Hand a letter over; without one, only sign in and leave."""
    plug = await http.connect(server.host, server.port, ports=PORTS, timeouts=TIMES)
    if isinstance(plug, NeverLeft):
        return plug
    at = _At()
    try:
        async with asyncio.timeout(plug.timeouts.total), _signed_in(plug, server, at) as client:
            if letter is not None:
                await _hand_over(client, letter, plug.timeouts, at)
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
        await client.ehlo()
        if server.security == "starttls":
            await _encrypt(client, at)
        if server.secret is not None and server.username:
            at.stage = Stage.AUTH
            await _sign_in(client, server, server.secret)
        yield client
        await _leave(client, plug.timeouts)
    finally:
        client.close()


async def _encrypt(client: aiosmtplib.SMTP, at: _At) -> None:
    at.stage = Stage.TLS
    if not client.supports_extension("starttls"):
        says = "The mail server offers no encryption on this port; choose TLS or another port."
        raise _Unfit("no_starttls", says)
    await client.starttls()
    at.stage = Stage.HELLO
    await client.ehlo()


async def _sign_in(client: aiosmtplib.SMTP, server: Server, secret: Secret) -> None:
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
    await way(server.username, secret.reveal())


async def _hand_over(client: aiosmtplib.SMTP, letter: Letter, timeouts: Timeouts, at: _At) -> None:
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
    await client.mail(letter.sender, options=options, encoding=encoding)
    at.stage = Stage.RCPT
    await client.rcpt(letter.to, encoding=encoding)
    at.stage = Stage.DATA
    started = await client.execute_command(b"DATA")
    if started.code != 354:
        raise aiosmtplib.SMTPDataError(started.code, started.message)
    protocol = client.protocol
    if protocol is None:
        raise aiosmtplib.SMTPServerDisconnected("Connection lost")
    at.stage = Stage.DOT
    protocol.write(_stuffed(letter.data))
    # The final reply may take long; the whole dialogue's time bounds it.
    reply = await protocol.read_response(timeout=timeouts.total)
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
