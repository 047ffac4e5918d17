"""How long to wait before trying again.

Delays grow by a factor from a base to a cap: 5, 10, 20 s … 1 h. Luck comes in as a
fraction, so the same fraction gives the same delay; jitter only ever shortens, so the
cap is a cap. It does not decide whether to try again: the caller counts attempts.
"""

import math
from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Backoff:
    """`jitter` is the share of a delay that luck may take away: 0 none, 1 all of it."""

    base: timedelta = timedelta(seconds=5)
    factor: float = 2.0
    cap: timedelta = timedelta(hours=1)
    jitter: float = 0.5

    def __post_init__(self) -> None:
        if self.base < timedelta(0) or self.cap < timedelta(0):
            raise ValueError("A backoff's base and cap cannot be negative.")
        if not (math.isfinite(self.factor) and self.factor >= 1):
            raise ValueError(f"A backoff's factor is {self.factor}; give 1 (steady) or more.")
        if not 0 <= self.jitter <= 1:
            raise ValueError(f"A backoff's jitter is {self.jitter}; give a share from 0 to 1.")


def delay(backoff: Backoff, attempt: int, *, fraction: float = 0.0) -> timedelta:
    """Return the wait after the `attempt`-th failure (from 1), shortened by `fraction`."""
    if attempt < 1:
        raise ValueError(f"Attempts are counted from 1, not {attempt}.")
    if not 0 <= fraction < 1:
        raise ValueError(f"The fraction is {fraction}; it runs from 0 up to, not including, 1.")
    return _full(backoff, attempt - 1) * (1 - backoff.jitter * fraction)


def _full(backoff: Backoff, doublings: int) -> timedelta:
    if backoff.base >= backoff.cap or backoff.base == timedelta(0):
        return min(backoff.base, backoff.cap)
    # Compared as logarithms first: factor ** attempt overflows long before 10,000.
    room = math.log(backoff.cap / backoff.base)
    if doublings * math.log(backoff.factor) >= room:
        return backoff.cap
    return min(backoff.cap, backoff.base * backoff.factor**doublings)
