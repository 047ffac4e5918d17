"""Puts people into a sequence: contacts by id, whole audiences, or with messages written for each of them.

Who is there already stays as they are, and the answer says so. People may join a sequence that runs: the planner
gives them times behind those who came before. Run under `sequence_lock`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from cadenza.contacts import audiences
from cadenza.contacts.audiences import NoSuchAudience
from cadenza.contacts.model import Invalid
from cadenza.contacts.variables import CHANNELS
from cadenza.db import audit
from cadenza.engine.enqueue_in import enqueue_in
from cadenza.outreach.model import (
    ACTIONS,
    JOB,
    QUEUE,
    Enrolled,
    NoSuchEnrolled,
    NoSuchSequence,
    NotNow,
    ReadyMessage,
    SequenceState,
    Unfit,
    enrolled_of,
    to_json,
)
from cadenza.outreach.store import find_sequence
from cadenza.sql.tx import Tx

MOST = 5_000  # people in one call


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleEnrolled:
    """What became of those who were named."""

    added: int
    there_already: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    unreachable: tuple[str, ...] = ()  # without an address for the first step; not added
    next: str | None = None  # of an audience: go on here


def enroll(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    sequence_id: str,
    contact_ids: Sequence[str],
    by: str,
    messages: Mapping[str, tuple[ReadyMessage, ...]] | None = None,
    next_: str | None = None,
) -> PeopleEnrolled | NoSuchSequence | NotNow | Unfit:
    """Put contacts at the end of a sequence; `messages` are written for each of them, by id."""
    there = find_sequence(tx, workspace_id, sequence_id)
    if isinstance(there, NoSuchSequence):
        return there
    if there.state is SequenceState.ENDED:
        return NotNow(there.state, "It has ended: create another sequence.")
    if messages is None and not there.steps:
        return Unfit(
            "steps", "no_steps", "Give the sequence a step, or add messages that are written."
        )
    for each in (one for many in (messages or {}).values() for one in many):
        if each.channel not in ACTIONS:
            return Unfit("messages", "channel", f"Outreach is written by {', '.join(ACTIONS)}.")
    wanted = list(dict.fromkeys(contact_ids))
    known = _reachable(tx, workspace_id, wanted)
    enrolled = _enrolled(tx, workspace_id, sequence_id, wanted)
    first = {
        id_: (messages[id_][0].channel if messages else there.steps[0].channel) for id_ in wanted
    }
    fresh = [
        id_
        for id_ in wanted
        if id_ not in enrolled and CHANNELS.get(first[id_], first[id_]) in known.get(id_, ())
    ]
    begin = tx.value(
        """
        UPDATE sequence SET next_position = next_position + :count, updated_at = :now
        WHERE workspace_id = :workspace_id AND id = :id RETURNING next_position
        """,
        count=len(fresh),
        now=now,
        workspace_id=workspace_id,
        id=sequence_id,
    ) - len(fresh)
    tx.run(
        """
        INSERT INTO sequence_contact (
            workspace_id, sequence_id, contact_id, position, messages, ready_at, added_at
        ) SELECT :workspace_id, :sequence_id, contact_id, position, messages, :now, :now
        FROM TABLE(:new) AS new (contact_id text, position bigint, messages text) WHERE true
        """,
        new=[
            (id_, begin + number, to_json(messages[id_]) if messages else None)
            for number, id_ in enumerate(fresh)
        ],
        workspace_id=workspace_id,
        sequence_id=sequence_id,
        now=now,
    )
    audit.record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="sequence.enroll",
        subject_id=sequence_id,
        after={"added": len(fresh)},
    )
    if fresh and there.state is SequenceState.RUNNING:
        wake_planner(tx, now, workspace_id, sequence_id)
    return PeopleEnrolled(
        added=len(fresh),
        there_already=tuple(id_ for id_ in wanted if id_ in enrolled),
        unknown=tuple(id_ for id_ in wanted if id_ not in known),
        unreachable=tuple(
            id_ for id_ in wanted if id_ in known and id_ not in enrolled and id_ not in set(fresh)
        ),
        next=next_,
    )


def enroll_audience(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    sequence_id: str,
    audience_id: str,
    by: str,
    after: str = "",
) -> PeopleEnrolled | NoSuchSequence | NotNow | Unfit | NoSuchAudience | Invalid:
    """Put the next 5,000 people of an audience into a sequence; `next` says where to go on."""
    found = audiences.walk_members(
        tx, workspace_id=workspace_id, audience_id=audience_id, after=after, limit=MOST
    )
    if not isinstance(found, tuple):
        return found
    members, then = found
    return enroll(
        tx,
        now,
        workspace_id=workspace_id,
        sequence_id=sequence_id,
        contact_ids=[each.id for each in members if each.kind == "contact"],
        by=by,
        next_=then,
    )


def wake_planner(tx: Tx, now: datetime, workspace_id: str, sequence_id: str) -> None:
    """Let the planner look at a sequence once this transaction is committed."""
    payload = {"workspace_id": workspace_id, "sequence_id": sequence_id}
    enqueue_in(tx, now, JOB, payload, queue=QUEUE)


def find_enrolled(
    tx: Tx, workspace_id: str, sequence_id: str, contact_id: str
) -> Enrolled | NoSuchEnrolled:
    """Return how a person stands in a sequence."""
    row = tx.one(
        """
        SELECT * FROM sequence_contact
        WHERE workspace_id = :workspace_id AND sequence_id = :sequence_id AND contact_id = :contact_id
        """,
        workspace_id=workspace_id,
        sequence_id=sequence_id,
        contact_id=contact_id,
    )
    return NoSuchEnrolled(contact_id) if row is None else enrolled_of(row)


def list_enrolled(
    tx: Tx,
    *,
    workspace_id: str,
    sequence_id: str,
    state: str | None = None,
    after: int = -1,
    limit: int = 50,
) -> list[Enrolled]:
    """List people in their order."""
    rows = tx.all(
        """
        SELECT * FROM sequence_contact
        WHERE workspace_id = :workspace_id AND sequence_id = :sequence_id AND position > :after
            AND (state = :state OR :every)
        ORDER BY position LIMIT :limit
        """,
        workspace_id=workspace_id,
        sequence_id=sequence_id,
        after=after,
        state=state or "",
        every=state is None,
        limit=limit,
    )
    return [enrolled_of(row) for row in rows]


def _reachable(tx: Tx, workspace_id: str, ids: Sequence[str]) -> dict[str, set[str]]:
    """Return the kinds of addresses that each contact has."""
    rows = tx.all(
        """
        SELECT contact.id, a.channel FROM TABLE(:ids) AS asked (id text)
        JOIN contact ON contact.workspace_id = :workspace_id AND contact.id = asked.id
        LEFT JOIN contact_address a ON a.workspace_id = contact.workspace_id AND a.contact_id = contact.id
        """,
        ids=[(id_,) for id_ in ids],
        workspace_id=workspace_id,
    )
    found: dict[str, set[str]] = {}
    for row in rows:
        found.setdefault(row["id"], set()).add(row["channel"])
    return found


def _enrolled(tx: Tx, workspace_id: str, sequence_id: str, ids: Sequence[str]) -> set[str]:
    rows = tx.all(
        """
        SELECT there.contact_id FROM TABLE(:ids) AS asked (id text)
        JOIN sequence_contact there ON there.workspace_id = :workspace_id
            AND there.sequence_id = :sequence_id AND there.contact_id = asked.id
        """,
        ids=[(id_,) for id_ in ids],
        workspace_id=workspace_id,
        sequence_id=sequence_id,
    )
    return {row["contact_id"] for row in rows}
