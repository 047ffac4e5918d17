"""What would become of a post: how each channel gets it, how long it is there, and what would go wrong.

Nothing is changed and no network is asked. `GET /channels` gives the numbers for a composer; `preview` counts
in each network's own unit and shows pictures as they are sent, made by the code that sends them; `check` asks
what the pipeline will ask.
"""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from cadenza.accounts.model import Account
from cadenza.accounts.open import refer
from cadenza.api.post_schemas import (
    ChannelName,
    FindingView,
    PostFields,
    TargetInput,
    refuse,
    targets_of,
)
from cadenza.api.posts import check_category, one
from cadenza.api.queue_schemas import ValueView, show
from cadenza.api.request_context import ReadContext, Reader
from cadenza.api.routes import PERSON, Resource
from cadenza.api.schemas import Id, InputModel, Instant, loads
from cadenza.core.channels import Channel
from cadenza.core.rollup import DROPPED
from cadenza.deliveries.check_fit import Fit, check_fit, check_fitted
from cadenza.deliveries.model import ComposedPost
from cadenza.media.storage import NotStored, StorageFailed
from cadenza.people.model import Role
from cadenza.posts.compose import compose_post
from cadenza.posts.model import Approval, Post, Source, hash_of
from cadenza.posts.preflight import check_post
from cadenza.posts.targets import (
    ONLY_WHEN_ASKED,
    Targets,
    accounts_of,
    check_targets,
    resolve_targets,
    set_aside_gone,
)
from cadenza.providers.base import Provider
from cadenza.providers.measure import Length, measure, most_files
from cadenza.providers.message import AccountRef, Message
from cadenza.providers.option import Option, OptionType
from cadenza.providers.registry import all_providers, options_of, providers_of
from cadenza.sql.tx import Tx

routes = Resource("posts", "/workspaces/{workspace_id}/posts")
channels = Resource("channels", "/channels")
_NOBODY = AccountRef(id="", remote_id="")


class ChoiceView(BaseModel):
    """One value of an option, and what people read."""

    value: str
    label: str


class OptionView(BaseModel):
    """What a person may choose on a channel; it goes into the `options` of the channel's variant."""

    name: str
    label: str
    takes: OptionType
    choices: list[ChoiceView]
    hint: str


class ChannelView(BaseModel):
    """What a channel takes, by one network; a limit of null: none is known."""

    channel: Channel
    provider: str
    unit: str
    limit: int | None
    files: int | None
    threads: bool
    first_comment: bool
    fetches_media: bool
    needs_recipient: bool
    usual: bool = Field(description="An account's posts go there unless it is said otherwise")
    options: list[OptionView]


class Draft(PostFields):
    """A post that is not saved, and where it would go."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"text": "We open at nine. https://example.org", "channels": ["x"]}]
        }
    )
    accounts: list[TargetInput] = Field(default=[], max_length=100)
    channels: list[ChannelName] = Field(
        default=[], max_length=20, description="Without an account: the network's usual limits"
    )


class DraftCheck(PostFields):
    """A post that is not saved, where it would go, and when."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"text": "We open at nine.", "accounts": [{"account_id": "0193a7"}]}]
        }
    )
    accounts: list[TargetInput] = Field(max_length=100)
    at: Instant | None = None
    post_id: str | None = Field(
        default=None, max_length=128, description="Of the saved post: it does not repeat itself"
    )


class CheckInput(InputModel):
    """Where and when; left out: where it is planned, now."""

    model_config = ConfigDict(json_schema_extra={"examples": [{}]})
    accounts: list[TargetInput] | None = Field(default=None, max_length=100)
    at: Instant | None = None


class LengthView(ValueView):
    """How long a text is, and may be, in the network's own unit."""

    unit: str
    length: int
    limit: int | None


class TroubleView(ValueView):
    """What the network would refuse; not blocking: it goes out, less well."""

    code: str
    message: str
    field: str
    blocking: bool


class FittedView(BaseModel):
    """A picture as the channel gets it, because it does not take the file as it is."""

    media_id: str
    message: str
    mime: str
    size: int
    width: int | None
    height: int | None
    file_url: str | None = Field(description="The changed picture; null: not made yet")


class PreviewView(BaseModel):
    """The post as one channel gets it."""

    account_id: str | None
    handle: str | None
    provider: str
    channel: Channel
    text: str
    parts: list[str]
    first_comment: str | None
    link: str | None
    media: list[dict[str, Any]]
    fitted: list[FittedView] = Field(description="Of the media, those that are changed to fit")
    length: int
    limit: int | None
    unit: str
    part_lengths: list[LengthView]
    problems: list[TroubleView]


class Checked(BaseModel):
    """What would go wrong; `ready`: nothing that keeps it from going out."""

    ready: bool
    findings: list[FindingView]


@channels.get(needs=PERSON, scope="posts:read")
async def list_channels(ask: Reader) -> list[ChannelView]:
    """List what each channel takes, for a composer; an account may have its own limits (`preview`)."""
    return [
        _channel(provider, channel)
        for provider in all_providers().values()
        for channel in provider.channels
    ]


@routes.post("/preview", needs=Role.VIEWER, scope="posts:read", looks=True)
async def preview(ask: Reader, workspace_id: Id, body: Draft) -> list[PreviewView]:
    """Show an unsaved post as each channel gets it, with its length in the network's own unit."""
    targets = targets_of(ask, body.accounts) or []

    def look(tx: Tx, now: datetime) -> tuple[list[ComposedPost], dict[str, Account]]:
        check_category(tx, workspace_id, body)
        _check_targets(tx, workspace_id, targets)
        post = _unsaved(ask, body, now)
        places = resolve_targets(tx, workspace_id, targets)
        alone = [("", channel) for channel in dict.fromkeys(body.channels)]
        pieces = compose_post(tx, post, [*places, *alone])
        return pieces, dict(accounts_of(tx, workspace_id, places))

    pieces, accounts = await ask.read(look)
    shown = [await _preview(ask, piece, accounts.get(piece.account_id)) for piece in pieces]
    return [each for each in shown if each is not None]


@routes.post("/check", needs=Role.VIEWER, scope="posts:read", looks=True)
async def check_draft(ask: Reader, workspace_id: Id, body: DraftCheck) -> Checked:
    """Say what would go wrong with an unsaved post; that nobody approved it yet is not counted."""
    targets = targets_of(ask, body.accounts) or []

    def look(tx: Tx, now: datetime) -> Checked:
        check_category(tx, workspace_id, body)
        _check_targets(tx, workspace_id, targets)
        post = _unsaved(ask, body, now, body.post_id or "")
        places = resolve_targets(tx, workspace_id, targets)
        return _checked(ask, tx, now, post, places, body.at)

    return await ask.read(look)


@routes.post("/{post_id}/check", needs=Role.VIEWER, scope="posts:read", looks=True)
async def check_saved(ask: Reader, workspace_id: Id, post_id: Id, body: CheckInput) -> Checked:
    """Say what would go wrong with a saved post, where it is planned or elsewhere."""
    targets = targets_of(ask, body.accounts)

    def look(tx: Tx, now: datetime) -> Checked:
        shown = one(ask, tx, now, post_id)
        if targets is None:
            planned = [pill for pill in shown.pills if pill.state not in DROPPED]
            places = [(pill.account_id, Channel(pill.channel)) for pill in planned]
        else:
            _check_targets(tx, workspace_id, targets)
            places = resolve_targets(tx, workspace_id, targets)
        return _checked(ask, tx, now, shown.post, places, body.at)

    return await ask.read(look)


def _check_targets(tx: Tx, workspace_id: str, targets: Targets) -> None:
    """Refuse targets that do not exist; a disconnected account is a finding beside the others."""
    able, _ = set_aside_gone(tx, workspace_id, targets)
    if refused := check_targets(tx, workspace_id, able):
        refuse(refused)


def _checked(
    ask: ReadContext,
    tx: Tx,
    now: datetime,
    post: Post,
    places: list[tuple[str, Channel]],
    at: datetime | None,
) -> Checked:
    found = check_post(tx, now, post, places, at=at or now, files=ask.runtime.files)
    return Checked(
        ready=not any(each.blocking for each in found),
        findings=[show(FindingView, each) for each in found],
    )


def _unsaved(ask: ReadContext, body: PostFields, now: datetime, id_: str = "") -> Post:
    new = body.new_post(ask.workspace_id, None)
    content_hash = hash_of(new.content, title=new.title, category_id=new.category_id)
    return Post(
        workspace_id=ask.workspace_id,
        id=id_,
        title=new.title,
        source=Source.MANUAL,
        author_id=None,
        category_id=new.category_id,
        labels=new.labels,
        content=new.content,
        content_hash=content_hash,
        blockers=(),
        revision=0,
        approval=Approval(ask.by, now, content_hash),
        created_at=now,
        updated_at=now,
    )


async def _preview(
    ask: ReadContext, piece: ComposedPost, account: Account | None
) -> PreviewView | None:
    adapter = _adapter(piece.channel, account)
    if adapter is None:
        return None
    content: dict[str, Any] = loads(piece.content)
    ref = _NOBODY if account is None else refer(account)
    fit = await _check(ask, piece, adapter, ref)
    troubles = [
        each
        for each in fit.problems
        if account is not None or each.field not in ("account", "recipient")
    ]
    message = fit.message
    plain = message or Message(channel=piece.channel, text=content["text"])
    lengths = measure(adapter.name, plain, ref)
    return PreviewView(
        account_id=piece.account_id or None,
        handle=None if account is None else account.handle,
        provider=adapter.name,
        channel=piece.channel,
        text=content["text"],
        parts=content.get("parts", []),
        first_comment=content.get("first_comment"),
        link=content.get("link"),
        media=content.get("media", []),
        fitted=_fitted(ask, content, plain),
        length=lengths[0].length,
        limit=lengths[0].limit,
        unit=lengths[0].unit,
        part_lengths=[show(LengthView, each) for each in lengths[1:]],
        problems=[show(TroubleView, each) for each in troubles],
    )


async def _check(ask: ReadContext, piece: ComposedPost, adapter: Provider, ref: AccountRef) -> Fit:
    """Check the piece as the worker does; a storage that is away leaves the plan, without its numbers."""
    files = ask.runtime.files
    try:
        return await check_fitted(adapter, ref, piece, files)
    except (OSError, NotStored, StorageFailed):
        return check_fit(adapter, ref, piece, files)


def _fitted(ask: ReadContext, content: dict[str, Any], message: Message) -> list[FittedView]:
    base = f"/api/v1/workspaces/{ask.workspace_id}/media"
    entries: list[dict[str, Any]] = content.get("media", []) if message.media else []
    return [
        FittedView(
            media_id=entry["id"],
            message=item.fitting.message,
            mime=item.mime,
            size=item.size,
            width=item.width,
            height=item.height,
            file_url=f"{base}/{entry['id']}/fitted/{item.fitting.change}"
            if item.fitting.made
            else None,
        )
        for entry, item in zip(entries, message.media, strict=True)
        if item.fitting is not None
    ]


def _adapter(channel: Channel, account: Account | None) -> Provider | None:
    if account is not None:
        return all_providers().get(account.provider)
    return next(iter(providers_of(channel)), None)


def _channel(provider: Provider, channel: Channel) -> ChannelView:
    length: Length = measure(provider.name, Message(channel=channel), _NOBODY)[0]
    can = provider.capabilities(channel)
    return ChannelView(
        channel=channel,
        provider=provider.name,
        unit=length.unit,
        limit=length.limit,
        files=most_files(provider.name, channel, _NOBODY),
        threads=can.threads,
        first_comment=can.first_comment,
        fetches_media=can.fetches_media,
        needs_recipient=can.needs_recipient,
        usual=channel not in ONLY_WHEN_ASKED and not can.needs_recipient,
        options=[_option(each) for each in options_of(provider.name, channel)],
    )


def _option(option: Option) -> OptionView:
    return OptionView(
        name=option.name,
        label=option.label,
        takes=option.takes,
        choices=[ChoiceView(value=value, label=label) for value, label in option.choices],
        hint=option.hint,
    )
