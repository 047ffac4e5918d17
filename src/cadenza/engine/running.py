"""What a handler sees of its own job while it runs.

A parameter annotated `Running` is given this. Progress is written under the job's fence: a worker
that lost its lease writes nothing, and is told so.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime

import msgspec

from cadenza.engine.encode import to_json
from cadenza.engine.job import Claimed

Report = Callable[[int, int, str], Awaitable[bool]]


class LostLease(Exception):
    """Another worker has this job now: stop, and change nothing more."""


class Running:
    """The running job, as its handler may know it."""

    __slots__ = ("_claimed", "_loop", "_report", "cancel_requested")

    def __init__(self, claimed: Claimed, report: Report) -> None:
        self._claimed = claimed
        self._report = report
        self._loop = asyncio.get_running_loop()
        self.cancel_requested = False

    @property
    def id(self) -> int:
        """The job's number."""
        return self._claimed.id

    @property
    def attempt(self) -> int:
        """Which call this is, from 1."""
        return self._claimed.attempts + 1

    @property
    def crashes(self) -> int:
        """How often a process died with this job in hand."""
        return self._claimed.crashes

    @property
    def queue(self) -> str:
        """The queue it came by."""
        return self._claimed.queue

    @property
    def lane(self) -> str | None:
        """The lane it waited in."""
        return self._claimed.lane

    @property
    def due_at(self) -> datetime:
        """When it was to run."""
        return self._claimed.run_at

    @property
    def schedule(self) -> str | None:
        """The schedule that made it."""
        return self._claimed.schedule

    @property
    def progress(self) -> object:
        """What an earlier call last reported, to go on from there."""
        text = self._claimed.progress
        return None if text is None else msgspec.json.decode(text)

    async def report(self, progress: object) -> None:
        """Keep progress with the job: for people to see, and for the next attempt to resume from.

        What a payload may not hold it may not hold either: `InvalidJob`, and the last one stays.
        """
        text = to_json(progress, what=f"the progress of job {self.id}")
        if not await self._report(self._claimed.id, self._claimed.lease, text):
            message = f"job {self.id} was taken over by another worker"
            raise LostLease(message)
        self._claimed.progress = text

    def report_from_thread(self, progress: object) -> None:
        """Keep progress, from a sync handler: waits until it is written."""
        asyncio.run_coroutine_threadsafe(self.report(progress), self._loop).result()
