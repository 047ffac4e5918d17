"""The Mastodon adapter against a real GoToSocial, which ignores keys: a lost reply ends in one post."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from cadenza.core.channels import Channel
from cadenza.core.clock import SystemClock
from cadenza.providers.base import AttemptContext, Prepared, StillPreparing
from cadenza.providers.connect import Connecting, Redirect
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.policy import HostRule, Policy
from cadenza.providers.http.redact import Secret
from cadenza.providers.mastodon import CONNECTOR, PROVIDER
from cadenza.providers.mastodon.software import keeps_keys
from cadenza.providers.message import AccountRef, App, Message, Tokens
from cadenza.providers.outcome import Absent, Found, Sent, Unconfirmed
from tests.providers.pictures import picture
from tests.servers.gotosocial import BACK, GoToSocial, gotosocial
from tests.servers.place import ServerUnavailableError

TEXTS = [
    "Good morning",
    'One line\n\nand <b>another</b> & "more" 😀 #नमस्ते #tag',
    "See https://example.org/a/very/long/path?with=query&and=more(brackets) @nobody@example.org",
    "**Strong**, _so-so_ and [a name](https://example.org/), `code` and\n* a list\n* of two",
]


@dataclass(frozen=True, slots=True)
class Person:
    email: str
    account: AccountRef
    tokens: Tokens
    looking: str  # the token of a client that looks at what is there


@pytest.fixture(scope="module")
def server() -> Iterator[GoToSocial]:
    try:
        with gotosocial() as running:
            yield running
    except ServerUnavailableError as reason:
        pytest.skip(f"gotosocial is missing: {reason}")


@pytest.fixture(scope="module")
def ada(server: GoToSocial) -> Person:
    email = server.add_person("ada")
    account, tokens = asyncio.run(_connect(server, email))
    return Person(email, account, tokens, server.token(email))


async def _connect(server: GoToSocial, email: str) -> tuple[AccountRef, Tokens]:
    """Connect the account as a person does."""
    async with _client(server.port) as http:
        app, now = App(base_url=""), datetime.now(UTC)
        typed = {"instance": server.url}
        connecting = Connecting(
            http=http, app=app, now=now, typed=typed, redirect_uri=BACK, state="s1"
        )
        begun = await CONNECTOR.begin(connecting)
        assert isinstance(begun, Redirect), begun
        code = await asyncio.to_thread(server.approve, begun.url, email)
        connected = await CONNECTOR.complete(connecting, begun.keep, Secret(code))
        assert isinstance(connected, tuple), connected
        (one,) = connected
        account = AccountRef(id="a1", remote_id=one.remote_id, settings=one.settings)
        return account, one.tokens


def _client(*ports: int) -> OutboundClient:
    rules = tuple(HostRule("127.0.0.1", port) for port in ports)
    return OutboundClient(Policy(allow=rules), clock=SystemClock())


class Wire:
    """Stands between us and the server, and can lose what it carries."""

    def __init__(self, server: GoToSocial) -> None:
        self._server = server
        self.port = 0
        self.loses = ""  # "request" or "reply" of the next post
        self._serving: set[asyncio.Task[None]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._post_message(reader, writer))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def close(self) -> None:
        """Cut every connection."""
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    async def _post_message(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            await self._forward(reader, writer)
        finally:
            writer.close()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        loses, posts = self.loses, head.startswith(b"POST /api/v1/statuses ")
        self.loses = "" if posts else loses
        if posts and loses == "request":
            writer.transport.abort()
            return
        there, back = await asyncio.open_connection("127.0.0.1", self._server.port)
        try:
            back.write(head)
            onward = asyncio.create_task(_pump(reader, back))
            if posts and loses == "reply":
                await there.readuntil(b"\r\n\r\n")  # it is done, and nobody hears of it
                writer.transport.abort()
            else:
                await _pump(there, writer)
            onward.cancel()
            await asyncio.gather(onward, return_exceptions=True)
        finally:
            back.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.write_eof()


@asynccontextmanager
async def wired(server: GoToSocial, ada: Person) -> AsyncGenerator[tuple[Wire, AttemptContext]]:
    """Put a wire before the server, and make a call that goes through it."""
    wire = Wire(server)
    proxy = await asyncio.start_server(wire.serve, "127.0.0.1", 0)
    wire.port = proxy.sockets[0].getsockname()[1]
    settings = {**ada.account.settings, "instance": f"http://127.0.0.1:{wire.port}"}
    try:
        async with _client(wire.port) as http:
            now = datetime.now(UTC)
            yield (
                wire,
                AttemptContext(
                    account=replace(ada.account, settings=settings),
                    tokens=ada.tokens,
                    app=App(base_url=""),
                    http=http,
                    now=now,
                    message=Message(channel=Channel.MASTODON, text="Good morning"),
                    key=f"key-{now.timestamp()}",
                    began_at=now,
                ),
            )
    finally:
        proxy.close()
        await wire.close()


async def _there(server: GoToSocial, ada: Person) -> list[dict[str, Any]]:
    path = f"/api/v1/accounts/{ada.account.remote_id}/statuses?limit=40"
    return await asyncio.to_thread(server.call, "GET", path, None, ada.looking)


async def _clear(server: GoToSocial, ada: Person) -> None:
    for post in await _there(server, ada):
        await asyncio.to_thread(
            server.call, "DELETE", f"/api/v1/statuses/{post['id']}", None, ada.looking
        )


@pytest.mark.parametrize("visibility", ["public", "unlisted", "private"])
@pytest.mark.parametrize("kind", ["text/plain", "text/markdown"])
@pytest.mark.parametrize("text", TEXTS, ids=["plain", "signs", "links", "markdown"])
async def test_a_lost_reply_ends_in_one_post(
    server: GoToSocial, ada: Person, text: str, kind: str, visibility: str
) -> None:
    await _clear(server, ada)
    form = {"source[status_content_type]": kind}
    path = "/api/v1/accounts/update_credentials"
    await asyncio.to_thread(server.call, "PATCH", path, form, ada.looking)
    async with wired(server, ada) as (wire, plain):
        message = replace(plain.message, text=text, options={"visibility": visibility})
        call = replace(plain, message=message)
        wire.loses = "reply"
        assert isinstance(await PROVIDER.publish(call), Unconfirmed)
        found = await PROVIDER.find_out(call)
    (post,) = await _there(server, ada)
    assert isinstance(found, Found), (found, post["content"])
    assert found.remote_id == post["id"]


async def test_a_picture_without_words_is_known_by_its_file(
    server: GoToSocial, ada: Person
) -> None:
    await _clear(server, ada)
    async with wired(server, ada) as (wire, plain):
        call = replace(plain, message=replace(plain.message, text="", media=(picture(),)))
        prepared = await PROVIDER.prepare(call)
        while isinstance(prepared, StillPreparing):
            call = replace(call, state=prepared.state)
            prepared = await PROVIDER.prepare(call)
        assert isinstance(prepared, Prepared), prepared
        call = replace(call, state=prepared.state)
        wire.loses = "reply"
        assert isinstance(await PROVIDER.publish(call), Unconfirmed)
        found = await PROVIDER.find_out(call)
    (post,) = await _there(server, ada)
    assert isinstance(found, Found), found
    assert found.remote_id == post["id"]


async def test_a_lost_request_is_absent_and_nothing_is_there(
    server: GoToSocial, ada: Person
) -> None:
    await _clear(server, ada)
    async with wired(server, ada) as (wire, call):
        wire.loses = "request"
        assert isinstance(await PROVIDER.publish(call), Unconfirmed)
        assert await PROVIDER.find_out(call) == Absent()
    assert await _there(server, ada) == []


async def test_a_thread_goes_on_after_a_lost_reply(server: GoToSocial, ada: Person) -> None:
    await _clear(server, ada)
    async with wired(server, ada) as (wire, plain):
        call = replace(plain, message=replace(plain.message, text="One", parts=("Two", "Two")))
        sent: list[str] = []
        for part in range(3):
            requested = replace(call, part=part, sent_parts=tuple(sent), key=f"{call.key}-{part}")
            wire.loses = "reply"
            assert isinstance(await PROVIDER.publish(requested), Unconfirmed)
            found = await PROVIDER.find_out(requested)
            assert isinstance(found, Found), found
            assert found.remote_id not in sent
            sent.append(str(found.remote_id))
    posts = {post["id"]: post["in_reply_to_id"] for post in await _there(server, ada)}
    assert posts == {sent[0]: None, sent[1]: sent[0], sent[2]: sent[1]}


async def test_the_same_words_by_another_client_are_not_taken_for_ours(
    server: GoToSocial, ada: Person
) -> None:
    await _clear(server, ada)
    form = {"status": "Good morning"}
    async with wired(server, ada) as (_, call):
        await asyncio.to_thread(server.call, "POST", "/api/v1/statuses", form, ada.looking)
        assert not isinstance(await PROVIDER.find_out(call), Found | Absent)
    assert len(await _there(server, ada)) == 1


async def test_it_ignores_keys_and_is_not_trusted_with_them(
    server: GoToSocial, ada: Person
) -> None:
    await _clear(server, ada)
    async with wired(server, ada) as (_, call):
        assert await keeps_keys(call) is False
        for _ in range(2):
            assert isinstance(await PROVIDER.publish(call), Sent)
    assert len(await _there(server, ada)) == 2  # the reason for all of this
