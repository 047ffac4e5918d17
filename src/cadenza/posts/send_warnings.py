"""What a person should know before something goes out by hand: the day is full, something holds it.

Warnings change nothing. Hard limits are the gates' business; here they are only said early.
"""

from datetime import datetime, timedelta

from cadenza.core.zones import get_zone, local_day
from cadenza.deliveries.explain import Explanation, explain
from cadenza.sql.tx import Tx

_AROUND = timedelta(
    hours=26
)  # no local day is longer, and none of today's instants is farther away


def why_over_the_day(
    tx: Tx, now: datetime, *, workspace_id: str, account_id: str, at: datetime
) -> str | None:
    """Say that the account's day is fuller than the editor's wish; a post counts once a day."""
    row = tx.one(
        """
        SELECT account.zone, coalesce(queue.max_per_day, workspace.max_per_day) AS most
        FROM account
        JOIN workspace ON workspace.id = account.workspace_id
        LEFT JOIN queue
            ON queue.workspace_id = account.workspace_id AND queue.account_id = account.id
        WHERE account.workspace_id = :workspace_id AND account.id = :account_id
        """,
        workspace_id=workspace_id,
        account_id=account_id,
    )
    if row is None or row["most"] is None:
        return None
    zone = get_zone(row["zone"])
    due = tx.all(
        """
        SELECT post_id, id, due_at FROM delivery
        WHERE workspace_id = :workspace_id AND account_id = :account_id AND action = 'post'
            AND state IN ('draft', 'scheduled', 'sending', 'sent', 'unconfirmed')
            AND due_at > :first AND due_at < :last
        """,
        workspace_id=workspace_id,
        account_id=account_id,
        first=at - _AROUND,
        last=at + _AROUND,
    )
    today = local_day(at, zone)
    posts = {
        each["post_id"] or each["id"] for each in due if local_day(each["due_at"], zone) == today
    }
    if len(posts) <= row["most"]:
        return None
    return f"the account's day has {len(posts)} posts with this one, more than its {row['most']}"


def what_holds(tx: Tx, now: datetime, *, workspace_id: str, delivery_id: str) -> tuple[str, ...]:
    """Say what keeps a delivery from going at once: a stop, a pause, an account, a budget."""
    found = explain(tx, now, workspace_id=workspace_id, delivery_id=delivery_id, at=now)
    blocked = found.blocked.values() if isinstance(found, Explanation) else ()
    return tuple(f"it waits: {answer.message}" for answer in blocked)
