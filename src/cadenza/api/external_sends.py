"""What an account sent elsewhere, recorded so that it counts against its limits."""

from datetime import datetime

from pydantic import ConfigDict, Field

from cadenza.accounts import configure
from cadenza.api.accounts import OutreachAction, one
from cadenza.api.problems import invalid, not_found
from cadenza.api.request_context import Writer
from cadenza.api.routes import Resource
from cadenza.api.schemas import Answer, Id, InputModel, Instant, Line
from cadenza.deliveries.record_external import (
    MOST,
    NotRecorded,
    record_external,
    take_back_external,
)
from cadenza.people.model import Role
from cadenza.sql.tx import Tx

routes = Resource(
    "external_sends", "/workspaces/{workspace_id}/accounts/{account_id}/external-sends"
)


class ExternalSendsInput(InputModel):
    """What was sent, how often, when, and to whom."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"action": "email", "count": 3}]})
    action: OutreachAction
    count: int = Field(default=1, ge=1, le=MOST, strict=True)
    at: Instant | None = Field(default=None, description="When; now if it is left out")
    recipient: Line | None = Field(
        default=None, description="Whose limit of contacts it counts in too"
    )


class ExternalSendsView(Answer):
    """What counts now; its id takes it back."""

    id: str
    count: int


@routes.post(needs=Role.EDITOR, scope="accounts:write", status_code=201)
async def record_external_sends(
    act: Writer, workspace_id: Id, account_id: Id, body: ExternalSendsInput
) -> ExternalSendsView:
    """Record what the account sent elsewhere: it counts against its limits from now on."""

    def operation(tx: Tx, now: datetime) -> ExternalSendsView:
        one(act, tx, account_id)
        made = record_external(
            tx,
            now,
            workspace_id=workspace_id,
            account_id=account_id,
            action=body.action,
            count=body.count,
            at=body.at,
            recipient=body.recipient,
            by=act.by,
        )
        if isinstance(made, NotRecorded):
            raise invalid(f"body.{made.field}", made.message)
        return ExternalSendsView(id=made.id, count=made.count)

    return await act.write(operation, locks=[configure.lock_of(workspace_id, account_id)])


@routes.delete("/{external_id}", needs=Role.EDITOR, scope="accounts:write")
async def take_back_external_sends(
    act: Writer, workspace_id: Id, account_id: Id, external_id: Id
) -> ExternalSendsView:
    """Take a record back: it was a mistake, and counts no more."""

    def operation(tx: Tx, now: datetime) -> ExternalSendsView:
        one(act, tx, account_id)
        count = take_back_external(
            tx,
            now,
            workspace_id=workspace_id,
            account_id=account_id,
            external_id=external_id,
            by=act.by,
        )
        if not count:
            raise not_found("record")
        return ExternalSendsView(id=external_id, count=count)

    return await act.write(operation, locks=[configure.lock_of(workspace_id, account_id)])
