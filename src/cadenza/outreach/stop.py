"""Ends a sequence for a person: a reply, a bounce, an acceptance, an unsubscribe, or somebody's word.

In one transaction the person's row says so and what waits for them is canceled with its fence raised: a worker that
has claimed a message but has no permit yet cannot send it any more. A call that is under way finishes.
"""

from collections.abc import Sequence
from datetime import datetime

from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries.hold import settle_lanes
from cadenza.deliveries.model import COLUMNS, Delivery
from cadenza.deliveries.reasons import Code, Reason
from cadenza.deliveries.transition import end_waiting
from cadenza.outreach.count import ACCEPTANCE
from cadenza.outreach.enroll import wake_planner
from cadenza.outreach.model import CHOICES, ContactState, Enrolled, StopCause, enrolled_of
from cadenza.outreach.store import load_sequences
from cadenza.sql.tx import Tx
from cadenza.sql.values import read_values

CODES = {
    StopCause.REPLY: Code.REPLY,
    StopCause.BOUNCE: Code.BOUNCE,
    StopCause.ACCEPTED: Code.ACCEPTED,
    StopCause.UNSUBSCRIBE: Code.UNSUBSCRIBE,
    StopCause.COMPLAINT: Code.COMPLAINT,
    StopCause.BY_HAND: Code.STOPPED_BY_HAND,
    StopCause.NOT_SENT: Code.NOT_SENT,
    StopCause.ENDED: Code.SEQUENCE_ENDED,
}
_OPEN = frozenset(
    {ContactState.WAITING, ContactState.PLANNED, ContactState.PAUSED, ContactState.SNOOZED}
)
_STAMPS = {
    StopCause.REPLY: "replied_at",
    StopCause.BOUNCE: "bounced_at",
    StopCause.ACCEPTED: "accepted_at",
}


def stop_for(
    tx: Tx,
    now: datetime,
    workspace_id: str,
    contact_id: str,
    cause: StopCause,
    *,
    sequence_id: str | None = None,
    delivery_id: str | None = None,
    detail: str | None = None,
) -> list[str]:
    """Stop a person's sequences for a cause, or one of them; return the ids of those that stopped.

    Which of reply, bounce and acceptance stop is each sequence's choice; the others always do. `delivery_id` is what
    was answered or bounced: the report counts it there.
    """
    people = _lock_people(tx, workspace_id, contact_id, sequence_id)
    step = _step_of(tx, workspace_id, delivery_id)
    _stamp(tx, now, people, cause, delivery_id, step)
    sequences = load_sequences(tx, workspace_id, [one.sequence_id for one in people])
    stopping = [
        one
        for one in people
        if one.state in _OPEN
        and (cause not in CHOICES or cause in sequences[one.sequence_id].stop_on)
    ]
    if not stopping:
        return []
    tx.run(
        """
        UPDATE sequence_contact SET state = 'stopped', cause = :cause, detail = :detail
        FROM TABLE(:ids) AS asked (id text)
        WHERE sequence_contact.workspace_id = :workspace_id AND contact_id = :contact_id
            AND sequence_id = asked.id
        """,
        cause=cause.value,
        detail=detail,
        ids=[(one.sequence_id,) for one in stopping],
        workspace_id=workspace_id,
        contact_id=contact_id,
    )
    ids = [one.sequence_id for one in stopping]
    cancel_waiting(tx, now, workspace_id, contact_id, ids, Reason.of(CODES[cause]))
    return ids


def accept_for(
    tx: Tx, now: datetime, workspace_id: str, contact_id: str, *, delivery_id: str | None = None
) -> list[str]:
    """Note that a connection was accepted: sequences that wait for it go on, those that stop for it stop.

    Return the ids of those that stopped.
    """
    stopped = stop_for(
        tx, now, workspace_id, contact_id, StopCause.ACCEPTED, delivery_id=delivery_id
    )
    rows = tx.all(
        """
        UPDATE sequence_contact SET cause = NULL, ready_at = :now
        WHERE workspace_id = :workspace_id AND contact_id = :contact_id AND state = 'waiting'
            AND cause = :cause AND accepted_at IS NOT NULL
        RETURNING sequence_id
        """,
        now=now,
        workspace_id=workspace_id,
        contact_id=contact_id,
        cause=ACCEPTANCE,
    )
    for row in rows:
        wake_planner(tx, now, workspace_id, row["sequence_id"])
    return stopped


def cancel_waiting(
    tx: Tx,
    now: datetime,
    workspace_id: str,
    contact_id: str,
    sequence_ids: Sequence[str],
    reason: Reason,
) -> list[Delivery]:
    """Cancel what waits for a person in sequences, also from a worker's hands; return it."""
    rows = tx.all(
        f"""
        SELECT {COLUMNS} FROM TABLE(:ids) AS asked (sequence_id text)
        JOIN delivery ON delivery.workspace_id = :workspace_id AND delivery.contact_id = :contact_id
            AND delivery.sequence_id = asked.sequence_id
        WHERE delivery.state IN ('draft', 'scheduled')
        ORDER BY delivery.id {"FOR UPDATE OF delivery" if tx.dialect == "postgresql" else ""}
        """,  # noqa: S608 - constants
        ids=[(id_,) for id_ in sequence_ids],
        workspace_id=workspace_id,
        contact_id=contact_id,
    )
    waiting = read_values(Delivery, rows)
    end_waiting(tx, now, waiting, State.CANCELED, reason)
    settle_lanes(tx, waiting)
    return waiting


def _lock_people(
    tx: Tx, workspace_id: str, contact_id: str, sequence_id: str | None
) -> list[Enrolled]:
    rows = tx.all(
        f"""
        SELECT * FROM sequence_contact
        WHERE workspace_id = :workspace_id AND contact_id = :contact_id
            AND (sequence_id = :sequence_id OR :every)
        ORDER BY sequence_id {"FOR UPDATE" if tx.dialect == "postgresql" else ""}
        """,  # noqa: S608 - a constant
        workspace_id=workspace_id,
        contact_id=contact_id,
        sequence_id=sequence_id or "",
        every=sequence_id is None,
    )
    return [enrolled_of(row) for row in rows]


def _step_of(tx: Tx, workspace_id: str, delivery_id: str | None) -> tuple[str, int] | None:
    if delivery_id is None:
        return None
    row = tx.one(
        "SELECT sequence_id, step FROM delivery WHERE workspace_id = :workspace_id AND id = :id",
        workspace_id=workspace_id,
        id=delivery_id,
    )
    return None if row is None or row["sequence_id"] is None else (row["sequence_id"], row["step"])


def _stamp(
    tx: Tx,
    now: datetime,
    people: Sequence[Enrolled],
    cause: StopCause,
    delivery_id: str | None,
    step: tuple[str, int] | None,
) -> None:
    """Keep when it happened and to which step: of the sequence that it answers, else of all that wrote."""
    column = _STAMPS.get(cause)
    if column is None or (delivery_id is not None and step is None):
        return
    stamped = [
        (one.sequence_id, one.contact_id, one.next_step - 1 if step is None else step[1])
        for one in people
        if (one.last_sent_at is not None if step is None else one.sequence_id == step[0])
    ]
    if stamped:
        tx.run(
            f"""
            UPDATE sequence_contact SET {column} = coalesce({column}, :now), event_step = new.step
            FROM TABLE(:new) AS new (sequence_id text, contact_id text, step integer)
            WHERE sequence_contact.workspace_id = :workspace_id
                AND sequence_contact.sequence_id = new.sequence_id
                AND sequence_contact.contact_id = new.contact_id
            """,  # noqa: S608 - one of three constants
            now=now,
            new=stamped,
            workspace_id=people[0].workspace_id,
        )
