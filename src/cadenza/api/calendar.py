"""The calendar: everything due between two instants over all accounts, with the slots that are still free.

The same as an iCalendar file, for members and keys, and for calendar programs by an address with a token of
its own: keys never stand in addresses. A wrong token and a revoked one are simply not found.
"""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Annotated

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from cadenza.api.post_schemas import PillView
from cadenza.api.problems import Problem, conflict, invalid, not_found
from cadenza.api.queue_schemas import AnswerView, ValueView, show
from cadenza.api.request_context import ReadContext, Reader, Writer
from cadenza.api.routes import ANYONE, Resource
from cadenza.api.schemas import (
    ID,
    Id,
    IdField,
    InputModel,
    Instant,
    Line,
    SecretView,
    ZoneName,
    one_of,
)
from cadenza.core.zones import Mark, get_zone, local_day, offset_at, offset_changes
from cadenza.people.model import Role
from cadenza.people.tokens import draw_token, hash_token
from cadenza.posts import share_calendar
from cadenza.posts.show_calendar import Calendar, show_calendar
from cadenza.posts.write_ics import write_ics
from cadenza.queues.model import NoQueue
from cadenza.queues.show import Kind
from cadenza.queues.show import show as show_queue
from cadenza.sql.tx import Tx

routes = Resource("calendar", "/workspaces/{workspace_id}")
LONGEST, MONTH = timedelta(days=93), timedelta(days=31)
FIRST_YEAR, LAST_YEAR = 1971, 2500
BACK, AHEAD = timedelta(days=30), timedelta(days=90)  # of a feed
FREE = (Kind.EMPTY, Kind.CAPPED)
ICS = "text/calendar"
ICS_FILE = {200: {"description": "An iCalendar file", "content": {ICS: {}}}}
AccountIds = Annotated[list[Annotated[str, Field(max_length=128, pattern=ID)]] | None, Query()]


class EntryView(ValueView):
    """One delivery, with a line of what it says."""

    pill: PillView
    title: str
    text: str
    in_slot: bool = Field(description="It stands in a slot of the queue; false: timed by hand")


class FreeSlotView(BaseModel):
    """A slot that is still free; `capped`: its day is full."""

    account_id: str
    at: datetime
    wall_time: str
    zone: str
    kind: Kind
    mark: Mark


class ClockChange(BaseModel):
    """The zone's clocks are set: that day is shorter or longer."""

    at: datetime
    day: date
    minutes: int = Field(description="By how much: 60 forward, -60 back")


class CalendarView(BaseModel):
    """What is due from `start` on and before `end`; `more`: ask for a shorter span to see all."""

    start: datetime
    end: datetime
    zone: str
    entries: list[EntryView]
    more: bool
    free: list[FreeSlotView]
    clock_changes: list[ClockChange]


class FeedInput(InputModel):
    """An address for a calendar program."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "my telephone"}]})
    name: Line
    accounts: list[IdField] | None = Field(
        default=None, min_length=1, max_length=100, description="Left out: all"
    )


class FeedView(AnswerView):
    """An address, without what opens it."""

    id: str
    name: str
    accounts: list[str] | None
    member_id: str
    created_at: datetime
    read_at: datetime | None


class FeedCreated(FeedView, SecretView):
    """A new address, shown this once."""

    url: str


@routes.get("/calendar", needs=Role.VIEWER, scope="calendar:read")
async def read_calendar(
    ask: Reader,
    workspace_id: Id,
    *,
    start: Annotated[Instant | None, Query(description="Left out: now")] = None,
    end: Annotated[Instant | None, Query(description="Left out: 31 days after start")] = None,
    zone: Annotated[ZoneName | None, Query(description="Left out: the workspace's")] = None,
    account_id: AccountIds = None,
    free_slots: Annotated[bool, Query(description="Show free slots too")] = True,
) -> CalendarView:
    """Show everything that is due between two instants, of all accounts."""
    chosen = _accounts(ask, account_id)

    def look(tx: Tx, now: datetime) -> CalendarView:
        span = _span(start or now, end)
        found = _calendar(tx, now, workspace_id, span, chosen)
        clock = zone or tx.value("SELECT zone FROM workspace WHERE id = :id", id=workspace_id)
        return CalendarView(
            start=span[0],
            end=span[1],
            zone=clock,
            entries=[show(EntryView, each) for each in found.entries],
            more=found.more,
            free=_free(tx, now, workspace_id, span, chosen) if free_slots else [],
            clock_changes=_changes(*span, clock),
        )

    return await ask.read(look)


@routes.get(
    "/calendar.ics",
    needs=Role.VIEWER,
    scope="calendar:read",
    response_class=Response,
    responses=ICS_FILE,
)
async def download_calendar(ask: Reader, workspace_id: Id) -> Response:
    """Give out the calendar of a month ago to three months ahead as an iCalendar file."""
    chosen = _accounts(ask, None)
    return await ask.read(lambda tx, now: _ics(ask, tx, now, workspace_id, chosen))


@routes.get(
    "/calendar/feeds/{feed_token}/calendar.ics",
    needs=ANYONE,
    response_class=Response,
    responses=ICS_FILE,
)
async def read_feed(
    ask: Reader, workspace_id: Id, feed_token: Annotated[str, Path(min_length=1, max_length=200)]
) -> Response:
    """Give out the calendar to a calendar program that holds the address."""
    hashed = hash_token(feed_token)

    def look(tx: Tx, now: datetime) -> tuple[Response, str, bool]:
        feed = share_calendar.open_feed(tx, workspace_id=workspace_id, token_hash=hashed)
        if feed is None:
            raise not_found("calendar")
        stale = feed.read_at is None or feed.read_at < now - share_calendar.LOOK
        return _ics(ask, tx, now, workspace_id, feed.accounts), feed.id, stale

    answer, id_, stale = await ask.read(look)
    if stale:
        await ask.change(
            lambda tx, now: share_calendar.note_read(tx, now, workspace_id=workspace_id, id=id_)
        )
    return answer


@routes.get("/calendar/feeds", needs=Role.VIEWER)
async def list_feeds(ask: Reader, workspace_id: Id) -> list[FeedView]:
    """List the addresses that calendar programs read by."""
    found = await ask.read(lambda tx, _: share_calendar.list_feeds(tx, workspace_id=workspace_id))
    return [show(FeedView, each) for each in found]


@routes.post("/calendar/feeds", needs=Role.EDITOR, status_code=201)
async def make_feed(act: Writer, workspace_id: Id, body: FeedInput) -> FeedCreated:
    """Make an address for a calendar program; it is shown once and opens the calendar alone."""
    token = draw_token()
    member_id = act.caller.member_id
    if member_id is None:
        raise Problem(403, "person_needed", "A member has to do this.")

    def operation(tx: Tx, now: datetime) -> FeedCreated:
        for account_id in body.accounts or ():
            _check_account(tx, workspace_id, account_id)
        answer = share_calendar.make_feed(
            tx,
            now,
            workspace_id=workspace_id,
            name=body.name,
            token_hash=token.hash,
            member_id=member_id,
            by=act.by,
            accounts=body.accounts,
        )
        if isinstance(answer, share_calendar.TooMany):
            raise conflict("too_many", answer.message)
        path = f"/api/v1/workspaces/{workspace_id}/calendar/feeds/{token.text}/calendar.ics"
        shown = show(FeedView, answer).model_dump()
        return FeedCreated(**shown, url=f"{act.runtime.settings.home}{path}")

    return await act.write(operation, locks=share_calendar.feed_lock(workspace_id))


@routes.delete("/calendar/feeds/{feed_id}", needs=Role.EDITOR)
async def revoke_feed(act: Writer, workspace_id: Id, feed_id: Id) -> FeedView:
    """End an address; whoever holds it reads nothing any more."""

    def operation(tx: Tx, now: datetime) -> FeedView:
        answer = share_calendar.revoke_feed(
            tx, now, workspace_id=workspace_id, id=feed_id, by=act.by
        )
        if isinstance(answer, share_calendar.NoSuchFeed):
            raise not_found("calendar address")
        return show(FeedView, answer)

    return await act.write(operation)


def _span(start: datetime, end: datetime | None) -> tuple[datetime, datetime]:
    if not FIRST_YEAR <= start.year <= LAST_YEAR:
        raise invalid("query.start", f"years are {FIRST_YEAR} to {LAST_YEAR}", "span")
    until = start + MONTH if end is None else end
    if not start < until <= start + LONGEST:
        raise invalid("query.end", f"it lies after start, {LONGEST.days} days at most", "span")
    return start, until


def _accounts(ask: ReadContext, requested: list[str] | None) -> tuple[str, ...] | None:
    """Return the accounts to show; None: all."""
    for account_id in requested or ():
        ask.check_account(account_id)
    if requested:
        return tuple(requested)
    own = ask.caller.accounts
    return None if own is None else tuple(sorted(own))


def _calendar(
    tx: Tx,
    now: datetime,
    workspace_id: str,
    span: tuple[datetime, datetime],
    chosen: Sequence[str] | None,
) -> Calendar:
    if chosen is not None and not chosen:
        return Calendar((), more=False)
    return show_calendar(
        tx,
        now,
        workspace_id=workspace_id,
        start=span[0],
        end=span[1],
        account_ids=chosen or (),
    )


def _ics(
    ask: ReadContext, tx: Tx, now: datetime, workspace_id: str, chosen: Sequence[str] | None
) -> Response:
    name = tx.value("SELECT name FROM workspace WHERE id = :id", id=workspace_id)
    found = _calendar(tx, now, workspace_id, (now - BACK, now + AHEAD), chosen)
    host = ask.request.url.hostname or "cadenza"
    text = write_ics(str(name), found.entries, now=now, host=host)
    headers = {"content-disposition": 'attachment; filename="calendar.ics"'}
    return Response(text, 200, headers, media_type=ICS)


def _free(
    tx: Tx,
    now: datetime,
    workspace_id: str,
    span: tuple[datetime, datetime],
    chosen: Sequence[str] | None,
) -> list[FreeSlotView]:
    """Return the free slots of every queue, by time."""
    some, named = one_of("account_id", chosen)
    rows = tx.all(
        f"""
        SELECT queue.account_id, account.zone FROM queue JOIN account
            ON account.workspace_id = queue.workspace_id AND account.id = queue.account_id
        WHERE queue.workspace_id = :workspace_id AND queue.enabled AND {some}
            AND account.state <> 'disabled'
        """,  # noqa: S608 - names of parameters
        workspace_id=workspace_id,
        **named,
    )
    ghosts: list[FreeSlotView] = []
    for row in rows:
        account_id = row["account_id"]
        zone = get_zone(row["zone"])
        first, last = local_day(span[0], zone), local_day(span[1], zone)
        view = show_queue(
            tx,
            now,
            workspace_id=workspace_id,
            account_id=account_id,
            from_day=first,
            days=(last - first).days + 1,
            words=False,
        )
        if isinstance(view, NoQueue):
            continue
        ghosts += [
            FreeSlotView(
                account_id=account_id,
                at=line.at,
                wall_time=line.wall_time,
                zone=view.zone,
                kind=line.kind,
                mark=line.mark,
            )
            for day in view.days
            for line in day.lines
            if line.kind in FREE and span[0] <= line.at < span[1]
        ]
    return sorted(ghosts, key=lambda ghost: (ghost.at, ghost.account_id))


def _changes(start: datetime, end: datetime, name: str) -> list[ClockChange]:
    zone = get_zone(name)
    return [
        ClockChange(
            at=at,
            day=local_day(at, zone),
            minutes=round(
                (offset_at(at, zone) - offset_at(at - timedelta(seconds=1), zone)).total_seconds()
                / 60
            ),
        )
        for at in offset_changes(start, end, zone)
    ]


def _check_account(tx: Tx, workspace_id: str, account_id: str) -> None:
    found = tx.value(
        "SELECT id FROM account WHERE workspace_id = :workspace_id AND id = :id",
        workspace_id=workspace_id,
        id=account_id,
    )
    if found is None:
        raise invalid("body.accounts", f"there is no account {account_id!r} here", "no_account")
