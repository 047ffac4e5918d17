"""Recipient channels: chats and channels that broadcasts go to, with their health."""

from datetime import datetime
from typing import Annotated

from fastapi import Query
from pydantic import ConfigDict, Field

from cadenza.api.audiences import ChannelKey
from cadenza.api.contact_schemas import EPOCH, Short
from cadenza.api.problems import invalid, not_found
from cadenza.api.queue_schemas import AnswerView, show
from cadenza.api.request_context import Reader, Writer
from cadenza.api.routes import Resource
from cadenza.api.schemas import Answer, Id, Page, Paged, cursor_at
from cadenza.contacts import audiences
from cadenza.contacts.import_rows import check_channel
from cadenza.contacts.model import contacts_lock
from cadenza.db.audit import record
from cadenza.deliveries import recipient_channels as channels
from cadenza.deliveries.read_recipients import fold_recipient
from cadenza.deliveries.recipient_channels import NewChannel, NoSuchChannel, RecipientChannel
from cadenza.people.model import Role
from cadenza.sql.tx import Tx

routes = Resource("recipient_channels", "/workspaces/{workspace_id}/recipient-channels")
KEY = {"provider": "telegram", "address": "@bakers"}


class RecipientChannelInput(ChannelKey):
    """A channel; what is left out stays as it is."""

    model_config = ConfigDict(json_schema_extra={"examples": [{**KEY, "category": "food"}]})
    title: Short | None = None
    category: Short | None = None


class RecipientChannelKey(ChannelKey):
    """Which channel is meant."""

    model_config = ConfigDict(json_schema_extra={"examples": [{**KEY}]})


class RecipientChannelView(AnswerView):
    """A channel and its health."""

    provider: str
    id: str = Field(description="The one spelling of its address")
    address: str
    title: str | None
    category: str | None
    active: bool
    error_count: int = Field(description="Failures in a row; at 5 it is inactive")
    last_error: str | None
    created_at: datetime
    updated_at: datetime


class RecipientChannelDeleted(Answer):
    """It is deleted; what was sent to it stays in the ledger."""

    id: str


@routes.get(needs=Role.VIEWER, scope="contacts:read")
async def list_channels(
    ask: Reader,
    workspace_id: Id,
    page: Paged,
    *,
    provider: Annotated[str | None, Query(max_length=30)] = None,
    category: Annotated[str | None, Query(max_length=200, pattern=r"^[^\x00]*$")] = None,
    active: bool | None = None,
) -> Page[RecipientChannelView]:
    """List recipient channels with their health; `active=false` lists those that need a look."""
    after = None
    if page.after is not None:
        first, _, id_ = page.after[1].partition("/")
        after = (first, id_)
    found = await ask.read(
        lambda tx, _: channels.list_channels(
            tx,
            workspace_id=workspace_id,
            provider=provider,
            category=category,
            active=active,
            after=after,
            limit=page.limit + 1,
        )
    )
    last = found[page.limit - 1] if len(found) > page.limit else None
    return Page(
        items=[show(RecipientChannelView, each) for each in found[: page.limit]],
        next=None if last is None else cursor_at(EPOCH, f"{last.provider}/{last.id}"),
    )


@routes.post(needs=Role.EDITOR, scope="contacts:write", status_code=201)
async def save_channel(
    act: Writer, workspace_id: Id, body: RecipientChannelInput
) -> RecipientChannelView:
    """Keep a channel, or change its title and category; its health stays."""
    address = check_channel(body.provider, body.address)
    if address is None:
        raise invalid("body.address", "a username, a link or a chat id of that network")

    def operation(tx: Tx, now: datetime) -> RecipientChannelView:
        new = NewChannel(
            provider=body.provider,
            address=address,
            title=body.title or None,
            category=body.category or None,
        )
        saved = channels.save_channels(tx, now, [new], workspace_id=workspace_id)
        for id_ in (*saved.created, *saved.updated):
            record(
                tx,
                now,
                workspace_id=workspace_id,
                by=act.by,
                action="channel.save",
                subject_id=id_,
            )
        found = channels.find_channel(
            tx, workspace_id=workspace_id, provider=body.provider, id_=address
        )
        return _shown(found)

    return await act.write(operation, locks=[contacts_lock(workspace_id)])


@routes.post("/reactivate", needs=Role.EDITOR, scope="contacts:write")
async def reactivate_channel(
    act: Writer, workspace_id: Id, body: RecipientChannelKey
) -> RecipientChannelView:
    """Let a channel be sent to again: its failures are counted from zero."""

    def operation(tx: Tx, now: datetime) -> RecipientChannelView:
        answer = channels.reactivate_channel(
            tx,
            now,
            workspace_id=workspace_id,
            provider=body.provider,
            id_=body.address,
            by=act.by,
        )
        return _shown(answer)

    return await act.write(operation, locks=[contacts_lock(workspace_id)])


@routes.post("/delete", needs=Role.EDITOR, scope="contacts:write")
async def delete_channel(
    act: Writer, workspace_id: Id, body: RecipientChannelKey
) -> RecipientChannelDeleted:
    """Delete a channel; lists lose it too."""
    key = (body.provider, fold_recipient(body.address))

    def operation(tx: Tx, now: datetime) -> RecipientChannelDeleted:
        audiences.leave_all_channels(tx, workspace_id, [key])
        if not channels.delete_channels(tx, workspace_id=workspace_id, keys=[key]):
            raise not_found("recipient channel")
        record(
            tx,
            now,
            workspace_id=workspace_id,
            by=act.by,
            action="channel.delete",
            subject_id=key[1],
        )
        return RecipientChannelDeleted(id=key[1])

    return await act.write(operation, locks=[contacts_lock(workspace_id)])


def _shown(found: RecipientChannel | NoSuchChannel) -> RecipientChannelView:
    if isinstance(found, NoSuchChannel):
        raise not_found("recipient channel")
    return show(RecipientChannelView, found)
