"""The real operations on a real SQLite database in memory, behind a network that fails.

Each operation runs at one virtual instant between two legs of latency. On its way a request may be lost,
be refused as busy, or be carried out with its answer lost; at each leg the asking host may crash or
freeze. A planted mistake may rewrite its SQL, or hand it the host's clock in place of the database's.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from cadenza.sql.errors import Busy, Unavailable
from cadenza.sql.transactions import Operation, Result, SqliteOperations
from cadenza.sql.tx import Row, Tx
from tests.simulation.kernel import HostClock, current_host
from tests.simulation.stage import Stage

PEOPLE = frozenset({"people", "editor", "ada", "ben", "cy"})
Rewrite = Callable[[str], str]


class FaultyOperations:
    """What a host sees of the database."""

    def __init__(self, world: Stage, inner: SqliteOperations) -> None:
        self._world = world
        self._inner = inner

    async def run(
        self, operation: Operation[Result], *, locks: Sequence[str] = (), urgent: bool = False
    ) -> Result:
        """Run a writing operation, if the request arrives."""
        world = self._world
        await world.step("ask", longest=0.05)
        self._knock()
        lost = world.trouble("store")
        kind = world.tape.below(3) if lost else -1
        if kind == 1:
            raise Busy("another writer is at it; try again.")
        if kind == 2:
            await asyncio.sleep(world.tape.seconds(5))
            raise Unavailable("the connection was lost before the request arrived.")
        result = await self._inner.run(self._planted(operation), locks=locks, urgent=urgent)
        world.after_write()
        await world.step("told", longest=0.05)
        if kind == 0:
            await asyncio.sleep(world.tape.seconds(5))
            world.tell("fault", "the answer of a carried-out operation is lost")
            raise Unavailable("the connection was lost after the request was carried out.")
        return result

    async def read(self, operation: Operation[Result], *, now: datetime | None = None) -> Result:
        """Run a reading operation, if the request arrives."""
        world = self._world
        await world.step("ask", longest=0.05)
        self._knock()
        if world.trouble("store"):
            raise Unavailable("the connection was lost.")
        assert now is None, "who reads at another instant is not simulated"
        result = await self._inner.read(self._planted(operation))
        await world.step("told", longest=0.05)
        return result

    async def peek(self, operation: Callable[[Tx], Result]) -> Result:
        """Run one reading statement, if the request arrives."""
        return await self.read(lambda tx, _: operation(tx))

    def _knock(self) -> None:
        """Turn people away while nobody serves them."""
        if self._world.closed and self._world.host_name() in PEOPLE:
            raise Unavailable("nobody answers.")

    def _planted(self, operation: Operation[Result]) -> Operation[Result]:
        mutant = self._world.mutant
        if mutant is None or (mutant.rewrite is None and not mutant.host_clock):
            return operation
        skew = current_host().skew
        clock = HostClock(self._world.loop, skew) if mutant.host_clock else None
        rewrite = mutant.rewrite

        def run(tx: Tx, now: datetime) -> Result:
            def execute(sql: str, params: Mapping[str, Any]) -> tuple[list[Row], int]:
                return tx._execute(sql if rewrite is None else rewrite(sql), params)

            return operation(Tx("sqlite", execute, tx._ids), now if clock is None else clock.now())

        return run
