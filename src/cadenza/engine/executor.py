"""One run of one job: from a claimed row to one settlement.

`run` finds the task, reads the payload, calls the handler and turns whatever comes back (a value, a
signal, an error) into a `Settlement`. It never writes: the settler does, in batches. The hot path is
straight-line on purpose; a no-op job costs a few microseconds here.
"""

import asyncio
import inspect
import logging
import traceback
from collections.abc import Mapping
from datetime import timedelta

import msgspec

from cadenza.core.clock import Clock
from cadenza.core.ids import Random
from cadenza.engine.encode import to_json
from cadenza.engine.errors import InvalidJob
from cadenza.engine.hooks import Hooks, tell
from cadenza.engine.job import Claimed, Scope
from cadenza.engine.notes import error_note
from cadenza.engine.options import Options
from cadenza.engine.outcomes import (
    Cancel,
    Park,
    RateLimited,
    Retry,
    Settlement,
    Signal,
    Snooze,
    Stopped,
    Verdict,
)
from cadenza.engine.running import LostLease, Report, Running
from cadenza.engine.slots import NEVER, Slot
from cadenza.engine.task import Task
from cadenza.engine.threads import Threads

log = logging.getLogger("cadenza.engine")

STRANGER = timedelta(
    minutes=1
)  # until a job of a task that this worker does not know is looked at again
TRACE_LINES = 12
_NOT_ITS_FAULT = (Stopped.STOPPING, Stopped.LOST, Stopped.CANCELED)


class Executor:
    """Runs jobs of declared tasks."""

    def __init__(
        self,
        tasks: Mapping[str, Task],
        *,
        clock: Clock,
        rng: Random,
        hooks: Hooks,
        report: Report,
        threads: Threads,
        keep_done: bool = True,
    ) -> None:
        self._tasks = tasks
        self._clock = clock
        self._rng = rng
        self._hooks = hooks
        self._report = report
        self._threads = threads
        self._keep_done = keep_done

    async def run(self, claimed: Claimed, slot: Slot) -> Settlement:
        """Run one job; whatever happens, say what became of it."""
        task = self._tasks.get(claimed.task)
        if task is None:
            return self._stranger(claimed)
        try:
            options = self._options(claimed, task)
            arguments = task.signature.arguments(claimed.payload)
        except (msgspec.MsgspecError, ValueError) as error:
            return self._fail(claimed, error, "its payload no longer fits the task's signature")
        if options.time_limit is not None:
            slot.limit_to(options.time_limit.total_seconds())
        if task.signature.wants_job is not None:
            slot.running = Running(claimed, self._report)
            arguments[task.signature.wants_job] = slot.running
        hooks = self._hooks
        error: BaseException | None = None
        try:
            if hooks.around is not None:
                output = await hooks.around(claimed, lambda: self._call(task, arguments))
            elif task.is_async:
                output = await task.handler(**arguments)
            else:
                output = await self._call(task, arguments)
        except asyncio.CancelledError:
            reason = slot.cut_short()
            error = _error_of(reason)
            settlement = self.stopped(claimed, reason)
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as raised:  # noqa: BLE001 - a handler may raise anything; it becomes an outcome
            error = raised
            settlement = self._judge_stopped(claimed, task, raised, slot.reason)
        else:
            keep = self._keep_done if options.keep is None else options.keep
            settlement = Settlement(claimed.id, claimed.lease, keep=keep)
            if output is not None and keep:
                self._attach(settlement, claimed, output)
        slot.deadline = NEVER  # what follows is no part of the run
        if hooks.on_job is not None or hooks.on_error is not None:
            await self._tell(claimed, settlement, error, slot)
        return settlement

    async def _tell(
        self, claimed: Claimed, settlement: Settlement, error: BaseException | None, slot: Slot
    ) -> None:
        """Tell the hooks; a stop that comes meanwhile no longer changes the outcome."""
        try:
            if error is not None and settlement.verdict in (Verdict.RETRY, Verdict.FAILED):
                await tell(self._hooks.on_error, error, claimed)
            await tell(self._hooks.on_job, claimed, settlement)
        except asyncio.CancelledError:
            slot.cut_short()

    def stopped(self, claimed: Claimed, reason: Stopped) -> Settlement:
        """Say what becomes of a run that was cut short."""
        match reason:
            case Stopped.TIME_LIMIT | Stopped.WITHIN:
                return self._judge(claimed, self._tasks[claimed.task], _error_of(reason))
            case Stopped.CANCELED:
                note = error_note("Canceled", "canceled while it ran", self._clock.now())
                return Settlement(claimed.id, claimed.lease, Verdict.CANCELED, error=note)
            case Stopped.LOST | Stopped.STOPPING:
                return Settlement(claimed.id, claimed.lease, Verdict.RELEASED)

    async def _call(self, task: Task, arguments: dict[str, object]) -> object:
        if task.is_async:
            return await task.handler(**arguments)
        output = await self._threads.call(task.handler, arguments)
        return await output if inspect.isawaitable(output) else output  # a plain wrapper's

    def _judge_stopped(
        self, claimed: Claimed, task: Task, error: BaseException, reason: Stopped | None
    ) -> Settlement:
        """Judge an error; one that our own stop brought about is not held against the job."""
        if reason is not None and reason in _NOT_ITS_FAULT and not isinstance(error, Signal):
            return self.stopped(claimed, reason)
        return self._judge(claimed, task, error)

    def _judge(self, claimed: Claimed, task: Task, error: BaseException) -> Settlement:
        """Turn what a handler raised into an outcome."""
        id_, lease = claimed.id, claimed.lease
        match error:
            case Snooze():
                return Settlement(id_, lease, Verdict.SNOOZE, delay=error.wait)
            case Cancel():
                note = error_note("Canceled", error.reason, self._clock.now())
                return Settlement(id_, lease, Verdict.CANCELED, error=note)
            case RateLimited():
                scope = error.scope or Scope(claimed.queue, claimed.lane)
                return Settlement(
                    id_, lease, Verdict.SNOOZE, delay=error.wait, park=Park(scope, error.wait)
                )
            case LostLease():
                return Settlement(id_, lease, Verdict.RELEASED)
            case Retry():
                return self._retry_as_told(claimed, task, error)
            case _:
                return self._retry_or_fail(claimed, task, error)

    def _retry_as_told(self, claimed: Claimed, task: Task, error: Retry) -> Settlement:
        if claimed.attempts >= self._options(claimed, task).retry.limit:
            return self._fail(claimed, error, _words(error))
        at, delay = (None, error.at) if isinstance(error.at, timedelta) else (error.at, None)
        note = self._note(claimed, error, _words(error))
        return Settlement(claimed.id, claimed.lease, Verdict.RETRY, at=at, delay=delay, error=note)

    def _retry_or_fail(self, claimed: Claimed, task: Task, error: BaseException) -> Settlement:
        policy = self._options(claimed, task).retry
        attempt = claimed.attempts + 1
        wait = policy.wait_after(error, attempt=attempt, fraction=self._rng.fraction())
        log.warning(
            "job failed%s",
            "" if wait is None else ", will be tried again",
            extra={
                "job": claimed.id,
                "task": claimed.task,
                "attempt": attempt,
                "error": f"{type(error).__name__}: {_words(error)}",
            },
        )
        if wait is None:
            return self._fail(claimed, error, _words(error))
        note = self._note(claimed, error, _words(error))
        return Settlement(claimed.id, claimed.lease, Verdict.RETRY, delay=wait, error=note)

    def _options(self, claimed: Claimed, task: Task) -> Options:
        return task.options if claimed.options is None else task.options.apply(claimed.options)

    def _fail(self, claimed: Claimed, error: BaseException, message: str) -> Settlement:
        note = self._note(claimed, error, message)
        return Settlement(claimed.id, claimed.lease, Verdict.FAILED, error=note)

    def _note(self, claimed: Claimed, error: BaseException, message: str) -> str:
        frames = traceback.extract_tb(error.__traceback__)[-TRACE_LINES:]
        trace = "".join(traceback.format_list(frames))
        now = self._clock.now()
        return error_note(
            type(error).__name__, message, now, attempt=claimed.attempts + 1, trace=trace
        )

    def _stranger(self, claimed: Claimed) -> Settlement:
        """Leave a job of an unknown task to a worker that knows it; it costs no attempt."""
        log.warning("no such task here", extra={"job": claimed.id, "task": claimed.task})
        return Settlement(claimed.id, claimed.lease, Verdict.SNOOZE, delay=STRANGER)

    def _attach(self, settlement: Settlement, claimed: Claimed, output: object) -> None:
        """Keep the output; one that is not JSON is left out, said, and does not undo the work."""
        try:
            settlement.output = to_json(output, what=f"the output of job {claimed.id}")
        except InvalidJob as error:
            settlement.error = error_note("OutputLost", str(error), self._clock.now())


def _error_of(reason: Stopped) -> Exception:
    """Word a run that was cut short as an error."""
    if reason is Stopped.TIME_LIMIT:
        return TimeoutError("over its time limit")
    return RuntimeError("the handler was canceled by something of its own")


def _words(error: BaseException) -> str:
    """Say what an error says, whatever its author made of `__str__`."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - somebody else's code, and only words
        return "an error that cannot say what it is"
