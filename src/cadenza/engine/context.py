"""Runs a coroutine in a context of its own, without a task of its own.

Slots live on from job to job, so what a handler sets in context variables (a tenant, a log context)
would be there for the next job. Each step is therefore taken in a copy of the slot's context; that
costs a fraction of a microsecond where a task would cost several.
"""

from collections.abc import Callable, Coroutine, Generator
from types import coroutine
from typing import Any, TypeVar

T = TypeVar("T")


@coroutine
def go_on(
    steps: Coroutine[Any, Any, T], run: Callable[..., Any], waits_for: Any
) -> Generator[Any, Any, T]:
    """Await the rest of `steps`, whose first one came to wait, each by `run` of their context."""
    try:
        while True:
            try:
                answer = yield waits_for
            except BaseException as error:  # noqa: BLE001 - a cancel, or whatever the loop throws in
                waits_for = run(steps.throw, error)
            else:
                waits_for = run(steps.send, answer)
    except StopIteration as end:
        return end.value
