"""App-wide rates of providers, leased to workers in blocks of starts instead of locked in every permit.

A rate is a virtual schedule in one row: whoever needs starts moves `free_at` on by as many as wait, at most
a second's worth. A worker drops a start that is a second old, and the permit refuses one that took another
second on its way, so a worker that dies or stalls wastes its block and never exceeds the rate: in any span at
most two seconds' worth more than allowed begins. The permit refuses whoever comes without a start, which is
also how a worker learns that there is a rate.
"""

import asyncio
from collections import deque
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from cadenza.core.clock import Clock
from cadenza.deliveries.gates import A_BLOCK
from cadenza.sql.transactions import Operations
from cadenza.sql.tx import Row, Tx

BLOCK = A_BLOCK


@dataclass(frozen=True, slots=True)
class Block:
    """Starts that are this worker's alone; none: the next ones are too far off."""

    now: datetime
    starts: tuple[datetime, ...]


def locks_of(provider: str) -> list[str]:
    """Name what leasing reads and then writes."""
    return [f"provider:{provider}"]


def lease_block(tx: Tx, now: datetime, *, provider: str, wanted: int) -> Block | None:
    """Take the next starts; None: the provider has no rate."""
    row = tx.one("SELECT * FROM provider_rate WHERE provider = :provider", provider=provider)
    if row is None:
        return None
    every = timedelta(seconds=row["per_seconds"]) / row["amount"]
    first: datetime = max(row["free_at"] or now, now)
    if first > now + BLOCK:
        return Block(now, ())
    count = max(1, min(wanted, BLOCK // every if every else wanted))
    tx.run(
        "UPDATE provider_rate SET free_at = :free_at WHERE provider = :provider",
        free_at=first + count * every,
        provider=provider,
    )
    return Block(now, tuple(first + n * every for n in range(count)))


def set_provider_rate(
    tx: Tx, now: datetime, *, provider: str, amount: int, per_seconds: int
) -> None:
    """Set an operator's limit for all accounts of a provider; what the old one had put off does not stay."""
    soonest = now + timedelta(seconds=per_seconds) / amount
    tx.run(
        """
        INSERT INTO provider_rate (provider, amount, per_seconds, set_at) VALUES (:provider, :amount, :per, :now)
        ON CONFLICT (provider) DO UPDATE SET amount = excluded.amount, per_seconds = excluded.per_seconds,
            set_at = excluded.set_at,
            free_at = CASE WHEN provider_rate.free_at > :soonest THEN :soonest ELSE provider_rate.free_at END
        """,
        provider=provider,
        amount=amount,
        per=per_seconds,
        soonest=soonest,
        now=now,
    )


def drop_provider_rate(tx: Tx, _now: datetime, *, provider: str) -> bool:
    """Let all accounts of a provider go by their own limits alone; say whether there was a rate."""
    return tx.run("DELETE FROM provider_rate WHERE provider = :provider", provider=provider) == 1


def list_provider_rates(tx: Tx, _now: datetime) -> list[Row]:
    """List what operators have set."""
    return tx.all("SELECT provider, amount, per_seconds FROM provider_rate ORDER BY provider")


@dataclass(frozen=True, slots=True)
class Start:
    """One start, on the worker's own clock and on the database's."""

    here: float
    at: datetime


@dataclass(slots=True)
class _Leased:
    """What a worker holds of one provider's rate."""

    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: int = 0
    starts: deque[Start] = field(default_factory=deque["Start"])


class RateLeases:
    """A worker's starts; a provider without a rate costs nothing."""

    def __init__(self, operations: Operations, clock: Clock) -> None:
        self._operations = operations
        self._clock = clock
        self._leased: dict[str, _Leased] = {}

    def expect(self, provider: str) -> None:
        """A permit was refused for want of a start: there is a rate."""
        self._leased.setdefault(provider, _Leased())

    async def take(self, provider: str) -> datetime | None:
        """Wait for a start of this worker's own; None: there is no rate, or the next is far off."""
        leased = self._leased.get(provider)
        if leased is None:
            return None
        leased.waiting += 1
        try:
            async with leased.turn:
                start = self._next(leased) or await self._lease(provider, leased)
        finally:
            leased.waiting -= 1
        if start is None:
            return None
        wait = start.here - self._clock.monotonic()
        if wait > 0:
            await self._clock.sleep(wait)
        return start.at

    def _next(self, leased: _Leased) -> Start | None:
        oldest = self._clock.monotonic() - BLOCK.total_seconds()
        while leased.starts:
            start = leased.starts.popleft()
            if start.here > oldest:
                return start
        return None

    async def _lease(self, provider: str, leased: _Leased) -> Start | None:
        wanted = leased.waiting
        block = await self._operations.run(
            lambda tx, now: lease_block(tx, now, provider=provider, wanted=wanted),
            locks=locks_of(provider),
        )
        if block is None:
            self._leased.pop(provider, None)
            return None
        # The answer came later than the database's instant, so no start is used too early.
        here = self._clock.monotonic()
        leased.starts.extend(
            Start(here + (at - block.now).total_seconds(), at) for at in block.starts
        )
        return self._next(leased)
