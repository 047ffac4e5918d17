"""The story of a post or of an account, newest first: who did what, which calls were made, what came of it."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import Query

from cadenza.api.accounts import one as one_account
from cadenza.api.posts import one as one_post
from cadenza.api.queue_schemas import ValueView, show
from cadenza.api.request_context import Reader
from cadenza.api.routes import Resource
from cadenza.api.schemas import Id, Instant
from cadenza.people.model import Role
from cadenza.posts import activity
from cadenza.sql.tx import Tx

routes = Resource("activity", "/workspaces/{workspace_id}")
Before = Annotated[Instant | None, Query(description="`at` of the last event of the page before")]
Limit = Annotated[int, Query(ge=1, le=activity.MOST)]


class EventView(ValueView):
    """One thing that happened; `by` null: the pipeline itself."""

    at: datetime
    kind: str
    message: str
    by: str | None
    delivery_id: str | None
    details: dict[str, Any]


@routes.get("/posts/{post_id}/activity", needs=Role.VIEWER, scope="posts:read")
async def of_post(
    ask: Reader, workspace_id: Id, post_id: Id, before: Before = None, limit: Limit = 50
) -> list[EventView]:
    """Tell what happened to a post and its deliveries."""

    def look(tx: Tx, now: datetime) -> list[activity.Event]:
        one_post(ask, tx, now, post_id)
        return activity.of_post(
            tx, workspace_id=workspace_id, post_id=post_id, before=before, limit=limit
        )

    return [show(EventView, each) for each in await ask.read(look)]


@routes.get("/accounts/{account_id}/activity", needs=Role.VIEWER, scope="accounts:read")
async def of_account(
    ask: Reader, workspace_id: Id, account_id: Id, before: Before = None, limit: Limit = 50
) -> list[EventView]:
    """Tell what happened to an account, and the calls for posts that it made."""

    def look(tx: Tx, now: datetime) -> list[activity.Event]:
        one_account(ask, tx, account_id)
        return activity.of_account(
            tx, workspace_id=workspace_id, account_id=account_id, before=before, limit=limit
        )

    return [show(EventView, each) for each in await ask.read(look)]
