"""The story of a post or of an account, newest first: who did what, which calls were made, what came of it.

Put together on reading from the audit log, the attempts and the outbox; nothing is stored for it. Limit: a
page is cut at an instant, so a story goes on `before` the last instant of the page.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from cadenza.deliveries.describe_attempt import OUTCOMES
from cadenza.sql.tx import Row, Tx

MOST = 200
# What people did, in their words; an act that is not here is told by its name.
_ACTS = {
    "post.create": "the post was written",
    "post.edit": "the post was changed",
    "post.approve": "the post was approved",
    "post.unapprove": "the approval was taken back",
    "post.schedule_at": "the post got a time of its own",
    "post.publish_now": "the post was sent at once",
    "post.retry": "what failed was tried again",
    "post.cancel": "the post was canceled",
    "post.delete": "the post was deleted",
    "queue.add": "the post was added to the queue",
    "queue.reorder": "the queue got another order",
    "queue.take_slot": "the post took a free slot",
    "queue.defer": "the post was moved to a later slot",
    "queue.retime": "the post got another time",
    "queue.move": "the post was moved",
    "queue.take_back": "the post was taken back to the drafts",
    "queue.rescue_missed": "what was missed got a new time",
    "queue.schedule": "the weekly slots were changed",
    "queue.pause": "the queue was paused",
    "queue.resume": "the queue was resumed",
    "delivery.cancel": "one place was canceled",
    "delivery.retry": "one place was tried again",
    "delivery.publish_now": "one place was sent at once",
    "delivery.decide": "somebody looked and said whether it arrived",
    "account.connect": "the account was connected",
    "account.configure": "the account's settings were changed",
    "account.limits": "the account's limits were changed",
    "limit.external": "what the account sent elsewhere was recorded",
    "limit.external_undo": "a record of what was sent elsewhere was taken back",
    "account.lift_suspension": "the account was let go on",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One thing that happened."""

    at: datetime
    kind: str  # `post.edit`, `attempt.began`, `attempt.ended`, `delivery.sent`
    message: str
    by: str | None = None  # a person, a key, a rule; None: the pipeline itself
    delivery_id: str | None = None
    details: dict[str, Any] = field(default_factory=dict[str, Any])


def of_post(
    tx: Tx, *, workspace_id: str, post_id: str, before: datetime | None = None, limit: int = 50
) -> list[Event]:
    """Return what happened to a post and its deliveries."""
    ids = [
        row["id"]
        for row in tx.all(
            "SELECT id FROM delivery WHERE workspace_id = :workspace_id AND post_id = :post_id",
            workspace_id=workspace_id,
            post_id=post_id,
        )
    ]
    page = _Page(tx, workspace_id, before, max(1, min(limit, MOST)))
    attempts = page.ask(_OF_DELIVERIES, "began_at", deliveries=[(id_,) for id_ in ids])
    return page.tell([post_id, *ids], attempts)


def of_account(
    tx: Tx, *, workspace_id: str, account_id: str, before: datetime | None = None, limit: int = 50
) -> list[Event]:
    """Return what happened to an account, and the calls for posts that it made."""
    page = _Page(tx, workspace_id, before, max(1, min(limit, MOST)))
    attempts = page.ask(_OF_ACCOUNT, "reserved_at", account_id=account_id)
    return page.tell([account_id], attempts)


# Cross joins: SQLite takes the tables in this order, not by time through the whole workspace.
_OF_DELIVERIES = """
    SELECT attempt.*, delivery.channel
    FROM TABLE(:deliveries) AS asked (id text) CROSS JOIN delivery CROSS JOIN attempt
    WHERE delivery.workspace_id = :workspace_id AND delivery.id = asked.id
        AND attempt.workspace_id = delivery.workspace_id AND attempt.delivery_id = delivery.id
"""
_OF_ACCOUNT = """
    SELECT attempt.*, delivery.channel FROM activity
    JOIN attempt ON attempt.workspace_id = activity.workspace_id AND attempt.id = activity.attempt_id
    JOIN delivery
        ON delivery.workspace_id = attempt.workspace_id AND delivery.id = attempt.delivery_id
    WHERE activity.workspace_id = :workspace_id AND activity.account_id = :account_id
        AND activity.action = 'post' AND activity.mode = 'live'
"""
_OF_SUBJECTS = """
    SELECT {table}.* FROM TABLE(:subjects) AS asked (id text) CROSS JOIN {table}
    WHERE {table}.workspace_id = :workspace_id AND {table}.subject_id = asked.id AND {where}
"""


@dataclass(frozen=True, slots=True)
class _Page:
    tx: Tx
    workspace_id: str
    before: datetime | None
    size: int

    def ask(self, sql: str, instant: str, **params: Any) -> list[Row]:
        """Ask for the newest rows before the page's instant."""
        older = f"AND {instant} < :before" if self.before is not None else ""
        return self.tx.all(
            f"{sql} {older} ORDER BY {instant} DESC LIMIT :most",
            workspace_id=self.workspace_id,
            most=2 * self.size,
            **params,
            **({"before": self.before} if self.before is not None else {}),
        )

    def tell(self, subjects: Sequence[str], attempts: Sequence[Row]) -> list[Event]:
        """Put acts, calls and news together, newest first."""
        named = [(id_,) for id_ in subjects]
        acts = self.ask(
            _OF_SUBJECTS.format(table="audit", where="true"), "happened_at", subjects=named
        )
        news = self.ask(
            _OF_SUBJECTS.format(table="outbox", where="kind <> 'delivery.sent'"),
            "created_at",
            subjects=named,
        )
        events = [
            *map(_of_audit, acts),
            *map(_of_outbox, news),
            *map(_began, attempts),
            *(_ended(row) for row in attempts if row["ended_at"] is not None),
        ]
        older = [event for event in events if self.before is None or event.at < self.before]
        return sorted(older, key=lambda event: event.at, reverse=True)[: self.size]


def _of_audit(row: Row) -> Event:
    room, _, act = row["action"].partition(".")
    after = msgspec.json.decode(row["after"]) if row["after"] else {}
    details: dict[str, Any] = after if isinstance(after, dict) else {}
    why = f": {details['why']}" if details.get("why") else ""
    return Event(
        at=row["happened_at"],
        kind=row["action"],
        message=_ACTS.get(row["action"], f"{act.replace('_', ' ')} ({room})") + why,
        by=row["actor"],
        details=details,
    )


def _began(row: Row) -> Event:
    return Event(
        at=row["began_at"],
        kind="attempt.began",
        message=f"sending to {row['channel']}, attempt {row['number']}",
        delivery_id=row["delivery_id"],
        details={"attempt": row["id"], "part": row["part"], "content_hash": row["content_hash"]},
    )


def _ended(row: Row) -> Event:
    came = OUTCOMES.get(row["outcome"], row["outcome"] or "nobody answered")
    said = f" In its own words: {row['message']}" if row["message"] else ""
    return Event(
        at=row["ended_at"],
        kind="attempt.ended",
        message=f"{row['channel']}, attempt {row['number']}: {came}{said}",
        delivery_id=row["delivery_id"],
        details={"attempt": row["id"], "remote_id": row["remote_id"], "url": row["url"]},
    )


def _of_outbox(row: Row) -> Event:
    body = msgspec.json.decode(row["body"])
    reason = f": {body['reason']}" if body.get("reason") else ""
    return Event(
        at=row["created_at"],
        kind=row["kind"],
        message=f"{row['kind'].partition('.')[2].replace('_', ' ')}{reason}",
        delivery_id=row["subject_id"] if row["kind"].startswith("delivery.") else None,
        details=body,
    )
