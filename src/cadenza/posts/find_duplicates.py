"""Warns of saying the same twice: the same account and channel, the same words, within some days.

Networks refuse or hide repeats. Words are compared as a reader does: case, spaces and how letters are
composed make no difference. Posts of the same words are found by the hash that each save keeps, so the cost
does not grow with a queue. Limit: found by a post's own text; one that agrees in a channel's variant alone
is not.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import blake2b

import msgspec

from cadenza.deliveries.model import ComposedPost
from cadenza.sql.tx import Row, Tx

WITHIN = timedelta(days=30)
MOST = 500  # rows that one look reads


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The same words go, or went, to the same place: the first of them, and how many `more` there are."""

    account_id: str
    channel: str
    post_id: str
    delivery_id: str
    state: str
    due_at: datetime
    more: int = 0

    @property
    def message(self) -> str:
        """Say it in one line."""
        when = f"{self.due_at:%Y-%m-%d %H:%M} UTC"
        verb = "went out" if self.state == "sent" else "are planned"
        more = f", and {self.more} times more" if self.more else ""
        return (
            f"the same words {verb} on {self.channel} ({when}{more}): networks may refuse a repeat"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """What a piece says, between which instants repeats matter; `words` of a post that is not saved."""

    workspace_id: str
    piece: ComposedPost
    since: datetime
    until: datetime
    words: str | None = None


class _Content(msgspec.Struct):
    text: str = ""


# Joined in this order and by these keys: else SQLite goes through all that is planned around the time.
REPEATS = """
    SELECT asked.number, other.id, other.post_id, other.state, other.due_at, other.content
    FROM TABLE(:sayings) AS asked (number bigint, workspace_id text, post_id text, words text,
        account_id text, channel text, since_at timestamptz, before_at timestamptz)
    LEFT JOIN post AS own
        ON own.workspace_id = asked.workspace_id AND own.id = asked.post_id
    CROSS JOIN post AS same CROSS JOIN delivery AS other
    WHERE same.workspace_id = asked.workspace_id AND same.words IS NOT NULL
        AND same.words = coalesce(asked.words, own.words) AND same.id <> asked.post_id
        AND other.workspace_id = same.workspace_id AND other.post_id = same.id
        AND other.account_id = asked.account_id AND other.channel = asked.channel
        AND other.post_id IS NOT NULL AND other.recipient IS NULL
        AND other.state NOT IN ('canceled', 'skipped') AND other.state NOT IN ('failed', 'missed')
        AND other.due_at > asked.since_at AND other.due_at < asked.before_at
    ORDER BY other.due_at, other.id LIMIT :most
"""


def find_duplicates(
    tx: Tx,
    *,
    workspace_id: str,
    pieces: Sequence[ComposedPost],
    at: datetime,
    within: timedelta = WITHIN,
    words: str | None = None,
) -> list[Duplicate]:
    """Return where the words of a post's pieces are said already, around an instant, by other posts."""
    sayings = [
        Wording(
            workspace_id=workspace_id, piece=each, since=at - within, until=at + within, words=words
        )
        for each in pieces
    ]
    return [found for found in find_repeats(tx, sayings) if found is not None]


def find_repeats(tx: Tx, sayings: Sequence[Wording]) -> list[Duplicate | None]:
    """Say of each whether another post says the same there within its time."""
    if not sayings:
        return []
    rows = tx.all(
        REPEATS,
        sayings=[
            (
                number,
                each.workspace_id,
                each.piece.post_id,
                each.words,
                each.piece.account_id,
                each.piece.channel.value,
                each.since,
                each.until,
            )
            for number, each in enumerate(sayings)
        ],
        most=MOST,
    )
    found: dict[int, list[Row]] = {}
    for row in rows:
        if _says(row["content"]) == _says(sayings[row["number"]].piece.content):
            found.setdefault(row["number"], []).append(row)
    return [_duplicate(each.piece, found.get(number, ())) for number, each in enumerate(sayings)]


def fingerprint_of(text: str) -> str | None:
    """Return the mark of a text that others of the same words have too; None: it says nothing."""
    said = normalised(text)
    return blake2b(said.encode(), digest_size=12).hexdigest() if said else None


def normalised(text: str) -> str:
    """Return a text as it is compared."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _duplicate(piece: ComposedPost, rows: Sequence[Row]) -> Duplicate | None:
    if not rows:
        return None
    first = rows[0]
    return Duplicate(
        piece.account_id,
        piece.channel.value,
        first["post_id"],
        first["id"],
        first["state"],
        first["due_at"],
        more=len(rows) - 1,
    )


def _says(content: str) -> str:
    return normalised(msgspec.json.decode(content, type=_Content).text)
