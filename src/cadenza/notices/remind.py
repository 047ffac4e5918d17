"""Says again that an account needs a reconnect, after one day and after three, while work waits for it.

One conditional count on the account makes each reminder happen once, whoever asks.
"""

from datetime import datetime, timedelta

from cadenza.db.write_outbox import OutboxEvent, write_outbox
from cadenza.notices.model import EventKind
from cadenza.sql.tx import Row, Tx

FIRST, SECOND = timedelta(hours=24), timedelta(hours=72)


def remind(tx: Tx, now: datetime) -> int:
    """Write the reminders that are due; return how many."""
    rows = tx.all(
        """
        SELECT * FROM (
            SELECT workspace_id, id, provider, handle, state_reason, lost_at, reminders, (
                SELECT count(*) FROM delivery
                WHERE delivery.workspace_id = account.workspace_id AND delivery.account_id = account.id
                    AND delivery.state = 'scheduled' AND due_at <= :now
            ) AS held
            FROM account
            WHERE state = 'needs_reconnect' AND (
                (lost_at <= :a_day_ago AND reminders < 1) OR (lost_at <= :three_days_ago AND reminders < 2)
            )
        ) AS lost
        WHERE held > 0
        ORDER BY lost_at LIMIT 100
        """,
        now=now,
        a_day_ago=now - FIRST,
        three_days_ago=now - SECOND,
    )
    return sum(_remind_one(tx, now, row) for row in rows)


def _remind_one(tx: Tx, now: datetime, row: Row) -> int:
    lost_at: datetime = row["lost_at"]
    number = 2 if lost_at <= now - SECOND else 1
    key = {"workspace_id": row["workspace_id"], "id": row["id"]}
    won = tx.run(
        """
        UPDATE account SET reminders = :number
        WHERE workspace_id = :workspace_id AND id = :id AND reminders < :number
            AND state = 'needs_reconnect'
        """,
        number=number,
        **key,
    )
    if not won:
        return 0
    body = {
        "provider": row["provider"],
        "handle": row["handle"],
        "reason": row["state_reason"],
        "reminder": number,
        "held": row["held"],
    }
    word = OutboxEvent(
        workspace_id=row["workspace_id"],
        id=f"account:{row['id']}:{lost_at.isoformat()}:reminder-{number}",
        kind=EventKind.NEEDS_RECONNECT,
        subject_id=row["id"],
        body=body,
    )
    write_outbox(tx, now, [word])
    return 1
