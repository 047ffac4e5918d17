"""A mail server that stalls: before it has the mail that is no doubt, afterwards it is one."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from cadenza.core.clock import SystemClock
from cadenza.providers.base import QUICKLY, AttemptContext
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.policy import HostRule, Policy
from cadenza.providers.http.redact import Secret
from cadenza.providers.http.request import Timeouts
from cadenza.providers.message import AccountRef, App, Tokens
from cadenza.providers.outcome import Outcome, Transient, Unconfirmed
from cadenza.providers.smtp import PROVIDER, session
from tests.providers.smtp.fixtures import ADA, START, mail

SAYS = {"EHLO": "250 hello", "MAIL": "250 ok", "RCPT": "250 ok", "DATA": "354 go on"}


@asynccontextmanager
async def stalling(at: str) -> AsyncGenerator[int]:
    """Serve mail until this command comes, then say nothing more."""
    done = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if at != "greeting":
            writer.write(b"220 here\r\n")
            while line := (await reader.readline()).decode():
                verb = line[:4].strip().upper()
                if verb == at or verb not in SAYS:
                    break
                writer.write(SAYS[verb].encode() + b"\r\n")
        await done.wait()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        done.set()
        server.close()


async def publish(port: int) -> Outcome:
    policy = Policy(allow=(HostRule("127.0.0.1", port),))
    settings = {"host": "127.0.0.1", "port": port, "security": "none", "from_address": ADA}
    async with OutboundClient(policy, clock=SystemClock()) as http, asyncio.timeout(10):
        return await PROVIDER.publish(
            AttemptContext(
                account=AccountRef(id="a1", remote_id=ADA, settings=settings),
                tokens=Tokens(access=Secret("")),
                app=App(base_url=""),
                http=http,
                now=START,
                message=mail(),
                key="k1",
            )
        )


@pytest.mark.parametrize("at", ["greeting", "EHLO", "MAIL", "RCPT", "DATA"])
async def test_a_stall_before_the_mail_is_handed_over_is_not_unconfirmed(
    at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "BEFORE_DATA", 0.5)
    async with stalling(at) as port:
        assert isinstance(await publish(port), Transient)


async def test_a_stall_after_the_dot_is_unconfirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "BEFORE_DATA", 0.5)
    monkeypatch.setattr(session, "TIMES", Timeouts(connect=1, read=1, total=1.5))
    async with stalling("the mail") as port:
        assert isinstance(await publish(port), Unconfirmed)


def test_the_mail_itself_has_time_left_within_the_call() -> None:
    assert QUICKLY.total_seconds() > session.BEFORE_DATA + 5
