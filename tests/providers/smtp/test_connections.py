"""How mail connections begin and end: several mails over one, a word of goodbye, no mail twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from cadenza.core.clock import SystemClock
from cadenza.providers.base import AttemptContext
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.policy import REUSE, HostRule, Policy
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import AccountRef, App, Recipient, Tokens
from cadenza.providers.outcome import (
    Disconnected,
    Outcome,
    RecipientGone,
    Rejected,
    Sent,
    Transient,
    Unconfirmed,
)
from cadenza.providers.smtp import PROVIDER, session
from tests.providers.smtp.fixtures import ADA, START, mail

Says = Callable[[int, str, str], str | None]  # connection, verb, line: a reply, "drop", or None


def _ordinarily(connection: int, verb: str, line: str) -> str | None:
    return None


@dataclass
class Office:
    """A mail server that writes down each connection's commands and takes what it is not told to refuse."""

    message: Says = _ordinarily
    heard: list[list[str]] = field(default_factory=list[list[str]])
    taken: list[str] = field(default_factory=list[str])
    ended: list[asyncio.Event] = field(default_factory=list[asyncio.Event])
    port: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = len(self.heard)
        heard: list[str] = []
        self.heard.append(heard)
        self.ended.append(ended := asyncio.Event())
        try:
            writer.write(b"220 office ESMTP\r\n")
            while line := (await reader.readline()).decode().rstrip("\r\n"):
                verb = line.partition(" ")[0].upper()
                heard.append(verb)
                reply = self.message(number, verb, line) or self._reply(verb)
                if reply == "drop":
                    return
                writer.write(f"{reply}\r\n".encode())
                if verb == "QUIT" or reply.startswith("421"):
                    return
                if verb == "DATA" and reply.startswith("354"):
                    reply = await self._take(number, reader)
                    if reply == "drop":
                        return
                    writer.write(f"{reply}\r\n".encode())
        finally:
            ended.set()
            writer.close()

    def _reply(self, verb: str) -> str:
        known = {
            "EHLO": "250-office\r\n250-AUTH PLAIN\r\n250 SIZE 100000",
            "AUTH": "235 2.7.0 hello",
        }
        known |= {"DATA": "354 go on", "QUIT": "221 bye"}
        return known.get(verb, "250 2.0.0 OK")

    async def _take(self, number: int, reader: asyncio.StreamReader) -> str:
        data = await reader.readuntil(b"\r\n.\r\n")
        reply = self.message(number, "DOT", "") or "250 2.0.0 taken"
        if reply.startswith(("250", "drop")):
            self.taken.append(data.decode())
        return reply


@asynccontextmanager
async def office(
    message: Says = _ordinarily, *, reuse: float = REUSE
) -> AsyncGenerator[tuple[Office, OutboundClient]]:
    mine = Office(message)
    server = await asyncio.start_server(mine.serve, "127.0.0.1", 0)
    mine.port = server.sockets[0].getsockname()[1]
    policy = Policy(allow=(HostRule("127.0.0.1", mine.port),), reuse=reuse)
    try:
        async with OutboundClient(policy, clock=SystemClock()) as http, asyncio.timeout(20):
            yield mine, http
    finally:
        server.close()


async def send(
    mine: Office, http: OutboundClient, to: str = "ben@example.org", *, password: str = "p"
) -> Outcome:
    settings = {"host": "127.0.0.1", "port": mine.port, "security": "none", "username": ADA}
    return await PROVIDER.publish(
        AttemptContext(
            account=AccountRef(id="a1", remote_id=ADA, settings=settings),
            tokens=Tokens(access=Secret(password)),
            app=App(base_url=""),
            http=http,
            now=START,
            message=mail(recipient=Recipient(to)),
            key=f"to-{to}",
        )
    )


FIRST = ["EHLO", "AUTH", "MAIL", "RCPT", "DATA"]
NEXT = ["RSET", "MAIL", "RCPT", "DATA"]


async def test_several_mails_go_over_one_connection() -> None:
    async with office() as (mine, http):
        for number in range(3):
            assert isinstance(await send(mine, http, f"ben{number}@example.org"), Sent)
        assert mine.heard == [[*FIRST, *NEXT, *NEXT]]
    await mine.ended[0].wait()
    assert mine.heard == [[*FIRST, *NEXT, *NEXT, "QUIT"]]
    assert len(mine.taken) == 3


async def test_two_mails_at_once_never_share_a_connection() -> None:
    async with office() as (mine, http):
        outcomes = await asyncio.gather(*(send(mine, http, f"b{n}@example.org") for n in range(2)))
        assert all(isinstance(each, Sent) for each in outcomes)
        assert mine.heard == [FIRST, FIRST]


async def test_another_password_is_another_connection() -> None:
    async with office() as (mine, http):
        await send(mine, http, password="one")
        await send(mine, http, password="two")
        assert mine.heard == [FIRST, FIRST]


async def test_without_reuse_each_mail_has_a_connection_that_ends_with_a_word() -> None:
    async with office(reuse=0) as (mine, http):
        await send(mine, http)
        await send(mine, http)
        for ended in mine.ended:
            await ended.wait()
        assert mine.heard == [[*FIRST, "QUIT"], [*FIRST, "QUIT"]]


async def test_a_connection_that_nobody_needs_is_left_with_a_word() -> None:
    async with office(reuse=0.05) as (mine, http):
        await send(mine, http)
        await mine.ended[0].wait()
        assert mine.heard == [[*FIRST, "QUIT"]]
        assert isinstance(await send(mine, http), Sent)
        assert len(mine.heard) == 2


async def test_a_connection_carries_so_many_mails_and_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(session, "MAILS", 2)
    async with office() as (mine, http):
        for _ in range(3):
            await send(mine, http)
        assert mine.heard == [[*FIRST, *NEXT, "QUIT"], FIRST]


@pytest.mark.parametrize(
    ("verb", "reply", "kind"),
    [
        ("AUTH", "535 5.7.8 wrong", Disconnected),
        ("MAIL", "552 5.3.4 too big", Rejected),
        ("RCPT", "550 5.1.1 nobody here", RecipientGone),
        ("RCPT", "450 4.7.1 greylisted", Transient),
        ("DATA", "451 4.3.0 not now", Transient),
        ("DOT", "552 5.3.4 too big", Rejected),
    ],
)
async def test_a_refusal_is_answered_with_quit(verb: str, reply: str, kind: type[Outcome]) -> None:
    async with office(lambda _, heard, line: reply if heard == verb else None) as (mine, http):
        assert isinstance(await send(mine, http), kind)
        await mine.ended[0].wait()
        assert mine.heard[0][-1] == "QUIT"
        assert mine.taken == []


@pytest.mark.parametrize("verb", ["RSET", "MAIL", "RCPT", "DATA"])
@pytest.mark.parametrize("reply", ["drop", "421 4.3.2 closing"])
async def test_a_kept_connection_that_fails_before_the_mail_is_replaced(
    verb: str, reply: str
) -> None:
    seen: list[str] = []

    def message(connection: int, heard: str, line: str) -> str | None:
        seen.append(heard)
        return reply if connection == 0 and heard == verb and "DOT" in seen else None

    async with office(message) as (mine, http):
        assert isinstance(await send(mine, http, "one@example.org"), Sent)
        assert isinstance(await send(mine, http, "two@example.org"), Sent)
        assert [("one@" in each, "two@" in each) for each in mine.taken] == [
            (True, False),
            (False, True),
        ]
        assert mine.heard[1] == FIRST


async def test_a_kept_connection_that_fell_silent_is_replaced_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(session, "STILL_THERE", 0.1)

    def message(connection: int, verb: str, line: str) -> str | None:
        return "250-and" if connection == 0 and verb == "RSET" else None  # a reply that never ends

    async with office(message) as (mine, http):
        await send(mine, http)
        assert isinstance(await send(mine, http), Sent)
        assert mine.heard[1] == FIRST


async def test_a_reply_lost_after_the_mail_on_a_kept_connection_stays_unconfirmed() -> None:
    dots: list[int] = []

    def message(connection: int, verb: str, line: str) -> str | None:
        if verb == "DOT":
            dots.append(connection)
        return "drop" if verb == "DOT" and len(dots) == 2 else None

    async with office(message) as (mine, http):
        assert isinstance(await send(mine, http, "one@example.org"), Sent)
        assert isinstance(await send(mine, http, "two@example.org"), Unconfirmed)
        assert dots == [0, 0]  # nothing was sent again
        assert len(mine.heard) == 1


async def test_a_refused_recipient_on_a_kept_connection_is_not_tried_again() -> None:
    def message(connection: int, verb: str, line: str) -> str | None:
        return "550 5.1.1 nobody" if verb == "RCPT" and "two@" in line else None

    async with office(message) as (mine, http):
        assert isinstance(await send(mine, http, "one@example.org"), Sent)
        assert isinstance(await send(mine, http, "two@example.org"), RecipientGone)
        assert mine.heard == [[*FIRST, "RSET", "MAIL", "RCPT", "QUIT"]]
