"""Asks for permits as a worker does: together with others, again when no answer comes, with a start in hand.

Requests of independent accounts share a transaction. The same request gets the same permit, so asking again is
safe. Where a provider has an app-wide rate, a start is leased first.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from cadenza.core.clock import Clock
from cadenza.deliveries import model
from cadenza.deliveries.batching import Batching
from cadenza.deliveries.lease_rate import RateLeases
from cadenza.deliveries.model import ClaimedDelivery
from cadenza.deliveries.permit import (
    PROVIDER_RATE,
    Answer,
    PermitRequest,
    Refusal,
    locks_of,
    permit,
)
from cadenza.deliveries.permit_repeat import permit_repeat
from cadenza.deliveries.reconcile import Held, UnconfirmedAttempt
from cadenza.sql.errors import SqlError
from cadenza.sql.transactions import Operations

log = logging.getLogger("cadenza.deliveries")

ASK_AGAIN = (0.1, 0.5, 1.0)  # seconds between tries when the permit's answer is lost


class Permits:
    """Where the runs of one worker ask."""

    def __init__(self, operations: Operations, clock: Clock) -> None:
        self._operations = operations
        self._clock = clock
        self._rates = RateLeases(operations, clock)
        self._together: Batching[PermitRequest, Answer] = Batching(self._permit_many)

    async def take_start(self, request: PermitRequest) -> PermitRequest:
        """Wait for a start of the provider's app-wide rate, where there is one."""
        return replace(request, start=await self._rates.take(_provider(request.ticket)))

    async def start_repeat(self, unconfirmed: UnconfirmedAttempt) -> datetime | None:
        """Wait for a start of the provider's app-wide rate to make a call again; None: there is no rate."""
        return await self._rates.take(_provider(unconfirmed.ticket))

    async def ask_repeat(
        self, unconfirmed: UnconfirmedAttempt, start: datetime | None
    ) -> datetime | Held:
        """Ask whether a call may be made again to find out what became of it."""
        answer = await self._operations.run(
            lambda tx, now: permit_repeat(tx, now, unconfirmed, start=start),
            locks=model.locks_of([unconfirmed.ticket.delivery]),
        )
        if isinstance(answer, Held) and answer.gate == PROVIDER_RATE:
            self._rates.expect(_provider(unconfirmed.ticket))
        return answer

    async def ask(self, request: PermitRequest) -> Answer:
        """Join the next batch and wait for the answer."""
        answer = await self._together.ask(request)
        if isinstance(answer, Refusal) and answer.gate == PROVIDER_RATE:
            self._rates.expect(_provider(request.ticket))
        return answer

    async def _permit_many(self, requests: Sequence[PermitRequest]) -> list[Answer]:
        """Ask again when no answer comes: the same request gets the same permit."""
        for pause in ASK_AGAIN:
            try:
                return await self._permit_once(requests)
            except SqlError as error:
                log.warning("store away, a permit waits", extra={"error": str(error)})
                await self._clock.sleep(pause)
        return await self._permit_once(requests)

    async def _permit_once(self, requests: Sequence[PermitRequest]) -> list[Answer]:
        return await self._operations.run(
            lambda tx, now: permit(tx, now, requests), locks=locks_of(requests)
        )


def _provider(ticket: ClaimedDelivery) -> str:
    return ticket.account.provider
