"""Templates: text with variables, saved as frozen versions, previewed, checked, tried on oneself, sent to one person."""

from datetime import datetime
from typing import Annotated, NoReturn

import msgspec
from fastapi import Path
from pydantic import ConfigDict, Field

from cadenza.accounts.model import Account, read_account
from cadenza.api.fill_from_contact import fill_variables, find_recipient
from cadenza.api.problems import Fault, Problem, conflict, invalid, not_found
from cadenza.api.request_context import ReadContext, Reader, WriteContext, Writer
from cadenza.api.routes import Resource
from cadenza.api.schemas import Answer, Id, IdField, InputModel, Instant, Line, Page, Paged
from cadenza.api.template_schemas import (
    ChannelName,
    IncompleteView,
    PreviewInput,
    TemplateChange,
    TemplateCheckInput,
    TemplateCheckView,
    TemplateDeleted,
    TemplateFindingView,
    TemplateInput,
    TemplatePreviewView,
    TemplateVariableView,
    TemplateVersionView,
    TemplateView,
    UnsavedPreviewInput,
    Values,
    file_view,
    template_view,
    variables_view,
    version_view,
)
from cadenza.core.channels import Channel
from cadenza.deliveries.model import account_scope
from cadenza.media.model import NoSuchMedia
from cadenza.media.read import read as read_media
from cadenza.people.model import Role
from cadenza.sql.tx import Tx
from cadenza.templates import store
from cadenza.templates.check import (
    IncompleteRecipients,
    TemplateFinding,
    check_version,
    examples_for,
    find_dead_links,
    find_incomplete,
    links_in,
)
from cadenza.templates.model import (
    NameTaken,
    NoSuchTemplate,
    Template,
    TemplateChanged,
    TemplateVersion,
    UnreadableTemplate,
    Variables,
    template_locks,
)
from cadenza.templates.render import Incomplete, RenderedMessage, render
from cadenza.templates.send import (
    MessageRefused,
    MessageScheduled,
    NewMessage,
    own_address,
    send_message,
)

routes = Resource("templates", "/workspaces/{workspace_id}/templates")
messages = Resource("messages", "/workspaces/{workspace_id}/messages")
Number = Annotated[int, Path(ge=1, le=1_000_000)]


class TestSendInput(InputModel):
    """A test: by which account, and with which values."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"account_id": "a", "variables": {"first_name": "Ben"}}]}
    )
    account_id: IdField
    contact_id: IdField | None = Field(
        default=None, description="Whose fields are variables; given values win"
    )
    variables: Values | None = None
    version: int | None = Field(default=None, strict=True, ge=1)


class MessageInput(InputModel):
    """One template to one recipient."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "template_id": "t",
                    "account_id": "a",
                    "to": "ben@example.org",
                    "variables": {"first_name": "Ben", "order": "A-7"},
                }
            ]
        }
    )
    template_id: IdField
    account_id: IdField
    to: Line | None = Field(
        default=None,
        description="An address, a chat or a profile, as the channel has it. Left out: the contact's",
    )
    contact_id: IdField | None = Field(
        default=None, description="Who gets it; their fields are variables, given values win"
    )
    to_name: Line | None = None
    variables: Values = Field(default={})
    channel: ChannelName = "email"
    version: int | None = Field(default=None, strict=True, ge=1, description="Left out: the newest")
    send_at: Instant | None = Field(default=None, description="Left out: now")


class MessageView(Answer):
    """It is handed over: ask about it as a delivery of that id."""

    delivery_id: str
    channel: str
    to: str
    subject: str
    due_at: datetime
    template_version: int
    waits: list[str] = Field(description="What lets it wait, if something does")


@routes.get(needs=Role.VIEWER, scope="templates:read")
async def list_templates(ask: Reader, workspace_id: Id, page: Paged) -> Page[TemplateView]:
    """List templates, those saved last first."""
    found = await ask.read(
        lambda tx, _: store.list_templates(
            tx, workspace_id=workspace_id, limit=page.limit + 1, before=page.after
        )
    )
    rows = [{"template": each, "updated_at": each.updated_at, "id": each.id} for each in found]
    return page.cut(rows, lambda row: template_view(row["template"]), at="updated_at")


@routes.post(needs=Role.EDITOR, scope="templates:write", status_code=201)
async def make_template(act: Writer, workspace_id: Id, body: TemplateInput) -> TemplateView:
    """Make a template; what cannot be read as one is refused with its place."""

    def operation(tx: Tx, now: datetime) -> TemplateView:
        answer = store.create_template(
            tx, now, body.content(), workspace_id=workspace_id, name=body.name, by=act.by
        )
        return act.tag(template_view(_accepted(answer)))

    return await act.write(operation, locks=template_locks(workspace_id))


@routes.post("/preview", needs=Role.VIEWER, scope="templates:read")
async def preview_unsaved(
    ask: Reader, workspace_id: Id, body: UnsavedPreviewInput
) -> TemplatePreviewView:
    """Render content that is not saved."""

    def look(tx: Tx, now: datetime) -> TemplatePreviewView:
        version = _unsaved(ask, tx, now, body)
        values = fill_variables(ask, tx, body.contact_id, body.variables)
        return _preview(version, values, Channel(body.channel))

    return await ask.read(look)


@routes.get("/{template_id}", needs=Role.VIEWER, scope="templates:read")
async def show_template(ask: Reader, workspace_id: Id, template_id: Id) -> TemplateView:
    """Show a template with its newest version."""
    return ask.tag(template_view(await ask.read(lambda tx, _: _one(ask, tx, template_id))))


@routes.put("/{template_id}", needs=Role.EDITOR, scope="templates:write")
async def save_template(
    act: Writer, workspace_id: Id, template_id: Id, body: TemplateChange
) -> TemplateView:
    """Save the next version; what was planned with older ones keeps them."""

    def operation(tx: Tx, now: datetime) -> TemplateView:
        act.check_match(template_view(_one(act, tx, template_id)))
        answer = store.save_template(
            tx,
            now,
            body.content(),
            workspace_id=workspace_id,
            id=template_id,
            by=act.by,
            name=body.name,
            version=body.version,
        )
        return act.tag(template_view(_accepted(answer)))

    return await act.write(operation, locks=template_locks(workspace_id))


@routes.delete("/{template_id}", needs=Role.EDITOR, scope="templates:write")
async def delete_template(act: Writer, workspace_id: Id, template_id: Id) -> TemplateDeleted:
    """Delete a template; what was planned with its versions is still sent."""

    def operation(tx: Tx, now: datetime) -> TemplateDeleted:
        answer = store.delete_template(
            tx, now, workspace_id=workspace_id, id=template_id, by=act.by
        )
        return TemplateDeleted(id=_accepted(answer).id)

    return await act.write(operation, locks=template_locks(workspace_id))


@routes.get("/{template_id}/versions", needs=Role.VIEWER, scope="templates:read")
async def list_versions(
    ask: Reader, workspace_id: Id, template_id: Id
) -> list[TemplateVersionView]:
    """List the last 200 versions, the newest first."""

    def look(tx: Tx, _: datetime) -> list[TemplateVersion]:
        _one(ask, tx, template_id)
        return store.list_versions(tx, workspace_id, template_id)

    return [version_view(each) for each in await ask.read(look)]


@routes.get("/{template_id}/versions/{number}", needs=Role.VIEWER, scope="templates:read")
async def show_version(
    ask: Reader, workspace_id: Id, template_id: Id, number: Number
) -> TemplateVersionView:
    """Show one version."""
    return version_view(await ask.read(lambda tx, _: _version(ask, tx, template_id, number)))


@routes.post("/{template_id}/preview", needs=Role.VIEWER, scope="templates:read")
async def preview_template(
    ask: Reader, workspace_id: Id, template_id: Id, body: PreviewInput
) -> TemplatePreviewView:
    """Render a version with a contact's fields, with given values, or with examples."""

    def look(tx: Tx, _: datetime) -> TemplatePreviewView:
        version = _version(ask, tx, template_id, body.version)
        values = fill_variables(ask, tx, body.contact_id, body.variables)
        return _preview(version, values, Channel(body.channel))

    return await ask.read(look)


@routes.post("/{template_id}/check", needs=Role.VIEWER, scope="templates:read")
async def check_template(
    ask: Reader, workspace_id: Id, template_id: Id, body: TemplateCheckInput
) -> TemplateCheckView:
    """Check variables, links and the channel's limits, and whom a missing value would hit."""
    channel = Channel(body.channel)

    def look(tx: Tx, _: datetime) -> tuple[TemplateVersion, list[TemplateFinding]]:
        version = _version(ask, tx, template_id, body.version)
        account = None if body.account_id is None else _account(ask, tx, body.account_id)
        return version, check_version(
            version,
            channel=channel,
            account=account,
            known=body.known,
            files=ask.runtime.files,
        )

    version, findings = await ask.read(look)
    if body.try_links:
        made = render(version, examples_for(version), channel=channel)
        if isinstance(made, RenderedMessage):
            findings += await find_dead_links(ask.runtime.http, links_in(made))
    people = find_incomplete(
        version, [(each.id, each.variables) for each in body.recipients], channel=channel
    )
    return _checked(findings, people)


@routes.post("/{template_id}/test", needs=Role.EDITOR, scope="messages:send", status_code=201)
async def send_test(
    act: Writer, workspace_id: Id, template_id: Id, body: TestSendInput
) -> MessageView:
    """Send a mail to yourself: to your own address; from a key, to the account's own."""
    act.check_account(body.account_id)

    def operation(tx: Tx, now: datetime) -> MessageView:
        version = _version(act, tx, template_id, body.version)
        account = _account(act, tx, body.account_id)
        values = fill_variables(act, tx, body.contact_id, body.variables)
        new = NewMessage(
            version=version,
            account_id=body.account_id,
            to=_own(act, tx) or own_address(account),
            variables=examples_for(version) if values is None else values,
            is_test=True,
        )
        return _send(act, tx, now, new)

    return await act.write(operation, locks=_locks(workspace_id, body.account_id))


@messages.post(needs=Role.EDITOR, scope="messages:send", status_code=201)
async def send(act: Writer, workspace_id: Id, body: MessageInput) -> MessageView:
    """Send one template to one recipient, under the account's limits; repeat it safely with an Idempotency-Key."""
    act.check_account(body.account_id)

    def operation(tx: Tx, now: datetime) -> MessageView:
        version = _version(act, tx, body.template_id, body.version)
        to, name = find_recipient(act, tx, body.contact_id, body.to, body.channel)
        new = NewMessage(
            version=version,
            account_id=body.account_id,
            to=to,
            to_name=body.to_name or name,
            variables=fill_variables(act, tx, body.contact_id, body.variables) or {},
            channel=Channel(body.channel),
            at=body.send_at,
        )
        return _send(act, tx, now, new)

    return await act.write(operation, locks=_locks(workspace_id, body.account_id))


def _send(act: WriteContext, tx: Tx, now: datetime, new: NewMessage) -> MessageView:
    answer = send_message(
        tx, now, new, workspace_id=act.workspace_id, by=act.by, files=act.runtime.files
    )
    match answer:
        case MessageScheduled():
            act.spend(tx, now, 1)
            return MessageView(
                delivery_id=answer.delivery_id,
                channel=answer.channel.value,
                to=new.to,
                subject=answer.subject,
                due_at=answer.due_at,
                template_version=new.version.number,
                waits=list(answer.waits),
            )
        case Incomplete(missing=missing, unfit=unfit):
            faults = [
                *(
                    Fault(path=f"body.variables.{n}", message="it is missing", code="missing")
                    for n in missing
                ),
                *(
                    Fault(path=f"body.variables.{n}", message=w, code="unfit")
                    for n, w in unfit.items()
                ),
            ]
            raise Problem(422, "incomplete", f"Not sent: {answer.message}.", errors=faults)
        case MessageRefused(code="no_account"):
            raise not_found("account")
        case MessageRefused(code=code, message=message):
            raise Problem(409 if code == "not_sent" else 422, code, message)


def _preview(
    version: TemplateVersion, values: Variables | None, channel: Channel
) -> TemplatePreviewView:
    made = render(version, examples_for(version) if values is None else values, channel=channel)
    variables: list[TemplateVariableView] = variables_view(version)
    removed = list(version.removed)
    if isinstance(made, Incomplete):
        return TemplatePreviewView(
            channel=channel.value,
            complete=False,
            missing=list(made.missing),
            unfit=dict(made.unfit),
            variables=variables,
            removed=removed,
        )
    return TemplatePreviewView(
        channel=channel.value,
        complete=True,
        subject=made.subject,
        text=made.text,
        html=made.html,
        media=[file_view(each) for each in made.media],
        variables=variables,
        removed=removed,
    )


def _checked(findings: list[TemplateFinding], people: IncompleteRecipients) -> TemplateCheckView:
    return TemplateCheckView(
        ready=not people.count and not any(each.blocking for each in findings),
        findings=[
            TemplateFindingView(
                code=each.code, message=each.message, field=each.field, blocking=each.blocking
            )
            for each in findings
        ],
        checked=people.checked,
        incomplete=people.count,
        listed=[
            IncompleteView(id=id_, missing=list(each.missing), unfit=dict(each.unfit))
            for id_, each in people.listed
        ],
        by_name=dict(people.by_name),
    )


def _unsaved(ask: ReadContext, tx: Tx, now: datetime, body: UnsavedPreviewInput) -> TemplateVersion:
    content = body.content()
    media = [read_media(tx, workspace_id=ask.workspace_id, id=each) for each in content.media_ids]
    for each in media:
        if isinstance(each, NoSuchMedia):
            raise invalid("body.media", each.message, "no_such_media")
    made = store.compile_unsaved(content, [m for m in media if not isinstance(m, NoSuchMedia)])
    if isinstance(made, UnreadableTemplate):
        _refuse(made)
    return TemplateVersion(
        workspace_id=ask.workspace_id,
        id="",
        template_id="",
        number=0,
        content=content,
        compiled=msgspec.json.encode(made.compiled).decode(),
        variables=made.variables,
        removed=made.removed,
        saved_by="",
        saved_at=now,
    )


def _accepted(
    answer: Template
    | NoSuchTemplate
    | NameTaken
    | TemplateChanged
    | UnreadableTemplate
    | NoSuchMedia,
) -> Template:
    return answer if isinstance(answer, Template) else _refuse(answer)


def _refuse(
    answer: NoSuchTemplate | NameTaken | TemplateChanged | UnreadableTemplate | NoSuchMedia,
) -> NoReturn:
    match answer:
        case NoSuchTemplate():
            raise not_found("template")
        case NameTaken(message=message):
            raise conflict("taken", _said(message))
        case TemplateChanged(version=version, message=message):
            raise conflict("changed_meanwhile", _said(message), version=version)
        case NoSuchMedia(message=detail):
            raise invalid("body.media", detail, "no_such_media")
        case UnreadableTemplate(field=field, message=message, line=line, column=column):
            where = f" (line {line}, column {column})" if line else ""
            fault = Fault(path=f"body.{field}", message=f"{message}{where}", code="template")
            raise Problem(
                422, "invalid_template", f"{field}: {message}{where}.", errors=[fault],
                line=line or None, column=column or None,
            )  # fmt: skip


def _said(message: str) -> str:
    return f"{message[:1].upper()}{message[1:]}."


def _one(ask: ReadContext, tx: Tx, template_id: str) -> Template:
    found = store.find_template(tx, ask.workspace_id, template_id)
    if isinstance(found, NoSuchTemplate):
        raise not_found("template")
    return found


def _version(ask: ReadContext, tx: Tx, template_id: str, number: int | None) -> TemplateVersion:
    _one(ask, tx, template_id)
    found = store.find_version(tx, ask.workspace_id, template_id, number)
    if isinstance(found, NoSuchTemplate):
        raise not_found("template")
    return found


def _account(ask: ReadContext, tx: Tx, account_id: str) -> Account:
    ask.check_account(account_id)
    account = read_account(tx, ask.workspace_id, account_id)
    if account is None:
        raise not_found("account")
    return account


def _own(act: WriteContext, tx: Tx) -> str | None:
    """Return the caller's own address; keys have none."""
    if act.caller.person_id is None:
        return None
    return tx.value("SELECT email FROM person WHERE id = :id", id=act.caller.person_id)


def _locks(workspace_id: str, account_id: str) -> list[str]:
    return [f"{account_scope(workspace_id)}:{account_id}"]
