"""A long job that reports how far it is, dies half-way, and goes on from there.

python examples/progress.py
"""

import asyncio
from datetime import timedelta

from cadenza.engine import Engine, RetryPolicy, Running

engine = Engine("memory://")
PAGES = 10


@engine.task(retry=RetryPolicy(limit=2, delay=timedelta(seconds=0.2), jitter=0))
async def import_pages(job: Running) -> int:
    done = job.progress["pages"] if isinstance(job.progress, dict) else 0
    print(f"  attempt {job.attempt} begins after page {done}")
    while done < PAGES:
        await engine.clock.sleep(0.03)
        done += 1
        await job.report({"pages": done, "of": PAGES})
        if done == 6 and job.attempt == 1:
            raise ConnectionError("the other side hung up")
    return done


async def watch(id_: int) -> None:
    seen = None
    while True:
        job = await engine.get(id_)
        if job.progress != seen:
            seen = job.progress
            print(f"    {job.state}: {seen}")
        if job.state.finished:
            return
        await engine.clock.sleep(0.02)


async def main() -> None:
    async with engine:
        job = await import_pages.enqueue()
        worker = engine.worker()
        running = asyncio.create_task(worker.run())
        await watch(job.id)
        worker.stop()
        await running
        print(f"imported {await engine.output(job.id)} pages")


if __name__ == "__main__":
    asyncio.run(main())
