"""A process of its own that does to a store what it is told, a line at a time.

A command is a JSON line `{"do": name, ...}`; the answer is a JSON line. What a race needs to know
of time is read from the monotonic clock, which all processes of a machine share.
"""

import asyncio
import json
import sys
import time
import traceback
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

from cadenza.engine.job import NewJob, Pace, Unique
from cadenza.engine.outcomes import Settlement, Verdict
from cadenza.engine.store import Store
from cadenza.engine.stores.postgres import PostgresStore
from cadenza.engine.stores.sqlite import SqliteStore

LEASE = timedelta(minutes=5)
PATIENCE = 40  # seconds; a race that takes longer is stuck


class Hand:
    """One process's store, and what it can be told to do."""

    def __init__(self, lines: asyncio.Queue[str]) -> None:
        self._lines = lines
        self._store: Store | None = None

    @property
    def store(self) -> Store:
        assert self._store is not None
        return self._store

    async def open(self, kind: str, address: str) -> str:
        await self.close()
        store = PostgresStore(address) if kind == "postgres" else SqliteStore(address)
        await store.open()
        self._store = store
        return "open"

    async def close(self) -> str:
        if self._store is not None:
            await self._store.close()
            self._store = None
        return "closed"

    async def claim_all(self, limit: int) -> list[tuple[int, int]]:
        """Claim until nothing comes; answer with each job and its lease."""
        seen: list[tuple[int, int]] = []
        while True:
            batch = await self.store.claim("default", limit=limit, worker=self._name, lease=LEASE)
            if not batch.jobs:
                return seen
            seen += [(job.id, batch.lease) for job in batch.jobs]

    async def insert_unique(self, keys: list[str]) -> list[tuple[str, int]]:
        """Insert one job of each key, one call each."""
        answers: list[tuple[str, int]] = []
        for key in keys:
            (answer,) = await self.store.insert([NewJob(task="greet", rule=Unique(key))])
            answers.append((answer.outcome, answer.id))
        return answers

    async def insert_paced(self, step: float, count: int) -> list[str]:
        """Insert paced jobs of one key, one call each; answer with their instants."""
        times: list[str] = []
        for _ in range(count):
            rule = Pace("ada", timedelta(seconds=step))
            (answer,) = await self.store.insert([NewJob(task="send", rule=rule)])
            assert answer.inserted
            assert answer.run_at is not None
            times.append(answer.run_at.isoformat())
        return times

    async def fire(self, rounds: int, step: float) -> list[tuple[str, int]]:
        """Fire whatever is due, as every scheduler does; answer with what this one fired."""
        fired: list[tuple[str, int]] = []
        for _ in range(rounds):
            for schedule in await self.store.schedules(due_only=True):
                at = schedule.next_at
                assert at is not None
                answers = await self.store.fire(
                    schedule.name,
                    revision=schedule.revision,
                    expected=at,
                    next_at=at + timedelta(seconds=step),
                    note=None,
                    jobs=[NewJob(task="greet", schedule=schedule.name)],
                )
                if answers is not None:
                    fired.append((at.isoformat(), answers[0].id))
        return fired

    async def work(self, limit: int) -> list[tuple[float, float, int]]:
        """Claim and settle until all is done; answer when how many were surely in hand."""
        held: list[tuple[float, float, int]] = []
        while any(
            tally.state.value in ("waiting", "running") for tally in await self.store.tally()
        ):
            batch = await self.store.claim("default", limit=limit, worker=self._name, lease=LEASE)
            if batch.jobs:
                begun = time.monotonic()
                done = [Settlement(job.id, batch.lease) for job in batch.jobs]
                await asyncio.sleep(0.002)  # work takes time
                held.append((begun, time.monotonic(), len(batch.jobs)))
                assert await self.store.settle(done, closed=[batch.lease]) == []
        return held

    async def claim_until_told(self) -> list[tuple[float, int]]:
        """Claim one by one until a line comes; answer when each was begun and what came."""
        seen: list[tuple[float, int]] = []
        while self._lines.empty():
            begun = time.monotonic()
            batch = await self.store.claim("default", limit=1, worker=self._name, lease=LEASE)
            seen.append((begun, len(batch.jobs)))
            if not seen[-1][1]:
                await asyncio.sleep(0)
        return seen

    async def cancel_each(self, ids: list[int]) -> list[str]:
        """Cancel jobs one by one."""
        return [(await self.store.cancel([id_], reason="race"))[0] for id_ in ids]

    async def settle_each(self, pairs: list[tuple[int, int]], verdict: str) -> list[bool]:
        """Settle jobs one by one; answer which were accepted."""
        taken: list[bool] = []
        for id_, lease in pairs:
            one = Settlement(id_, lease, Verdict(verdict), delay=timedelta())
            taken.append(await self.store.settle([one], closed=[lease]) == [])
        return taken

    async def rescue_all(self, wanted: int) -> list[int]:
        """Rescue again and again, as long as so many jobs are neither settled nor rescued."""
        taken: list[int] = []
        running = wanted
        while running:
            taken += (await self.store.rescue(crash_limit=9)).returned
            counts = {t.state.value: t.count for t in await self.store.tally()}
            running = counts.get("running", 0)
        return taken

    @property
    def _name(self) -> str:
        return f"hand-{id(self)}"


async def main() -> None:
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[str] = asyncio.Queue()

    def listen() -> None:
        for line in sys.stdin:
            loop.call_soon_threadsafe(lines.put_nowait, line)
        loop.call_soon_threadsafe(lines.put_nowait, "")

    listening = loop.run_in_executor(None, listen)
    hand = Hand(lines)
    while line := await lines.get():
        command: dict[str, Any] = json.loads(line)
        if command["do"] == "stop":
            continue  # it has done its work by being there
        act: Callable[..., Awaitable[object]] = getattr(hand, command.pop("do"))
        told = command.pop("told")
        try:
            async with asyncio.timeout(PATIENCE):
                answer = {"told": told, "answer": await act(**command)}
        except Exception:  # noqa: BLE001 - told to the parent, whatever it is
            answer = {"told": told, "error": traceback.format_exc()}
        print(json.dumps(answer), flush=True)
    await hand.close()
    await listening


if __name__ == "__main__":
    asyncio.run(main())
