"""Leaves word in the outbox of what happened, in the transaction in which it happens.

A word is named by what it tells of, so that a transaction which is run again tells it once. Who hears of it, by
what way and when is decided afterwards, in `notices`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from cadenza.sql.tx import Tx


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxEvent:
    """One thing that happened: its kind (`delivery.sent`), what it is about, and what is to be said of it."""

    workspace_id: str
    id: str
    kind: str
    subject_id: str
    body: Mapping[str, Any]


def write_outbox(tx: Tx, now: datetime, words: Sequence[OutboxEvent]) -> None:
    """Write those that are not there yet."""
    if not words:
        return
    tx.run(
        """
        INSERT INTO outbox (workspace_id, id, kind, subject_id, body, created_at)
        SELECT workspace_id, id, kind, subject_id, body, :now
        FROM TABLE(:words) AS words (workspace_id text, id text, kind text, subject_id text, body text)
        WHERE true
        ON CONFLICT (workspace_id, id) DO NOTHING
        """,
        words=[
            (
                word.workspace_id,
                word.id,
                word.kind,
                word.subject_id,
                msgspec.json.encode(word.body).decode(),
            )
            for word in words
        ],
        now=now,
    )
