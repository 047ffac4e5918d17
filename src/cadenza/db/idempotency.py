"""Answers of writes that came with an Idempotency-Key, kept so that a repetition gets the first one's.

`hold` takes the key at the beginning of the write's transaction, `keep` puts the answer to it at the end;
a second request of the same key waits for that transaction at the unique row. A key that ran out is taken
over by whoever comes, and swept by a job; so one statement is all that a write pays for it.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from cadenza.sql.tx import Tx

UNDER_WAY = timedelta(minutes=5)  # after that, a request that never ended is forgotten
KEPT = timedelta(days=1)
MOST = 500  # rows that one sweep takes


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """Whose key it is: keys of two callers never meet."""

    workspace_id: str
    actor: str
    key: str

    @property
    def columns(self) -> dict[str, str]:
        """Name the row in a statement."""
        return {"workspace_id": self.workspace_id, "actor": self.actor, "key": self.key}


@dataclass(frozen=True, slots=True)
class Found:
    """The key is taken: by which request, and what that was answered. No status: it is under way."""

    request_hash: str
    status: int | None
    body: str | None  # None where the answer held a secret


def hold(tx: Tx, now: datetime, name: Name, *, request_hash: str) -> Found | None:
    """Take a key for a request; where it is taken already, say by what."""
    taken = tx.run(
        """
        INSERT INTO idempotency_key (workspace_id, actor, key, request_hash, created_at)
        VALUES (:workspace_id, :actor, :key, :hash, :now)
        ON CONFLICT (workspace_id, actor, key) DO UPDATE
        SET request_hash = excluded.request_hash, status = NULL, body = NULL, created_at = excluded.created_at
        WHERE idempotency_key.created_at < :old
            OR (idempotency_key.status IS NULL AND idempotency_key.created_at < :stuck)
        """,
        **name.columns,
        hash=request_hash,
        now=now,
        old=now - KEPT,
        stuck=now - UNDER_WAY,
    )
    if taken:
        return None
    row = tx.one(
        """
        SELECT request_hash, status, body FROM idempotency_key
        WHERE workspace_id = :workspace_id AND actor = :actor AND key = :key
        """,
        **name.columns,
    )
    assert row is not None, "only the same key was in the way"
    return Found(row["request_hash"], row["status"], row["body"])


def keep(tx: Tx, name: Name, *, status: int, body: str | None) -> None:
    """Put the answer to a key that is held."""
    tx.run(
        """
        UPDATE idempotency_key SET status = :status, body = :body
        WHERE workspace_id = :workspace_id AND actor = :actor AND key = :key
        """,
        **name.columns,
        status=status,
        body=body,
    )


def release(tx: Tx, name: Name) -> None:
    """Let a held key go that got no answer, so that it can be tried again."""
    tx.run(
        """
        DELETE FROM idempotency_key
        WHERE workspace_id = :workspace_id AND actor = :actor AND key = :key AND status IS NULL
        """,
        **name.columns,
    )


def sweep(tx: Tx, now: datetime, *, most: int = MOST) -> int:
    """Delete keys that ran out, the oldest first; return how many."""
    return tx.run(
        """
        DELETE FROM idempotency_key WHERE (workspace_id, actor, key) IN (
            SELECT workspace_id, actor, key FROM idempotency_key WHERE created_at < :old
            ORDER BY created_at LIMIT :most
        ) AND created_at < :old
        """,
        old=now - KEPT,
        most=most,
    )
