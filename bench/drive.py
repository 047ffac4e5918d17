"""Run one adapter in its own process: as a producer that obeys commands, or as a worker.

`python -m bench.drive NAME produce` reads one JSON command a line and answers one JSON line;
times are taken here, next to the calls, so that process start and the pipe are not counted.
`python -m bench.drive NAME work` is a worker process. Node's twin is `bench/node/drive.mjs`.
"""

import asyncio
import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.adapter import Adapter, Place
from bench.marks import marker


def load_adapter(name: str) -> Adapter:
    """Find `bench.systems.<name>.SYSTEM` and make it."""
    module = importlib.import_module(f"bench.systems.{name}")
    return module.SYSTEM(Place.from_environment())


def announce_and_wait() -> None:
    """Say that this worker is about to fetch, and wait until every other one is as well."""
    folder = Path(os.environ["BENCH_GATE"])
    (folder / f"ready-{os.getpid()}").touch()
    while not (folder / "go").exists():
        time.sleep(0.002)


async def enqueue_singly(adapter: Adapter, first: int, count: int) -> dict[str, Any]:
    """Enqueue one by one, each awaited."""
    begin = time.perf_counter()
    for number in range(first, first + count):
        await adapter.enqueue_one(number)
    return {"seconds": time.perf_counter() - begin}


async def enqueue_in_bulk(
    adapter: Adapter, first: int, count: int, *, due: float | None = None
) -> dict[str, Any]:
    """Enqueue all with the bulk call."""
    begin = time.perf_counter()
    await adapter.enqueue_bulk(range(first, first + count), due)
    return {"seconds": time.perf_counter() - begin}


async def enqueue_spaced(adapter: Adapter, first: int, count: int, *, gap: float) -> dict[str, Any]:
    """Enqueue singly with a pause between, and tell when each call began."""
    sent: list[int] = []
    for number in range(first, first + count):
        sent.append(time.monotonic_ns())
        await adapter.enqueue_one(number)
        await asyncio.sleep(gap)
    return {"sent_ns": sent}


async def enqueue_timed(
    adapter: Adapter, first: int, count: int, *, lead: float, span: float
) -> dict[str, Any]:
    """Enqueue jobs due evenly over `span` seconds, the first `lead` seconds from now."""
    offset = time.time_ns() - time.monotonic_ns()
    start = time.time() + lead
    due = [start + span * i / count for i in range(count)]
    for i, at in enumerate(due):
        await adapter.enqueue_at(first + i, at)
    return {"due_ns": [int(at * 1e9) - offset for at in due], "late_setup": time.time() > start}


async def feed(
    adapter: Adapter, first: int, *, seconds: float, batch: int, gap: float
) -> dict[str, Any]:
    """Enqueue small batches at a steady pace for a while."""
    end, number = time.monotonic() + seconds, first
    sent: list[int] = []
    while time.monotonic() < end:
        sent.append(time.monotonic_ns())
        await adapter.enqueue_bulk(range(number, number + batch), None)
        number += batch
        await asyncio.sleep(gap)
    return {"count": number - first, "sent_ns": sent}


async def obey(adapter: Adapter, command: dict[str, Any]) -> dict[str, Any]:
    """Carry out one command."""
    verb = command.pop("verb")
    if verb == "setup":
        await adapter.setup()
        await adapter.open()
        return {}
    if verb == "left":
        return {"left": await adapter.left()}
    verbs: dict[str, Callable[..., Any]] = {
        "one": enqueue_singly,
        "bulk": enqueue_in_bulk,
        "spaced": enqueue_spaced,
        "timed": enqueue_timed,
        "feed": feed,
    }
    return await verbs[verb](adapter, **command)


async def produce(adapter: Adapter) -> None:
    """Obey commands from standard input until it closes."""
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        answer = await obey(adapter, json.loads(line))
        print(json.dumps(answer), flush=True)
    await adapter.close()


def main() -> None:
    """Take the adapter's name and the role from the command line."""
    name, role = sys.argv[1:3]
    adapter = load_adapter(name)
    if role == "produce":
        asyncio.run(produce(adapter))
    else:
        asyncio.run(adapter.work(marker(adapter.place.marks), announce_and_wait))


if __name__ == "__main__":
    main()
