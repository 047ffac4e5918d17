"""The worker process that the crash tests kill: `python -m tests.crash.program ADDRESS MARKS`.

Every run leaves a line at its begin and at its end in a file that only ever grows, so the test knows
what really happened whatever the store says.
"""

import asyncio
import os
import signal
import sys
from datetime import timedelta

from cadenza.engine import Engine

LEASE = timedelta(seconds=2)
CONCURRENCY = 4


def build(address: str, marks: str = os.devnull) -> Engine:
    engine = Engine(address)
    file = os.open(marks, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def mark(kind: str, number: int) -> None:
        os.write(file, f"{kind} {number} {os.getpid()}\n".encode())

    @engine.task(retry=0)
    async def nap(number: int, milliseconds: int) -> None:
        mark("begin", number)
        await asyncio.sleep(milliseconds / 1000)
        mark("end", number)

    @engine.task(retry=0)
    async def poison(number: int) -> None:
        mark("begin", number)
        os.kill(os.getpid(), signal.SIGKILL)

    return engine


async def main(address: str, marks: str) -> None:
    async with build(address, marks) as engine:
        worker = engine.worker(concurrency=CONCURRENCY, lease=LEASE, poll=0.5)
        worker.stop_on_signals()
        await worker.run()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
