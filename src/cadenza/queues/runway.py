"""When does a queue run dry? And one word through the outbox when it is about to, once an incident.

A queue runs dry at the first slot behind its last post. `tell_dry` looks at all queues by one indexed
question each, marks those whose last post goes out within the warning time, and clears the mark of those
that were filled again, so that the next time is a new incident.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from cadenza.core.slots import LEAD, upcoming_slots
from cadenza.core.zones import local_day
from cadenza.db.write_outbox import OutboxEvent, write_outbox
from cadenza.notices.model import EventKind
from cadenza.queues import store
from cadenza.queues.model import LIVE, NoQueue, Queue
from cadenza.queues.occupancy import Occupancy
from cadenza.sql.tx import Row, Tx

WARNING = timedelta(days=1)
KIND = EventKind.DRY.value


@dataclass(frozen=True, slots=True)
class Runway:
    """How far the queue reaches: its posts, its last one, and the first slot with nothing behind."""

    posts: int
    last_at: datetime | None
    dry_at: datetime | None  # None: the schedule has no more slots at all
    empty_slots: int  # within the next seven days


def runway(tx: Tx, now: datetime, *, workspace_id: str, account_id: str) -> Runway | NoQueue:
    """Say how long the queue lasts; hand-timed posts are not of it, though a slot that one stands on is filled."""
    queue = store.read(tx, workspace_id=workspace_id, account_id=account_id)
    if isinstance(queue, NoQueue):
        return queue
    row = tx.one(
        f"""
        SELECT count(*) AS posts, max(slot_at) AS last_at FROM delivery
        WHERE workspace_id = :workspace_id AND account_id = :account_id
            AND slot_at IS NOT NULL AND state IN {LIVE} AND slot_at > :now
        """,  # noqa: S608 - put together from constants
        now=now,
        **store.key(queue),
    )
    assert row is not None
    last: datetime | None = row["last_at"]
    skipped = store.skipped(tx, queue, since=now)
    behind = max(now + LEAD, (last or now) + timedelta(minutes=1))
    dry = next(
        (
            s.instant
            for s in upcoming_slots(queue.schedule, not_before=behind)
            if s.instant not in skipped
        ),
        None,
    )
    return Runway(row["posts"], last, dry, _empty_slots(tx, now, queue, skipped))


def tell_dry(tx: Tx, now: datetime, *, warning: timedelta = WARNING) -> list[tuple[str, str]]:
    """Leave word of queues that run dry within the warning time; return those told of now."""
    rows = tx.all(
        f"""
        SELECT queue.workspace_id, queue.account_id, queue.dry_at, queue.revision, account.handle,
            account.provider, account.zone, (
                SELECT max(slot_at) FROM delivery
                WHERE delivery.workspace_id = queue.workspace_id
                    AND delivery.account_id = queue.account_id
                    AND slot_at IS NOT NULL AND delivery.state IN {LIVE}
            ) AS last_at
        FROM queue
        JOIN account ON account.workspace_id = queue.workspace_id AND account.id = queue.account_id
        WHERE queue.enabled AND queue.slots <> '{{}}' AND account.state <> 'disabled'
        ORDER BY queue.workspace_id, queue.account_id
        """,  # noqa: S608 - put together from constants
    )
    dry = [row for row in rows if _is_dry(row, now + warning)]
    fresh = [row for row in dry if row["dry_at"] is None]
    filled = [row for row in rows if row["dry_at"] is not None and not _is_dry(row, now + warning)]
    write_outbox(tx, now, [_word(now, row) for row in fresh])
    _mark(tx, fresh, now)
    _mark(tx, filled, None)
    return [(row["workspace_id"], row["account_id"]) for row in fresh]


def _is_dry(row: Row, until: datetime) -> bool:
    # A queue that never held anything is not running dry: nobody uses it.
    used = row["last_at"] is not None or row["revision"] > 1
    return used and (row["last_at"] is None or row["last_at"] <= until)


def _word(now: datetime, row: Row) -> OutboxEvent:
    last = row["last_at"]
    body = {
        "handle": row["handle"],
        "provider": row["provider"],
        "zone": row["zone"],
        "last_at": None if last is None else last.isoformat(),
    }
    return OutboxEvent(
        workspace_id=row["workspace_id"],
        id=f"{KIND}:{row['account_id']}:{now.isoformat()}",
        kind=KIND,
        subject_id=row["account_id"],
        body=body,
    )


def _mark(tx: Tx, rows: list[Row], at: datetime | None) -> None:
    tx.run(
        """
        UPDATE queue SET dry_at = :at
        FROM TABLE(:keys) AS asked (workspace_id text, account_id text)
        WHERE queue.workspace_id = asked.workspace_id AND queue.account_id = asked.account_id
        """,
        at=at,
        keys=[(row["workspace_id"], row["account_id"]) for row in rows],
    )


def _empty_slots(tx: Tx, now: datetime, queue: Queue, skipped: frozenset[datetime]) -> int:
    occupancy = Occupancy(tx, queue)
    week = list(
        upcoming_slots(queue.schedule, not_before=now + LEAD, until=now + timedelta(days=7))
    )
    if week:
        occupancy.look(week[0].day - timedelta(days=1), 10)
    return sum(
        1
        for slot in week
        if slot.instant not in skipped
        and slot.instant not in occupancy.taken(local_day(slot.instant, queue.schedule.zone))
    )
