"""Workers that stand by: the step that brings a lone job in leases it to one and sends it along.

A claim that finds its queue empty leaves the worker's own channel there, for half a lease. The
insert that finds it (see hand_over in insert.lua) publishes the job on it, which saves the worker
the claim; where nobody hears the channel any more the job just waits. Limit: on one server only,
because in a cluster a node cannot tell whether another one's subscribers hear.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from cadenza.core.clock import Clock
from cadenza.core.ids import SystemIds
from cadenza.engine.outcomes import Settlement, Verdict
from cadenza.engine.store import Batch, TakeOver
from cadenza.engine.stores.redis.notifier import Notifier
from cadenza.engine.stores.redis.pack import read_claimed

_ID = 16  # digits of a lease, and of an id
Release = Callable[[list[Settlement]], Awaitable[Any]]


@dataclass(slots=True)
class _StandbyWorker:
    channel: str
    take: TakeOver
    idle: Callable[[], bool]
    most: int  # queues to stand in at once
    requested: dict[str, float] = field(default_factory=dict)  # monotonic, by queue


class Standby:
    """Who stands by, and what is handed to them."""

    def __init__(
        self,
        notifier: Notifier,
        prefix: str,
        name: Callable[[int], str],
        *,
        release: Release,
        clock: Clock,
    ) -> None:
        self._notifier = notifier
        self._channels = f"{prefix}:to:{SystemIds().new()}"
        self._name = name  # of the queue that a lease belongs to
        self._release = release
        self._clock = clock
        self._standers: dict[str, _StandbyWorker] = {}
        self._releasing: set[asyncio.Task[Any]] = set()

    def add(
        self, worker: str, take: TakeOver, *, idle: Callable[[], bool], most: int
    ) -> Callable[[], None]:
        """Let a worker stand by until the returned function is called."""
        channel = f"{self._channels}:{worker}"
        if worker in self._standers:  # a namesake: one of the two will do
            return lambda: None
        stander = self._standers[worker] = _StandbyWorker(channel, take, idle, most)
        self._notifier.subscribe(channel, lambda said: self._hand(stander, said))

        def leave() -> None:
            if self._standers.pop(worker, None) is None:
                return
            stander.take = lambda queue, batch, requested: self._send_back(batch)
            self._notifier.unsubscribe(channel)

        return leave

    def word(self, queue: str, worker: str) -> tuple[str, int]:
        """Return what a claim is to leave: the worker's channel, and whether to stand by there."""
        stander = self._standers.get(worker)
        if stander is None or not self._notifier.hears:
            return "", 0
        stands = stander.idle() and (
            queue in stander.requested or len(stander.requested) < stander.most
        )
        if stands:
            stander.requested[queue] = self._clock.monotonic()
        else:
            stander.requested.pop(queue, None)
        return stander.channel, int(stands)

    def _hand(self, stander: _StandbyWorker, said: bytes) -> None:
        lease, id_, blob = int(said[:_ID]), said[_ID : 2 * _ID], said[2 * _ID :]
        queue = self._name(lease)
        batch = Batch(lease, read_claimed(queue, lease, ([id_], [blob], [None])))
        requested = stander.requested.pop(
            queue, float("-inf")
        )  # not ours any more: begin nothing of it
        stander.take(queue, batch, requested)

    def _send_back(self, batch: Batch) -> None:
        """Let others have what came after the worker had gone."""
        back = [Settlement(job.id, batch.lease, Verdict.RELEASED) for job in batch.jobs]
        releasing = asyncio.ensure_future(self._release(back))
        self._releasing.add(releasing)
        releasing.add_done_callback(self._releasing.discard)

    async def close(self) -> None:
        """Let what is sent back arrive."""
        await asyncio.gather(*self._releasing, return_exceptions=True)
