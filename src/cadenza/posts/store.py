"""Writes what belongs to a post beside its row: its labels, its revisions, what it is found by."""

from collections.abc import Sequence
from datetime import datetime

from cadenza.posts.model import Content, Post
from cadenza.sql.tx import Tx

LONGEST_SEARCH = 20_000


def searchable(title: str, content: Content) -> str:
    """Return what a search looks at: title and every text, folded."""
    texts = [
        title,
        content.text,
        *content.parts,
        *(v.text or "" for v in content.variants.values()),
    ]
    found = " ".join([*texts, *(f"#{tag}" for tag in content.hashtags)])
    return " ".join(found.split()).casefold()[:LONGEST_SEARCH]


def set_labels(tx: Tx, workspace_id: str, post_id: str, labels: Sequence[str]) -> None:
    """Give a post exactly these labels."""
    tx.run(
        "DELETE FROM post_label WHERE workspace_id = :workspace_id AND post_id = :post_id",
        workspace_id=workspace_id,
        post_id=post_id,
    )
    tidy = dict.fromkeys(label.strip() for label in labels if label.strip())
    if tidy:
        tx.run(
            """
            INSERT INTO post_label (workspace_id, post_id, label)
            SELECT :workspace_id, :post_id, new.label FROM TABLE(:labels) AS new (label text)
            """,
            workspace_id=workspace_id,
            post_id=post_id,
            labels=[(label,) for label in tidy],
        )


def save_revision(tx: Tx, now: datetime, post: Post, *, by: str, note: str | None = None) -> None:
    """Add a save to the history."""
    tx.run(
        """
        INSERT INTO post_revision (
            workspace_id, post_id, revision, content, content_hash, saved_by, saved_at, note
        ) VALUES (:workspace_id, :post_id, :revision, :content, :hash, :by, :now, :note)
        """,
        workspace_id=post.workspace_id,
        post_id=post.id,
        revision=post.revision,
        content=post.content.as_json(),
        hash=post.content_hash,
        by=by,
        now=now,
        note=note,
    )
