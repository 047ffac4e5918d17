"""A worker process for the recovery tests: `python -m tests.crash.long_program ADDRESS MARKS`.

It runs twenty jobs at once. Each run leaves a line with the clock's time, so that the test knows how
long a fresh job waited.
"""

import asyncio
import os
import signal
import sys
import time
from datetime import timedelta

from cadenza.engine import Engine

LEASE = timedelta(seconds=5)
CONCURRENCY = 20


def build(address: str, marks: str = os.devnull) -> Engine:
    engine = Engine(address)
    file = os.open(marks, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def mark(kind: str, number: int) -> None:
        os.write(file, f"{kind} {number} {time.time()} {os.getpid()}\n".encode())

    @engine.task(retry=0)
    async def long(number: int, seconds: float) -> None:
        mark("begin", number)
        await asyncio.sleep(seconds)
        mark("end", number)

    @engine.task(retry=0)
    async def fresh(number: int) -> None:
        mark("fresh", number)

    @engine.task(retry=0)
    async def poison(number: int) -> None:
        mark("poison", number)
        await asyncio.sleep(0.2)
        os.kill(os.getpid(), signal.SIGKILL)

    return engine


async def main(address: str, marks: str) -> None:
    async with build(address, marks) as engine:
        worker = engine.worker(concurrency=CONCURRENCY, lease=LEASE, poll=0.5)
        worker.stop_on_signals()
        running = asyncio.ensure_future(worker.run())
        await worker.started.wait()
        file = os.open(marks, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, f"ready 0 {time.time()} {os.getpid()}\n".encode())
        await running


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
