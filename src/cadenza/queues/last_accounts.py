"""Remembers which accounts a person queued for last: the default of the next time."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from cadenza.sql.tx import Tx


def usual_accounts(tx: Tx, now: datetime, *, workspace_id: str, author: str) -> list[str]:
    """Name the accounts that this author queued for last, else all that have a queue and can send."""
    able = [
        row["account_id"]
        for row in tx.all(
            """
            SELECT queue.account_id FROM queue JOIN account
                ON account.workspace_id = queue.workspace_id AND account.id = queue.account_id
            WHERE queue.workspace_id = :workspace_id AND queue.enabled AND account.state <> 'disabled'
            ORDER BY queue.account_id
            """,
            workspace_id=workspace_id,
        )
    ]
    habit = tx.value(
        "SELECT accounts FROM queue_habit WHERE workspace_id = :workspace_id AND author = :author",
        workspace_id=workspace_id,
        author=author,
    )
    used = [] if habit is None else msgspec.json.decode(habit, type=list[str])
    return [account for account in used if account in able] or able


def remember_accounts(
    tx: Tx, now: datetime, *, workspace_id: str, author: str, accounts: Sequence[str]
) -> None:
    """Keep what was used now."""
    tx.run(
        """
        INSERT INTO queue_habit (workspace_id, author, accounts, used_at)
        VALUES (:workspace_id, :author, :accounts, :now)
        ON CONFLICT (workspace_id, author)
        DO UPDATE SET accounts = excluded.accounts, used_at = excluded.used_at
        """,
        workspace_id=workspace_id,
        author=author,
        accounts=msgspec.json.encode(accounts).decode(),
        now=now,
    )
