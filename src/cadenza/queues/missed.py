"""What becomes of posts that nothing sent in time: the next slot, now, or back to the drafts, in one step.

Within the account's grace late posts still go out, spaced by `space`; beyond it the pipeline has marked them
`missed`, and a person chooses here. The same rows go on, so their history stays.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cadenza.core.rollup import DeliveryState as State
from cadenza.core.slots import NoFreeSlot
from cadenza.db import audit
from cadenza.deliveries import lanes
from cadenza.deliveries.check_fit import StoredPiece, find_unfit
from cadenza.deliveries.expedite import PASSED
from cadenza.deliveries.gates import HURRY
from cadenza.deliveries.history import record_moves, record_taken_back
from cadenza.deliveries.model import account_scope
from cadenza.deliveries.reasons import Code, Reason
from cadenza.deliveries.render import Files
from cadenza.deliveries.resume_plan import SPACING, NotConnected
from cadenza.deliveries.space_out import not_too_late, take_turns, together
from cadenza.deliveries.transition import Changes, move_posts
from cadenza.posts.send_warnings import why_over_the_day
from cadenza.queues import store
from cadenza.queues.model import Moved, NoQueue, NoRoom, Queue, wall_text
from cadenza.queues.occupancy import first_free
from cadenza.queues.reschedule import reschedule
from cadenza.queues.resume import ResumeChoice, Resumed, resume
from cadenza.sql.tx import Row, Tx
from cadenza.sql.values import read_value

MISSED = (State.MISSED,)


@dataclass(frozen=True, slots=True)
class Rescued:
    """Where they go now (not for drafts); `gone` were not missed any more, `full` found no slot."""

    moved: tuple[Moved, ...]
    drafts: tuple[str, ...]
    gone: tuple[str, ...]
    full: tuple[str, ...]
    unfit: tuple[
        str, ...
    ]  # their channel would not take them: they stay missed until they are changed
    revision: int
    warnings: tuple[str, ...] = ()


def list_missed(tx: Tx, now: datetime, *, workspace_id: str, account_id: str) -> list[Row]:
    """Read which posts were missed, oldest first; messages and broadcasts are not the queue's."""
    return tx.all(
        """
        SELECT id, post_id, account_id, channel, recipient, content, due_at, slot_at, wall_time, reason,
            approved
        FROM delivery
        WHERE workspace_id = :workspace_id AND account_id = :account_id AND state = 'missed'
            AND action = 'post'
        ORDER BY due_at, id
        """,
        workspace_id=workspace_id,
        account_id=account_id,
    )


def rescue_missed(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    account_id: str,
    choice: ResumeChoice,
    by: str,
    ids: Sequence[str] | None = None,
    spacing: timedelta = SPACING,
    files: Files | None = None,
) -> Rescued | NoQueue:
    """Do what was chosen for these missed deliveries, or for all of the account; each post's channels together.

    Only the next slot needs a weekly schedule. What goes now passes its day's number of posts, with a warning.
    """
    key = {"workspace_id": workspace_id, "account_id": account_id}
    queue = store.hold(tx, **key)
    if isinstance(queue, NoQueue) and (choice is ResumeChoice.SHIFT or not _is_there(tx, **key)):
        return queue
    missed = list_missed(tx, now, workspace_id=workspace_id, account_id=account_id)
    wanted = missed if ids is None else [row for row in missed if row["id"] in set(ids)]
    found = {row["id"] for row in wanted}
    gone = tuple(id_ for id_ in ids or () if id_ not in found)
    unfit = () if choice is ResumeChoice.DRAFT else _unfit(tx, workspace_id, wanted, files)
    wanted = [row for row in wanted if row["id"] not in unfit]
    moved: list[Moved] = []
    full: list[str] = []
    drafts: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    match choice:
        case ResumeChoice.SHIFT:
            assert isinstance(queue, Queue), "else it was refused"
            for group in together(wanted):
                at = _to_next_slot(tx, now, queue, group)
                ids_of = [row["id"] for row in group]
                if at is None:
                    full.extend(ids_of)
                else:
                    moved.append(Moved(ids_of[0], group[0]["post_id"], group[0]["due_at"], at))
        case ResumeChoice.SEND:
            moved = _now(tx, now, wanted, spacing, **key)
            over = why_over_the_day(tx, now, **key, at=now) if moved else None
            warnings = (over,) if over else ()
        case ResumeChoice.DRAFT:
            drafts = _draft(tx, now, workspace_id, wanted)
    history = {
        "workspace_id": workspace_id,
        "account_id": account_id,
        "by": by,
        "why": "it was missed",
    }
    record_moves(tx, now, moved, **history)
    taken_back = [(row["post_id"] or row["id"], row["due_at"]) for row in wanted]
    record_taken_back(tx, now, taken_back if drafts else (), **history)
    audit.record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="queue.rescue_missed",
        subject_id=account_id,
        after={"choice": choice.value, "deliveries": len(wanted)},
    )
    revision = store.rise(tx, now, queue) if isinstance(queue, Queue) else 0
    return Rescued(tuple(moved), drafts, gone, tuple(full), unfit, revision, warnings)


def space(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    account_id: str,
    by: str = "system",
    spacing: timedelta = SPACING,
) -> Resumed | NotConnected | NoRoom | NoQueue:
    """After an outage or a hold: what is late within the grace goes from now on, one after the other."""
    return resume(
        tx,
        now,
        workspace_id=workspace_id,
        account_id=account_id,
        by=by,
        choice=ResumeChoice.SEND,
        spacing=spacing,
        since=not_too_late(tx, now, workspace_id=workspace_id, account_id=account_id),
    )


def _unfit(tx: Tx, workspace_id: str, rows: Sequence[Row], files: Files | None) -> tuple[str, ...]:
    """Name those that a channel would refuse: the same words again would only fail."""
    return tuple(
        row["id"]
        for row in rows
        if find_unfit(tx, workspace_id, [read_value(StoredPiece, row)], files)
    )


def _to_next_slot(tx: Tx, now: datetime, queue: Queue, group: list[Row]) -> datetime | None:
    found = first_free(tx, now, queue)
    if isinstance(found, NoFreeSlot):
        return None
    at, wall = found.slot.instant, wall_text(found.slot)
    reschedule(tx, now, queue, group[:1], at=at, wall=wall, slot_at=at)
    if group[1:]:
        reschedule(tx, now, queue, group[1:], at=at, wall=wall)
    return at


def _is_there(tx: Tx, *, workspace_id: str, account_id: str) -> bool:
    return (
        tx.one(
            "SELECT id FROM account WHERE workspace_id = :workspace_id AND id = :account_id",
            workspace_id=workspace_id,
            account_id=account_id,
        )
        is not None
    )


def _now(
    tx: Tx,
    now: datetime,
    rows: Sequence[Row],
    spacing: timedelta,
    *,
    workspace_id: str,
    account_id: str,
) -> list[Moved]:
    """Send those that are approved, spaced: each is late again only if nothing runs at its turn."""
    late = together(row for row in rows if row["approved"])
    turns = [(row, at) for group, at in take_turns(now, late, spacing) for row in group]
    changes = {
        row["id"]: Changes(
            due_at=at,
            slot_at=None,
            priority=HURRY,
            reason=Reason.of(Code.SENT_LATE_BY_PERSON),
            fresh=True,
        )
        for row, at in turns
    }
    move_posts(tx, now, workspace_id, changes, was=MISSED, to=State.SCHEDULED)
    lanes.unpark(tx, accounts=[(workspace_id, account_id)], by=PASSED)
    lanes.refresh(tx, [(workspace_id, account_scope(account_id))])
    return [Moved(row["id"], row["post_id"], row["due_at"], at) for row, at in turns]


def _draft(tx: Tx, now: datetime, workspace_id: str, rows: Sequence[Row]) -> tuple[str, ...]:
    changes = Changes(slot_at=None, reason=Reason.of(Code.TAKEN_BACK_MISSED))
    ids = dict.fromkeys((row["id"] for row in rows), changes)
    move_posts(tx, now, workspace_id, ids, was=MISSED, to=State.DRAFT)
    return tuple(row["id"] for row in rows)
