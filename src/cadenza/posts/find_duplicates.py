"""Warns of saying the same twice: the same account and channel, the same words, within some days.

Networks refuse or hide repeats. Words are compared as a reader does: case, spaces and how letters are
composed make no difference. Limit: compared in memory, an account's posts of the days around.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec

from cadenza.deliveries.model import Piece
from cadenza.sql.tx import Tx

WITHIN = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The same words go, or went, to the same place."""

    account_id: str
    channel: str
    post_id: str
    delivery_id: str
    state: str
    due_at: datetime

    @property
    def says(self) -> str:
        """Say it in one line."""
        when = f"{self.due_at:%Y-%m-%d %H:%M} UTC"
        verb = "went out" if self.state == "sent" else "is planned"
        return f"the same words {verb} on {self.channel} ({when}): networks may refuse a repeat"


class _Said(msgspec.Struct):
    text: str = ""


def find_duplicates(
    tx: Tx,
    *,
    workspace_id: str,
    pieces: Sequence[Piece],
    at: datetime,
    within: timedelta = WITHIN,
) -> list[Duplicate]:
    """Return where the words of these pieces are said already, around an instant, by other posts."""
    said = {
        (piece.account_id, piece.channel.value): normalised(_text(piece.content))
        for piece in pieces
    }
    own = {piece.post_id for piece in pieces}
    accounts = sorted({account for account, _ in said})
    if not accounts:
        return []
    rows = tx.all(
        """
        SELECT delivery.id, delivery.post_id, delivery.account_id, channel, state, due_at, content
        FROM TABLE(:accounts) AS asked (account_id text) CROSS JOIN delivery
        WHERE delivery.workspace_id = :workspace_id AND delivery.account_id = asked.account_id
            AND action = 'post' AND state IN ('draft', 'scheduled', 'sending', 'sent', 'unconfirmed')
            AND due_at > :first AND due_at < :last AND delivery.post_id IS NOT NULL
        ORDER BY due_at, delivery.id
        """,
        workspace_id=workspace_id,
        accounts=[(account,) for account in accounts],
        first=at - within,
        last=at + within,
    )
    return [
        Duplicate(*place, row["post_id"], row["id"], row["state"], row["due_at"])
        for row in rows
        if (place := (row["account_id"], row["channel"])) in said
        and row["post_id"] not in own
        and said[place]
        and normalised(_text(row["content"])) == said[place]
    ]


def normalised(text: str) -> str:
    """Return a text as it is compared."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _text(content: str) -> str:
    return msgspec.json.decode(content, type=_Said).text
