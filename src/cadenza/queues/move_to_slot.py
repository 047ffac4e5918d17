"""Puts a post on one slot that a person pointed at: moved there if the account has it already, else added.

On a slot it is the queue's: it moves with the queue and its slot cannot be given to another. The post's
channels on that account go together. What is being sent or tried again stays, and what no longer stands
where the caller saw it is not moved. Limit: one account a call.
"""

from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter

from cadenza.core.zones import as_utc
from cadenza.db import audit
from cadenza.deliveries.check_fit import StoredPiece
from cadenza.deliveries.render import Files
from cadenza.posts.model import MovedMeanwhile, NoSuchPost
from cadenza.posts.preflight import DoesNotFit, refuse_unfit
from cadenza.posts.targets import BadTarget
from cadenza.queues import store
from cadenza.queues.add import Added, AlreadyQueued, Queued, Unfit, add
from cadenza.queues.assign_slots import assign_slots, to_slot
from cadenza.queues.check_slot import Named, check_slot
from cadenza.queues.model import Entry, NoQueue, NoRoom, Queue, wall_text
from cadenza.queues.reschedule import is_idle, reschedule
from cadenza.sql.tx import Row, Tx
from cadenza.sql.values import read_values


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedToSlot:
    """It stands on the slot; `was_at` and `was_slot` lead back. Without `was_at` it is new there."""

    account_id: str
    ids: tuple[str, ...]
    at: datetime
    zone: str
    wall_time: str
    was_at: datetime | None
    was_slot: bool
    revision: int
    warnings: tuple[str, ...] = ()


Answer = MovedToSlot | NoQueue | NoRoom | NoSuchPost | BadTarget | MovedMeanwhile | DoesNotFit


def move_to_slot(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    account_id: str,
    post_id: str,
    at: datetime,
    by: str,
    seen_at: datetime | None = None,
    files: Files | None = None,
) -> Answer:
    """Give a post that slot of the account; locks: `model.locks` of it."""
    at = as_utc(at)
    queue = store.hold(tx, workspace_id=workspace_id, account_id=account_id)
    if isinstance(queue, NoQueue):
        return queue
    rows = _waiting(tx, queue, post_id)
    if seen_at is not None and as_utc(seen_at) not in {row["due_at"] for row in rows}:
        return MovedMeanwhile(rows[0]["due_at"] if rows else None)
    if not rows:
        return _add(tx, now, queue, post_id, at, by=by, files=files)
    if any(row["slot_at"] is not None and row["slot_at"] != row["due_at"] for row in rows):
        return NoRoom(account_id, "it is being tried again: wait for the outcome")
    slot = check_slot(tx, now, queue, at, leaving=frozenset(row["id"] for row in rows))
    if isinstance(slot, NoRoom):
        return slot
    if unfit := refuse_unfit(tx, workspace_id, read_values(StoredPiece, rows), files):
        return unfit
    leader = next((row for row in rows if row["slot_at"] is not None), rows[0])
    idle = [row for row in rows if is_idle(row, now)]
    if idle:  # missed or taken back: back into the pipeline
        reschedule(tx, now, queue, idle, at=at, wall=wall_text(slot))
    assign_slots(tx, now, queue, [to_slot(_entry(leader, rows), slot)], by=by, why=None)
    audit.record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="queue.take_slot",
        subject_id=post_id,
        before={"account": account_id, "at": leader["due_at"].isoformat()},
        after={"account": account_id, "at": at.isoformat()},
    )
    return MovedToSlot(
        account_id=account_id,
        ids=tuple(row["id"] for row in rows),
        at=at,
        zone=queue.schedule.zone.name,
        wall_time=wall_text(slot),
        was_at=leader["due_at"],
        was_slot=leader["slot_at"] is not None,
        revision=store.rise(tx, now, queue),
    )


def _add(
    tx: Tx,
    now: datetime,
    queue: Queue,
    post_id: str,
    at: datetime,
    *,
    by: str,
    files: Files | None,
) -> Answer:
    """Compose the post for the account's usual channels and put it there."""
    answer = add(
        tx,
        now,
        workspace_id=queue.workspace_id,
        post_id=post_id,
        by=by,
        targets=[queue.account_id],
        to=Named(at),
        files=files,
    )
    if not isinstance(answer, Added):
        return answer
    (one,) = answer.answers
    match one:
        case Queued():
            return MovedToSlot(
                account_id=one.account_id,
                ids=one.ids,
                at=one.at,
                zone=one.zone,
                wall_time=one.wall_time,
                was_at=None,
                was_slot=False,
                revision=one.revision,
                warnings=one.warnings,
            )
        case AlreadyQueued():
            return NoRoom(queue.account_id, f"it is {one.state} there and does not move any more")
        case Unfit(refusal=refusal):
            return refusal
        case refused:
            return refused


def _entry(leader: Row, rows: list[Row]) -> Entry:
    others = tuple(row["id"] for row in rows if row["id"] != leader["id"])
    return Entry(leader["id"], leader["post_id"], leader["due_at"], leader["wall_time"], others)


def _waiting(tx: Tx, queue: Queue, post_id: str) -> list[Row]:
    """Read what may still move of the post on this account."""
    rows = tx.all(
        """
        SELECT id, post_id, account_id, channel, recipient, content, state, due_at, slot_at, wall_time
        FROM delivery
        WHERE workspace_id = :workspace_id AND post_id = :post_id AND account_id = :account_id
            AND recipient IS NULL AND state IN ('draft', 'scheduled', 'missed') AND leased_until IS NULL
        """,
        post_id=post_id,
        **store.key(queue),
    )
    return sorted(rows, key=itemgetter("id"))
