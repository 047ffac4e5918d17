"""What happens in a workspace, as it happens: server-sent events from audit and outbox rows.

Each look goes through all rows since the last one, page by page and in order of time, with a look back of a
few seconds, because a transaction may become visible after one that began later; what was sent is remembered,
so nothing comes twice on one stream. A browser that comes back says where it was (`Last-Event-ID`) and may see
the last seconds again: know events by their id. The stream ends when the process stops or when the caller may
no longer look.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from datetime import datetime, timedelta
from typing import Annotated, Any

from fastapi import Header, Response
from fastapi.responses import StreamingResponse
from fastapi.sse import format_sse_event
from pydantic import BaseModel

from cadenza.api.authorize import identify
from cadenza.api.problems import Problem
from cadenza.api.request_context import ReadContext, Reader
from cadenza.api.routes import Resource
from cadenza.api.schemas import Id, loads
from cadenza.people.model import Role
from cadenza.sql.tx import Row, Tx, from_microseconds, to_microseconds

routes = Resource("events", "/workspaces/{workspace_id}/events")
EVERY = 1.0  # seconds between looks
BEAT = 15.0  # seconds between signs of life
LOOK_BACK = timedelta(seconds=5)
PAGE = 500  # rows
# Letters to single persons are nobody else's affair; what moved with a queue is told by the act that moved it.
LOGS = (
    """
    SELECT id, action AS kind, subject_id, actor, after AS data, happened_at FROM audit
    WHERE workspace_id = :workspace_id AND happened_at >= :at AND (happened_at > :at OR id > :id)
        AND action <> 'queue.move'
    ORDER BY happened_at, id LIMIT :most
    """,
    """
    SELECT id, kind, subject_id, NULL AS actor, body AS data, created_at AS happened_at FROM outbox
    WHERE workspace_id = :workspace_id AND created_at >= :at AND (created_at > :at OR id > :id)
        AND kind NOT LIKE 'person.%'
    ORDER BY created_at, id LIMIT :most
    """,
)


class Events(StreamingResponse):
    """A stream of events."""

    media_type = "text/event-stream"


class LiveEvent(BaseModel):
    """Something that happened."""

    id: str
    kind: str
    subject_id: str
    actor: str | None
    data: Any
    at: datetime


@routes.get(
    needs=Role.VIEWER,
    scope="events:read",
    response_class=Events,
)
async def follow(
    ask: Reader,
    workspace_id: Id,
    last_event_id: Annotated[
        str | None, Header(max_length=200, description="Where the stream was left")
    ] = None,
) -> Response:
    """Follow what happens in a workspace, from now on or from where one was."""
    since, seen = await _start(ask, last_event_id)
    return Events(_stream(ask, since, seen))


async def _stream(
    ask: ReadContext, since: datetime, seen: dict[str, datetime]
) -> AsyncIterator[bytes]:
    stop: asyncio.Event = ask.request.app.state.stop
    clock = ask.runtime.clock
    yield format_sse_event(comment="following", retry=2000)
    beat = clock.monotonic() + BEAT
    async for row in _fresh(ask, since, seen):
        if row is None:
            await clock.wait(stop, EVERY)
        elif _may_see(ask, row):
            yield _event(row)
        if stop.is_set():
            return
        if clock.monotonic() >= beat:
            beat = clock.monotonic() + BEAT
            if not await still_allowed(ask):
                return
            yield format_sse_event(comment="still here")


async def _fresh(
    ask: ReadContext, since: datetime, seen: dict[str, datetime]
) -> AsyncIterator[Row | None]:
    """Give each new row once, for ever; None: that is all for now."""
    while True:
        newest = since
        async for row in _look(ask, since):
            newest = row["happened_at"]
            if row["id"] not in seen:
                seen[row["id"]] = newest
                yield row
        since = max(since, newest - LOOK_BACK)
        seen = {id_: at for id_, at in seen.items() if at >= since}
        yield None


async def _start(ask: ReadContext, last: str | None) -> tuple[datetime, dict[str, datetime]]:
    if last is None:
        now = await ask.read(lambda tx, now: now)
        return now, {}
    at, _, id_ = last.partition(".")
    if not at.isdecimal() or len(at) > 17:
        raise Problem(400, "bad_event_id", "Last-Event-ID is none of ours.")
    instant = from_microseconds(int(at))
    return instant - LOOK_BACK, {id_: instant}


async def _look(ask: ReadContext, since: datetime) -> AsyncIterator[Row]:
    """Go through both logs from an instant to their ends, the older row first."""
    first = await ask.read(lambda tx, _: [_page(tx, ask, log, since, "") for log in LOGS])
    logs = [_follow(ask, log, page) for log, page in zip(LOGS, first, strict=True)]
    heads = [await anext(log, None) for log in logs]
    while waiting := [
        (head["happened_at"], place) for place, head in enumerate(heads) if head is not None
    ]:
        _, place = min(waiting)
        head, heads[place] = heads[place], await anext(logs[place], None)
        assert head is not None
        yield head


async def _follow(ask: ReadContext, log: str, page: list[Row]) -> AsyncGenerator[Row]:
    """Go through one log from a page of it to its end."""
    while True:
        for row in page:
            yield row
        if len(page) < PAGE:
            return
        at, id_ = page[-1]["happened_at"], page[-1]["id"]
        page = await ask.read(lambda tx, _, at=at, id_=id_: _page(tx, ask, log, at, id_))


def _page(tx: Tx, ask: ReadContext, log: str, at: datetime, id_: str) -> list[Row]:
    return tx.all(log, workspace_id=ask.workspace_id, at=at, id=id_, most=PAGE)


def _may_see(ask: ReadContext, row: Row) -> bool:
    """A key with a list of accounts is told of nothing else; viewers do not see who was let in."""
    if ask.caller.accounts is not None:
        return row["subject_id"] in ask.caller.accounts
    private = row["kind"].startswith(("member.", "invitation.", "key.", "webhook."))
    role = ask.caller.role
    return not private or (role is not None and role.covers(Role.ADMIN))


def _event(row: Row) -> bytes:
    shown = LiveEvent(
        id=row["id"],
        kind=row["kind"],
        subject_id=row["subject_id"],
        actor=row["actor"],
        data=loads(row["data"]),
        at=row["happened_at"],
    )
    return format_sse_event(
        data_str=shown.model_dump_json(),
        id=f"{to_microseconds(row['happened_at'])}.{row['id']}",
    )


async def still_allowed(ask: ReadContext) -> bool:
    """Ask again who it is: a session that ended ends its streams."""
    try:
        known = await identify(ask.request, ask.runtime, ask.workspace_id)
    except Problem:
        return False
    return known is not None and known.caller.role is not None
