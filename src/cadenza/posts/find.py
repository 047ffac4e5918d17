"""Reads one post of a workspace as it stands; deleted ones are not there."""

from cadenza.posts.model import NoSuchPost, Post, post_of
from cadenza.sql.tx import Tx


def find(tx: Tx, workspace_id: str, post_id: str, *, lock: bool = False) -> Post | NoSuchPost:
    """Return a post; `lock` lets no other transaction change it before this one ends."""
    for_update = "FOR UPDATE" if lock and tx.dialect == "postgresql" else ""
    row = tx.one(
        f"""
        SELECT * FROM post WHERE workspace_id = :workspace_id AND id = :id AND deleted_at IS NULL
        {for_update}
        """,  # noqa: S608 - a constant
        workspace_id=workspace_id,
        id=post_id,
    )
    if row is None:
        return NoSuchPost(post_id)
    labels = tx.all(
        """
        SELECT label FROM post_label WHERE workspace_id = :workspace_id AND post_id = :post_id
        ORDER BY label
        """,
        workspace_id=workspace_id,
        post_id=post_id,
    )
    return post_of(row, tuple(each["label"] for each in labels))
