"""Writes that wait for replicas: acknowledged is what a replica has, else it is said."""

import asyncio
from collections.abc import Callable

import pytest
from redis.asyncio import Redis

from cadenza.engine.errors import StoreUnavailable
from cadenza.engine.job import NewJob
from cadenza.engine.stores.redis import RedisStore
from tests.servers.valkey import PrivateValkey

Servers = Callable[..., PrivateValkey]


async def test_a_write_is_acknowledged_once_a_replica_has_it(private_valkey: Servers) -> None:
    primary = private_valkey(options={"repl-diskless-sync-delay": "0"})
    replica = private_valkey(options={"replicaof": f"127.0.0.1 {primary.port}"})
    await follows(primary)
    store = RedisStore(f"{primary.url}?replicas=1")
    await store.open()
    (answer,) = await store.insert([NewJob(task="greet")])
    second = RedisStore(replica.url)
    await second.open()
    assert [job.id for job in await second.get([answer.id])] == [answer.id]
    signs = await second.vital_signs()
    assert signs["role"].startswith("warning: a replica")
    await store.close()
    await second.close()


async def follows(primary: PrivateValkey) -> None:
    """Wait until the replica has taken in what was there and goes on from it."""
    async with asyncio.timeout(60), Redis.from_url(primary.url) as client:
        while (await client.info("replication")).get("slave0", {}).get("state") != "online":
            await asyncio.sleep(0.05)


async def test_a_write_that_no_replica_has_is_not_acknowledged(private_valkey: Servers) -> None:
    store = RedisStore(f"{private_valkey().url}?replicas=1")
    store._wire.patience = 0.1
    with pytest.raises(StoreUnavailable, match="replicas"):
        await store.insert([NewJob(task="greet")])
    await store.close()
