"""Starts, pauses, resumes and ends sequences. Run under `locks_of`.

A pause holds from its commit on: the lanes of the sequence close, and what a worker has claimed without a permit is
stale. On resume, what came due meanwhile gets new times, so that nothing leaves in a burst. An end cancels what waits,
in the background.
"""

from datetime import UTC, datetime

from cadenza.accounts.model import Account, read_accounts
from cadenza.core.offset_spans import to_instant, to_second
from cadenza.core.rollup import DeliveryState as State
from cadenza.db import audit
from cadenza.deliveries import lanes
from cadenza.deliveries.hold import settle_lanes
from cadenza.deliveries.model import COLUMNS, Delivery
from cadenza.deliveries.move_due import move_due
from cadenza.deliveries.read_recipients import read_zones
from cadenza.deliveries.reasons import Code, Reason
from cadenza.deliveries.transition import end_waiting
from cadenza.outreach.enroll import wake_planner
from cadenza.outreach.find_time import Found, luck_of
from cadenza.outreach.model import (
    NoSuchSequence,
    NotNow,
    Sequence,
    SequenceState,
    StopCause,
    Unfit,
    account_lock,
    scope_of,
    sequence_lock,
)
from cadenza.outreach.read_agenda import AccountAgenda, read_agenda
from cadenza.outreach.stop import CODES
from cadenza.outreach.store import can_send, find_sequence
from cadenza.sql.tx import Tx
from cadenza.sql.values import read_values

ENDED = 500  # deliveries that are canceled in one transaction
Changed = Sequence | NoSuchSequence | NotNow | Unfit


def locks_of(sequence: Sequence) -> list[str]:
    """Name what whoever starts, resumes or ends a sequence holds."""
    own = [account_lock(sequence.workspace_id, id_) for id_ in sequence.account_ids]
    return [*own, sequence_lock(sequence.workspace_id, sequence.id)]


def start(tx: Tx, now: datetime, *, workspace_id: str, sequence_id: str, by: str) -> Changed:
    """Start a draft: from now on the planner gives people their times."""
    there = find_sequence(tx, workspace_id, sequence_id)
    if isinstance(there, NoSuchSequence):
        return there
    if there.state is not SequenceState.DRAFT:
        return NotNow(there.state, f"It is {there.state}: only a draft is started.")
    if (wrong := why_not_startable(tx, there)) is not None:
        return wrong
    return _become(tx, now, there, SequenceState.RUNNING, by, action="sequence.start")


def pause(
    tx: Tx, now: datetime, *, workspace_id: str, sequence_id: str, by: str, reason: str = ""
) -> Changed:
    """Pause a sequence: nothing of it is sent from the commit on; replies still stop people."""
    there = find_sequence(tx, workspace_id, sequence_id)
    if isinstance(there, NoSuchSequence):
        return there
    if there.state is SequenceState.PAUSED:
        return there
    if there.state is not SequenceState.RUNNING:
        return NotNow(there.state, f"It is {there.state}: only a running sequence is paused.")
    said = reason or "the sequence is paused"
    lanes.pause(tx, workspace_id=workspace_id, scope=scope_of(sequence_id), reason=said)
    return _become(
        tx, now, there, SequenceState.PAUSED, by, action="sequence.pause", reason=reason or None
    )


def resume(tx: Tx, now: datetime, *, workspace_id: str, sequence_id: str, by: str) -> Changed:
    """Go on: what came due during the pause gets new times first."""
    there = find_sequence(tx, workspace_id, sequence_id)
    if isinstance(there, NoSuchSequence):
        return there
    if there.state is SequenceState.RUNNING:
        return there
    if there.state is not SequenceState.PAUSED:
        return NotNow(there.state, f"It is {there.state}: only a paused sequence is resumed.")
    replan_overdue(tx, now, there)
    lanes.resume(tx, workspace_id=workspace_id, scope=scope_of(sequence_id))
    return _become(tx, now, there, SequenceState.RUNNING, by, action="sequence.resume")


def end(tx: Tx, now: datetime, *, workspace_id: str, sequence_id: str, by: str) -> Changed:
    """End a sequence for good: nothing of it is sent any more, its history stays."""
    there = find_sequence(tx, workspace_id, sequence_id)
    if isinstance(there, NoSuchSequence):
        return there
    if there.state is SequenceState.ENDED:
        return there
    said = CODES[StopCause.ENDED].text
    lanes.pause(tx, workspace_id=workspace_id, scope=scope_of(sequence_id), reason=said)
    tx.run(
        """
        UPDATE sequence_contact SET state = 'stopped', cause = :cause
        WHERE workspace_id = :workspace_id AND sequence_id = :id AND state NOT IN ('finished', 'stopped')
        """,
        cause=StopCause.ENDED.value,
        workspace_id=workspace_id,
        id=sequence_id,
    )
    return _become(tx, now, there, SequenceState.ENDED, by, action="sequence.end")


def cancel_chunk(tx: Tx, now: datetime, *, workspace_id: str, sequence_id: str) -> int:
    """Cancel the next deliveries of a sequence that ended; return how many."""
    rows = tx.all(
        f"""
        SELECT {COLUMNS} FROM delivery
        WHERE workspace_id = :workspace_id AND sequence_id = :sequence_id AND state IN ('draft', 'scheduled')
        ORDER BY contact_id, step LIMIT :limit {"FOR UPDATE" if tx.dialect == "postgresql" else ""}
        """,  # noqa: S608 - constants
        workspace_id=workspace_id,
        sequence_id=sequence_id,
        limit=ENDED,
    )
    waiting = read_values(Delivery, rows)
    end_waiting(tx, now, waiting, State.CANCELED, Reason.of(CODES[StopCause.ENDED]))
    settle_lanes(tx, waiting)
    return len(waiting)


def why_not_startable(tx: Tx, sequence: Sequence) -> Unfit | None:
    """Say what a sequence lacks to start."""
    if not sequence.account_ids:
        return Unfit("account_ids", "no_accounts", "Choose an account that sends it.")
    found = read_accounts(tx, [(sequence.workspace_id, id_) for id_ in sequence.account_ids])
    for number, step in enumerate(sequence.steps):
        if not any(can_send(account, step.channel) for account in found.values()):
            message = (
                f"No account of the sequence sends {step.channel}: add one for step {number + 1}."
            )
            return Unfit(f"steps.{number}.channel", "no_account_for_channel", message)
    return None


def replan_overdue(
    tx: Tx, now: datetime, sequence: Sequence
) -> list[tuple[str, datetime, datetime]]:
    """Give deliveries of a sequence that are past due the next free times; return id, old and new time."""
    rows = tx.all(
        f"""
        SELECT {COLUMNS} FROM delivery
        WHERE workspace_id = :workspace_id AND sequence_id = :sequence_id AND state = 'scheduled'
            AND due_at <= :now AND leased_until IS NULL
        ORDER BY due_at, id
        """,  # noqa: S608 - a constant
        workspace_id=sequence.workspace_id,
        sequence_id=sequence.id,
        now=now,
    )
    waiting = read_values(Delivery, rows)
    accounts = read_accounts(tx, {each.account_key for each in waiting})
    zones = read_zones(tx, {each.key: each for each in waiting})
    agendas: dict[tuple[str, str], AccountAgenda] = {}
    moves: list[tuple[Delivery, datetime]] = []
    for each in waiting:
        account: Account = accounts[each.account_key]
        key = (each.account_id, each.action.value)
        if key not in agendas:
            agendas[key] = read_agenda(tx, now, account, each.action, sequence)
        luck = luck_of(sequence.id, each.account_id, each.contact_id, each.step, now)
        made = agendas[key]
        begin = to_second(now.astimezone(UTC)) + 1
        found = made.agenda.find(begin, luck, common=made.common_with(zones.get(each.key)))
        if isinstance(found, Found):
            made.agenda.book(found.at, day=found.day)
            moves.append((each, to_instant(found.at)))
    moved = move_due(tx, now, moves, reason=Reason.of(Code.REPLANNED))
    return [(each.id, each.due_at, at) for each, at in moves if each.id in moved]


def _become(
    tx: Tx,
    now: datetime,
    there: Sequence,
    state: SequenceState,
    by: str,
    *,
    action: str,
    reason: str | None = None,
) -> Sequence:
    tx.run(
        """
        UPDATE sequence SET state = :state, state_reason = :reason, updated_at = :now,
            started_at = CASE WHEN :starts THEN coalesce(started_at, :now) ELSE started_at END,
            ended_at = CASE WHEN :ends THEN :now ELSE ended_at END
        WHERE workspace_id = :workspace_id AND id = :id
        """,
        state=state.value,
        reason=reason,
        now=now,
        starts=state is SequenceState.RUNNING,
        ends=state is SequenceState.ENDED,
        workspace_id=there.workspace_id,
        id=there.id,
    )
    audit.record(
        tx,
        now,
        workspace_id=there.workspace_id,
        by=by,
        action=action,
        subject_id=there.id,
        before={"state": there.state.value},
        after={"state": state.value, "reason": reason},
    )
    if state is not SequenceState.PAUSED:
        wake_planner(tx, now, there.workspace_id, there.id)
    found = find_sequence(tx, there.workspace_id, there.id)
    assert isinstance(found, Sequence)
    return found
