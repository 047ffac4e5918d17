"""An event loop whose time, order and failures are decided by a tape.

Time jumps from timer to timer; nothing ready and no timer is a deadlock and raises. A context variable
names the simulated host that a handle belongs to: a crashed host's handles are put aside and never run,
a frozen host's wait for the thaw, and each host's wall clock may be off. It rests on private parts of
asyncio (`_ready`, `_scheduled`, `_run_once`), the same in Python 3.11 to 3.13. Threads, sockets and real
waiting cannot be simulated and raise.
"""

import asyncio
import gc
import heapq
import itertools
from collections.abc import Callable, Coroutine
from contextvars import Context, ContextVar, copy_context
from datetime import UTC, datetime, timedelta
from typing import Any, NoReturn

from cadenza.core.clock import SystemClock
from tests.simulation.tape import Tape

START = datetime(2026, 3, 2, 9, 50, tzinfo=UTC)  # a Monday, ten minutes before the hour
_HOST: ContextVar["Host | None"] = ContextVar("host", default=None)


class Deadlock(Exception):
    """Nothing can ever happen again, and somebody still waits."""


class Escaped(Exception):
    """Something reached for the real world."""


class Host:
    """One incarnation of a simulated process."""

    def __init__(self, name: str, *, skew: float = 0.0) -> None:
        self.name = name
        self.skew = skew
        self.alive = True
        self.frozen = False
        self.waiting: list[Call] = []  # until the thaw
        self.buried: list[Call] = []  # referenced, so that no `finally` of theirs runs


class _Task(asyncio.Task[Any]):
    """Hashes by a counter: sets of tasks then have the same order in every process."""

    _order = itertools.count()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._number = next(_Task._order)
        super().__init__(*args, **kwargs)

    def __hash__(self) -> int:
        return self._number


class Call:
    """A call that waits its turn: what asyncio's own handle does, without its checks, at a third of the cost."""

    __slots__ = ("args", "callback", "canceled", "context", "instant")

    def __init__(
        self, callback: Callable[..., Any], args: tuple[Any, ...], context: Any, instant: float
    ) -> None:
        self.callback = callback
        self.args = args
        self.context: Context = copy_context() if context is None else context
        self.canceled = False
        self.instant = instant

    def cancel(self) -> None:
        self.canceled = True

    def cancelled(self) -> bool:
        return self.canceled

    def when(self) -> float:
        return self.instant


class SimulatedLoop(asyncio.BaseEventLoop):
    """The world's only thread."""

    _ready: Any
    _scheduled: list[Any]

    def __init__(self, tape: Tape, *, shuffle: float) -> None:
        super().__init__()
        self.tape = tape
        self.shuffle = shuffle  # per cent of choices that are not the first in the queue
        self.turns = 0
        self.hosts: list[Host] = []
        self.tasks: list[asyncio.Task[Any]] = []
        self._elapsed = 0.0
        self._timers = itertools.count()  # those of one instant come in the order they were set
        _Task._order = itertools.count()
        self.set_task_factory(self._make_task)
        self.set_exception_handler(lambda _loop, _context: None)

    def _make_task(self, loop: Any, coro: Any, **kwargs: Any) -> asyncio.Task[Any]:
        task = _Task(coro, loop=loop, **kwargs)
        self.tasks.append(task)
        return task

    def time(self) -> float:
        return self._elapsed

    def _run_once(self) -> None:
        ready, timers = self._ready, self._scheduled
        while timers:
            instant, _, timer = timers[0]
            if timer.canceled:
                heapq.heappop(timers)
            elif instant <= self._elapsed:
                ready.append(heapq.heappop(timers)[2])
            elif ready:
                break
            else:
                self._elapsed = instant
        if not ready:
            if self._stopping:  # pyright: ignore[reportAttributeAccessIssue]
                return
            raise Deadlock(f"nothing is ready and no timer runs at {self._elapsed:.3f} s")
        call: Call = self._choose(ready)
        if call.canceled:
            return
        host = call.context.get(_HOST)
        if host is not None and not host.alive:
            host.buried.append(call)
        elif host is not None and host.frozen:
            host.waiting.append(call)
        else:
            self.turns += 1
            try:
                call.context.run(call.callback, *call.args)
            except (SystemExit, KeyboardInterrupt):
                raise
            except BaseException as error:  # noqa: BLE001 - as a handle of asyncio's does
                self.call_exception_handler({"message": "a call failed", "exception": error})

    def call_at(
        self, when: float, callback: Callable[..., Any], *args: Any, context: Any = None
    ) -> Any:
        """Set a timer, in a heap that compares plain numbers."""
        timer = Call(callback, args, context, when)
        heapq.heappush(self._scheduled, (when, next(self._timers), timer))
        return timer

    def call_later(
        self, delay: float, callback: Callable[..., Any], *args: Any, context: Any = None
    ) -> Any:
        """Set a timer, from now on."""
        when = self._elapsed + delay
        timer = Call(callback, args, context, when)
        heapq.heappush(self._scheduled, (when, next(self._timers), timer))
        return timer

    async def pause(self, seconds: float) -> None:
        """Let time pass, as `asyncio.sleep` does."""
        woken = self.create_future()
        when = self._elapsed + seconds
        timer = Call(_wake, (woken,), None, when)
        heapq.heappush(self._scheduled, (when, next(self._timers), timer))
        try:
            await woken
        finally:
            timer.canceled = True

    def call_soon(self, callback: Callable[..., Any], *args: Any, context: Any = None) -> Any:
        """Queue a call."""
        call = Call(callback, args, context, self._elapsed)
        self._ready.append(call)
        return call

    def _choose(self, ready: Any) -> Any:
        if len(ready) > 1 and self.shuffle and self.tape.happens(self.shuffle):
            at = self.tape.below(len(ready))
            call = ready[at]
            del ready[at]
            return call
        return ready.popleft()

    # Hosts

    def boot(self, host: Host, main: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Start a process on a host."""
        self.hosts.append(host)
        context = copy_context()
        context.run(_HOST.set, host)
        return self.create_task(main, context=context)

    def crash(self, host: Host) -> None:
        """Cut the power: nothing of the host ever runs again."""
        host.alive = False

    def freeze(self, host: Host, seconds: float) -> None:
        """Stop the process; it goes on later as if nothing had been."""
        if host.frozen:
            return
        host.frozen = True
        context = copy_context()
        context.run(_HOST.set, None)
        self.call_later(seconds, self._thaw, host, context=context)

    def _thaw(self, host: Host) -> None:
        host.frozen = False
        self._ready.extend(host.waiting)
        host.waiting.clear()

    def dispose(self) -> None:
        """End every task, the dead ones too, so that nothing is left to the garbage collector."""
        self.shuffle = 0.0
        for host in self.hosts:
            host.alive, host.frozen = True, False
            self._ready.extend([*host.buried, *host.waiting])
            host.buried, host.waiting = [], []
        for _ in range(40):
            left = [task for task in self.tasks if not task.done()]
            if not left:
                break
            for task in left:
                task.cancel()
            self.run_until_complete(self._breathe())
        assert all(task.done() for task in self.tasks), "a task cannot be ended"
        self.tasks.clear()
        self.close()

    async def _breathe(self) -> None:
        for _ in range(5):
            await asyncio.sleep(0)

    # Nothing of the real world

    def _process_events(self, event_list: Any) -> None: ...

    def _write_to_self(self) -> None: ...

    def call_soon_threadsafe(
        self, callback: Callable[..., Any], *args: Any, context: Any = None
    ) -> Any:
        return self.call_soon(callback, *args, context=context)

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> NoReturn:
        raise Escaped(f"a thread was asked for, to run {func}")

    async def getaddrinfo(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise Escaped("a name was to be looked up")

    async def create_connection(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise Escaped("a connection was to be made")


class HostClock(SystemClock):
    """A host's clock: wall time with its skew, spans by the loop."""

    def __init__(self, loop: SimulatedLoop, skew: float = 0.0) -> None:
        self._loop = loop
        self.skew = skew

    def now(self) -> datetime:
        return START + timedelta(seconds=self._loop.time() + self.skew)

    def monotonic(self) -> float:
        return self._loop.time()

    async def wait(self, event: asyncio.Event, seconds: float | None) -> bool:
        """Wait as the system's clock does, without a task's time-out around it: it costs a third."""
        if event.is_set() or (seconds is not None and seconds <= 0):
            return event.is_set()
        if seconds is None:
            return await event.wait()
        woken = self._loop.create_future()
        event._waiters.append(woken)
        timer = self._loop.call_later(seconds, _wake, woken)
        try:
            await woken
        finally:
            timer.cancel()
            event._waiters.remove(woken)
        return event.is_set()


class SlowClock(HostClock):
    """A host's clock for whoever looks again and again: not every tenth of a second, which costs much."""

    async def sleep(self, seconds: float) -> None:
        await super().sleep(max(seconds, 2.0))


def _wake(waiting: "asyncio.Future[bool]") -> None:
    if not waiting.done():
        waiting.set_result(False)


def current_host() -> Host:
    """Return the host that this runs on."""
    host = _HOST.get()
    assert host is not None, "this runs on no host"
    return host


def run(loop: SimulatedLoop, main: Coroutine[Any, Any, Any]) -> None:
    """Run a world to its end; the garbage collector waits meanwhile."""
    gc.disable()
    try:
        loop.run_until_complete(main)
    finally:
        try:
            loop.dispose()
        finally:
            gc.enable()
