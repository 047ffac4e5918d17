"""The embeddable job engine: leases, retries, schedules and limits on any store.

    engine = Engine("sqlite:///jobs.sqlite3")

    @engine.task(retry=5)
    async def greet(name: str) -> None: ...

    async with engine:
        await greet.enqueue(name="Ada")
        await engine.worker().run()

It knows nothing of posts or accounts, and imports only `core` and `sql`.
"""

from typing import TYPE_CHECKING

from cadenza.core.lazy import names_from

if TYPE_CHECKING:
    from cadenza.engine.client import Engine
    from cadenza.engine.errors import EngineError, InvalidJob, StoreUnavailable
    from cadenza.engine.hooks import Hooks
    from cadenza.engine.job import (
        Debounce,
        Limit,
        Pace,
        Rate,
        Scope,
        State,
        Throttle,
        Unique,
        While,
    )
    from cadenza.engine.outcomes import Cancel, RateLimited, Retry, Snooze
    from cadenza.engine.retry import RetryPolicy
    from cadenza.engine.running import Running
    from cadenza.engine.worker import Worker

__getattr__ = names_from(
    __name__,
    {
        "Engine": "client",
        "EngineError": "errors",
        "InvalidJob": "errors",
        "StoreUnavailable": "errors",
        "Hooks": "hooks",
        "Debounce": "job",
        "Limit": "job",
        "Pace": "job",
        "Rate": "job",
        "Scope": "job",
        "State": "job",
        "Throttle": "job",
        "Unique": "job",
        "While": "job",
        "Cancel": "outcomes",
        "RateLimited": "outcomes",
        "Retry": "outcomes",
        "Snooze": "outcomes",
        "RetryPolicy": "retry",
        "Running": "running",
        "Worker": "worker",
    },
)

__all__ = [
    "Cancel",
    "Debounce",
    "Engine",
    "EngineError",
    "Hooks",
    "InvalidJob",
    "Limit",
    "Pace",
    "Rate",
    "RateLimited",
    "Retry",
    "RetryPolicy",
    "Running",
    "Scope",
    "Snooze",
    "State",
    "StoreUnavailable",
    "Throttle",
    "Unique",
    "While",
    "Worker",
]
