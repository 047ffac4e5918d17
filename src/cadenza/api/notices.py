"""What one wants to hear of, and which programs are told."""

import base64
from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from cadenza.api.problems import not_found
from cadenza.api.request_context import ReadContext, Reader, WriteContext, Writer
from cadenza.api.routes import Resource
from cadenza.api.schemas import Answer, Id, InputModel, SecretView
from cadenza.db.audit import record
from cadenza.notices.call_webhook import PREFIX
from cadenza.notices.model import DEFAULTS, Choice, EventKind, Topic
from cadenza.notices.preferences import add_webhook, choose, webhook_row, webhook_url_row
from cadenza.people.daily_limits import Addition
from cadenza.people.model import Role
from cadenza.people.tokens import draw_bytes
from cadenza.providers.split_address import cut_address, split_address
from cadenza.sql.tx import Row, Tx

routes = Resource("notices", "/workspaces/{workspace_id}")
Url = Annotated[str, StringConstraints(pattern=r"^https?://[!-~]+$", max_length=2000)]


class Choices(Answer):
    """How one hears of each topic."""

    choices: dict[Topic, Choice]
    mail: bool = Field(description="False: no mail server is set, so nobody gets mail")


class ChoicesInput(InputModel):
    """What to change; topics left out stay."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"choices": {"published": "off"}}]})
    choices: dict[Topic, Choice]


class NewWebhook(InputModel):
    """A program to tell."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"url": "https://example.org/hook", "kinds": ["delivery.sent"]}]
        }
    )
    url: Url
    kinds: list[EventKind] = Field(
        default_factory=list[EventKind], max_length=40, description="None: all"
    )


class Webhook(BaseModel):
    """A program that is told."""

    id: str
    url: str = Field(description="Cut: whoever knows the whole address can write there")
    kinds: list[str]
    active: bool
    stop_reason: str | None
    created_at: datetime


class WebhookCreated(SecretView):
    """The new webhook; `secret` signs what is sent, and is shown this once."""

    secret: str
    webhook: Webhook


class WebhookSecrets(Answer):
    """How many secrets sign now."""

    id: str
    secrets: int


class WebhookAgain(Answer):
    """It is told again."""

    webhook: Webhook


class WebhookDeleted(Answer):
    """It is told no more."""

    id: str


@routes.get("/notices/choices", needs=Role.VIEWER)
async def show_choices(ask: Reader, workspace_id: Id) -> Choices:
    """Show how one hears of each topic."""
    member = ask.caller.member_id or ""
    return await ask.read(lambda tx, _: _choices(ask, tx, member))


@routes.put("/notices/choices", needs=Role.VIEWER)
async def choose_notices(act: Writer, workspace_id: Id, body: ChoicesInput) -> Choices:
    """Choose how to hear of topics."""
    member = act.caller.member_id or ""

    def operation(tx: Tx, now: datetime) -> Choices:
        for topic, choice in sorted(body.choices.items()):
            choose(tx, now, workspace_id=workspace_id, member_id=member, topic=topic, choice=choice)
        record(
            tx,
            now,
            workspace_id=workspace_id,
            by=act.by,
            action="notices.choose",
            subject_id=member,
            after={topic.value: choice.value for topic, choice in body.choices.items()},
        )
        return _choices(act, tx, member)

    return await act.write(operation)


@routes.get("/webhooks", needs=Role.ADMIN, scope="webhooks:read")
async def list_webhooks(ask: Reader, workspace_id: Id) -> list[Webhook]:
    """List the programs that are told."""

    def look(tx: Tx, now: datetime) -> list[Webhook]:
        rows = tx.all(
            "SELECT * FROM webhook WHERE workspace_id = :workspace_id ORDER BY created_at, id",
            workspace_id=workspace_id,
        )
        return [_show(row) for row in rows]

    return await ask.read(look)


@routes.post("/webhooks", needs=Role.ADMIN, status_code=201)
async def make_webhook(act: Writer, workspace_id: Id, body: NewWebhook) -> WebhookCreated:
    """Tell a program from now on; the signing secret is shown once."""
    secret = _draw_secret()

    def operation(tx: Tx, now: datetime) -> WebhookCreated:
        act.count_addition(tx, now, Addition.WEBHOOK)
        id_ = tx.new_id()
        add_webhook(
            tx,
            now,
            workspace_id=workspace_id,
            id=id_,
            shown_url=cut_address(body.url),
            sealed_url=act.runtime.keyring.seal(body.url, row=webhook_url_row(workspace_id, id_)),
            sealed=act.runtime.keyring.seal(secret, row=webhook_row(workspace_id, id_)),
            kinds=" ".join(body.kinds) or "*",
        )
        record(
            tx,
            now,
            workspace_id=workspace_id,
            by=act.by,
            action="webhook.add",
            subject_id=id_,
            after={"host": _host(body.url)},
        )
        return WebhookCreated(secret=secret, webhook=_show(_one(tx, workspace_id, id_)))

    return await act.write(operation)


@routes.post("/webhooks/{webhook_id}/secret", needs=Role.ADMIN)
async def renew_webhook_secret(act: Writer, workspace_id: Id, webhook_id: Id) -> WebhookCreated:
    """Sign with a new secret beside the one of now, so that the receiver can change over in its own time."""
    secret = _draw_secret()

    def operation(tx: Tx, now: datetime) -> WebhookCreated:
        row = _one(tx, workspace_id, webhook_id)
        newest, *_ = _secrets(act, row)
        _sign_with(act, tx, now, row, [secret, newest])
        return WebhookCreated(secret=secret, webhook=_show(row))

    return await act.write(operation, locks=[webhook_row(workspace_id, webhook_id)])


@routes.delete("/webhooks/{webhook_id}/secret", needs=Role.ADMIN)
async def drop_webhook_secret(act: Writer, workspace_id: Id, webhook_id: Id) -> WebhookSecrets:
    """Sign with the newest secret alone: the receiver has changed over, or the older one leaked."""

    def operation(tx: Tx, now: datetime) -> WebhookSecrets:
        row = _one(tx, workspace_id, webhook_id)
        newest, *_ = _secrets(act, row)
        _sign_with(act, tx, now, row, [newest])
        return WebhookSecrets(id=webhook_id, secrets=1)

    return await act.write(operation, locks=[webhook_row(workspace_id, webhook_id)])


@routes.post("/webhooks/{webhook_id}/resume", needs=Role.ADMIN)
async def resume_webhook(act: Writer, workspace_id: Id, webhook_id: Id) -> WebhookAgain:
    """Tell a program again that was given up; what happened meanwhile is not told."""

    def operation(tx: Tx, now: datetime) -> WebhookAgain:
        before = _one(tx, workspace_id, webhook_id)
        tx.run(
            """
            UPDATE webhook SET active = true, stop_reason = NULL
            WHERE workspace_id = :workspace_id AND id = :id
            """,
            workspace_id=workspace_id,
            id=webhook_id,
        )
        record(
            tx,
            now,
            workspace_id=workspace_id,
            by=act.by,
            action="webhook.resume",
            subject_id=webhook_id,
            before={"stop_reason": before["stop_reason"]},
        )
        return WebhookAgain(webhook=_show(_one(tx, workspace_id, webhook_id)))

    return await act.write(operation)


@routes.delete("/webhooks/{webhook_id}", needs=Role.ADMIN)
async def drop_webhook(act: Writer, workspace_id: Id, webhook_id: Id) -> WebhookDeleted:
    """Tell it no more; what waits for it is dropped."""

    def operation(tx: Tx, now: datetime) -> WebhookDeleted:
        before = _one(tx, workspace_id, webhook_id)
        tx.run(
            "DELETE FROM webhook WHERE workspace_id = :workspace_id AND id = :id",
            workspace_id=workspace_id,
            id=webhook_id,
        )
        record(
            tx,
            now,
            workspace_id=workspace_id,
            by=act.by,
            action="webhook.drop",
            subject_id=webhook_id,
            before={"host": _host(before["url"])},
        )
        return WebhookDeleted(id=webhook_id)

    return await act.write(operation)


def _host(url: str) -> str:
    """Tell of an address what may be kept for ever: whoever knows the rest of it may call it."""
    parts = split_address(url)
    return parts.netloc.rpartition("@")[2] if parts else ""


def _draw_secret() -> str:
    return PREFIX + base64.b64encode(draw_bytes(24)).decode()


def _secrets(act: WriteContext, row: Row) -> list[str]:
    """Open what signs, the newest first."""
    named = webhook_row(row["workspace_id"], row["id"])
    return act.runtime.keyring.open(row["sealed"], row=named).split()


def _sign_with(act: WriteContext, tx: Tx, now: datetime, row: Row, secrets: list[str]) -> None:
    id_, home = row["id"], row["workspace_id"]
    tx.run(
        "UPDATE webhook SET sealed = :sealed WHERE workspace_id = :workspace_id AND id = :id",
        sealed=act.runtime.keyring.seal(" ".join(secrets), row=webhook_row(home, id_)),
        workspace_id=home,
        id=id_,
    )
    record(
        tx,
        now,
        workspace_id=home,
        by=act.by,
        action="webhook.secret",
        subject_id=id_,
        after={"secrets": len(secrets)},
    )


def _choices(ask: ReadContext, tx: Tx, member_id: str) -> Choices:
    rows = tx.all(
        """
        SELECT kind, choice FROM notice_choice
        WHERE workspace_id = :workspace_id AND member_id = :member_id
        """,
        workspace_id=ask.workspace_id,
        member_id=member_id,
    )
    chosen = {Topic(row["kind"]): Choice(row["choice"]) for row in rows}
    return Choices(choices={**DEFAULTS, **chosen}, mail=bool(ask.runtime.settings.mail.host))


def _one(tx: Tx, workspace_id: str, webhook_id: str) -> Row:
    row = tx.one(
        "SELECT * FROM webhook WHERE workspace_id = :workspace_id AND id = :id",
        workspace_id=workspace_id,
        id=webhook_id,
    )
    if row is None:
        raise not_found("webhook")
    return row


def _show(row: Row) -> Webhook:
    fields: dict[str, Any] = {name: row[name] for name in Webhook.model_fields}
    fields["kinds"] = [] if row["kinds"] == "*" else row["kinds"].split()
    return Webhook(**fields)
