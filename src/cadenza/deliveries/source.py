"""Deliveries as a source that the engine's worker claims from.

The worker knows small numbers; this keeps the tickets behind them, runs the pipeline's operations, and
settles many deliveries in one transaction. There is no second queue to keep in step.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from cadenza.deliveries import claim as claiming
from cadenza.deliveries import lanes
from cadenza.deliveries.model import ClaimedDelivery
from cadenza.deliveries.rescue import rescue
from cadenza.deliveries.settle import Result, locks_of, settle
from cadenza.engine.errors import StoreUnavailable
from cadenza.engine.job import Claimed
from cadenza.engine.outcomes import Settlement
from cadenza.engine.store import Batch, Renewal, Rescue, Traits, Wake
from cadenza.sql.errors import SqlError
from cadenza.sql.transactions import Operation, Operations
from cadenza.sql.transactions import Result as T
from cadenza.sql.tx import Tx

QUEUE = lanes.QUEUE


class DeliverySource:
    """What the delivery worker works on."""

    traits = Traits(
        name="deliveries",
        durable=True,
        notifies=False,
        joins_transactions=True,
        many_processes=True,
    )

    def __init__(self, operations: Operations) -> None:
        self._operations = operations
        self._numbers = itertools.count(1)
        self._tickets: dict[int, ClaimedDelivery] = {}
        self._of_lease: dict[int, list[int]] = {}
        self._results: dict[int, Result] = {}
        self._watchers: list[Wake] = []
        self.held = False  # nothing is claimed: the installation's guard says so

    def ticket(self, number: int) -> ClaimedDelivery:
        """Return the claimed delivery behind a worker's number."""
        return self._tickets[number]

    def record_result(self, number: int, result: Result) -> None:
        """Keep what a call came to, until it is settled."""
        self._results[number] = result

    def forget(self, number: int) -> None:
        """The permit has already dealt with it."""
        self._tickets.pop(number, None)

    def nudge(self) -> None:
        """Something was scheduled here: look now."""
        for wake in tuple(self._watchers):
            wake(QUEUE)

    async def now(self) -> datetime:
        """Read the database's clock."""
        return await self._try(lambda _, now: now)

    def watch(self, wake: Wake) -> Callable[[], None]:
        """Call `wake` after each `nudge`."""
        self._watchers.append(wake)
        return lambda: self._watchers.remove(wake)

    async def claim(
        self,
        queue: str,
        *,
        limit: int,
        worker: str,
        lease: timedelta,
        alone: bool = False,
        started: bool = True,
    ) -> Batch:
        """Lease the heads of runnable lanes; `alone`, one that a process died with."""
        if self.held:
            return Batch(0, [], None)

        def operation(tx: Tx, now: datetime) -> tuple[list[ClaimedDelivery], datetime | None, bool]:
            tickets = claiming.claim(tx, now, limit=limit, worker=worker, lease=lease, alone=alone)
            due = None if tickets else lanes.next_due(tx, now)
            return tickets, due, claiming.has_crashed(tx, now)

        tickets, due, crashed = await self._try(operation)
        if not tickets:
            return Batch(0, [], due, crashed=crashed)
        number = next(self._numbers)
        jobs = [self._hand_over(number, ticket) for ticket in tickets]
        self._of_lease[number] = [job.id for job in jobs]
        return Batch(number, jobs, crashed=crashed)

    async def start(self, jobs: Mapping[int, Sequence[int]]) -> None:
        """Write nothing: what is claimed counts as started."""

    def _hand_over(self, lease: int, ticket: ClaimedDelivery) -> Claimed:
        number = next(self._numbers)
        self._tickets[number] = ticket
        each = ticket.delivery
        return Claimed(
            number, lease, each.channel, "", QUEUE, each.attempts, each.crashes, each.due_at
        )

    async def renew(self, worker: str, leases: Sequence[int], *, lease: timedelta) -> Renewal:
        """Extend what is held; what is lost is stopped one by one."""
        held = {
            number: self._tickets[number]
            for batch in leases
            for number in self._of_lease.get(batch, ())
            if number in self._tickets
        }
        lost = await self._try(
            lambda tx, now: claiming.renew(tx, now, list(held.values()), lease=lease), urgent=True
        )
        gone = {ticket.fence for ticket in lost}  # the same delivery may be ours again
        return Renewal(cancel=frozenset(n for n, t in held.items() if t.fence in gone))

    async def settle(
        self, settlements: Sequence[Settlement], *, closed: Sequence[int] = ()
    ) -> list[Settlement]:
        """Write results in one transaction; what never came to a call goes back untouched."""
        results = {s.id: self._results[s.id] for s in settlements if s.id in self._results}
        untouched = [
            self._tickets[s.id]
            for s in settlements
            if s.id in self._tickets and s.id not in results
        ]

        def operation(tx: Tx, now: datetime) -> list[bool]:
            won = settle(tx, now, list(results.values()))
            claiming.release(tx, now, untouched)
            return won

        won = dict(
            zip(results, await self._try(operation, locks=locks_of(results.values())), strict=True)
        )
        for settlement in settlements:
            self._results.pop(settlement.id, None)
            self._tickets.pop(settlement.id, None)
        for batch in closed:
            self._of_lease.pop(batch, None)
        self.nudge()
        return [s for s in settlements if not won.get(s.id, True)]

    async def rescue(self, *, crash_limit: int) -> Rescue:
        """Take back what silent workers held; the numbers are only counted."""
        back, given_up = await self._try(lambda tx, now: rescue(tx, now, crash_limit=crash_limit))
        return Rescue(tuple(range(len(back))), tuple(range(len(given_up))))

    async def next_due(self, queue: str) -> datetime | None:
        """Say when the next lane may be looked at."""
        return await self._try(lanes.next_due)

    async def _try(
        self, operation: Operation[T], *, locks: Sequence[str] = (), urgent: bool = False
    ) -> T:
        try:
            return await self._operations.run(operation, locks=locks, urgent=urgent)
        except SqlError as error:
            raise StoreUnavailable(str(error)) from error
