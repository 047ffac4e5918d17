"""Cadenza, mongodb-cron and Agenda on one MongoDB, one after the other: drain rate and pick-up.

    python -m bench.store_mongo [COUNT]

Runs on the tests' server: mongod where there is one, else a stand-in without indexes that is
slow alike for all; so compare the ratios, not the numbers. One process each, jobs deleted when done.
"""

import asyncio
import json
import sys
import time

from cadenza.engine import Engine
from tests.servers.mongo import PrivateMongo
from tests.servers.node import run_script

COUNT = 2000
SINGLES = 20
GAP = 0.15  # seconds between single jobs
ROUNDS = 2


async def measure_ours(address: str, count: int) -> dict[str, float]:
    """Drain a heap, then pick up single jobs, with one worker of a hundred hands."""
    sent: dict[int, float] = {}
    waits: list[float] = []
    done = 0
    async with Engine(address) as engine:

        @engine.task(keep=False)
        async def noop(n: int) -> None:
            nonlocal done
            done += 1
            if n in sent:
                waits.append((time.monotonic() - sent[n]) * 1000)

        await engine.enqueue_many(noop, [{"n": n} for n in range(count)])
        worker = engine.worker(concurrency=100)
        begin = time.monotonic()
        running = asyncio.create_task(worker.run())
        while done < count or await engine.store.tally():
            await asyncio.sleep(0.01)
        seconds = time.monotonic() - begin
        for n in range(count, count + SINGLES):
            sent[n] = time.monotonic()
            await noop.enqueue(n=n)
            await asyncio.sleep(GAP)
        while len(waits) < SINGLES:
            await asyncio.sleep(0.01)
        worker.stop()
        await running
    waits.sort()
    return {
        "rate": count / seconds,
        "p50": waits[len(waits) // 2],
        "p95": waits[int(len(waits) * 0.95)],
    }


def main() -> None:
    """Measure each in turn, in rounds, and print a table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else COUNT
    print("| system | jobs/s | pick-up p50 ms | p95 ms |\n|---|---|---|---|")
    with PrivateMongo.create() as server:
        for turn in range(ROUNDS):
            ours = asyncio.run(measure_ours(server.url_for(f"ours{turn}"), count))
            print(_row("Cadenza", ours))
            for name in ("mongodb-cron", "agenda"):
                url = server.url_for(f"{name}{turn}")
                said = run_script("drain.mjs", name, url, str(count), str(SINGLES), seconds=300)
                print(_row(name, json.loads(said.splitlines()[-1])))


def _row(name: str, found: dict[str, float]) -> str:
    return f"| {name} | {found['rate']:.0f} | {found['p50']:.1f} | {found['p95']:.1f} |"


if __name__ == "__main__":
    main()
