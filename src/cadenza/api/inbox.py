"""The inbox: conversations with people who answered, to read, label, assign, answer and close."""

from datetime import datetime
from typing import Annotated, Any

import msgspec
from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from cadenza.api.problems import Problem, invalid, not_found
from cadenza.api.queue_schemas import AnswerView, ValueView, show
from cadenza.api.request_context import ReadContext, Reader, Writer
from cadenza.api.routes import Resource
from cadenza.api.schemas import ID, Answer, Id, IdField, InputModel, Page, Paged, one_of
from cadenza.deliveries.model import account_scope
from cadenza.inbox import conversations
from cadenza.inbox.answer import Answered, answer_conversation
from cadenza.inbox.conversations import SentMessage, Thread
from cadenza.inbox.health import AccountCounts, count_account, find_reason, limits_of
from cadenza.inbox.listeners import InboundKind
from cadenza.inbox.model import (
    Conversation,
    ConversationLabel,
    ConversationState,
    NoSuchConversation,
)
from cadenza.people.model import Role
from cadenza.sql.tx import Row, Tx
from cadenza.templates.send import MessageRefused

routes = Resource("inbox", "/workspaces/{workspace_id}/inbox")
IdQuery = Annotated[str | None, Query(max_length=128, pattern=ID)]


class ConversationView(AnswerView):
    """What one person and one account wrote to each other."""

    id: str
    account_id: str
    channel: str
    address: str = Field(description="Empty: nobody could tell who wrote")
    name: str
    contact_id: str | None
    subject: str
    state: ConversationState
    label: ConversationLabel | None
    assignee: str | None = Field(description="A member")
    last_kind: InboundKind
    last_text: str
    last_at: datetime
    created_at: datetime


class ReceivedView(ValueView):
    """What came in."""

    id: str
    kind: InboundKind
    source: str
    subject: str
    text: str
    code: str | None
    diagnostic: str
    delivery_id: str | None = Field(description="What it answers to")
    matched_by: str | None
    happened_at: datetime


class SentView(BaseModel):
    """What we sent."""

    delivery_id: str
    state: str
    subject: str
    text: str
    due_at: datetime
    sent_at: datetime | None
    written_by: str | None = Field(description="Who wrote it here; null: a planned message")


class ThreadView(BaseModel):
    """A conversation with all that was written, oldest first."""

    conversation: ConversationView
    received: list[ReceivedView]
    sent: list[SentView]


class ConversationChange(InputModel):
    """What to change; what is left out stays."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"state": "done", "label": "interested"}]}
    )
    state: ConversationState | None = None
    label: ConversationLabel | None = Field(default=None, description="null takes it away")
    assignee: IdField | None = Field(default=None, description="A member; null takes it away")


class ReplyInput(InputModel):
    """What to write."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": "Thank you, Ben!"}]})
    text: Annotated[str, StringConstraints(min_length=1, max_length=50_000, pattern=r"^[^\x00]*$")]
    close: bool = Field(default=False, description="Close the conversation with it")


class ReplySent(Answer):
    """It is handed over: ask about it as a delivery of that id."""

    delivery_id: str
    due_at: datetime
    waits: list[str] = Field(description="What lets it wait, if something does")


class AccountCountsView(ValueView):
    """What came back to an account in the last 30 days, beside what it sent."""

    sent: int
    replies: int
    hard_bounces: int
    soft_bounces: int
    refused: int
    complaints: int
    unsubscribes: int


class AccountResults(AccountCountsView):
    """An account and what came back to it."""

    account_id: str
    bounce_percent: float = Field(description="Of the mails sent, to addresses that do not exist")
    complaint_percent: float
    at_risk: str | None = Field(
        description="Why it is suspended at the next bounce or complaint, or was"
    )


@routes.get(needs=Role.VIEWER, scope="inbox:read")
async def list_conversations(
    ask: Reader,
    workspace_id: Id,
    page: Paged,
    *,
    state: ConversationState | None = None,
    label: ConversationLabel | None = None,
    assignee: IdQuery = None,
    account: IdQuery = None,
) -> Page[ConversationView]:
    """List conversations, those with the newest message first."""
    found = await ask.read(
        lambda tx, _: conversations.list_conversations(
            tx,
            workspace_id=workspace_id,
            state=state,
            label=label,
            assignee=assignee,
            account_id=account,
            accounts=None if ask.caller.accounts is None else sorted(ask.caller.accounts),
            after=page.after,
            limit=page.limit + 1,
        )
    )
    rows = [{"each": each, "last_at": each.last_at, "id": each.id} for each in found]
    return page.cut(rows, lambda row: show(ConversationView, row["each"]), at="last_at")


@routes.get("/accounts", needs=Role.VIEWER, scope="inbox:read")
async def show_results(ask: Reader, workspace_id: Id) -> list[AccountResults]:
    """Show what came back to each account in the last 30 days: replies, bounces, complaints."""
    some, named = one_of("id", ask.caller.accounts)

    def look(tx: Tx, now: datetime) -> list[AccountResults]:
        rows = tx.all(
            f"SELECT id, settings FROM account WHERE workspace_id = :workspace_id AND {some} ORDER BY id LIMIT 500",  # noqa: S608
            workspace_id=workspace_id,
            **named,
        )
        return [
            _results(row, count_account(tx, now, workspace_id=workspace_id, account_id=row["id"]))
            for row in rows
        ]

    return await ask.read(look)


@routes.get("/{conversation_id}", needs=Role.VIEWER, scope="inbox:read")
async def show_conversation(ask: Reader, workspace_id: Id, conversation_id: Id) -> ThreadView:
    """Show a conversation with all that was written."""

    def look(tx: Tx, _: datetime) -> Thread:
        return conversations.read_thread(tx, _one(ask, tx, conversation_id))

    thread = await ask.read(look)
    return ThreadView(
        conversation=ask.tag(show(ConversationView, thread.conversation)),
        received=[show(ReceivedView, each) for each in thread.received],
        sent=[_sent(each) for each in thread.sent],
    )


@routes.patch("/{conversation_id}", needs=Role.EDITOR, scope="inbox:write")
async def change_conversation(
    act: Writer, workspace_id: Id, conversation_id: Id, body: ConversationChange
) -> ConversationView:
    """Close or reopen it, label it, or hand it to a member."""
    changes: dict[str, Any] = body.model_dump(exclude_unset=True)
    if changes.get("state", "") is None:
        raise invalid("body.state", "open or done", "state_needed")

    def operation(tx: Tx, now: datetime) -> ConversationView:
        there = _one(act, tx, conversation_id)
        act.check_match(show(ConversationView, there))
        if changes.get("assignee") is not None and not _is_member(tx, workspace_id, body.assignee):
            raise invalid("body.assignee", "there is no such member here", "no_member")
        done = conversations.change_conversation(tx, now, there, by=act.by, changes=changes)
        return act.tag(show(ConversationView, done))

    return await act.write(operation)


@routes.post("/{conversation_id}/reply", needs=Role.EDITOR, scope="inbox:write", status_code=201)
async def reply(act: Writer, workspace_id: Id, conversation_id: Id, body: ReplyInput) -> ReplySent:
    """Answer by the same account, in the same thread, under the account's limits."""
    there = await act.read(lambda tx, _: _one(act, tx, conversation_id))

    def operation(tx: Tx, now: datetime) -> ReplySent:
        current = _one(act, tx, conversation_id)
        done = answer_conversation(
            tx, now, current, text=body.text, by=act.by, files=act.runtime.files
        )
        match done:
            case MessageRefused(code=code, message=message):
                raise Problem(422 if code == "does_not_fit" else 409, code, message)
            case Answered():
                act.spend(tx, now, 1)
        if body.close:
            conversations.change_conversation(
                tx, now, current, by=act.by, changes={"state": ConversationState.DONE}
            )
        return ReplySent(delivery_id=done.delivery_id, due_at=done.due_at, waits=list(done.waits))

    lock = f"{account_scope(workspace_id)}:{there.account_id}"
    return await act.write(operation, locks=[lock])


def _results(row: Row, counts: AccountCounts) -> AccountResults:
    sent = max(counts.sent, 1)
    return AccountResults(
        account_id=row["id"],
        bounce_percent=round(100 * counts.hard_bounces / sent, 2),
        complaint_percent=round(100 * counts.complaints / sent, 2),
        at_risk=find_reason(counts, limits_of(row["settings"])),
        **msgspec.structs.asdict(counts),
    )


def _one(ask: ReadContext, tx: Tx, conversation_id: str) -> Conversation:
    found = conversations.find_conversation(tx, ask.workspace_id, conversation_id)
    if isinstance(found, NoSuchConversation) or not ask.caller.may_use(found.account_id):
        raise not_found("conversation")
    return found


def _is_member(tx: Tx, workspace_id: str, member_id: str | None) -> bool:
    found = tx.one(
        "SELECT id FROM member WHERE workspace_id = :workspace_id AND id = :id",
        workspace_id=workspace_id,
        id=member_id,
    )
    return found is not None


def _sent(each: SentMessage) -> SentView:
    content = msgspec.json.decode(each.content, type=dict[str, Any])
    return SentView(
        delivery_id=each.id,
        state=each.state,
        subject=str(content.get("subject") or ""),
        text=str(content.get("text") or ""),
        due_at=each.due_at,
        sent_at=each.sent_at,
        written_by=each.written_by,
    )
