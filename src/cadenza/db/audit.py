"""Who did what: one row for each act of a person, a key or a rule, in the transaction that does it.

Rows are only added. They are the audit log, the activity stream of a post or an account, and, beside
the outbox, what live views are told of. Limit: what the pipeline does by itself stands in attempts and
outbox, not here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from cadenza.sql.tx import Tx


@dataclass(frozen=True, slots=True)
class Entry:
    """What an act did to one subject: how it was, how it is."""

    subject_id: str
    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None


def record(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    by: str,
    action: str,
    subject_id: str,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    """Add a row: `by` is `member:<id>`, `key:<id>`, `rule:<id>` or `system`; `action` like `queue.add`.

    Never put a secret, a token or a whole text into `before` and `after`: what changed is enough.
    """
    entry = Entry(subject_id, before, after)
    record_all(tx, now, workspace_id=workspace_id, by=by, action=action, entries=[entry])


def record_all(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    by: str,
    action: str,
    entries: Sequence[Entry],
) -> None:
    """Add a row for each subject of one act, in one statement."""
    if not entries:
        return
    tx.run(
        """
        INSERT INTO audit (workspace_id, id, actor, action, subject_id, before, after, happened_at)
        SELECT :workspace_id, id, :by, :action, subject_id, before, after, :now
        FROM TABLE(:new) AS new (id text, subject_id text, before text, after text)
        """,
        workspace_id=workspace_id,
        by=by,
        action=action,
        new=[
            (tx.new_id(), entry.subject_id, _json(entry.before), _json(entry.after))
            for entry in entries
        ],
        now=now,
    )


def _json(value: Mapping[str, Any] | None) -> str | None:
    return None if value is None else msgspec.json.encode(value).decode()
