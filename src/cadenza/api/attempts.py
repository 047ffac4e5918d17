"""The calls that were made for a delivery: what came of each in a sentence, and what was said with the network.

What was said is for those who may change the delivery: it shows more of the account's ways than a reader needs.
"""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from cadenza.accounts.model import read_accounts
from cadenza.api.deliveries import one_row
from cadenza.api.request_context import Reader
from cadenza.api.routes import Resource
from cadenza.api.schemas import Id
from cadenza.deliveries.describe_attempt import describe_attempt
from cadenza.deliveries.record_exchanges import StoredExchange, read_exchanges
from cadenza.people.model import Role
from cadenza.sql.tx import Row, Tx

routes = Resource("deliveries", "/workspaces/{workspace_id}/deliveries")


class Attempt(BaseModel):
    """One call to the network: what was meant, and what came of it."""

    id: str
    number: int
    part: int
    content_hash: str
    began_at: datetime
    deadline_at: datetime
    outcome: str | None
    message: str | None = Field(description="What the network said, or we about its silence")
    remote_id: str | None
    url: str | None
    ended_at: datetime | None
    sentence: str = Field(description="What came of it, for people")
    fix: Literal["edit", "retry", "reconnect", "decide"] | None = Field(
        description="What a person may do about it now; null: nothing, or no longer"
    )


class Exchange(BaseModel):
    """One question to the network and what came back: bounded, and without anything that opens a door."""

    id: str
    attempt_id: str | None = Field(description="Null: it never came to the irreversible call")
    step: Literal["prepare", "publish", "finish", "find_out"]
    began_at: datetime
    seconds: float
    method: str = Field(description="Of HTTP, or the name of another protocol")
    place: str = Field(description="Host and path; hidden is what may be a key")
    headers: dict[str, str]
    body: str | None
    status: int | None = Field(description="Null: no answer began to come")
    reply_headers: dict[str, str]
    reply: str | None
    message: str = Field(description="Why there is no whole answer")
    left_out: int = Field(description="How many before it in the same run were not kept")


@routes.get("/{delivery_id}/attempts", needs=Role.VIEWER, scope="deliveries:read")
async def list_attempts(ask: Reader, workspace_id: Id, delivery_id: Id) -> list[Attempt]:
    """List the calls that were made for it, each with a sentence and what may be done about it."""

    def look(tx: Tx, now: datetime) -> list[Attempt]:
        delivery = one_row(ask, tx, delivery_id)
        key = (workspace_id, delivery["account_id"])
        account = read_accounts(tx, [key]).get(key)
        rows = tx.all(
            """
            SELECT * FROM attempt WHERE workspace_id = :workspace_id AND delivery_id = :id
            ORDER BY lease, part, began_at LIMIT 500
            """,
            workspace_id=workspace_id,
            id=delivery_id,
        )
        state = "" if account is None else account.state
        return [
            _show(now, row, delivery, newest=row is rows[-1], account_state=state) for row in rows
        ]

    return await ask.read(look)


@routes.get("/{delivery_id}/exchanges", needs=Role.EDITOR, scope="deliveries:read")
async def list_exchanges(ask: Reader, workspace_id: Id, delivery_id: Id) -> list[Exchange]:
    """List what was said with the network about it in the last weeks, without secrets."""

    def look(tx: Tx, now: datetime) -> list[StoredExchange]:
        one_row(ask, tx, delivery_id)
        return read_exchanges(tx, workspace_id=workspace_id, delivery_id=delivery_id)

    return [
        Exchange(
            id=each.id,
            attempt_id=each.attempt_id,
            step=each.step.value,
            began_at=each.began_at,
            **each.told,
        )
        for each in await ask.read(look)
    ]


def _show(now: datetime, row: Row, delivery: Row, *, newest: bool, account_state: str) -> Attempt:
    told = describe_attempt(now, row, delivery, newest=newest, account_state=account_state)
    fields = {name: row[name] for name in Attempt.model_fields if name in row}
    return Attempt(**fields, sentence=told.sentence, fix=told.fix.value if told.fix else None)
