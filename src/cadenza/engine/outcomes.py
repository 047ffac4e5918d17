"""What a run of a job can come to.

A handler returns a value or raises one of the four signals below; the executor turns that into
one `Settlement`, and the store writes it if the lease still holds. Nothing else decides what
happens to a job.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

import msgspec

from cadenza.engine.job import Scope
from cadenza.engine.options import duration, instant


class Signal(Exception):
    """A handler's decision about its own job."""


class Snooze(Signal):
    """Come back later; no attempt is used up."""

    def __init__(self, wait: timedelta | float) -> None:
        self.wait = duration("the wait of a Snooze", wait)
        super().__init__(f"snoozed for {self.wait}")


class Cancel(Signal):
    """Do not run this job again; it ends canceled, with the reason."""

    def __init__(self, reason: str) -> None:
        self.reason = str(reason)
        super().__init__(self.reason)


class Retry(Signal):
    """Try again, at an instant of the handler's choice; an attempt is used up."""

    def __init__(
        self, at: datetime | timedelta | float, reason: str = "the handler asked for a retry"
    ) -> None:
        what = "the time of a Retry"
        self.at = instant(what, at) if isinstance(at, datetime) else duration(what, at)
        super().__init__(reason)


class RateLimited(Signal):
    """The other side wants a pause: park a scope for `wait`; no attempt is used up.

    Without `scope` it is the job's own lane, or its queue when it has none.
    """

    def __init__(self, wait: timedelta | float, scope: Scope | None = None) -> None:
        self.wait = duration("the wait of a RateLimited", wait)
        self.scope = scope
        super().__init__(f"rate limited for {self.wait}")


class Verdict(StrEnum):
    """What is written of a run."""

    DONE = "done"
    RETRY = "retry"  # waits again, one attempt used up
    SNOOZE = "snooze"  # waits again, none used up
    FAILED = "failed"  # to the dead letter
    CANCELED = "canceled"
    RELEASED = "released"  # goes back untouched: never started, or the worker stops


class Stopped(StrEnum):
    """Why a run was cut short from outside its handler."""

    TIME_LIMIT = "time limit"
    CANCELED = "canceled"
    LOST = "lost lease"
    STOPPING = "worker stops"
    WITHIN = "canceled from within"


@dataclass(frozen=True, slots=True)
class Park:
    """Close a scope for a while."""

    scope: Scope
    wait: timedelta


class Settlement(msgspec.Struct, gc=False):
    """One fenced write: this job, under this lease, came to this."""

    id: int
    lease: int
    verdict: Verdict = Verdict.DONE
    delay: timedelta | None = None  # from the store's now; of RETRY and SNOOZE
    at: datetime | None = None  # instead of delay
    error: str | None = None  # JSON text
    output: str | None = None  # JSON text
    keep: bool = True  # of DONE: False deletes the job at once
    park: Park | None = None
