"""How posts begin, for screens: they show words, not ids. One statement for any number of posts."""

from collections.abc import Iterable

import msgspec

from cadenza.sql.tx import Tx

LETTERS = 160


def excerpts(tx: Tx, *, workspace_id: str, post_ids: Iterable[str | None]) -> dict[str, str]:
    """Return a post's title, or how its text begins, by its id; what is not there is left out."""
    requested = sorted({id_ for id_ in post_ids if id_ is not None})
    if not requested:
        return {}
    rows = tx.all(
        """
        SELECT id, title, content FROM post
        WHERE workspace_id = :workspace_id
            AND id IN (SELECT id FROM TABLE(:ids) AS asked (id text))
        """,
        workspace_id=workspace_id,
        ids=[(id_,) for id_ in requested],
    )
    return {
        row["id"]: (row["title"] or msgspec.json.decode(row["content"])["text"])[:LETTERS]
        for row in rows
    }
