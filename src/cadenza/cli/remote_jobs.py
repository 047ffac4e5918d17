"""The jobs of a server, asked with a key: what `Engine` has for looking and changing, spoken over HTTP.

Answers become the engine's own values again, so each command is written once and prints the same for both. Limits:
several jobs are changed one after another, not together; times of a schedule are shown on this machine's
tz database; a server answers at most fifty occurrences of one.
"""

from collections.abc import Awaitable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

import msgspec

from cadenza.client.errors import NotFound
from cadenza.core.recurrence import Preview
from cadenza.core.zones import Mark, get_zone, local
from cadenza.engine.job import Gate, Job, Limit, Rate, Schedule, Scope, State, Tally
from cadenza.engine.store import Changed
from cadenza.engine.why import Check, Why

if TYPE_CHECKING:
    from cadenza.client import types
    from cadenza.client.core import Client

PAGE = 200  # what a server lists at once
_TEXTS = ("payload", "options", "progress", "output", "recurrence")  # the engine keeps them as JSON


class RemoteJobs:
    """The jobs of one server."""

    def __init__(self, client: "Client") -> None:
        self._jobs = client.jobs

    async def get(self, id: int) -> Job:
        """Show one job."""
        return _job(await self._jobs.show(str(id)))

    async def find(
        self,
        *,
        states: Sequence[State] = (),
        before: int | None = None,
        limit: int = 50,
        **wanted: Any,
    ) -> list[Job]:
        """List jobs, newest first, over as many pages as it takes."""
        found: list[Job] = []
        chosen = cast("list[types.State]", [state.value for state in states])
        while len(found) < limit:
            most = min(PAGE, limit - len(found))
            page = await self._jobs.list(state=chosen, before=before, limit=most, **wanted)
            found += [_job(each) for each in page["items"]]
            before = page["next"]
            if before is None:
                break
        return found

    async def why(self, id: int) -> Why:
        """Say why a job does not run now."""
        job = await self.get(id)
        answer = await self._jobs.why(str(id))
        return Why(job, tuple(msgspec.convert(each, Check) for each in answer["checks"]))

    async def tally(self) -> list[Tally]:
        """Count by queue and state."""
        return [
            Tally(each["queue"], State(state), count)
            for each in await self._jobs.list_queues()
            for state, count in each["counts"].items()
        ]

    async def gates(self) -> list[Gate]:
        """Show every gate."""
        return [_gate(each) for each in await self._jobs.list_gates()]

    async def schedules(self) -> list[Schedule]:
        """List schedules by name."""
        found = await self._jobs.list_schedules()
        return [msgspec.convert(_written(each), Schedule) for each in found]

    async def preview(self, name: str, n: int = 5) -> tuple[Preview, ...]:
        """Show a schedule's next occurrences."""
        found = await self._jobs.preview_schedule(name, n=n)
        return tuple(_occurrence(each) for each in found)

    async def retry(self, *ids: int) -> list[Changed]:
        """Run finished jobs again, waiting ones now."""
        return [await _answer(self._jobs.retry(str(id))) for id in ids]

    async def cancel(self, *ids: int, reason: str = "canceled by request") -> list[Changed]:
        """Cancel waiting jobs; ask the workers of running ones to stop."""
        return [await _answer(self._jobs.cancel(str(id), reason=reason)) for id in ids]

    async def redrive(
        self, *, queue: str | None = None, task: str | None = None, limit: int = 1000
    ) -> list[int]:
        """Bring failed jobs back from the dead letter."""
        return (await self._jobs.redrive(queue=queue, task=task, limit=limit))["changed"]

    async def pause(
        self, queue: str, lane: str | None = None, *, reason: str = "paused by request"
    ) -> Gate:
        """Claim nothing more of a queue or lane."""
        return _gate(await self._jobs.pause_queue(queue, lane=lane, reason=reason))

    async def resume(self, queue: str, lane: str | None = None) -> Gate:
        """Open a paused or parked queue or lane."""
        return _gate(await self._jobs.resume_queue(queue, lane=lane))


async def _answer(requested: "Awaitable[types.JobChanged]") -> Changed:
    try:
        return (await requested)["answer"]
    except NotFound:
        return "unknown"


def _job(shown: "types.JobView") -> Job:
    errors = [_text(each) for each in shown["errors"]]
    return msgspec.convert({**_written(shown), "errors": errors}, Job)


def _gate(shown: "types.GateView") -> Gate:
    rate = shown["limit"]["rate"]
    paced = rate and Rate(rate["count"], timedelta(seconds=rate["per_seconds"]), rate["burst"])
    return Gate(
        scope=Scope(shown["queue"], shown["lane"]),
        paused=shown["paused"],
        reason=shown["reason"],
        parked_until=_instant(shown["parked_until"]),
        limit=Limit(shown["limit"]["concurrency"], paced),
        in_flight=shown["in_flight"],
        next_start=_instant(shown["next_start"]),
    )


def _occurrence(shown: "types.Occurrence") -> Preview:
    instant, zone = datetime.fromisoformat(shown["at"]), get_zone(shown["zone"])
    return Preview(instant, local(instant, zone), zone, Mark(shown["mark"]))


def _written(shown: Mapping[str, Any]) -> dict[str, Any]:
    """Write as JSON what the engine keeps so."""
    texts = {name: _text(shown[name]) for name in _TEXTS if name in shown}
    return {**shown, **texts}


def _text(value: object) -> str | None:
    return None if value is None else msgspec.json.encode(value).decode()


def _instant(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
