"""A name whose server never answers holds up nobody but who asked for it."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from cadenza.core.clock import SystemClock
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.policy import HostRule, Policy
from cadenza.providers.http.request import Request
from cadenza.providers.http.resolve import MOST, SystemResolver

MANY = 60  # more than the event loop has threads, on any machine


@pytest.fixture
def tarpit(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """The machine's look-up, but for one domain that hangs until the end of the test."""
    over, look_up = threading.Event(), socket.getaddrinfo

    def ask(host: str, *requested: Any, **kinds: Any) -> object:
        if host.endswith("tarpit.test"):
            over.wait(20)
            raise socket.gaierror("no answer")
        return look_up(host, *requested, **kinds)

    monkeypatch.setattr(socket, "getaddrinfo", ask)
    yield over
    over.set()


async def test_names_that_hang_hold_up_no_other_look_up_and_no_other_thread(
    tarpit: threading.Event,
) -> None:
    resolver = SystemResolver()
    hung = [asyncio.create_task(resolver.resolve(f"n{n}.tarpit.test", 443)) for n in range(MANY)]
    await asyncio.sleep(0)
    async with asyncio.timeout(5):
        assert await resolver.resolve("localhost", 443)
        assert await asyncio.to_thread(lambda: "a password") == "a password"
    assert not any(each.done() for each in hung)
    tarpit.set()
    ended = await asyncio.gather(*hung, return_exceptions=True)
    assert {type(each) for each in ended} == {socket.gaierror}


async def test_a_look_up_that_nobody_waits_for_any_more_is_left_behind(
    tarpit: threading.Event,
) -> None:
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await SystemResolver().resolve("n.tarpit.test", 443)
    assert time.monotonic() - began < 5


async def test_threads_do_not_grow_without_end_while_names_hang(tarpit: threading.Event) -> None:
    resolver = SystemResolver()
    for _ in range(MOST):
        asking = asyncio.create_task(resolver.resolve("n.tarpit.test", 443))
        await asyncio.sleep(0)
        asking.cancel()
    with pytest.raises(OSError, match="hang already"):
        await resolver.resolve("localhost", 443)
    assert await resolver.resolve("127.0.0.1", 443) == ["127.0.0.1"], "no look-up at all"
    tarpit.set()
    async with asyncio.timeout(10):
        while True:
            try:
                assert await resolver.resolve("localhost", 443)
                break
            except OSError:
                await asyncio.sleep(0.01)


async def test_a_client_that_is_closed_leaves_no_thread() -> None:
    before = set(threading.enumerate())
    for _ in range(5):
        policy = Policy(allow=(HostRule("localhost", 9),))
        async with OutboundClient(policy, clock=SystemClock()) as client:
            await client.send(Request("GET", "http://localhost:9/"))
    async with asyncio.timeout(5):
        while set(threading.enumerate()) - before:
            await asyncio.sleep(0.01)


async def test_each_address_is_told_once() -> None:
    found = await SystemResolver().resolve("localhost", 80)
    assert found
    assert len(found) == len(set(found))
