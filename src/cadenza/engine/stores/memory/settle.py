"""What becomes of jobs that run: leases are renewed, outcomes written, silent workers' jobs taken back."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from cadenza.engine.job import State
from cadenza.engine.notes import crash_note
from cadenza.engine.outcomes import Settlement, Verdict
from cadenza.engine.store import Renewal, Rescue
from cadenza.engine.stores.memory.rows import Row
from cadenza.engine.stores.memory.tables import Tables


class Settles(Tables):
    """The way back from a worker."""

    async def start(self, jobs: Mapping[int, Sequence[int]]) -> None:
        """Note what begins now."""
        for number, ids in jobs.items():
            held = self._leases.get(number)
            if held is not None:
                held.started.update(ids)

    async def renew(self, worker: str, leases: Sequence[int], *, lease: timedelta) -> Renewal:
        """Extend what this worker still holds; a lease that has run out may be renewed until it is rescued."""
        now = self._clock.now()
        lost: set[int] = set()
        cancel: set[int] = set()
        for number in leases:
            held = self._leases.get(number)
            if held is None or held.worker != worker:
                lost.add(number)
                continue
            held.until = now + lease
            cancel |= {id_ for id_ in held.jobs if self._running(id_, number, canceled=True)}
        return Renewal(frozenset(lost), frozenset(cancel))

    async def settle(
        self, settlements: Sequence[Settlement], *, closed: Sequence[int] = ()
    ) -> list[Settlement]:
        """Write each outcome whose lease still holds."""
        now = self._clock.now()
        refused: list[Settlement] = []
        queues: set[str] = set()
        for settlement in settlements:
            row = self._running(settlement.id, settlement.lease)
            if row is None:
                refused.append(settlement)
                continue
            queues.add(row.new.queue)
            self._write(row, settlement, now)
        for number in closed:
            self._leases.pop(number, None)
        self._wake(queues)
        return refused

    def _write(self, row: Row, settlement: Settlement, now: datetime) -> None:
        self._leave(row)
        verdict = settlement.verdict
        if settlement.error is not None:
            row.errors = (*row.errors, settlement.error)
        if verdict in (Verdict.DONE, Verdict.RETRY, Verdict.FAILED):
            row.attempts += 1
        waits_again = verdict in (Verdict.RETRY, Verdict.SNOOZE, Verdict.RELEASED)
        if waits_again and row.cancel_requested:
            verdict, waits_again = Verdict.CANCELED, False
        if waits_again:
            self._wait_again(row, settlement, now)
        else:
            row.output = settlement.output
            self._finish(row, State(verdict.value), now)
            if verdict is Verdict.DONE and not settlement.keep:
                del self._rows[row.id]
        if settlement.park is not None:  # last: a new gate counts what runs, and this row has left
            self._park(settlement.park.scope, now + settlement.park.wait)

    def _wait_again(self, row: Row, settlement: Settlement, now: datetime) -> None:
        row.state = State.WAITING
        if settlement.verdict is Verdict.SNOOZE:
            row.snoozes += 1
        if settlement.verdict is not Verdict.RELEASED:
            row.run_at = settlement.at or now + (settlement.delay or timedelta())
        self._stand(row)

    async def rescue(self, *, crash_limit: int) -> Rescue:
        """Take back the jobs of leases that ran out."""
        now = self._clock.now()
        returned: list[int] = []
        buried: list[int] = []
        for number in [n for n, held in self._leases.items() if held.until <= now]:
            held = self._leases.pop(number)
            for id_ in sorted(held.jobs):
                row = self._running(id_, number)
                if row is not None:
                    crashed = id_ in held.started
                    gone = self._take_back(row, crash_limit, now, crashed=crashed)
                    (buried if gone else returned).append(id_)
        self._wake({self._rows[id_].new.queue for id_ in returned})
        return Rescue(tuple(returned), tuple(buried))

    def _take_back(self, row: Row, crash_limit: int, now: datetime, *, crashed: bool) -> bool:
        """Let a job wait again; say whether it crashed once too often instead."""
        self._leave(row)
        row.crashes += crashed
        if row.cancel_requested:
            self._finish(row, State.CANCELED, now)
            return False
        if crashed and row.crashes >= crash_limit:
            row.errors = (*row.errors, crash_note(row.crashes, now))
            self._finish(row, State.FAILED, now)
            return True
        row.state = State.WAITING
        self._stand(row)
        return False
