"""When a failed run is tried again, and how long after.

`limit` is the number of *re*-tries: a job is called at most `limit + 1` times. Delays grow by
`factor` from `delay` up to `cap`; `jitter` takes a random share off. A policy may differ per exception.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Self

from cadenza.core.backoff import Backoff
from cadenza.core.backoff import delay as wait_of


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how patiently to try again."""

    limit: int = 3
    delay: timedelta = timedelta(seconds=5)
    factor: float = 2.0
    cap: timedelta = timedelta(hours=1)
    jitter: float = 0.25
    """Up to this share of a delay is taken off at random, so that many do not return at once."""
    never: tuple[type[Exception], ...] = ()
    """Exceptions that make another try pointless: straight to the dead letter."""
    per_error: Mapping[type[Exception], "RetryPolicy"] = field(
        default_factory=dict[type[Exception], "RetryPolicy"]
    )
    """Other policies for some exceptions; the first that fits."""

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        if self.limit < 0:
            message = f"a retry limit counts the tries after the first, it cannot be {self.limit}"
            raise ValueError(message)
        Backoff(base=self.delay, factor=self.factor, cap=self.cap, jitter=self.jitter)

    def wait_after(
        self, error: BaseException, *, attempt: int, fraction: float
    ) -> timedelta | None:
        """Return how long to wait after call number `attempt` failed; None: do not try again."""
        if isinstance(error, self.never):
            return None
        for kind, policy in self.per_error.items():
            if isinstance(error, kind):
                return policy.wait_after(error, attempt=attempt, fraction=fraction)
        if attempt > self.limit:
            return None
        steps = Backoff(base=self.delay, factor=self.factor, cap=self.cap, jitter=self.jitter)
        return wait_of(steps, attempt, fraction=fraction)

    def as_json(self) -> dict[str, float]:
        """Return the numbers of the policy; classes of exceptions stay in the code."""
        return {
            "limit": self.limit,
            "delay": self.delay.total_seconds(),
            "factor": self.factor,
            "cap": self.cap.total_seconds(),
            "jitter": self.jitter,
        }

    def from_json(self, said: Mapping[str, Any]) -> Self:
        """Return this policy with the numbers that a job carries."""
        return type(self)(
            limit=int(said["limit"]),
            delay=timedelta(seconds=said["delay"]),
            factor=said["factor"],
            cap=timedelta(seconds=said["cap"]),
            jitter=said["jitter"],
            never=self.never,
            per_error=self.per_error,
        )
