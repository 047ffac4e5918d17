"""Reads one post of a workspace as it stands; deleted ones are not there."""

from enum import Enum

from cadenza.posts.model import NoSuchPost, Post, post_of
from cadenza.sql.tx import Tx


class Hold(Enum):
    """Whether others may change the post before this transaction ends; SQLite writes one at a time."""

    NO = ""
    SHARE = "FOR SHARE"  # others may read and plan it, nobody changes it
    CHANGE = "FOR UPDATE"  # it is changed here


def find(tx: Tx, workspace_id: str, post_id: str, *, hold: Hold = Hold.NO) -> Post | NoSuchPost:
    """Return a post, held as long as this transaction lasts if asked to."""
    held = hold.value if tx.dialect == "postgresql" else ""
    row = tx.one(
        f"""
        SELECT * FROM post WHERE workspace_id = :workspace_id AND id = :id AND deleted_at IS NULL
        {held}
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
