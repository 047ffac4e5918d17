"""Takes due notices in groups under a lease, and writes how telling them ended.

Run under the lock `notices`, so that a group is never split between two dispatchers. Each (row, medium,
target) is told once as far as the medium allows: `told_at` is set after the other side took it; if a
process dies in between, the lease runs out and it is told again under the same name. A program hears of one
object in order: what finds older news of it waiting is put off until that has ended, told or given up. However
much waits for one target, a pass takes only some of it, so that others are told beside it.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from cadenza.core.backoff import Backoff, delay
from cadenza.notices.model import (
    DIGEST,
    Delivered,
    Ending,
    GaveUp,
    NotAttempted,
    NoticeBatch,
    RetryLater,
)
from cadenza.sql.tx import Row, Tx

LOCK = "notices"
LEASE = timedelta(minutes=5)
AGAIN = timedelta(minutes=1)  # until a post's other channels are looked at again
PATIENCE = timedelta(hours=1)  # how long a failure waits for them at most
# A program may be away for three days, however short its waits turn out.
TRIES = {"email": 12, "webhook": 25}
BACKOFFS = {
    "email": Backoff(base=timedelta(seconds=30), factor=2.5, cap=timedelta(hours=6)),
    "webhook": Backoff(base=timedelta(seconds=5), factor=5, cap=timedelta(hours=8)),
}
EACH = 20  # groups of one target that a pass takes
ROUNDS = 10  # a pass that only found what comes later looks on, so that nobody else waits for that
Key = tuple[str, str, str]  # a workspace, an outbox row (a webhook's group) and a webhook
# When the oldest waiting news of the same object is tried: one look along the index for each row.
BEHIND = """
SELECT mine.workspace_id, mine.outbox_id, mine.target_id, (
    SELECT older.due_at FROM notice AS older
    WHERE older.workspace_id = mine.workspace_id AND older.medium = 'webhook'
        AND older.target_id = mine.target_id AND older.subject_id = mine.subject_id
        AND older.state = 'waiting'
        AND (older.happened_at, older.outbox_id) < (mine.happened_at, mine.outbox_id)
    ORDER BY older.happened_at, older.outbox_id LIMIT 1
) AS older_due_at
FROM TABLE(:heads) AS asked (workspace_id text, outbox_id text, target_id text)
JOIN notice AS mine ON mine.workspace_id = asked.workspace_id AND mine.outbox_id = asked.outbox_id
    AND mine.medium = 'webhook' AND mine.target_id = asked.target_id
"""


def claim(tx: Tx, now: datetime, *, limit: int = 50) -> list[NoticeBatch]:
    """Lease up to `limit` groups that are due."""
    for _ in range(ROUNDS):
        heads = tx.all(
            """
            WITH due AS (
                SELECT workspace_id, medium, target_id, group_key, min(due_at) AS first_at, row_number() OVER (
                    PARTITION BY workspace_id, medium, target_id ORDER BY min(due_at), group_key
                ) AS place
                FROM notice
                WHERE state = 'waiting' AND due_at <= :now AND (leased_until IS NULL OR leased_until <= :now)
                GROUP BY workspace_id, medium, target_id, group_key
            )
            SELECT workspace_id, medium, target_id, group_key, first_at FROM due
            WHERE place <= :each ORDER BY first_at LIMIT :limit
            """,
            now=now,
            each=EACH,
            limit=limit,
        )
        later = _put_behind(tx, now, [head for head in heads if head["medium"] == "webhook"])
        taken = (
            _take(tx, now, head)
            for head in heads
            if _key(head) not in later and not _put_off(tx, now, head)
        )
        found = [batch for batch in taken if batch is not None]
        if found or not later:
            return found
    return []


def settle(
    tx: Tx, now: datetime, batch: NoticeBatch, ending: Ending, *, fraction: float = 0.0
) -> int:
    """Write how it ended, if the lease still holds; return how many notices."""
    match ending:
        case Delivered():
            change: dict[str, Any] = {"state": "told", "reason": None, "told": now, "due": now}
        case NotAttempted():
            return _put_back(tx, now, batch)
        case GaveUp(message):
            change = {"state": "failed", "reason": message, "told": None, "due": now}
        case RetryLater(message, wait):
            tries = batch.attempts + 1
            state = "failed" if tries >= TRIES[batch.medium] else "waiting"
            planned = delay(BACKOFFS[batch.medium], tries, fraction=fraction)
            due = now + max(planned, wait or timedelta())
            change = {"state": state, "reason": message, "told": None, "due": due}
    if isinstance(ending, GaveUp) and ending.gone and batch.medium == "webhook":
        _stop_webhook(tx, batch, ending.message)
    changed = tx.run_each(
        """
        UPDATE notice SET state = :state, reason = :reason, told_at = :told, due_at = :due,
            attempts = attempts + 1, leased_until = NULL
        WHERE workspace_id = :workspace_id AND outbox_id = :outbox_id AND medium = :medium
            AND target_id = :target_id AND lease = :lease AND state = 'waiting'
        """,
        _each(batch, **change),
    )
    if batch.medium == "webhook" and change["state"] != "waiting" and changed:
        _let_follow(tx, now, batch)
    return changed


def _put_back(tx: Tx, now: datetime, batch: NoticeBatch) -> int:
    """Let it be tried in a while; no attempt is counted."""
    return tx.run_each(
        """
        UPDATE notice SET due_at = :again, leased_until = NULL
        WHERE workspace_id = :workspace_id AND outbox_id = :outbox_id AND medium = :medium
            AND target_id = :target_id AND lease = :lease AND state = 'waiting'
        """,
        _each(batch, again=now + AGAIN),
    )


def _each(batch: NoticeBatch, **change: Any) -> list[dict[str, Any]]:
    """Name every notice of a batch under its lease, with what changes."""
    held = {
        "workspace_id": batch.workspace_id,
        "medium": batch.medium,
        "target_id": batch.target_id,
        "lease": batch.lease,
    }
    return [{**change, **held, "outbox_id": news["id"]} for news in batch.news]


def _key(head: Row) -> Key:
    return head["workspace_id"], head["group_key"], head["target_id"]


def _put_behind(tx: Tx, now: datetime, heads: Sequence[Row]) -> set[Key]:
    """Put off what a program is to hear after older news of the same object; return what was.

    Whoever tells the older lets it follow; should nobody, it is looked at again when that was tried.
    """
    if not heads:
        return set()
    rows = tx.all(BEHIND, heads=sorted(_key(head) for head in heads))
    behind = [row for row in rows if row["older_due_at"] is not None]
    tx.run_each(
        """
        UPDATE notice SET due_at = :again
        WHERE workspace_id = :workspace_id AND outbox_id = :outbox_id AND medium = 'webhook'
            AND target_id = :target_id AND state = 'waiting'
        """,
        [
            {
                "again": max(now + AGAIN, row["older_due_at"] + LEASE),
                "workspace_id": row["workspace_id"],
                "outbox_id": row["outbox_id"],
                "target_id": row["target_id"],
            }
            for row in behind
        ],
    )
    return {(row["workspace_id"], row["outbox_id"], row["target_id"]) for row in behind}


def _let_follow(tx: Tx, now: datetime, batch: NoticeBatch) -> None:
    """Let the next news of the same object be due: nothing older is waiting any more."""
    (news,) = batch.news
    tx.run(
        """
        UPDATE notice SET due_at = :now
        WHERE workspace_id = :workspace_id AND medium = 'webhook' AND target_id = :target_id
            AND state = 'waiting' AND due_at > :now AND attempts = 0 AND outbox_id = (
                SELECT outbox_id FROM notice
                WHERE workspace_id = :workspace_id AND medium = 'webhook' AND target_id = :target_id
                    AND subject_id = :subject_id AND state = 'waiting'
                ORDER BY happened_at, outbox_id LIMIT 1
            )
        """,
        now=now,
        workspace_id=batch.workspace_id,
        target_id=batch.target_id,
        subject_id=news["subject_id"],
    )


def _put_off(tx: Tx, now: datetime, head: Row) -> bool:
    """Let a post's failure wait while another of its channels is on its way or tried again."""
    kind, _, post_id = head["group_key"].partition(":")
    if kind != "failed":
        return False
    key = {name: head[name] for name in ("workspace_id", "medium", "target_id", "group_key")}
    moving = tx.value(
        """
        SELECT count(*) FROM delivery
        WHERE workspace_id = :workspace_id AND post_id = :post_id
            AND (state = 'sending' OR (state = 'scheduled' AND (attempts > 0 OR leased_until IS NOT NULL)))
        """,
        workspace_id=head["workspace_id"],
        post_id=post_id,
    )
    since = tx.one(
        """
        SELECT min(outbox.created_at) AS since_at FROM notice JOIN outbox
            ON outbox.workspace_id = notice.workspace_id AND outbox.id = notice.outbox_id
        WHERE notice.workspace_id = :workspace_id AND medium = :medium AND target_id = :target_id
            AND group_key = :group_key AND state = 'waiting'
        """,
        **key,
    )
    if not moving or since is None or now - since["since_at"] > PATIENCE:
        return False
    tx.run(
        """
        UPDATE notice SET due_at = :again
        WHERE workspace_id = :workspace_id AND medium = :medium AND target_id = :target_id
            AND group_key = :group_key AND state = 'waiting'
        """,
        again=now + AGAIN,
        **key,
    )
    return True


def _take(tx: Tx, now: datetime, head: Row) -> NoticeBatch | None:
    key = {name: head[name] for name in ("workspace_id", "medium", "target_id", "group_key")}
    rows = tx.all(
        """
        SELECT outbox_id, lease, attempts FROM notice
        WHERE workspace_id = :workspace_id AND medium = :medium AND target_id = :target_id
            AND group_key = :group_key AND state = 'waiting' AND (due_at <= :now OR :all_of_it = 1)
            AND (leased_until IS NULL OR leased_until <= :now)
        ORDER BY due_at, outbox_id LIMIT 500
        """,
        now=now,
        all_of_it=0 if head["group_key"] == DIGEST else 1,
        **key,
    )
    lease = max(row["lease"] for row in rows) + 1
    for row in rows:
        tx.run(
            """
            UPDATE notice SET lease = :lease, leased_until = :until
            WHERE workspace_id = :workspace_id AND outbox_id = :outbox_id AND medium = :medium
                AND target_id = :target_id
            """,
            lease=lease,
            until=now + LEASE,
            outbox_id=row["outbox_id"],
            workspace_id=key["workspace_id"],
            medium=key["medium"],
            target_id=key["target_id"],
        )
    news = _events(tx, key["workspace_id"], [row["outbox_id"] for row in rows])
    if key["group_key"].startswith("failed:"):
        news = _still_so(tx, now, key, news)
    if not news:
        return None
    return NoticeBatch(
        **key, lease=lease, attempts=max(r["attempts"] for r in rows), news=tuple(news)
    )


def _still_so(tx: Tx, now: datetime, key: dict[str, Any], news: Sequence[Row]) -> list[Row]:
    """Drop what is no longer so: an unconfirmed send that was cleared up, a failure that a retry mended."""
    over = [row for row in news if _state_of(row["kind"]) != row["state_now"]]
    tx.run_each(
        """
        UPDATE notice SET state = 'dropped', reason = 'it is no longer so', leased_until = NULL
        WHERE workspace_id = :workspace_id AND outbox_id = :outbox_id AND medium = :medium
            AND target_id = :target_id
        """,
        [
            {
                "workspace_id": key["workspace_id"],
                "outbox_id": row["id"],
                "medium": key["medium"],
                "target_id": key["target_id"],
            }
            for row in over
        ],
    )
    return [row for row in news if row not in over]


def _events(tx: Tx, workspace_id: str, ids: Sequence[str]) -> list[Row]:
    """Read outbox rows with what they are about."""
    found = [
        tx.one(
            """
            SELECT outbox.*, delivery.channel, delivery.post_id, delivery.content, delivery.recipient,
                delivery.state AS state_now, account.id AS account_id, account.provider, account.handle
            FROM outbox
            LEFT JOIN delivery
                ON delivery.workspace_id = outbox.workspace_id AND delivery.id = outbox.subject_id
            LEFT JOIN account ON account.workspace_id = outbox.workspace_id
                AND account.id = coalesce(delivery.account_id, outbox.subject_id)
            WHERE outbox.workspace_id = :workspace_id AND outbox.id = :id
            """,
            workspace_id=workspace_id,
            id=id_,
        )
        for id_ in ids
    ]
    return sorted(
        (row for row in found if row is not None), key=lambda r: (r["created_at"], r["id"])
    )


def _stop_webhook(tx: Tx, batch: NoticeBatch, message: str) -> None:
    tx.run(
        """
        UPDATE webhook SET active = false, stop_reason = :message
        WHERE workspace_id = :workspace_id AND id = :id
        """,
        message=message,
        workspace_id=batch.workspace_id,
        id=batch.target_id,
    )


def _state_of(kind: str) -> str:
    """Return the state that a delivery has as long as the news of it is true."""
    told = kind.partition(".")[2]
    return {"at_risk": "scheduled", "unapproved": "draft"}.get(told, told)
