"""Pauses, snoozes, resumes or stops a sequence for one person.

A pause or a snooze cancels the message that waits and keeps the person's place; going on plans it again, with a new
time and the content of that day.
"""

from datetime import datetime

from cadenza.db import audit
from cadenza.deliveries.reasons import Code, Reason
from cadenza.outreach.enroll import find_enrolled, wake_planner
from cadenza.outreach.model import (
    ContactState,
    Enrolled,
    NoSuchEnrolled,
    NoSuchSequence,
    NotNow,
    StopCause,
)
from cadenza.outreach.stop import cancel_waiting, stop_for
from cadenza.outreach.store import find_sequence
from cadenza.sql.tx import Tx

Changed = Enrolled | NoSuchSequence | NoSuchEnrolled | NotNow
_OPEN = (ContactState.WAITING, ContactState.PLANNED, ContactState.PAUSED, ContactState.SNOOZED)
_ENDED = (ContactState.FINISHED, ContactState.STOPPED)


def pause_contact(
    tx: Tx, now: datetime, *, workspace_id: str, sequence_id: str, contact_id: str, by: str
) -> Changed:
    """Let a person wait until somebody resumes them."""
    there = _find(tx, workspace_id, sequence_id, contact_id)
    if not isinstance(there, Enrolled):
        return there
    if there.state in _ENDED:
        return NotNow(there.state, f"It is {there.state} for this contact.")
    return _hold(tx, now, there, ContactState.PAUSED, now, by)


def snooze_contact(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    sequence_id: str,
    contact_id: str,
    until: datetime,
    by: str,
) -> Changed:
    """Let a person wait until a time; then the sequence goes on by itself."""
    there = _find(tx, workspace_id, sequence_id, contact_id)
    if not isinstance(there, Enrolled):
        return there
    if there.state in _ENDED:
        return NotNow(there.state, f"It is {there.state} for this contact.")
    if until <= now:
        return NotNow(there.state, "Choose a time in the future.")
    return _hold(tx, now, there, ContactState.SNOOZED, until, by)


def resume_contact(
    tx: Tx, now: datetime, *, workspace_id: str, sequence_id: str, contact_id: str, by: str
) -> Changed:
    """Go on with a person who was paused, snoozed or stopped by hand; the next step gets a time."""
    there = _find(tx, workspace_id, sequence_id, contact_id)
    if not isinstance(there, Enrolled):
        return there
    by_hand = there.state is ContactState.STOPPED and there.cause == StopCause.BY_HAND
    if there.state not in (ContactState.PAUSED, ContactState.SNOOZED) and not by_hand:
        return NotNow(there.state, f"It is {there.state} for this contact.")
    _write(tx, there, ContactState.WAITING, None, now)
    wake_planner(tx, now, workspace_id, sequence_id)
    return _record(tx, now, there, by, "sequence.contact_resume")


def stop_contact(
    tx: Tx, now: datetime, *, workspace_id: str, sequence_id: str, contact_id: str, by: str
) -> Changed:
    """Stop the sequence for a person."""
    there = _find(tx, workspace_id, sequence_id, contact_id)
    if not isinstance(there, Enrolled):
        return there
    if there.state in _OPEN:
        stop_for(tx, now, workspace_id, contact_id, StopCause.BY_HAND, sequence_id=sequence_id)
    return _record(tx, now, there, by, "sequence.contact_stop")


def _hold(
    tx: Tx, now: datetime, there: Enrolled, state: ContactState, until: datetime, by: str
) -> Changed:
    _write(tx, there, state, None, until)
    said = Reason.of(Code.SEQUENCE_HELD, state=state.value)
    cancel_waiting(tx, now, there.workspace_id, there.contact_id, [there.sequence_id], said)
    return _record(tx, now, there, by, f"sequence.contact_{state}")


def _write(
    tx: Tx, there: Enrolled, state: ContactState, cause: str | None, ready: datetime
) -> None:
    tx.run(
        """
        UPDATE sequence_contact SET state = :state, cause = :cause, detail = NULL, ready_at = :ready_at
        WHERE workspace_id = :workspace_id AND sequence_id = :sequence_id AND contact_id = :contact_id
        """,
        state=state.value,
        cause=cause,
        ready_at=ready,
        workspace_id=there.workspace_id,
        sequence_id=there.sequence_id,
        contact_id=there.contact_id,
    )


def _find(tx: Tx, workspace_id: str, sequence_id: str, contact_id: str) -> Changed:
    sequence = find_sequence(tx, workspace_id, sequence_id)
    if isinstance(sequence, NoSuchSequence):
        return sequence
    return find_enrolled(tx, workspace_id, sequence_id, contact_id)


def _record(tx: Tx, now: datetime, there: Enrolled, by: str, action: str) -> Changed:
    after = find_enrolled(tx, there.workspace_id, there.sequence_id, there.contact_id)
    assert isinstance(after, Enrolled)
    audit.record(
        tx,
        now,
        workspace_id=there.workspace_id,
        by=by,
        action=action,
        subject_id=there.sequence_id,
        before={"contact": there.contact_id, "state": there.state.value},
        after={"contact": there.contact_id, "state": after.state.value},
    )
    return after
