"""SIGTERM and Ctrl-C: the first asks for a graceful stop, the second waits for nothing.

A stopping process has to show that its event loop still turns. If the loop is blocked for as long as the
grace, an alarm ends the process and the log says where it was. So no request can keep a process from
stopping. Limit: the alarm waits for Python code; what hangs inside a C call is left to the supervisor's kill.
"""

import asyncio
import contextlib
import logging
import os
import signal
import traceback
from types import FrameType

log = logging.getLogger("cadenza.cli")
HURRIED = 5.0  # seconds that a blocked loop gets after the second signal


def listen_for_signals(grace: float) -> tuple[asyncio.Event, asyncio.Event]:
    """Return what the first signal sets, and what the second does."""
    stop, hurry = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    told = 0

    # A plain handler, not one of the loop's own: it must run even while the loop does not turn.
    def on_signal(number: int, frame: FrameType | None) -> None:
        nonlocal told
        told += 1
        limit = grace if told == 1 else min(grace, HURRIED)
        _set_alarm(limit)
        with contextlib.suppress(RuntimeError):  # the loop is closed: it has stopped already
            loop.call_soon_threadsafe((stop if told == 1 else hurry).set)
            loop.call_soon_threadsafe(_show_life, loop, limit)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)
    return stop, hurry


def _show_life(loop: asyncio.AbstractEventLoop, limit: float) -> None:
    """Put the alarm off, again and again, for as long as the loop turns."""
    _set_alarm(limit)
    loop.call_later(min(1.0, limit / 4), _show_life, loop, limit)


def _set_alarm(seconds: float) -> None:
    def end(number: int, frame: FrameType | None) -> None:
        stack = traceback.extract_stack(frame)[-5:]
        where = [f"{each.filename}:{each.lineno} {each.name}" for each in stack]
        message = (
            "stopping failed: the event loop was blocked for the whole grace; the process ends now"
        )
        try:
            log.critical(message, extra={"grace": seconds, "where": where})
        finally:
            os._exit(1)

    signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
