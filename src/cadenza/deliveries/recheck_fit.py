"""Checks planned posts again where a channel's limits may have changed, and says so on the deliveries.

A delivery is checked when its content is written. What changes otherwise is found here: an account's limits at
a reconnect (`account_id`), and, by an hourly job over all that is planned, ours after an upgrade and the
addresses of files. Writes only what is different. Limit: a batch is `limit` deliveries, the soonest first.
"""

from dataclasses import dataclass
from datetime import datetime

from cadenza.accounts.model import read_accounts
from cadenza.deliveries.check_fit import StoredPiece, check_content, flag
from cadenza.deliveries.render import Files
from cadenza.sql.tx import Tx
from cadenza.sql.values import read_value

BATCH = 500


@dataclass(frozen=True, slots=True)
class Rechecked:
    """Which deliveries are flagged differently now, and where the next batch begins; None: it was the last."""

    changed: tuple[str, ...]
    next: tuple[datetime, str] | None


def recheck_fit(
    tx: Tx,
    *,
    account: tuple[str, str] | None = None,
    after: tuple[datetime, str] | None = None,
    limit: int = BATCH,
    files: Files | None = None,
) -> Rechecked:
    """Check a batch of planned posts, of all accounts or of one (workspace, id)."""
    onward = "AND (delivery.due_at, delivery.id) > (:after, :after_id)" if after else ""
    one = (
        "AND delivery.workspace_id = :workspace_id AND delivery.account_id = :account_id"
        if account
        else ""
    )
    rows = tx.all(
        f"""
        SELECT delivery.workspace_id, delivery.id, delivery.account_id, delivery.due_at, delivery.channel,
            delivery.content, delivery.recipient, delivery.unfit
        FROM delivery
        WHERE post_id IS NOT NULL AND delivery.state IN ('draft', 'scheduled') {onward} {one}
        ORDER BY delivery.due_at, delivery.id LIMIT :limit
        """,  # noqa: S608 - put together from constants
        limit=limit,
        **({"after": after[0], "after_id": after[1]} if after else {}),
        **({"workspace_id": account[0], "account_id": account[1]} if account else {}),
    )
    accounts = read_accounts(tx, {(row["workspace_id"], row["account_id"]) for row in rows})
    checked = [
        (row, flag(check_content(read_value(StoredPiece, row), sender, files).blocking))
        for row in rows
        for sender in [accounts.get((row["workspace_id"], row["account_id"]))]
    ]
    changed = [(row, message) for row, message in checked if row["unfit"] != message]
    if changed:
        tx.run(
            """
            UPDATE delivery SET unfit = new.unfit
            FROM TABLE(:new) AS new (workspace_id text, id text, unfit text, content text)
            WHERE delivery.workspace_id = new.workspace_id AND delivery.id = new.id
                AND delivery.content = new.content
            """,  # an edit meanwhile has checked its own words
            new=[
                (row["workspace_id"], row["id"], message, row["content"])
                for row, message in changed
            ],
        )
    last = (rows[-1]["due_at"], rows[-1]["id"]) if len(rows) == limit else None
    return Rechecked(tuple(row["id"] for row, _ in changed), last)
