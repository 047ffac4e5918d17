"""What an outage of Redis is like beyond what all stores have in common (test_outage.py)."""

import asyncio
from collections.abc import Callable

import pytest

from cadenza.engine.errors import InvalidJob, StoreUnavailable
from cadenza.engine.job import NewJob, State
from cadenza.engine.stores.redis import RedisStore
from tests.servers.valkey import PrivateValkey

AMPLE = 60.0
Servers = Callable[..., PrivateValkey]


async def test_a_call_waits_out_a_quick_restart(private_valkey: Servers) -> None:
    server = private_valkey()
    store = RedisStore(server.url)
    store._wire.patience = AMPLE  # a restart is quick only where the machine is not busy
    await store.open()
    server.stop()
    reading = asyncio.create_task(store.tally())
    await asyncio.sleep(0.2)
    assert not reading.done()
    await asyncio.to_thread(server.start)
    async with asyncio.timeout(AMPLE):
        assert await reading == []
    await store.close()


async def test_after_a_restart_watchers_are_woken(private_valkey: Servers) -> None:
    server = private_valkey()
    store = RedisStore(server.url)
    await store.open()
    woken = asyncio.Event()
    store.watch(lambda queue: woken.set() if not queue else None)
    await asyncio.to_thread(server.restart)
    async with asyncio.timeout(AMPLE):
        await woken.wait()
    await store.close()


async def test_scripts_that_the_server_forgot_are_handed_over_again(
    private_valkey: Servers,
) -> None:
    server = private_valkey()
    store = RedisStore(server.url)
    await store.open()
    await store.insert([NewJob(task="greet")])
    await store._wire.ask("SCRIPT", "FLUSH")
    assert (await store.insert([NewJob(task="greet")]))[0].inserted
    await store.close()


async def test_an_insert_whose_answer_is_cut_off_is_not_repeated_behind_the_callers_back(
    private_valkey: Servers,
) -> None:
    server = private_valkey()
    store, hand = RedisStore(server.url), RedisStore(server.url)
    await store.open()
    await store.insert([NewJob(task="greet")])
    await hand._wire.ask("CLIENT", "PAUSE", int(10 * AMPLE * 1000), "WRITE")
    inserting = asyncio.create_task(store.insert([NewJob(task="greet")]))
    async with asyncio.timeout(AMPLE):
        while not await _some_are_held(hand):
            await asyncio.sleep(0.01)
        await hand._wire.ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        with pytest.raises(StoreUnavailable):
            await inserting
    await hand._wire.ask("CLIENT", "UNPAUSE")
    counts = [tally.count for tally in await store.tally() if tally.state is State.WAITING]
    assert counts == [1]
    await store.close()
    await hand.close()


async def _some_are_held(hand: RedisStore) -> bool:
    """Say whether a client waits for the end of the pause."""
    clients = (await hand._wire.ask("CLIENT", "LIST", "TYPE", "NORMAL")).decode().splitlines()
    flags = (dict(word.split("=", 1) for word in client.split())["flags"] for client in clients)
    return any("b" in flag for flag in flags)


async def test_a_server_that_is_not_there_is_named(tmp_path: object) -> None:
    store = RedisStore(f"unix://{tmp_path}/nowhere.sock")
    store._wire.patience = 0.1
    with pytest.raises(StoreUnavailable, match=r"nowhere\.sock cannot be reached"):
        await store.open()


def test_an_address_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(InvalidJob, match="replicas"):
        RedisStore("redis://127.0.0.1/0?replicas=some")


async def test_a_watching_store_closes_at_any_moment(private_valkey: Servers) -> None:
    server = private_valkey()
    for moments in range(25):
        store = RedisStore(server.url)
        await store.open()
        store.watch(lambda queue: None)
        for _ in range(moments):
            await asyncio.sleep(0)
        async with asyncio.timeout(AMPLE):
            await store.close()
