"""The reference store: the semantics of all stores, in plain Python, in one process.

Every method runs without awaiting, so each is atomic in its event loop; that is its transaction.
The parts (insert, claim, settle, look, schedules) stand on one ground. Nothing survives the process:
tests, simulations, and work that may be lost.
"""

from dataclasses import replace
from datetime import timedelta

from cadenza.engine.job import Gate, Limit, Scope, WorkerInfo
from cadenza.engine.store import Traits
from cadenza.engine.stores.memory.claim import Claims
from cadenza.engine.stores.memory.inspect_jobs import Inspections
from cadenza.engine.stores.memory.schedules import Schedules
from cadenza.engine.stores.memory.settle import Settles

SILENT = timedelta(hours=1)  # a worker not heard of for so long is forgotten


class MemoryStore(Claims, Settles, Inspections, Schedules):
    """Jobs in this process's memory."""

    traits = Traits(
        name="memory", durable=False, notifies=True, joins_transactions=False, many_processes=False
    )

    async def open(self) -> None:
        """Nothing to connect to."""

    async def close(self) -> None:
        """Nothing to let go of; what was stored stays until the process ends."""

    # Gates

    async def set_gate(
        self,
        scope: Scope,
        *,
        paused: bool | None = None,
        reason: str | None = None,
        limit: Limit | None = None,
        park: timedelta | None = None,
    ) -> Gate:
        """Change what is given, and wake the queue."""
        now = self._clock.now()
        gate = self._gates.get(scope, Gate(scope, in_flight=self._count_running(scope)))
        if paused is not None:
            gate = replace(gate, paused=paused, reason=reason if paused else None)
        if limit is not None:
            gate = replace(gate, limit=limit)
        self._gates[scope] = gate
        if scope.lane is not None:
            self._lanes.setdefault(scope.queue, {}).setdefault(scope.lane, None)
        if park is not None:
            self._park(scope, now + park if park > timedelta() else None)
        self._wake({scope.queue})
        return self._gates[scope]

    async def gates(self) -> list[Gate]:
        """Show every gate."""
        return sorted(self._gates.values(), key=lambda gate: str(gate.scope))

    # Housekeeping

    async def beat(self, worker: WorkerInfo) -> None:
        """Remember a worker's last word."""
        now = self._clock.now()
        self._workers[worker.name] = replace(worker, seen_at=now)
        for name in [w.name for w in self._workers.values() if now - w.seen_at > SILENT]:
            del self._workers[name]

    async def workers(self) -> list[WorkerInfo]:
        """List workers by name."""
        return sorted(self._workers.values(), key=lambda worker: worker.name)

    async def vital_signs(self) -> dict[str, str]:
        """Say the one thing that matters here."""
        return {"store": "memory", "durability": "none: everything is gone when the process ends"}
