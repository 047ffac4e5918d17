"""Writes what became of posts' times into their histories: who moved them, from when to when, and why.

Every operation that gives planned posts another instant ends here; one statement however many there are. The
act itself (a reorder, a resume) has a row of its own with the account.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Protocol

from cadenza.db import audit
from cadenza.sql.tx import Tx

MOVE = "queue.move"
TAKE_BACK = "queue.take_back"
SYSTEM = "system"


class Moved(Protocol):
    """A delivery that got another instant."""

    @property
    def id(self) -> str:
        """The delivery."""
        ...

    @property
    def post_id(self) -> str | None:
        """Its post."""
        ...

    @property
    def was_at(self) -> datetime:
        """When it was due."""
        ...

    @property
    def now_at(self) -> datetime:
        """When it is due."""
        ...


def record_moves(
    tx: Tx,
    now: datetime,
    moved: Iterable[Moved],
    *,
    workspace_id: str,
    account_id: str,
    why: str | Mapping[str, str],
    by: str = SYSTEM,
) -> None:
    """Add a row to the history of each post that moved, once for its channels together.

    `why` is for all, or by the delivery's id.
    """
    once = {
        (move.post_id or move.id, move.was_at, move.now_at): move.id for move in reversed([*moved])
    }
    audit.record_all(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action=MOVE,
        entries=[
            audit.Entry(
                subject,
                before={"account": account_id, "at": was_at.isoformat()},
                after={
                    "account": account_id,
                    "at": now_at.isoformat(),
                    "why": why if isinstance(why, str) else why[id_],
                },
            )
            for (subject, was_at, now_at), id_ in reversed(once.items())
        ],
    )


def record_taken_back(
    tx: Tx,
    now: datetime,
    posts: Iterable[tuple[str, datetime]],
    *,
    workspace_id: str,
    account_id: str,
    why: str,
    by: str = SYSTEM,
) -> None:
    """Add a row to the history of each post (its id, when it was due) that became a draft again."""
    audit.record_all(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action=TAKE_BACK,
        entries=[
            audit.Entry(
                subject,
                before={"account": account_id, "at": was_at.isoformat()},
                after={"account": account_id, "why": why},
            )
            for subject, was_at in sorted(set(posts))
        ],
    )
