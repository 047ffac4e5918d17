"""What happens after an error: tries spaced further apart, the dead letter, and the way back.

python examples/retries.py
"""

import asyncio
from datetime import timedelta

from cadenza.engine import Cancel, Engine, RetryPolicy, Running, Snooze, State

engine = Engine("memory://")
quickly = RetryPolicy(limit=3, delay=timedelta(seconds=0.1), factor=2, jitter=0)


@engine.task(retry=quickly)
async def call_the_bank(job: Running) -> str:
    print(f"  call_the_bank  attempt {job.attempt}")
    if job.attempt < 3:
        raise ConnectionError("the line is busy")
    return "transferred"


@engine.task(retry=RetryPolicy(never=(ValueError,)))
def parse(text: str) -> int:
    """A ValueError will not get better by trying again: straight to the dead letter."""
    return int(text)


@engine.task
async def wait_for_morning(job: Running) -> None:
    """A snooze is no error and uses up no attempt; a cancel ends the job with its reason."""
    if job.progress is None:
        await job.report("asked once")
        raise Snooze(0.2)
    raise Cancel(f"it is attempt {job.attempt} still, and nobody needs this any more")


async def main() -> None:
    async with engine:
        jobs = [
            await call_the_bank.enqueue(),
            await parse.enqueue(text="seven"),
            await wait_for_morning.enqueue(),
        ]
        worker = engine.worker()
        asyncio.get_running_loop().call_later(1.2, worker.stop)
        await worker.run()

        for answer in jobs:
            job = await engine.get(answer.id)
            print(f"{job.task}: {job.state}, {job.attempts} attempts; output {job.output}")
            for error in job.errors[-1:]:
                print(f"  {error[:120]}")
        back = await engine.redrive(task="parse")
        assert (await engine.get(back[0])).state is State.WAITING
        print(f"redriven from the dead letter: {back}")


if __name__ == "__main__":
    asyncio.run(main())
