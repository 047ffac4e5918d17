"""Campaigns: one template to an audience, under a rate; start, pause, resume, cancel, progress and report."""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import datetime
from functools import partial
from typing import Annotated, Literal, TypeVar

from fastapi import Query, Response
from fastapi.sse import format_sse_event
from pydantic import ConfigDict, Field, StringConstraints

from cadenza.api.contact_schemas import EPOCH
from cadenza.api.events import BEAT, EVERY, Events, LiveEvent, still_allowed
from cadenza.api.problems import Problem, conflict, invalid, not_found
from cadenza.api.queue_schemas import ValueView
from cadenza.api.request_context import ReadContext, Reader, Writer
from cadenza.api.routes import Resource
from cadenza.api.schemas import (
    LAST,
    Answer,
    Id,
    IdField,
    InputModel,
    Instant,
    Line,
    Page,
    Paged,
    cursor_at,
)
from cadenza.campaigns import control, model, progress, purge, save, split, start
from cadenza.campaigns.model import (
    ENDED,
    RECIPIENT_VOCABULARY,
    VOCABULARY,
    Campaign,
    CampaignState,
    NoSuchCampaign,
    NotNow,
    Unfit,
    accounts_of,
    find_campaign,
    locks_of,
)
from cadenza.campaigns.progress import Progress, read_progress
from cadenza.campaigns.save import CampaignForm
from cadenza.core.channels import Channel
from cadenza.inbox.bulk_mail import open_bulk_sender
from cadenza.people.model import Role
from cadenza.sql.tx import Row, Tx, to_microseconds

View = TypeVar("View")
routes = Resource("campaigns", "/workspaces/{workspace_id}/campaigns")
Words = Annotated[str, StringConstraints(max_length=2_000)]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,59}$")]
Rate = Annotated[int, Field(ge=1, le=600_000, description="How many leave in a minute at most")]
Fault = Literal["blocked", "bounce", "broken", "flood_wait", "refused", "timeout"]
RecipientState = Literal[
    "scheduled", "sending", "sent", "failed", "unconfirmed", "missed", "skipped", "canceled"
]


class CampaignVariantInput(InputModel):
    """Another template that is tried."""

    template_id: IdField
    template_version: int | None = Field(default=None, ge=1)


class CampaignInput(InputModel):
    """A campaign as a person fills it in."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "name": "Autumn letter",
                    "audience_id": "someones",
                    "template_id": "some-template",
                    "account_ids": ["some-account"],
                    "delivery_rate": 600,
                }
            ]
        }
    )
    name: Line
    audience_id: IdField
    template_id: IdField
    template_version: int | None = Field(
        default=None, ge=1, le=1_000_000, description="Left out: the newest"
    )
    account_ids: list[IdField] = Field(min_length=1, max_length=save.MOST_ACCOUNTS)
    channel: Channel = Channel.EMAIL
    description: Words = ""
    params: dict[Name, str | int | float] = Field(
        default={},
        max_length=100,
        description="Values for all recipients; they win over a contact's own",
    )
    mode: Literal["live", "test"] = Field(
        default="live", description="test: nothing reaches a network"
    )
    delivery_rate: Rate | None = None
    retry_limit: int = Field(default=3, ge=0, le=20, description="So many tries after the first")
    skip_incomplete: bool = Field(
        default=False,
        description="Skip recipients with missing values instead of refusing the start",
    )
    max_error_percent: int = Field(
        default=10,
        ge=1,
        le=100,
        description="Pause it when so many of the last 200 results, 20 at least, are failures",
    )
    max_bounce_percent: int = Field(
        default=2, ge=1, le=100, description="Pause it when so many of 50 mails or more come back"
    )
    start_at: Instant | None = None
    not_after_at: Instant | None = None
    quiet_hours: str | None = Field(
        default=None,
        max_length=11,
        description="When nobody is written to, on each recipient's clock: 22:00-08:00",
    )
    local_start: bool = Field(
        default=False, description="Start at the hour of `start_at` on each recipient's clock"
    )
    variants: list[CampaignVariantInput] = Field(
        default=[], max_length=4, description="Other templates that are tried against its own"
    )
    split_percent: int = Field(
        default=100,
        ge=1,
        le=100,
        description="So many of a hundred try the versions; the rest gets the winner",
    )
    winner_by: Literal["hand", "replies", "clicks"] = Field(
        default="hand", description="Who or what chooses the winner"
    )
    winner_after_minutes: int = Field(default=240, ge=1, le=60 * 24 * 30)
    test_addresses: list[Annotated[str, StringConstraints(max_length=320)]] = Field(
        default=[], max_length=50, description="Of a test: who really gets it"
    )
    test_faults: dict[Fault, Annotated[int, Field(ge=0, le=100)]] = Field(
        default={}, description="Of a test: how many of a hundred meet which fault"
    )
    zone: str | None = Field(
        default=None,
        max_length=64,
        description="Of recipients without a time zone; null: the workspace's",
    )

    def form(self) -> CampaignForm:
        """Return it as operations take it."""
        given = self.model_dump()
        given["variants"] = [(each.template_id, each.template_version) for each in self.variants]
        return CampaignForm(**given)


class CampaignWinnerInput(InputModel):
    """Which version the rest of the audience gets."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"variant": 1}]})
    variant: int = Field(ge=0, le=9, description="Its place, from 0: the campaign's own template")


class CampaignRateInput(InputModel):
    """Another rate."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"delivery_rate": 600}]})
    delivery_rate: Rate


class CampaignPauseInput(InputModel):
    """Why it is paused."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"reason": "a wrong link"}]})
    reason: Words = ""


class CampaignProgressView(ValueView):
    """What became of the recipients so far."""

    total: int
    planned: bool
    sent: int
    failed: int
    unconfirmed: int
    missed: int
    skipped: int
    canceled: int
    waiting: int
    percent: int
    per_second: float | None
    per_minute: float | None
    allowed_per_minute: float | None
    finish_at: datetime | None
    bound_by: str | None


class CampaignVariantView(ValueView):
    """A version that is tried, and what it brought."""

    position: int
    template_id: str
    template_version_id: str
    sent: int
    failed: int
    replies: int
    clicks: int


class CampaignView(Answer):
    """A campaign and how far it is."""

    id: str
    name: str
    description: str
    audience_id: str
    template_id: str
    template_version_id: str
    account_ids: list[str]
    channel: Channel
    params: dict[str, str | int | float]
    mode: Literal["live", "test"]
    delivery_rate: int | None
    retry_limit: int
    skip_incomplete: bool
    max_error_percent: int
    max_bounce_percent: int
    start_at: datetime | None
    not_after_at: datetime | None
    quiet_hours: str | None
    local_start: bool
    zone: str | None
    variants: list[CampaignVariantView]
    split_percent: int
    split_state: Literal["testing", "waiting", "decided"] | None
    winner_by: Literal["hand", "replies", "clicks"]
    winner_after_minutes: int
    winner_at: datetime | None
    winner: int | None
    test_addresses: list[str]
    test_faults: dict[Fault, int]
    state: CampaignState
    status: str = Field(description="The same in the words of a pg-boss installation")
    reason: str | None
    reason_code: str | None
    auto_resume_at: datetime | None = Field(
        description="When a pause ends by itself; null: an editor resumes it"
    )
    progress: CampaignProgressView
    revision: int
    created_at: datetime
    updated_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    purged_at: datetime | None


class CampaignStartView(Answer):
    """What starting comes to."""

    campaign: CampaignView
    recipients: int
    accounts: list[str]
    first_at: datetime
    finish_at: datetime | None
    bound_by: str
    warnings: list[str]


class CampaignRecipientView(ValueView):
    """A recipient and what became of the message."""

    delivery_id: str
    recipient: str
    contact_id: str | None
    account_id: str
    state: RecipientState
    status: str | None = Field(
        default=None, description="The state in the words of a pg-boss installation, where asked"
    )
    reason: str | None
    sent_at: datetime | None
    failed_at: datetime | None
    attempts: int
    url: str | None


class CampaignSkippedView(ValueView):
    """A member of the audience who was not written to, and why."""

    kind: Literal["contact", "channel"]
    provider: str
    member_id: str
    recipient: str | None
    code: str
    message: str
    skipped_at: datetime


class CampaignPurgeInput(InputModel):
    """What is removed."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"sent_before": "2026-01-01T00:00:00Z"}]}
    )
    sent_before: Instant


class CampaignPurgeView(Answer):
    """What is removed: messages that were sent, of campaigns that have ended."""

    sent_before: datetime
    campaigns: int
    deliveries: int


class CampaignDeleted(Answer):
    """It is deleted; what it sent stays in the ledger."""

    id: str


@routes.get(needs=Role.VIEWER, scope="campaigns:read")
async def list_campaigns(ask: Reader, workspace_id: Id, page: Paged) -> Page[CampaignView]:
    """List campaigns with their progress, the newest first."""

    def look(tx: Tx, now: datetime) -> tuple[list[Campaign], list[CampaignView]]:
        found = model.list_campaigns(
            tx, workspace_id=workspace_id, before=page.after or (LAST, ""), limit=page.limit + 1
        )
        return found, _views(tx, now, found[: page.limit])

    found, shown = await ask.read(look)
    last = found[page.limit - 1] if len(found) > page.limit else None
    return Page(items=shown, next=None if last is None else cursor_at(last.created_at, last.id))


@routes.post(needs=Role.EDITOR, scope="campaigns:write", status_code=201)
async def create_campaign(act: Writer, workspace_id: Id, body: CampaignInput) -> CampaignView:
    """Make a draft; nothing is sent before it is started."""

    def operation(tx: Tx, now: datetime) -> CampaignView:
        made = save.create_campaign(tx, now, body.form(), workspace_id=workspace_id, by=act.by)
        return act.tag(_view(tx, now, _accepted(made)))

    return await act.write(operation)


@routes.post("/purge", needs=Role.ADMIN, scope="campaigns:write")
async def purge_campaigns(
    act: Writer, workspace_id: Id, body: CampaignPurgeInput
) -> CampaignPurgeView:
    """Remove what ended campaigns sent before a time; the ledger and the totals stay. `dry_run=true` counts."""

    def operation(tx: Tx, now: datetime) -> CampaignPurgeView:
        if body.sent_before > now:
            raise invalid("sent_before", "That time is still to come.")
        found = purge.purge_campaigns(
            tx, now, workspace_id=workspace_id, sent_before=body.sent_before, by=act.by
        )
        return CampaignPurgeView(
            sent_before=found.sent_before, campaigns=found.campaigns, deliveries=found.deliveries
        )

    return await act.write(operation)


@routes.get("/{campaign_id}", needs=Role.VIEWER, scope="campaigns:read")
async def show_campaign(ask: Reader, workspace_id: Id, campaign_id: Id) -> CampaignView:
    """Show a campaign and how far it is."""
    return ask.tag(await ask.read(lambda tx, now: _view(tx, now, _one(ask, tx, campaign_id))))


@routes.put("/{campaign_id}", needs=Role.EDITOR, scope="campaigns:write")
async def change_campaign(
    act: Writer, workspace_id: Id, campaign_id: Id, body: CampaignInput
) -> CampaignView:
    """Change a campaign that has not begun."""

    def operation(tx: Tx, now: datetime) -> CampaignView:
        act.check_match(_view(tx, now, _one(act, tx, campaign_id)))
        answer = save.change_campaign(
            tx, now, campaign_id, body.form(), workspace_id=workspace_id, by=act.by
        )
        return act.tag(_view(tx, now, _accepted(answer)))

    return await act.write(operation, locks=locks_of(workspace_id, campaign_id))


@routes.delete("/{campaign_id}", needs=Role.EDITOR, scope="campaigns:write")
async def delete_campaign(act: Writer, workspace_id: Id, campaign_id: Id) -> CampaignDeleted:
    """Delete a draft, or a campaign that has ended."""

    def operation(tx: Tx, now: datetime) -> CampaignDeleted:
        answer = save.delete_campaign(tx, now, campaign_id, workspace_id=workspace_id, by=act.by)
        return CampaignDeleted(id=_accepted(answer).id)

    return await act.write(operation, locks=locks_of(workspace_id, campaign_id))


@routes.post("/{campaign_id}/start", needs=Role.EDITOR, scope="campaigns:write")
async def start_campaign(
    act: Writer,
    workspace_id: Id,
    campaign_id: Id,
    recipients: Annotated[
        int | None, Query(ge=0, description="How many a person confirmed; others are refused")
    ] = None,
) -> CampaignStartView:
    """Start it, or let it wait for its time; `dry_run=true` shows what that comes to."""

    def operation(tx: Tx, now: datetime) -> CampaignStartView:
        answer = start.start_campaign(
            tx,
            now,
            campaign_id,
            workspace_id=workspace_id,
            by=act.by,
            confirmed=recipients,
            sender=open_bulk_sender(
                tx,
                workspace_id=workspace_id,
                keyring=act.runtime.keyring,
                public_url=act.runtime.settings.home,
            ),
        )
        if not isinstance(answer, start.StartPlan):
            raise refuse_campaign(answer)
        return CampaignStartView(
            campaign=_view(tx, now, answer.campaign),
            recipients=answer.recipients,
            accounts=list(answer.accounts),
            first_at=answer.first_at,
            finish_at=answer.finish_at,
            bound_by=answer.bound_by,
            warnings=list(answer.warnings),
        )

    return await act.write(operation, locks=locks_of(workspace_id, campaign_id))


@routes.get(
    "/{campaign_id}/progress",
    needs=Role.VIEWER,
    scope="campaigns:read",
    response_class=Events,
)
async def follow_progress(ask: Reader, workspace_id: Id, campaign_id: Id) -> Response:
    """Follow how far a campaign is: an event when something changed, at most one a second, until it ends."""
    await ask.read(lambda tx, _: _one(ask, tx, campaign_id))
    return Events(_follow(ask, campaign_id))


async def _follow(ask: ReadContext, campaign_id: str) -> AsyncIterator[bytes]:
    stop: asyncio.Event = ask.request.app.state.stop
    clock = ask.runtime.clock
    yield format_sse_event(comment="following", retry=2000)
    last, beat = "", clock.monotonic() + BEAT
    while not stop.is_set():
        now, shown = await ask.read(
            lambda tx, now: (now, _view(tx, now, _one(ask, tx, campaign_id)))
        )
        said = shown.model_dump_json(exclude={"progress": {"finish_at", "per_minute"}})
        if said != last:
            last = said
            event = LiveEvent(
                id=f"{campaign_id}:{to_microseconds(now)}",
                kind="campaign.progress",
                subject_id=campaign_id,
                actor=None,
                data=shown.model_dump(mode="json"),
                at=now,
            )
            yield format_sse_event(data_str=event.model_dump_json(), id=event.id)
        if shown.state in ENDED:
            return
        if clock.monotonic() >= beat:
            beat = clock.monotonic() + BEAT
            if not await still_allowed(ask):
                return
            yield format_sse_event(comment="still here")
        await clock.wait(stop, EVERY)


@routes.post("/{campaign_id}/pause", needs=Role.EDITOR, scope="campaigns:write")
async def pause_campaign(
    act: Writer, workspace_id: Id, campaign_id: Id, body: CampaignPauseInput
) -> CampaignView:
    """Let nothing more of it leave until it is resumed; calls under way finish."""

    def operation(tx: Tx, now: datetime) -> control.Answer:
        return control.pause_campaign(
            tx, now, campaign_id, workspace_id=workspace_id, by=act.by, reason=body.reason
        )

    return await _change(act, workspace_id, campaign_id, operation)


@routes.post("/{campaign_id}/resume", needs=Role.EDITOR, scope="campaigns:write")
async def resume_campaign(act: Writer, workspace_id: Id, campaign_id: Id) -> CampaignView:
    """Go on; what was sent or is unconfirmed is not sent again."""

    def operation(tx: Tx, now: datetime) -> control.Answer:
        return control.resume_campaign(tx, now, campaign_id, workspace_id=workspace_id, by=act.by)

    return await _change(act, workspace_id, campaign_id, operation)


@routes.post("/{campaign_id}/cancel", needs=Role.EDITOR, scope="campaigns:write")
async def cancel_campaign(act: Writer, workspace_id: Id, campaign_id: Id) -> CampaignView:
    """End it now; what waits is canceled."""

    def operation(tx: Tx, now: datetime) -> control.Answer:
        return control.cancel_campaign(tx, now, campaign_id, workspace_id=workspace_id, by=act.by)

    return await _change(act, workspace_id, campaign_id, operation)


@routes.post("/{campaign_id}/retry-failed", needs=Role.EDITOR, scope="campaigns:write")
async def retry_failed(act: Writer, workspace_id: Id, campaign_id: Id) -> CampaignView:
    """Send again to those for whom it failed."""

    def operation(tx: Tx, now: datetime) -> control.Answer:
        return control.retry_failed(tx, now, campaign_id, workspace_id=workspace_id, by=act.by)

    return await _change(act, workspace_id, campaign_id, operation)


@routes.post("/{campaign_id}/send-to-remaining", needs=Role.EDITOR, scope="campaigns:write")
async def send_to_remaining(act: Writer, workspace_id: Id, campaign_id: Id) -> CampaignView:
    """Send to those who joined the audience since; nobody gets it twice."""

    def operation(tx: Tx, now: datetime) -> control.Answer:
        return control.send_to_remaining(tx, now, campaign_id, workspace_id=workspace_id, by=act.by)

    return await _change(act, workspace_id, campaign_id, operation)


@routes.post("/{campaign_id}/winner", needs=Role.EDITOR, scope="campaigns:write")
async def choose_winner(
    act: Writer, workspace_id: Id, campaign_id: Id, body: CampaignWinnerInput
) -> CampaignView:
    """Send one of the versions that were tried to the rest of the audience."""

    def operation(tx: Tx, now: datetime) -> control.Answer:
        return split.choose_winner(
            tx, now, campaign_id, body.variant, workspace_id=workspace_id, by=act.by
        )

    return await _change(act, workspace_id, campaign_id, operation)


@routes.post("/{campaign_id}/rate", needs=Role.EDITOR, scope="campaigns:write")
async def set_rate(
    act: Writer, workspace_id: Id, campaign_id: Id, body: CampaignRateInput
) -> CampaignView:
    """Change how many leave in a minute, also while it runs."""

    def operation(tx: Tx, now: datetime) -> control.Answer:
        return save.set_rate(
            tx, now, campaign_id, body.delivery_rate, workspace_id=workspace_id, by=act.by
        )

    return await _change(act, workspace_id, campaign_id, operation)


@routes.post(
    "/{campaign_id}/duplicate", needs=Role.EDITOR, scope="campaigns:write", status_code=201
)
async def duplicate_campaign(act: Writer, workspace_id: Id, campaign_id: Id) -> CampaignView:
    """Make a draft like it."""

    def operation(tx: Tx, now: datetime) -> CampaignView:
        answer = save.duplicate_campaign(tx, now, campaign_id, workspace_id=workspace_id, by=act.by)
        return _view(tx, now, _accepted(answer))

    return await act.write(operation)


@routes.get("/{campaign_id}/recipients", needs=Role.VIEWER, scope="campaigns:read")
async def list_recipients(
    ask: Reader,
    workspace_id: Id,
    campaign_id: Id,
    page: Paged,
    state: Annotated[RecipientState | None, Query(description="Only these")] = None,
    vocabulary: Annotated[
        Literal["pgboss"] | None,
        Query(description="Show `status` too: QUEUED, SENDING, SENT or FAILED"),
    ] = None,
) -> Page[CampaignRecipientView]:
    """List recipients with what became of each, and why."""
    after = "" if page.after is None else page.after[1]
    rows = await ask.read(
        lambda tx, _: progress.list_recipients(
            tx, _one(ask, tx, campaign_id), state=state, after=after, limit=page.limit + 1
        )
    )
    show = partial(_recipient, with_status=vocabulary is not None)
    return _page(page.limit, rows, "recipient", show)


@routes.get("/{campaign_id}/skipped", needs=Role.VIEWER, scope="campaigns:read")
async def list_skipped(
    ask: Reader, workspace_id: Id, campaign_id: Id, page: Paged
) -> Page[CampaignSkippedView]:
    """List members of the audience for whom no message was made, and why."""
    after = "" if page.after is None else page.after[1]
    rows = await ask.read(
        lambda tx, _: progress.list_skipped(
            tx, _one(ask, tx, campaign_id), after=after, limit=page.limit + 1
        )
    )
    return _page(page.limit, rows, "member_id", lambda row: CampaignSkippedView(**row))


def _page(limit: int, rows: list[Row], key: str, show: Callable[[Row], View]) -> Page[View]:
    last = rows[limit - 1][key] if len(rows) > limit else None
    return Page(
        items=[show(row) for row in rows[:limit]],
        next=None if last is None else cursor_at(EPOCH, last),
    )


async def _change(
    act: Writer,
    workspace_id: str,
    campaign_id: str,
    operation: Callable[[Tx, datetime], control.Answer],
) -> CampaignView:
    def run(tx: Tx, now: datetime) -> CampaignView:
        return act.tag(_view(tx, now, _accepted(operation(tx, now))))

    return await act.write(run, locks=locks_of(workspace_id, campaign_id))


def refuse_campaign(answer: object) -> Problem:
    """Say over HTTP what an operation on campaigns refused."""
    match answer:
        case NoSuchCampaign():
            return not_found("campaign")
        case NotNow(message=message):
            return conflict("wrong_state", message)
        case Unfit(field=field, message=message):
            return invalid(field, message)
        case _:
            raise TypeError(f"{answer!r} is no refusal")


def _accepted(answer: Campaign | NoSuchCampaign | NotNow | Unfit) -> Campaign:
    if not isinstance(answer, Campaign):
        raise refuse_campaign(answer)
    return answer


def _one(ask: ReadContext, tx: Tx, campaign_id: str) -> Campaign:
    return _accepted(find_campaign(tx, ask.workspace_id, campaign_id))


def _views(tx: Tx, now: datetime, campaigns: list[Campaign]) -> list[CampaignView]:
    found = read_progress(tx, now, campaigns)
    return [_shown(tx, each, found[each.key]) for each in campaigns]


def _view(tx: Tx, now: datetime, campaign: Campaign) -> CampaignView:
    return _views(tx, now, [campaign])[0]


def _shown(tx: Tx, each: Campaign, reached: Progress) -> CampaignView:
    return CampaignView(
        id=each.id,
        name=each.name,
        description=each.description,
        audience_id=each.audience_id,
        template_id=each.template_id,
        template_version_id=each.template_version_id,
        account_ids=accounts_of(tx, each),
        channel=each.channel,
        params=each.values,
        mode="test" if each.mode == "test" else "live",
        delivery_rate=each.delivery_rate,
        retry_limit=each.retry_limit,
        skip_incomplete=each.skip_incomplete,
        max_error_percent=each.max_error_percent,
        max_bounce_percent=each.max_bounce_percent,
        start_at=each.start_at,
        not_after_at=each.not_after_at,
        quiet_hours=each.quiet_hours,
        local_start=each.local_start,
        zone=each.zone,
        variants=[CampaignVariantView.model_validate(v) for v in split.list_variants(tx, each)],
        split_percent=each.split_percent,
        split_state=each.split_state,  # pyright: ignore[reportArgumentType]
        winner_by=each.winner_by,  # pyright: ignore[reportArgumentType]
        winner_after_minutes=each.winner_after_minutes,
        winner_at=each.winner_at,
        winner=each.winner,
        test_addresses=each.real_addresses,
        test_faults=each.faults,  # pyright: ignore[reportArgumentType]
        state=each.state,
        status=VOCABULARY[each.state],
        reason=each.reason,
        reason_code=each.reason_code,
        auto_resume_at=each.auto_resume_at,
        progress=CampaignProgressView.model_validate(reached),
        revision=each.revision,
        created_at=each.created_at,
        updated_at=each.updated_at,
        started_at=each.started_at,
        ended_at=each.ended_at,
        purged_at=each.purged_at,
    )


def _recipient(row: Row, *, with_status: bool) -> CampaignRecipientView:
    own = CampaignRecipientView.model_fields.keys() - {"delivery_id", "status"}
    return CampaignRecipientView(
        delivery_id=row["id"],
        status=RECIPIENT_VOCABULARY[row["state"]] if with_status else None,
        **{name: row[name] for name in own},
    )
