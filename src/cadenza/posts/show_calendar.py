"""Everything due between two instants, over all accounts, in one query: one truth for month, week and day.

Instants go out as instants: whose midnight parts the days is for the reader to say. Limit: 2,000 entries
at a time; `more` says that a shorter span is needed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from cadenza.posts.pills import COLUMNS, JOINS, Pill, pill_of
from cadenza.sql.tx import Row, Tx

MOST = 2000
EXCERPT = 120


@dataclass(frozen=True, slots=True)
class Entry:
    """One delivery in a calendar, with a line of what it says."""

    pill: Pill
    title: str
    text: str
    in_slot: bool = False  # a queue's, alone or beside the post's other channels; else by hand


@dataclass(frozen=True, slots=True)
class Calendar:
    """What is due from an instant on and before another, by time; `more`: not all of it fits."""

    entries: tuple[Entry, ...]
    more: bool


class _Content(msgspec.Struct):
    text: str = ""


def show_calendar(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    start: datetime,
    end: datetime,
    account_ids: Sequence[str] = (),
) -> Calendar:
    """Return everything due in [start, end), of all accounts or of some; canceled ones are left out."""
    some, params = "", dict[str, Any]()
    if account_ids:
        some = "AND delivery.account_id IN (SELECT id FROM TABLE(:accounts) AS chosen (id text))"
        params = {"accounts": [(id_,) for id_ in account_ids]}
    rows = tx.all(
        f"""
        SELECT {COLUMNS}, delivery.content, post.title
        FROM delivery {JOINS}
        JOIN post ON post.workspace_id = delivery.workspace_id AND post.id = delivery.post_id
        WHERE delivery.workspace_id = :workspace_id AND delivery.post_id IS NOT NULL
            AND delivery.due_at >= :first AND delivery.due_at < :last
            AND delivery.state NOT IN ('canceled', 'skipped') {some}
        ORDER BY delivery.due_at, delivery.id LIMIT :most
        """,  # noqa: S608 - put together from constants
        workspace_id=workspace_id,
        first=start,
        last=end,
        most=MOST + 1,
        **params,
    )
    led = {_place(row) for row in rows if row["slot_at"] == row["due_at"]}
    entries = tuple(
        Entry(pill_of(row, now), row["title"], _excerpt(row["content"]), _place(row) in led)
        for row in rows[:MOST]
    )
    return Calendar(entries, len(rows) > MOST)


def _place(row: Row) -> tuple[str, str, datetime]:
    return row["post_id"], row["account_id"], row["due_at"]


def _excerpt(content: str) -> str:
    said = " ".join(msgspec.json.decode(content, type=_Content).text.split())
    return said if len(said) <= EXCERPT else f"{said[:EXCERPT]}…"
