"""Where an application listens in: plain functions, sync or async, called as things happen.

A hook that raises is logged and forgotten: what watches the work must never stop it. Hooks that
are not set cost nothing.
"""

import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from cadenza.engine.job import Claimed
from cadenza.engine.outcomes import Settlement

log = logging.getLogger("cadenza.engine")

Around = Callable[[Claimed, Callable[[], Awaitable[Any]]], Awaitable[Any]]


@dataclass(slots=True)
class Hooks:
    """What may be listened to."""

    on_start: Callable[[Any], Any] | None = None
    """The worker (its argument) has begun to claim."""
    on_stop: Callable[[Any], Any] | None = None
    """The worker has let go of everything."""
    on_idle: Callable[[Any], Any] | None = None
    """Nothing is left to do; once per idle period."""
    on_job: Callable[[Claimed, Settlement], Any] | None = None
    """A run has come to an outcome (not yet written)."""
    on_error: Callable[[BaseException, Claimed | None], Any] | None = None
    """A handler failed (with its job), or a loop did (without)."""
    carry: Callable[[], Mapping[str, str]] | None = None
    """Words that a job takes along from whoever enqueues it: the address of a trace."""
    around: Around | None = None
    """Wraps every run: `await run()` inside a span, a log context, a session."""


async def tell(hook: Callable[..., Any] | None, *args: object) -> None:
    """Call a hook, if there is one; what it raises is logged."""
    if hook is None:
        return
    try:
        answer = hook(*args)
        if inspect.isawaitable(answer):
            await answer
    except Exception:
        log.exception("a hook failed", extra={"hook": getattr(hook, "__name__", repr(hook))})
