"""How full the local day is that a post would go out on, where its account has a maximum per day.

The maximum is the queue's own, else the workspace's; an account without a queue has none, and then nothing
is counted. A post counts once, however many channels it has: what went, is going, or waits before it comes
first, and the rest of a post that has begun goes. One statement for all that are asked about, along the
index of days.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, TypeAlias

from cadenza.core.zones import day_bounds, get_zone, local_day
from cadenza.sql.tx import Tx


@dataclass(frozen=True, slots=True)
class Day:
    """A local day as one post meets it: how many come before it, how many may go, when the next begins."""

    before: int
    cap: int
    next_at: datetime
    begun: bool = (
        False  # another channel of the post has gone out or begun to: it is one of the day's
    )

    @property
    def full(self) -> bool:
        """Whether the post is one too many."""
        return not self.begun and self.before >= self.cap

    @property
    def message(self) -> str:
        """Say it in one sentence."""
        return f"the day has its {self.cap} posts ({self.before} before this one)"


@dataclass(frozen=True, slots=True, kw_only=True)
class DayRequest:
    """A delivery, the zone of its account, and the account's maximum per day."""

    workspace_id: str
    id: str
    account_id: str
    post_id: str | None
    due_at: datetime
    zone: str
    cap: int


def read_days(tx: Tx, now: datetime, requested: Sequence[DayRequest]) -> dict[tuple[str, str], Day]:
    """Return each delivery's day by its workspace and id."""
    if not requested:
        return {}
    bounds = [_bounds(now, one) for one in requested]
    days = _posts(
        tx,
        {
            (one.workspace_id, one.account_id, *span)
            for one, span in zip(requested, bounds, strict=True)
        },
    )
    found: dict[tuple[str, str], Day] = {}
    for one, (begins, ends) in zip(requested, bounds, strict=True):
        posts = days.get((one.workspace_id, one.account_id, begins), {})
        before, begun = _before(posts, one.post_id or one.id, one.due_at)
        found[one.workspace_id, one.id] = Day(before, one.cap, ends, begun)
    return found


class _Post(NamedTuple):
    """A post on a day: has any of its channels gone out or begun to, and when does its first one go?"""

    begun: bool
    first_at: datetime


_Posts: TypeAlias = dict[str, _Post]


def _before(posts: _Posts, mine: str, own_at: datetime) -> tuple[int, bool]:
    """Count the posts that come before mine, and say whether mine has begun.

    Whole posts are ranked, not deliveries: else, of two on several channels at one instant, each could find
    a channel of the other before its own.
    """
    own = posts.get(mine, _Post(begun=False, first_at=own_at))
    rank = (min(own.first_at, own_at), mine)
    others = (
        post.begun or (post.first_at, key) < rank for key, post in posts.items() if key != mine
    )
    return sum(others), own.begun


def _posts(
    tx: Tx, days: set[tuple[str, str, datetime, datetime]]
) -> dict[tuple[str, str, datetime], _Posts]:
    """Read the posts of days of accounts, as one value each; drafts come when they are approved."""
    rows = tx.all(
        """
        SELECT asked.workspace_id, asked.account_id, asked.begins_at,
            coalesce(delivery.post_id, delivery.id) AS post, min(delivery.due_at) AS first_at,
            max(CASE WHEN state = 'scheduled' THEN 0 ELSE 1 END) AS begun
        FROM TABLE(:days) AS asked (
            workspace_id text, account_id text, begins_at timestamptz, ends_at timestamptz
        )
        JOIN delivery
            ON delivery.workspace_id = asked.workspace_id AND delivery.account_id = asked.account_id
            AND delivery.due_at >= asked.begins_at AND delivery.due_at < asked.ends_at
        WHERE action = 'post' AND state IN ('scheduled', 'sending', 'sent', 'unconfirmed')
        GROUP BY asked.workspace_id, asked.account_id, asked.begins_at,
            coalesce(delivery.post_id, delivery.id)
        """,
        days=sorted(days),
    )
    found: dict[tuple[str, str, datetime], _Posts] = {}
    for row in rows:
        day = found.setdefault((row["workspace_id"], row["account_id"], row["begins_at"]), {})
        day[row["post"]] = _Post(bool(row["begun"]), row["first_at"])
    return found


def _bounds(now: datetime, one: DayRequest) -> tuple[datetime, datetime]:
    zone = get_zone(one.zone)
    return day_bounds(local_day(max(now, one.due_at), zone), zone)
