"""Reads a mailbox by IMAP (RFC 9051), and never changes it: folders are opened with EXAMINE, mails with PEEK.

The connection comes from the guarded way out, as that of outgoing mail does. Only what reading needs is spoken:
sign in by password or token (XOAUTH2), list folders, search, fetch, and wait for new mail (IDLE, RFC 2177). Limit: of
each mail the first mebibyte is read, which holds what reports tell.
"""

import asyncio
import base64
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.outcome import NotSent
from cadenza.providers.http.redact import Secret
from cadenza.providers.http.request import Timeouts

PORTS = frozenset({143, 993})
TIMES = Timeouts(connect=10, read=60, total=300)
MOST_BYTES = 1024 * 1024  # of one mail
LONGEST_LINE = 1024 * 1024
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_LITERAL = re.compile(rb"\{(\d{1,10})\}$")
_VALIDITY = re.compile(rb"\[UIDVALIDITY (\d+)\]", re.IGNORECASE)
_NEXT = re.compile(rb"\[UIDNEXT (\d+)\]", re.IGNORECASE)
_UID = re.compile(rb"\bUID (\d+)", re.IGNORECASE)
_ARRIVED = re.compile(rb'\bINTERNALDATE "([^"]+)"', re.IGNORECASE)
_FOLDER = re.compile(
    rb'^\* LIST \(([^)]*)\) (?:"[^"]*"|NIL) (?:"((?:[^"\\]|\\.)*)"|([^"{\s]+))$', re.IGNORECASE
)


class ImapFailed(Exception):
    """The mailbox cannot be read: what to tell its owner."""

    def __init__(self, message: str, *, sign_in: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.sign_in = sign_in  # the server knows us, and does not let us in


class AccessTokens(Protocol):
    """Where the account's access token comes from."""

    async def __call__(self, *, refused: bool) -> Secret | None:
        """Return the token, or a newer one for one that was refused; None: there is none to be had."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ImapServer:
    """Where a mailbox is, and who signs in: by password, or by tokens."""

    host: str
    port: int
    security: str  # tls, starttls, none
    username: str
    password: Secret | None = None
    tokens: AccessTokens | None = None


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder as it is now: numbers of mails hold as long as its validity does."""

    validity: int
    next_uid: int


@dataclass(frozen=True, slots=True)
class FetchedMail:
    """One mail, or its beginning."""

    uid: int
    arrived_at: datetime
    raw: bytes


@dataclass(frozen=True, slots=True)
class _Response:
    """A line of the server with the literals in it."""

    line: bytes
    literals: tuple[bytes, ...]


@asynccontextmanager
async def open_mailbox(http: OutboundClient, server: ImapServer) -> AsyncGenerator["ImapSession"]:
    """Connect and sign in; raises `ImapFailed` with what to tell the owner."""
    plug = await http.connect(server.host, server.port, ports=PORTS, timeouts=TIMES)
    if isinstance(plug, NotSent):
        raise ImapFailed(plug.message or f"No connection to {server.host}.")
    if server.security == "none" and not plug.vouched:
        plug.sock.close()
        raise ImapFailed("Mail is not read unencrypted: choose TLS or STARTTLS.")
    secure = server.security == "tls"
    try:
        async with asyncio.timeout(TIMES.read):
            reader, writer = await asyncio.open_connection(  # noqa: TID251 - over the guarded socket
                sock=plug.sock,
                ssl=plug.tls if secure else None,
                server_hostname=plug.host if secure else None,
                limit=LONGEST_LINE,
            )
    except (OSError, TimeoutError) as error:
        plug.sock.close()
        raise ImapFailed("No encrypted connection came about; check server and port.") from error
    session = ImapSession(reader, writer)
    try:
        await session.greet()
        if server.security == "starttls":
            await session.command("STARTTLS")
            async with asyncio.timeout(TIMES.read):
                await writer.start_tls(plug.tls, server_hostname=plug.host)
        await session.sign_in(server)
        yield session
        await session.leave()
    except (OSError, EOFError, TimeoutError) as error:
        raise ImapFailed("The mail server fell silent; it is tried again later.") from error
    finally:
        writer.close()


class ImapSession:
    """A connection that is signed in."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._tag = 0

    async def greet(self) -> None:
        """Hear the server's greeting."""
        if not (await self._response()).line.upper().startswith((b"* OK", b"* PREAUTH")):
            raise ImapFailed("The mail server does not let anybody in now.")

    async def sign_in(self, server: ImapServer) -> None:
        """Sign in once; guessing on would lock the account. A token that is refused is renewed once."""
        if server.tokens is not None:
            await self._sign_in_by_token(server.username, server.tokens)
            return
        assert server.password is not None, "it has a password or tokens"
        username, password = server.username, server.password.reveal()
        try:
            if await self.can("AUTH=PLAIN"):
                secret = base64.b64encode(f"\0{username}\0{password}".encode())
                await self.command("AUTHENTICATE PLAIN", secret)
            else:
                await self.command(f"LOGIN {_quoted(username)} {_quoted(password)}")
        except ImapFailed as failed:
            message = "The mail server does not accept the user name or the password."
            raise ImapFailed(message, sign_in=True) from failed

    async def _sign_in_by_token(self, username: str, tokens: AccessTokens) -> None:
        if not await self.can("AUTH=XOAUTH2"):
            raise ImapFailed("The mail server takes no sign-in by token.", sign_in=True)
        for refused in (False, True):
            token = await tokens(refused=refused)
            if token is None:
                break
            said = f"user={username}\x01auth=Bearer {token.reveal()}\x01\x01"
            try:
                # A refusal comes as a question first; an empty line asks for the answer.
                await self.command("AUTHENTICATE XOAUTH2", base64.b64encode(said.encode()), b"")
            except ImapFailed:
                continue
            return
        message = "The mail server does not accept the account's access: connect the account again."
        raise ImapFailed(message, sign_in=True)

    async def can(self, what: str) -> bool:
        """Ask whether the server is able to do something."""
        told = await self.command("CAPABILITY")
        return what.encode() in b" ".join(each.line for each in told).upper().split()

    async def wait_for_mail(self, seconds: float) -> bool:
        """Wait until something arrives in the folder that is open; False: nothing did in this time."""
        tag = self._begin("IDLE")
        async with asyncio.timeout(TIMES.read):
            while not (response := await self._response()).line.startswith(b"+"):
                if response.line.startswith(tag + b" "):
                    raise ImapFailed("The mail server does not let anybody wait.")
        found = False
        try:
            async with asyncio.timeout(seconds):
                while not found:
                    line = (await self._response(None)).line.upper()
                    found = line.startswith(b"* ") and line.endswith(b" EXISTS")
        except TimeoutError:
            pass
        self._writer.write(b"DONE\r\n")
        await self._finish(tag, ())
        return found

    async def folders(self) -> list[str]:
        """Return the folders where answers arrive: the inbox, or all mail, and junk."""
        found: dict[str, str] = {}
        for each in await self.command('LIST "" "*"'):
            match = _FOLDER.match(each.line)
            if match is None:
                continue
            name = (match[2] or match[3]).decode("ascii", "replace")
            for flag in match[1].lower().split():
                found.setdefault(flag.decode("ascii", "replace"), name)
        watched = [found.get("\\all", "INBOX"), found.get("\\junk")]
        return [each for each in watched if each is not None]

    async def examine(self, folder: str) -> Folder:
        """Open a folder for reading alone."""
        told = b"\n".join(each.line for each in await self.command(f"EXAMINE {_escaped(folder)}"))
        validity, next_ = _VALIDITY.search(told), _NEXT.search(told)
        if validity is None:
            raise ImapFailed(f"The folder {folder} has no lasting numbers: it cannot be read.")
        return Folder(int(validity[1]), int(next_[1]) if next_ else 1)

    async def search(self, what: str) -> list[int]:
        """Return the numbers of mails, rising."""
        found: list[int] = []
        for each in await self.command(f"UID SEARCH {what}"):
            if each.line.upper().startswith(b"* SEARCH"):
                found += [int(word) for word in each.line[8:].split() if word.isdigit()]
        return sorted(set(found))

    async def newer_than(self, uid: int) -> list[int]:
        """Return the numbers after this one; `*` names the last mail though it is not newer."""
        return [each for each in await self.search(f"UID {uid + 1}:*") if each > uid]

    async def since(self, day: datetime) -> list[int]:
        """Return the numbers of mails of this day and later."""
        return await self.search(f"SINCE {day.day}-{MONTHS[day.month - 1]}-{day.year}")

    async def fetch(self, uids: Sequence[int]) -> list[FetchedMail]:
        """Return these mails; those that were deleted meanwhile are left out."""
        if not uids:
            return []
        wanted = ",".join(map(str, uids))
        told = await self.command(
            f"UID FETCH {wanted} (UID INTERNALDATE BODY.PEEK[]<0.{MOST_BYTES}>)"
        )
        mails: list[FetchedMail] = []
        for each in told:
            uid, arrived = _UID.search(each.line), _ARRIVED.search(each.line)
            if uid is not None and each.literals:
                mails.append(FetchedMail(int(uid[1]), _date(arrived), each.literals[0]))
        return sorted(mails, key=lambda mail: mail.uid)

    async def leave(self) -> None:
        """Say goodbye."""
        await self.command("LOGOUT")

    async def command(self, text: str, *then: bytes) -> list[_Response]:
        """Give a command and return what was answered; `then` is sent when the server asks to go on."""
        return await self._finish(self._begin(text), then)

    def _begin(self, text: str) -> bytes:
        self._tag += 1
        tag = f"a{self._tag}".encode()
        self._writer.write(tag + b" " + text.encode() + b"\r\n")
        return tag

    async def _finish(self, tag: bytes, then: Sequence[bytes]) -> list[_Response]:
        told: list[_Response] = []
        more = iter(then)
        async with asyncio.timeout(TIMES.total):
            while True:
                response = await self._response()
                if response.line.startswith(b"+"):
                    self._writer.write(next(more, b"*") + b"\r\n")
                    continue
                if not response.line.startswith(tag + b" "):
                    told.append(response)
                    continue
                if response.line[len(tag) + 1 :].upper().startswith(b"OK"):
                    return told
                reason = response.line[len(tag) + 1 :].decode("utf-8", "replace")[:200]
                raise ImapFailed(f"The mail server refused: {reason}")

    async def _response(self, within: float | None = TIMES.read) -> _Response:
        """Read a line, with the literals that stand in it."""
        line, literals = b"", list[bytes]()
        while True:
            async with asyncio.timeout(within):
                try:
                    piece = await self._reader.readuntil(b"\n")
                except asyncio.LimitOverrunError as error:
                    raise ImapFailed("The mail server answered a line without an end.") from error
            piece = piece.rstrip(b"\r\n")
            line += piece
            literal = _LITERAL.search(piece)
            if literal is None:
                return _Response(line, tuple(literals))
            size = int(literal[1])
            if size > 2 * MOST_BYTES:
                raise ImapFailed("The mail server sent more than was asked for.")
            async with asyncio.timeout(TIMES.read):
                literals.append(await self._reader.readexactly(size))


def _quoted(text: str) -> str:
    if any(ord(letter) < 32 or ord(letter) > 126 for letter in text):
        raise ImapFailed("The server takes no such password; choose one of plain letters.")
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _escaped(folder: str) -> str:
    """Quote a folder's name as the server spelled it."""
    return f'"{folder}"'


def _date(found: re.Match[bytes] | None) -> datetime:
    """Read ` 5-Nov-2026 09:00:00 +0100`."""
    try:
        words = (found[1] if found else b"").decode("ascii").split()
        day, month, year = words[0].split("-")
        number = MONTHS.index(month.title()) + 1
        zone = words[2]
        text = f"{year}-{number:02}-{int(day):02}T{words[1]}{zone[:3]}:{zone[3:]}"
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, IndexError, UnicodeDecodeError):
        return datetime(1970, 1, 1, tzinfo=UTC)
