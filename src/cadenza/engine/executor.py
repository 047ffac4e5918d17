"""One run of one job: from a claimed row to one settlement.

`run` finds the task, reads the payload, calls the handler and turns whatever comes back (a value, a
signal, an error) into a `Settlement`. It never writes: the settler does, in batches. The hot path is
straight-line on purpose; a no-op job costs a few microseconds here.
"""

import logging
import traceback
from collections.abc import Mapping
from datetime import timedelta

import msgspec

from cadenza.core.clock import Clock
from cadenza.core.ids import Chance
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
    Snooze,
    Stopped,
    Verdict,
)
from cadenza.engine.payload import to_json
from cadenza.engine.running import LostLease, Report, Running
from cadenza.engine.slots import Slot
from cadenza.engine.task import Task
from cadenza.engine.threads import Threads

log = logging.getLogger("cadenza.engine")

STRANGER = timedelta(
    minutes=1
)  # until a job of a task that this worker does not know is looked at again
TRACE_LINES = 12


class Executor:
    """Runs jobs of declared tasks."""

    def __init__(
        self,
        tasks: Mapping[str, Task],
        *,
        clock: Clock,
        chance: Chance,
        hooks: Hooks,
        report: Report,
        threads: Threads,
        keep_done: bool = True,
    ) -> None:
        self._tasks = tasks
        self._clock = clock
        self._chance = chance
        self._hooks = hooks
        self._report = report
        self._threads = threads
        self._keep_done = keep_done

    async def run(self, claimed: Claimed, slot: Slot) -> Settlement:
        """Run one job; whatever happens, say what became of it."""
        task = self._tasks.get(claimed.task)
        if task is None:
            return self._stranger(claimed)
        options = self._options(claimed, task)
        if options.time_limit is not None:
            slot.limit_to(options.time_limit.total_seconds())
        try:
            arguments = task.signature.arguments(claimed.payload)
        except (msgspec.ValidationError, msgspec.DecodeError) as error:
            return self._fail(claimed, error, "its payload no longer fits the task's signature")
        if task.signature.wants_job is not None:
            slot.running = Running(claimed, self._report)
            arguments[task.signature.wants_job] = slot.running
        hooks = self._hooks
        try:
            if hooks.around is not None:
                output = await hooks.around(claimed, lambda: self._call(task, arguments))
            elif task.is_async:
                output = await task.handler(**arguments)
            else:
                output = await self._threads.call(task.handler, arguments)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a handler may raise anything; it becomes an outcome
            settlement = self._judge(claimed, task, error)
            if settlement.verdict in (Verdict.RETRY, Verdict.FAILED):
                await tell(hooks.on_error, error, claimed)
        else:
            keep = self._keep_done if options.keep is None else options.keep
            settlement = Settlement(claimed.id, claimed.lease, keep=keep)
            if output is not None and keep:
                self._attach(settlement, claimed, output)
        if hooks.on_job is not None:
            await tell(hooks.on_job, claimed, settlement)
        return settlement

    def stopped(self, claimed: Claimed, reason: Stopped) -> Settlement:
        """Say what becomes of a run that was cut short."""
        match reason:
            case Stopped.TIME_LIMIT:
                return self._judge(
                    claimed, self._tasks[claimed.task], TimeoutError("over its time limit")
                )
            case Stopped.WITHIN:
                error = RuntimeError("the handler was canceled by something of its own")
                return self._judge(claimed, self._tasks[claimed.task], error)
            case Stopped.CANCELED:
                note = error_note("Canceled", "canceled while it ran", self._clock.now())
                return Settlement(claimed.id, claimed.lease, Verdict.CANCELED, error=note)
            case Stopped.LOST | Stopped.STOPPING:
                return Settlement(claimed.id, claimed.lease, Verdict.RELEASED)

    async def _call(self, task: Task, arguments: dict[str, object]) -> object:
        if task.is_async:
            return await task.handler(**arguments)
        return await self._threads.call(task.handler, arguments)

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
            return self._fail(claimed, error, str(error))
        at, delay = (None, error.at) if isinstance(error.at, timedelta) else (error.at, None)
        note = self._note(claimed, error, str(error))
        return Settlement(claimed.id, claimed.lease, Verdict.RETRY, at=at, delay=delay, error=note)

    def _retry_or_fail(self, claimed: Claimed, task: Task, error: BaseException) -> Settlement:
        policy = self._options(claimed, task).retry
        attempt = claimed.attempts + 1
        wait = policy.wait_after(error, attempt=attempt, fraction=self._chance.fraction())
        log.warning(
            "job failed%s",
            "" if wait is None else ", will be tried again",
            extra={
                "job": claimed.id,
                "task": claimed.task,
                "attempt": attempt,
                "error": repr(error),
            },
        )
        if wait is None:
            return self._fail(claimed, error, str(error))
        note = self._note(claimed, error, str(error))
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
        clean = message.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
        return error_note(
            type(error).__name__, clean, now, attempt=claimed.attempts + 1, trace=trace
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
