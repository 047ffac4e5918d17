"""How full the local day is that a post would go out on, where its account has a maximum per day.

The maximum is the queue's own, else the workspace's; an account without a queue has none, and then nothing
is counted. A post counts once, however many channels it has; what went, is going, or waits before it comes
first. One statement for all that are asked about, along the index of days.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cadenza.core.zones import day_bounds, get_zone, local_day
from cadenza.sql.tx import Row, Tx


@dataclass(frozen=True, slots=True)
class Day:
    """A local day as one post meets it: how many come before it, how many may go, when the next begins."""

    before: int
    cap: int
    next_at: datetime

    @property
    def full(self) -> bool:
        """Whether the post is one too many."""
        return self.before >= self.cap

    @property
    def says(self) -> str:
        """Say it in one sentence."""
        return f"the day has its {self.cap} posts ({self.before} before this one)"


@dataclass(frozen=True, slots=True)
class Asked:
    """A delivery, the zone of its account, and the account's maximum per day."""

    delivery: Row
    zone: str
    cap: int


def read_days(tx: Tx, now: datetime, asked: Sequence[Asked]) -> dict[tuple[str, str], Day]:
    """Return each delivery's day by its workspace and id."""
    if not asked:
        return {}
    days = {
        (one.delivery["workspace_id"], one.delivery["id"]): (one, *_bounds(now, one))
        for one in asked
    }
    rows = tx.all(
        """
        SELECT asked.workspace_id, asked.id, (
            SELECT count(DISTINCT coalesce(delivery.post_id, delivery.id)) FROM delivery
            WHERE delivery.workspace_id = asked.workspace_id AND delivery.account_id = asked.account_id
                AND delivery.due_at >= asked.begins_at AND delivery.due_at < asked.ends_at
                AND action = 'post'
                AND state IN ('draft', 'scheduled', 'sending', 'sent', 'unconfirmed')
                AND coalesce(delivery.post_id, delivery.id) <> asked.mine
                AND (state IN ('sending', 'sent', 'unconfirmed') OR (state = 'scheduled' AND (
                    delivery.due_at < asked.own_at
                    OR (delivery.due_at = asked.own_at AND delivery.id < asked.id)
                )))
        ) AS before
        FROM TABLE(:asked) AS asked (
            workspace_id text, id text, account_id text, mine text, own_at timestamptz,
            begins_at timestamptz, ends_at timestamptz
        )
        """,
        asked=[
            (*key, row["account_id"], row["post_id"] or row["id"], row["due_at"], begins, ends)
            for key, (one, begins, ends) in days.items()
            for row in [one.delivery]
        ],
    )
    before = {(row["workspace_id"], row["id"]): row["before"] for row in rows}
    return {key: Day(before[key], one.cap, ends) for key, (one, _, ends) in days.items()}


def _bounds(now: datetime, one: Asked) -> tuple[datetime, datetime]:
    zone = get_zone(one.zone)
    return day_bounds(local_day(max(now, one.delivery["due_at"]), zone), zone)
