"""Schedules on the wall clock: what comes, what a change of the clocks does, what was missed.

    python examples/schedules.py

A virtual clock lets three weeks pass in a moment, with the real engine.
"""

import asyncio
from datetime import UTC, datetime, timedelta

from cadenza.engine import Engine, Running
from cadenza.engine.testing.clock import VirtualClock
from cadenza.engine.testing.drain import drain

clock = VirtualClock(datetime(2026, 3, 27, 12, tzinfo=UTC))
engine = Engine("memory://", clock=clock)
ran: list[str] = []


@engine.task
async def back_up(job: Running) -> None:
    ran.append(f"{job.schedule} at {job.due_at:%a %d %H:%M} UTC")


async def main() -> None:
    async with engine:
        # 02:30 does not exist in Berlin on 29 March: `shift` runs it at 03:30, `skip` leaves it out.
        await engine.schedule("shifted", back_up, cron="30 2 * * *", zone="Europe/Berlin")
        await engine.schedule(
            "skipped", back_up, cron="30 2 * * *", zone="Europe/Berlin", gap="skip"
        )
        for name in ("shifted", "skipped"):
            print(f"{name}:")
            for coming in await engine.preview(name, 3):
                print(f"  {coming.wall:%a %d %b %H:%M %Z}  {coming.mark.value}")

        drained = await drain(engine, until=clock.now() + timedelta(days=3))
        print(f"{drained.fired} runs in three days:", *ran, sep="\n  ")

        # Two weeks without a worker: by default the missed runs become one.
        clock.shift(timedelta(days=14))
        ran.clear()
        await drain(engine)
        print(f"after two weeks away: {len(ran)} runs, one for each schedule")
        print(f"  {(await engine.schedules())[0].last_note}")


if __name__ == "__main__":
    asyncio.run(main())
