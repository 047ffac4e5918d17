"""The few JSON texts that stores write by themselves, worded once for all of them."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from cadenza.engine.job import Enqueued


def crash_note(crashes: int, now: datetime) -> str:
    """Word the error of a job whose process kept dying."""
    message = (
        f"its worker process died {crashes} times while this job ran; it will not be tried again"
    )
    return error_note("Crashed", message, now)


def cancel_note(reason: str, now: datetime) -> str:
    """Word the cancellation of a job by a person or a program."""
    return error_note("Canceled", reason, now)


def error_note(
    kind: str, message: str, now: datetime, *, attempt: int | None = None, trace: str = ""
) -> str:
    """Word an error as it is kept with a job; what no store could keep is replaced."""
    clean = message.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
    note: dict[str, object] = {"at": now.isoformat(), "kind": kind, "message": clean}
    if attempt is not None:
        note["attempt"] = attempt
    if trace:
        note["trace"] = trace
    return msgspec.json.encode(note).decode()


def firing_note(note: str | None, answers: Sequence[Enqueued]) -> str:
    """Word what became of a schedule's occurrence, never silently."""
    words = [f"{answer.outcome} job {answer.id}" for answer in answers] or ["nothing to run"]
    return "; ".join([*([note] if note else []), *words])
