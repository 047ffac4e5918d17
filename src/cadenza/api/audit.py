"""Who did what: the audit log of a workspace, and of the installation.

A key that is bound to accounts is shown what was done to these accounts themselves, and nothing else.
"""

from datetime import datetime
from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel

from cadenza.api.request_context import ReadContext, Reader
from cadenza.api.routes import INSTANCE, Resource
from cadenza.api.schemas import ID, LAST, Id, Page, Paged, PageInput, loads, one_of
from cadenza.people.model import INSTANCE as HOUSE
from cadenza.people.model import Role
from cadenza.sql.tx import Row, Tx

routes = Resource("audit")
Word = Annotated[str | None, Query(max_length=128, pattern=ID)]


class Entry(BaseModel):
    """One act."""

    id: str
    actor: str
    action: str
    subject_id: str
    before: Any
    after: Any
    happened_at: datetime


@routes.get("/workspaces/{workspace_id}/audit", needs=Role.ADMIN, scope="audit:read")
async def list_audit(
    ask: Reader, workspace_id: Id, page: Paged, subject_id: Word = None, actor: Word = None
) -> Page[Entry]:
    """List who did what in a workspace, newest first."""
    return await _list(ask, workspace_id, page, subject_id, actor)


@routes.get("/system/audit", needs=INSTANCE, scope="system:read")
async def list_installation_audit(
    ask: Reader, page: Paged, subject_id: Word = None, actor: Word = None
) -> Page[Entry]:
    """List sign-ins, passwords and other acts that belong to no workspace, newest first."""
    return await _list(ask, HOUSE, page, subject_id, actor)


async def _list(
    ask: ReadContext, workspace_id: str, page: PageInput, subject_id: str | None, actor: str | None
) -> Page[Entry]:
    at, id_ = page.after or (LAST, "")
    of_accounts, accounts = one_of("subject_id", ask.caller.accounts)

    def look(tx: Tx, now: datetime) -> list[Row]:
        return tx.all(
            f"""
            SELECT * FROM audit
            WHERE workspace_id = :workspace_id AND (:subject = '' OR subject_id = :subject)
                AND (:actor = '' OR actor = :actor) AND {of_accounts}
                AND (happened_at < :at OR (happened_at = :at AND id < :id))
            ORDER BY happened_at DESC, id DESC LIMIT :limit
            """,  # noqa: S608 - names of parameters
            workspace_id=workspace_id,
            subject=subject_id or "",
            actor=actor or "",
            at=at,
            id=id_,
            limit=page.limit + 1,
            **accounts,
        )

    return page.cut(await ask.read(look), _show, at="happened_at")


def _show(row: Row) -> Entry:
    fields = {name: row[name] for name in Entry.model_fields}
    return Entry(**fields | {"before": loads(row["before"]), "after": loads(row["after"])})
