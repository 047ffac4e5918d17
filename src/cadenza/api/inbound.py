"""Inbound sources of a workspace, and `/in/SOURCE`: where providers tell what became of messages.

A request is believed by its signature or its secret alone; what is wrong with it is not told, only that it was
refused. Events are stored before the answer, so a repetition is harmless and nothing is lost after a 200.
"""

import base64
import logging
from datetime import datetime
from typing import Annotated, Any

import msgspec
from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from cadenza.accounts.open import inbound_row
from cadenza.accounts.seal import CannotOpen
from cadenza.api.problems import Problem, conflict, invalid, not_found
from cadenza.api.request_context import ReadContext, Reader, Writer
from cadenza.api.routes import ANYONE, MIB, Resource
from cadenza.api.schemas import ID, Answer, Id, IdField, InputModel, SecretView
from cadenza.inbox.account_status import read_status
from cadenza.inbox.read_events import BadEvents, read_events
from cadenza.inbox.sources import (
    OURS,
    PATH,
    InboundSource,
    SourceKind,
    SourceRefused,
    add_source,
    find_source,
    list_sources,
    record_events,
    record_status,
    remove_source,
)
from cadenza.inbox.verify import (
    is_amazon_url,
    is_mailgun,
    is_sendgrid,
    is_sendgrid_key,
    is_shared,
    is_signed,
    is_sns,
    is_unipile,
)
from cadenza.people.model import Role
from cadenza.people.tokens import draw_bytes, draw_token
from cadenza.providers.http.outcome import Reply
from cadenza.providers.http.request import Request as OutboundRequest
from cadenza.sql.tx import Tx

log = logging.getLogger("cadenza.inbox")
routes = Resource("inbound", "/workspaces/{workspace_id}/inbound-sources")
intake = Resource("intake", PATH)
SourceId = Annotated[str, Path(min_length=1, max_length=128, pattern=ID)]
CHUNK = 100
MOST_CERTIFICATES = 20
REFUSED = Problem(403, "not_believed", "The signature or the secret is wrong, or too old.")
_HOW = {
    SourceKind.SIGNED: "Sign with the headers of Standard Webhooks; the secret is the key.",
    SourceKind.UNIPILE: "Add the header Unipile-Auth with the secret to each webhook at Unipile.",
    SourceKind.SES: "Subscribe the address to the SNS topic; it is confirmed by itself.",
    SourceKind.POSTMARK: "Add the header X-Cadenza-Secret with the secret to the webhook.",
    SourceKind.MAILGUN: "Add the address as a webhook for each event at Mailgun.",
    SourceKind.SENDGRID: "Enter the address as the Event Webhook and switch its signature on.",
}


class InboundSourceInput(InputModel):
    """A program that tells what became of messages."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"kind": "signed", "account_id": "a"}]}
    )
    kind: SourceKind
    account_id: IdField | None = Field(
        default=None, description="Whose messages it tells of; Unipile names its accounts itself"
    )
    secret: Annotated[str, StringConstraints(max_length=1_000, strip_whitespace=True)] | None = (
        Field(
            default=None,
            description="Mailgun: its webhook signing key. SendGrid: its verification key",
        )
    )
    topic: (
        Annotated[str, StringConstraints(max_length=300, pattern=r"^arn:aws[a-z-]*:sns:[\w:-]+$")]
        | None
    ) = Field(default=None, description="Amazon SES: the ARN of the SNS topic")


class InboundSourceView(BaseModel):
    """A program that tells what became of messages."""

    id: str
    kind: SourceKind
    account_id: str | None
    url: str = Field(description="Where it sends its events")
    topic: str | None
    created_at: datetime
    last_event_at: datetime | None


class InboundSourceCreated(SecretView):
    """The new source; a secret that was drawn here is shown this once."""

    source: InboundSourceView
    secret: str | None
    how: str = Field(description="What to do at the provider")


class InboundSourceRemoved(Answer):
    """It is removed."""

    id: str


class EventsReceived(BaseModel):
    """How many events were new."""

    recorded: int


@routes.get(needs=Role.ADMIN, scope="inbox:read")
async def list_inbound_sources(ask: Reader, workspace_id: Id) -> list[InboundSourceView]:
    """List the programs that tell what became of messages."""
    found = await ask.read(lambda tx, _: list_sources(tx, workspace_id))
    return [_view(ask, each) for each in found if _may(ask, each.account_id)]


@routes.post(needs=Role.ADMIN, scope="inbox:write", status_code=201)
async def add_inbound_source(
    act: Writer, workspace_id: Id, body: InboundSourceInput
) -> InboundSourceCreated:
    """Listen to a program: the answer names the address and what to do at the provider."""
    if body.account_id is not None:
        act.check_account(body.account_id)
    elif act.caller.accounts is not None:
        raise invalid("body.account_id", "a key for some accounts names one", "account_needed")
    secret = _secret(body)
    id_ = act.runtime.ids.new()
    sealed = act.runtime.keyring.seal(secret, row=inbound_row(workspace_id, id_))

    def operation(tx: Tx, now: datetime) -> InboundSourceCreated:
        made = add_source(
            tx,
            now,
            workspace_id=workspace_id,
            id_=id_,
            kind=body.kind,
            account_id=body.account_id,
            sealed=sealed,
            topic=body.topic or "",
            by=act.by,
        )
        match made:
            case SourceRefused(code="no_account"):
                raise not_found("account")
            case SourceRefused(code="account_needed", message=message):
                raise invalid("body.account_id", message, "account_needed")
            case SourceRefused(code=code, message=message):
                raise conflict(code, message)
            case InboundSource():
                return InboundSourceCreated(
                    source=_view(act, made),
                    secret=secret if body.kind in OURS else None,
                    how=_HOW[body.kind],
                )

    return await act.write(operation)


@routes.delete("/{source_id}", needs=Role.ADMIN, scope="inbox:write")
async def remove_inbound_source(
    act: Writer, workspace_id: Id, source_id: SourceId
) -> InboundSourceRemoved:
    """Listen to it no more."""

    def operation(tx: Tx, now: datetime) -> InboundSourceRemoved:
        there = find_source(tx, source_id)
        mine = (
            there is not None and there.workspace_id == workspace_id and _may(act, there.account_id)
        )
        if not mine or not remove_source(
            tx, now, workspace_id=workspace_id, id_=source_id, by=act.by
        ):
            raise not_found("inbound source")
        return InboundSourceRemoved(id=source_id)

    return await act.write(operation)


@intake.post("/{source_id}", needs=ANYONE, takes="upload", most=2 * MIB)
async def receive_events(ask: Reader, source_id: SourceId) -> EventsReceived:
    """Take events of a provider, signed or with the secret; a repetition changes nothing."""
    body = b"".join([piece async for piece in ask.request.stream()])
    headers = {name.lower(): value for name, value in ask.request.headers.items()}
    source, now = await ask.read(lambda tx, now: (find_source(tx, source_id), now))
    if source is None:
        raise REFUSED
    if not await _is_believed(ask, source, headers, body, now):
        log.warning("inbound events refused", extra={"source": source_id, "kind": source.kind})
        raise REFUSED
    if source.kind is SourceKind.UNIPILE and (status := read_status(_decoded(body))) is not None:
        await ask.change(lambda tx, at: record_status(tx, at, source, status))
    try:
        events = read_events(source.kind.value, body, headers, now)
    except BadEvents as error:
        raise Problem(422, "bad_events", str(error)) from error
    recorded = 0
    for start in range(0, len(events) or 1, CHUNK):
        some = events[start : start + CHUNK]
        done = await ask.change(lambda tx, at, some=some: record_events(tx, at, source, some))
        recorded += sum(each.new for each in done)
    return EventsReceived(recorded=recorded)


async def _is_believed(
    ask: ReadContext, source: InboundSource, headers: dict[str, str], body: bytes, now: datetime
) -> bool:
    try:
        secret = source.secret(ask.runtime.keyring)
    except CannotOpen:
        return False
    match source.kind:
        case SourceKind.SIGNED:
            return is_signed(secret, headers, body, now)
        case SourceKind.UNIPILE:
            return is_unipile(secret, headers, body, now)
        case SourceKind.POSTMARK:
            return is_shared(secret, headers)
        case SourceKind.MAILGUN:
            signature = _decoded(body).get("signature")
            return isinstance(signature, dict) and is_mailgun(secret, signature, now)
        case SourceKind.SENDGRID:
            return is_sendgrid(secret, headers, body, now)
        case SourceKind.SES:
            return await _is_sns(ask, source, _decoded(body))


async def _is_sns(ask: ReadContext, source: InboundSource, message: dict[str, Any]) -> bool:
    """Check Amazon's signature and topic; confirm the subscription that an admin made this source for."""
    url = message.get("SigningCertURL") or message.get("SigningCertUrl")
    if message.get("TopicArn") != source.topic or not is_amazon_url(url, certificate=True):
        return False
    certificate = await _certificate(ask, str(url))
    if certificate is None or not is_sns(message, certificate):
        return False
    if message.get("Type") == "SubscriptionConfirmation":
        link = message.get("SubscribeURL")
        if not is_amazon_url(link):
            return False
        await ask.runtime.http.send(OutboundRequest("GET", str(link)))
    return True


async def _certificate(ask: ReadContext, url: str) -> bytes | None:
    known: dict[str, bytes] = ask.request.app.state.sns_certificates
    if url not in known:
        answer = await ask.runtime.http.send(OutboundRequest("GET", url))
        if not isinstance(answer, Reply) or not answer.ok:
            return None
        while len(known) >= MOST_CERTIFICATES:
            known.pop(next(iter(known)))
        known[url] = answer.body
    return known[url]


def _decoded(body: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(body, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return {}


def _secret(body: InboundSourceInput) -> str:
    """Return what its events are checked with: drawn here, or the provider's own."""
    if body.kind is SourceKind.SIGNED:
        return f"whsec_{base64.b64encode(draw_bytes(32)).decode()}"
    if body.kind in OURS:
        return draw_token().text
    if body.kind is SourceKind.SES:
        if body.topic is None:
            raise invalid("body.topic", "name the SNS topic that may tell", "topic_needed")
        return body.topic
    if not body.secret:
        raise invalid("body.secret", "give the key that the provider signs with", "secret_needed")
    if body.kind is SourceKind.SENDGRID and not is_sendgrid_key(body.secret):
        raise invalid("body.secret", "it is not a verification key of SendGrid", "bad_secret")
    return body.secret


def _may(ask: ReadContext, account_id: str | None) -> bool:
    own = ask.caller.accounts
    return own is None or account_id in own


def _view(ask: ReadContext, source: InboundSource) -> InboundSourceView:
    return InboundSourceView(
        id=source.id,
        kind=source.kind,
        account_id=source.account_id,
        url=f"{ask.runtime.settings.home.rstrip('/')}{PATH}/{source.id}",
        topic=source.topic or None,
        created_at=source.created_at,
        last_event_at=source.last_event_at,
    )
