"""Does this save approve the post? The workspace's setting and the role of whoever saves it say so.

Roles are looked up for members (`member:<id>`). What a program or a key may do, the edge that let it in
has checked: it asks for an approval with `asked=True`.
"""

from typing import Any

from cadenza.sql.tx import Tx

APPROVERS = frozenset({"owner", "admin", "editor"})


def may_approve(tx: Tx, workspace_id: str, by: str, *, asked: bool | None) -> str | None:
    """Return None when this save is an approval, else why it is not."""
    if asked is False:
        return "nobody asked for an approval"
    if (refused := why_not(tx, workspace_id, by)) is not None:
        return refused
    if asked is None:
        if not by.startswith("member:"):
            return "no person saved it: it waits for one"
        if _approval(tx, workspace_id) == "required":
            return "the workspace wants each post approved"
    return None


def why_not(tx: Tx, workspace_id: str, by: str) -> str | None:
    """Return why this person may not approve at all; None: they may, or they are no member."""
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
    return None if role in APPROVERS else f"a {role} cannot approve: an editor or above can"


def _approval(tx: Tx, workspace_id: str) -> str | None:
    return tx.value("SELECT approval FROM workspace WHERE id = :id", id=workspace_id)
