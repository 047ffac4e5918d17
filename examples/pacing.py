"""Not too much at once: pacing, lanes with limits, a pause, and `why` that explains the wait.

python examples/pacing.py
"""

import asyncio
from datetime import timedelta

from cadenza.engine import Engine, Limit, Pace, Rate, RateLimited, Running

engine = Engine("memory://")
started = 0.0


@engine.task
async def send(account: str, number: int) -> None:
    print(f"  {engine.clock.monotonic() - started:4.1f} s  {account} sends message {number}")


@engine.task
async def ask_politely(job: Running) -> None:
    """The other side says 'too many': its lane is parked, nobody else waits, no attempt is lost."""
    if job.progress is None:
        await job.report("was told to wait")
        raise RateLimited(0.5)
    print(f"  {engine.clock.monotonic() - started:4.1f} s  asked again, attempt {job.attempt}")


async def main() -> None:
    global started  # noqa: PLW0603 - a script's own clock
    async with engine:
        started = engine.clock.monotonic()
        # Pace: handed over at once, each gets an instant of its own; none is dropped.
        paced = send.using(pace=Pace("ada", timedelta(seconds=0.2)))
        await paced.enqueue_many([{"account": "Ada (paced)", "number": n} for n in range(1, 6)])
        # A lane: Ben's messages share a rate and run one at a time; others pass them by.
        lane = send.using(
            lane="ben", limit=Limit(concurrency=1, rate=Rate(4, timedelta(seconds=1)))
        )
        await lane.enqueue_many([{"account": "Ben (lane)", "number": n} for n in range(1, 5)])
        await ask_politely.using(lane="cy").enqueue()

        await engine.pause("news", reason="Cy wants to read it first")
        held = await send.using(queue="news").enqueue(account="Cy", number=1)

        worker = engine.worker(["default", "news"])
        asyncio.get_running_loop().call_later(1.6, worker.stop)
        await worker.run()
        print(f"why does job {held.id} not run? {(await engine.why(held.id)).sentence}")


if __name__ == "__main__":
    asyncio.run(main())
