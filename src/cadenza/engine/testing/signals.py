"""Test signals: wait for what happened instead of sleeping and hoping.

A `Signal` costs nothing until somebody listens; from then on it keeps every value in order until
it is waited for. `listen(engine)` hangs one on each hook of an engine, before the hooks that are there.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from cadenza.engine.client import Engine
from cadenza.engine.hooks import tell

Value = TypeVar("Value")

PATIENCE = 10.0  # seconds


class Signal(Generic[Value]):
    """Something that a test can wait for."""

    __slots__ = ("_values", "name")

    def __init__(self, name: str = "signal") -> None:
        self.name = name
        self._values: asyncio.Queue[Value] | None = None

    def listen(self) -> None:
        """Begin to keep what is emitted."""
        self._values = self._values or asyncio.Queue()

    def emit(self, value: Value) -> None:
        """Say that it happened; nothing if nobody listens."""
        if self._values is not None:
            self._values.put_nowait(value)

    async def wait(self, patience: float = PATIENCE) -> Value:
        """Return the oldest value not yet waited for; `TimeoutError` if none comes."""
        self.listen()
        assert self._values is not None
        try:
            async with asyncio.timeout(patience):
                return await self._values.get()
        except TimeoutError as error:
            message = f"{self.name} did not happen within {patience} s"
            raise TimeoutError(message) from error


class Signals:
    """One signal for each hook of an engine; values are the hook's arguments."""

    def __init__(self) -> None:
        self.on_start: Signal[tuple[Any, ...]] = Signal("on_start")
        self.on_stop: Signal[tuple[Any, ...]] = Signal("on_stop")
        self.on_idle: Signal[tuple[Any, ...]] = Signal("on_idle")
        self.on_job: Signal[tuple[Any, ...]] = Signal("on_job")
        self.on_error: Signal[tuple[Any, ...]] = Signal("on_error")


def listen(engine: Engine) -> Signals:
    """Listen to an engine's hooks; those that are set are still called."""
    signals = Signals()
    for name in ("on_start", "on_stop", "on_idle", "on_job", "on_error"):
        signal: Signal[tuple[Any, ...]] = getattr(signals, name)
        signal.listen()
        setattr(engine.hooks, name, _both(signal, getattr(engine.hooks, name)))
    return signals


def _both(signal: Signal[tuple[Any, ...]], hook: Callable[..., Any] | None) -> Callable[..., Any]:
    async def call(*args: object) -> None:
        signal.emit(args)
        await tell(hook, *args)

    return call
