"""A private Valkey cluster: primaries that share the slots, and replicas behind them.

`async with start_cluster(primaries=3, replicas=1) as nodes` yields the primaries first, then the
replicas in the same order. Nodes call each other dead after `silence` milliseconds.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from typing import Any

from redis.asyncio import Redis

from tests.servers import place
from tests.servers.valkey import PrivateValkey

SLOTS = 16384
PATIENCE = 60.0


def start_node(*, silence: int = 15_000) -> PrivateValkey:
    """Start a node that belongs to no cluster yet."""
    options = {
        "cluster-enabled": "yes",
        "cluster-port": str(place.free_port()),
        "cluster-node-timeout": str(silence),
        "cluster-replica-validity-factor": "0",
        "repl-diskless-sync-delay": "0",
    }
    return PrivateValkey.create(options=options)


@asynccontextmanager
async def start_cluster(
    *, primaries: int, replicas: int, silence: int
) -> AsyncGenerator[list[PrivateValkey]]:
    """Start a cluster with so many replicas behind each primary."""
    with ExitStack() as servers:
        count = primaries * (1 + replicas)
        nodes = [servers.enter_context(start_node(silence=silence)) for _ in range(count)]
        await join(nodes, primaries=primaries)
        yield nodes


async def join(nodes: Sequence[PrivateValkey], *, primaries: int) -> None:
    """Deal out the slots, let the nodes meet, put the rest behind; wait until all agree."""
    async with AsyncExitStack() as stack, asyncio.timeout(PATIENCE):
        clients = [
            await stack.enter_async_context(Redis.from_url(node.url, decode_responses=True))
            for node in nodes
        ]
        for place_, client in enumerate(clients[:primaries]):
            first, last = place_ * SLOTS // primaries, (place_ + 1) * SLOTS // primaries - 1
            if "cluster_slots_assigned:0" in await _info(client):
                await client.execute_command("CLUSTER", "ADDSLOTSRANGE", first, last)
        for node in nodes[1:]:
            bus = node.options["cluster-port"]
            await clients[0].execute_command("CLUSTER", "MEET", "127.0.0.1", node.port, bus)
        for client in clients:
            await _until(client, f"cluster_known_nodes:{len(nodes)}")
        for place_, client in enumerate(clients[primaries:]):
            leader = await clients[place_ % primaries].execute_command("CLUSTER", "MYID")
            await client.execute_command("CLUSTER", "REPLICATE", leader)
        for client in clients:
            await _until(client, "cluster_state:ok", f"cluster_slots_ok:{SLOTS}")
        for client in clients[:primaries]:
            while await _online(client) < (len(nodes) - primaries) // primaries:
                await asyncio.sleep(0.05)


async def _info(client: Redis) -> str:
    said: Any = await client.execute_command("CLUSTER", "INFO")
    lines = said.splitlines() if isinstance(said, str) else [f"{k}:{v}" for k, v in said.items()]
    return "\n".join([*lines, ""])


async def _until(client: Redis, *words: str) -> None:
    while True:
        said = await _info(client)
        if all(f"{word}\n" in said for word in words):
            return
        await asyncio.sleep(0.05)


async def _online(client: Redis) -> int:
    """Count the replicas that have taken in what was there."""
    said = await client.info("replication")
    return sum(
        value.get("state") == "online"
        for name, value in said.items()
        if name.startswith("slave") and isinstance(value, dict)
    )
