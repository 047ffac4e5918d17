"""First steps: a few tasks, a retry, a schedule, a paced campaign, on one SQLite file.

    python examples/hello.py            # runs until Ctrl-C
    python examples/hello.py --once     # ends after a few seconds

While it runs, look at it from another terminal:

    cadenza jobs list --store sqlite:///hello.sqlite3
"""

import asyncio
import os
import sys
from datetime import timedelta

from cadenza.engine import Engine, Pace, Running

STORE = os.environ.get("CADENZA_STORE", "sqlite:///hello.sqlite3")
engine = Engine(STORE)


def say(text: str) -> None:
    print(text, flush=True)


@engine.task
async def greet(name: str) -> str:
    say(f"  greet     hello, {name}")
    return f"greeted {name}"


@engine.task(retry=2)
def flaky(job: Running) -> None:
    """A sync handler; it runs in a thread. The first try fails, the second does not."""
    if job.attempt == 1:
        raise ConnectionError("the network blinked")
    say(f"  flaky     worked at attempt {job.attempt}")


@engine.task
async def tick(job: Running) -> None:
    say(f"  tick      scheduled for {job.due_at:%H:%M:%S} UTC")


@engine.task(queue="mail")
async def write_to(person: str) -> None:
    say(f"  write_to  message to {person}")


async def fill() -> None:
    await greet.enqueue(name="Ada")
    await greet.using(delay=1.5).enqueue(name="Ben, a little later")
    once = greet.using(unique="cy")
    first, second = await once.enqueue(name="Cy"), await once.enqueue(name="Cy again")
    say(f"a second job of one unique key is answered: {second.outcome} job {first.id}")
    await flaky.using(retry=1).enqueue()
    await engine.schedule("every two seconds", tick, every=2)
    # Ten messages, handed over at once, get ten instants, a third of a second apart.
    paced = write_to.using(pace=Pace("campaign", timedelta(seconds=0.3)))
    answers = await paced.enqueue_many([{"person": f"person {n}"} for n in range(1, 11)])
    say(f"a campaign of {len(answers)} messages, the last is due {answers[-1].run_at:%H:%M:%S} UTC")


async def main(*, once: bool) -> None:
    async with engine:
        await fill()
        worker = engine.worker(["default", "mail"])
        worker.stop_on_signals()
        say(f"working on {STORE}; look with: cadenza jobs list --store {STORE}")
        if once:
            asyncio.get_running_loop().call_later(6.5, worker.stop)
        else:
            say("Ctrl-C stops")
        await worker.run()
        counts = [f"{t.count} {t.state} in {t.queue}" for t in await engine.store.tally()]
        say(f"stopped; {', '.join(counts)}")


if __name__ == "__main__":
    asyncio.run(main(once="--once" in sys.argv[1:]))
