"""Does this save approve the post? The workspace's setting and the role of the person who saves it decide.

Nobody approves a post that says and shows nothing.

Roles are looked up for members (`member:<id>`). What a program or a key may do, the edge that let it in
has checked: it asks for an approval with `requested=True`. Where the workspace requires approvals, an editor
cannot approve what they wrote: a second person looks at it. Owners and admins can: they could change the setting.
"""

from typing import Any

from cadenza.posts.model import Content, Post
from cadenza.providers.counting import is_blank
from cadenza.sql.tx import Tx

APPROVERS = frozenset({"owner", "admin", "editor"})
EMPTY = "has no text and no media"
OWN = "an editor cannot approve their own post here: somebody else has to"


def may_approve(tx: Tx, workspace_id: str, by: str, *, requested: bool | None) -> str | None:
    """Return None when this save is an approval, else why it is not; the words saved are `by`'s own."""
    if requested is False:
        return "nobody asked for an approval"
    if (refused := why_not(tx, workspace_id, by, own=requested is True)) is not None:
        return refused
    if requested is None:
        if not by.startswith("member:"):
            return "no person saved it: it waits for one"
        if _approval(tx, workspace_id) == "required":
            return "the workspace wants each post approved"
    return None


def why_not(tx: Tx, workspace_id: str, by: str, *, own: bool = False) -> str | None:
    """Return why this person may not approve it, their `own` post or another; None: they may, or are no member."""
    kind, _, id_ = by.partition(":")
    if kind != "member":
        return None
    role: Any = tx.value(
        "SELECT role FROM member WHERE workspace_id = :workspace_id AND id = :id",
        workspace_id=workspace_id,
        id=id_,
    )
    if role is None:
        return "who saved it is no member of the workspace"
    if role not in APPROVERS:
        return f"a {role} cannot approve: an editor or above can"
    return OWN if own and role == "editor" and _approval(tx, workspace_id) == "required" else None


def find_blockers(content: Content, known: tuple[str, ...]) -> tuple[str, ...]:
    """Name what must be done before anybody can approve it: what is `known`, else that it is empty."""
    return known or ((EMPTY,) if _is_empty(content) else ())


def is_own(tx: Tx, post: Post, by: str) -> bool:
    """Say whether this person began the post or wrote what it says now."""
    if by == f"member:{post.author_id}":
        return True
    saved_by: Any = tx.value(
        """
        SELECT saved_by FROM post_revision
        WHERE workspace_id = :workspace_id AND post_id = :id AND revision = :revision
        """,
        workspace_id=post.workspace_id,
        id=post.id,
        revision=post.revision,
    )
    return saved_by == by


def _is_empty(content: Content) -> bool:
    """Say whether no channel would show anything of it; a first comment alone is no post."""
    pieces = (content, *content.variants.values())
    texts = [
        text
        for each in pieces
        for text in (each.text, each.link, *(each.parts or ()), *(each.hashtags or ()))
    ]
    return not content.media_ids and all(is_blank(text or "") for text in texts)


def _approval(tx: Tx, workspace_id: str) -> str | None:
    return tx.value("SELECT approval FROM workspace WHERE id = :id", id=workspace_id)
