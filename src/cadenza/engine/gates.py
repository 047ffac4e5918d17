"""How many may start: the arithmetic of a scope's limits, one for all stores.

A store reads a `Gate` under its lock, asks `room` how many may start, and writes the gate that
`admit` returns. A rate is a virtual schedule (GCRA): `next_start` is when the next evenly spaced
start is due, and a burst may run ahead of it. Nothing is leased only to be refused.
"""

from dataclasses import replace
from datetime import datetime

from cadenza.engine.job import Gate


def is_closed(gate: Gate, now: datetime) -> bool:
    """Say whether nothing of the scope may start, whatever its limits."""
    return gate.paused or (gate.parked_until is not None and gate.parked_until > now)


def room(gate: Gate, now: datetime, wanted: int) -> int:
    """Return how many of `wanted` may start now."""
    if is_closed(gate, now):
        return 0
    allowed = wanted
    if gate.limit.concurrency is not None:
        allowed = min(allowed, gate.limit.concurrency - gate.in_flight)
    rate = gate.limit.rate
    if rate is not None and gate.next_start is not None:
        ahead = (now - gate.next_start) // rate.interval + rate.burst
        allowed = min(allowed, ahead, rate.burst)
    elif rate is not None:
        allowed = min(allowed, rate.burst)
    return max(allowed, 0)


def admit(gate: Gate, now: datetime, count: int) -> Gate:
    """Return the gate after `count` starts at `now`."""
    rate = gate.limit.rate
    next_start = gate.next_start
    if rate is not None and count > 0:
        next_start = max(next_start or now, now) + rate.interval * count
    return replace(gate, in_flight=gate.in_flight + count, next_start=next_start)


def opens_at(gate: Gate, now: datetime) -> datetime | None:
    """Return when at least one may start; None while only a person or a finished job can open it."""
    if gate.paused:
        return None
    if gate.limit.concurrency is not None and gate.in_flight >= gate.limit.concurrency:
        return None
    at = now
    if gate.parked_until is not None:
        at = max(at, gate.parked_until)
    rate = gate.limit.rate
    if rate is not None and gate.next_start is not None:
        at = max(at, gate.next_start - rate.interval * (rate.burst - 1))
    return at
