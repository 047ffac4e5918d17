"""Finds who can be planned now: sequences with somebody who waits, the accounts that write, people who were snoozed."""

from datetime import datetime

from cadenza.sql.tx import Tx


def list_ready(tx: Tx, now: datetime) -> list[tuple[str, str]]:
    """List running sequences with somebody to plan."""
    rows = tx.all(
        """
        SELECT DISTINCT there.workspace_id, there.sequence_id FROM sequence_contact there
        JOIN sequence ON sequence.workspace_id = there.workspace_id AND sequence.id = there.sequence_id
        WHERE there.state = 'waiting' AND there.ready_at <= :now AND sequence.state = 'running'
        """,
        now=now,
    )
    return sorted((row["workspace_id"], row["sequence_id"]) for row in rows)


def ready_accounts(tx: Tx, now: datetime, *, workspace_id: str, sequence_id: str) -> list[str]:
    """List the accounts that have somebody to write to without a time."""
    rows = tx.all(
        """
        SELECT DISTINCT account_id FROM sequence_contact
        WHERE workspace_id = :workspace_id AND sequence_id = :sequence_id AND state = 'waiting'
            AND account_id IS NOT NULL AND ready_at <= :now
        """,
        workspace_id=workspace_id,
        sequence_id=sequence_id,
        now=now,
    )
    return sorted(row["account_id"] for row in rows)


def wake_snoozed(tx: Tx, now: datetime) -> int:
    """Let people whose time has come wait for the planner again."""
    return tx.run(
        """
        UPDATE sequence_contact SET state = 'waiting'
        WHERE state = 'snoozed' AND ready_at <= :now
        """,
        now=now,
    )
