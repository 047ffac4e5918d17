"""The reference store, led by another store's choices.

Which of a queue's lines a claim serves first is no promise, so two right stores may hand out
different jobs. The model therefore takes from each line as many as the store under test did, if
the rules allow it, and says how many could have been taken in all.
"""

from collections import Counter
from datetime import datetime

from cadenza.engine.gates import room
from cadenza.engine.job import Scope
from cadenza.engine.stores.memory import MemoryStore
from cadenza.engine.stores.memory.rows import Row
from cadenza.engine.testing.clock import VirtualClock


class Model(MemoryStore):
    """A memory store that claims by plan."""

    def __init__(self, now: datetime) -> None:
        self.clock = VirtualClock(now)
        super().__init__(clock=self.clock)
        self.plan: Counter[str | None] = Counter()  # how many of each lane; None: of plain jobs
        self.runnable = 0  # how many the last claim could have taken

    def holds_key(self, id_: int) -> str | None:
        """Say which unique key a job holds."""
        return next((key for key, holder in self._unique.items() if holder == id_), None)

    def _choose(self, queue: str, allowed: int, now: datetime, *, alone: bool) -> list[Row]:
        scopes = self._scopes(queue)
        self.runnable = min(
            allowed, sum(self._count_runnable(scope, now, alone=alone) for scope in scopes)
        )
        taken: list[Row] = []
        for scope in scopes:
            wanted = min(self.plan[scope.lane], allowed - len(taken))
            if scope.lane is None:
                taken += self._take(scope, wanted, now, alone=alone)
            else:
                taken += self._take_lanes([scope], wanted, now, alone=alone)
        return taken

    def _count_runnable(self, scope: Scope, now: datetime, *, alone: bool) -> int:
        line = self._lines.get(scope)
        if line is None:
            return 0
        self._promote(line, now)
        heap = line.crashed if alone else line.ready
        count = sum(id_ in self._rows and self._rows[id_].stamp == stamp for *_, id_, stamp in heap)
        return count if scope.lane is None else room(self._gates[scope], now, count)
