"""The port to threads: sync handlers run here, so that they never block the event loop.

A handler runs in the context of its job (log context, current span). A thread cannot be stopped from
outside: a handler over its time limit is given up and its thread left to finish by itself. Such a
thread takes nobody's place, because a call that finds none idle starts one; and being a daemon it
does not keep the process alive.
"""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Mapping
from contextvars import copy_context
from queue import SimpleQueue
from typing import Any

Inbox = SimpleQueue[Callable[[], None] | None]


class Threads:
    """Threads that wait for work; all of this is touched by the event loop's thread alone."""

    def __init__(self, most: int) -> None:
        self._most = most  # so many are kept idle
        self._idle: list[Inbox] = []
        self._closed = False

    async def call(self, handler: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
        """Run a sync handler in a thread and wait for it."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        inbox = self._idle.pop() if self._idle else _start_thread()
        context = copy_context()

        def run() -> None:
            answer: Any = None
            raised: BaseException | None = None
            try:
                answer = context.run(handler, **arguments)
            except BaseException as error:  # noqa: BLE001 - it is raised again where it is awaited
                raised = error
            with contextlib.suppress(RuntimeError):  # the loop has gone: nobody waits any more
                loop.call_soon_threadsafe(self._finish, inbox, future, answer, raised)

        self._closed = False
        inbox.put(run)
        return await future

    def close(self) -> None:
        """Let idle threads end; those that still run are not waited for."""
        self._closed = True
        while self._idle:
            self._idle.pop().put(None)

    def _finish(
        self, inbox: Inbox, future: asyncio.Future[Any], answer: Any, raised: BaseException | None
    ) -> None:
        if self._closed or len(self._idle) >= self._most:
            inbox.put(None)
        else:
            self._idle.append(inbox)
        if future.done():  # given up
            return
        if isinstance(raised, StopIteration):  # a future cannot carry it
            raised, cause = RuntimeError("the handler raised StopIteration"), raised
            raised.__cause__ = cause
        if raised is None:
            future.set_result(answer)
        else:
            future.set_exception(raised)


def _start_thread() -> Inbox:
    inbox: Inbox = SimpleQueue()
    thread = threading.Thread  # noqa: TID251 - this file is the port
    thread(target=_serve, args=(inbox,), name="cadenza-job", daemon=True).start()
    return inbox


def _serve(inbox: Inbox) -> None:
    while (work := inbox.get()) is not None:
        work()
        del work  # a finished job's arguments must not live on until the next one
