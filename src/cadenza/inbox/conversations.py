"""Conversations: what one person and one account wrote to each other, for a team to answer.

There is one for each account, channel and address. A reply opens it again; automatic answers, acceptances and
requests to stop are added without opening it, and bounces only where somebody wrote before. Limit: mails of one
person about two subjects are one conversation.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from cadenza.db.audit import record
from cadenza.inbox.listeners import InboundKind as Kind
from cadenza.inbox.model import (
    LONGEST_EXCERPT,
    Conversation,
    ConversationLabel,
    ConversationState,
    Inbound,
    InboundEvent,
    NoSuchConversation,
)
from cadenza.sql.tx import Tx
from cadenza.sql.values import columns, read_value, read_values

OPENS = frozenset({Kind.REPLY, Kind.UNKNOWN})
QUIET = frozenset({Kind.OUT_OF_OFFICE, Kind.UNSUBSCRIBE, Kind.ACCEPTED})
_COLUMNS = columns(Conversation, "conversation")
LONGEST_THREAD = 500


class SentMessage(Struct, frozen=True):
    """One of our own messages in a thread."""

    id: str
    state: str
    due_at: datetime
    sent_at: datetime | None
    content: str  # JSON
    written_by: str | None  # None: a planner


class Thread(Struct, frozen=True):
    """A conversation with all that was written, oldest first."""

    conversation: Conversation
    received: Sequence[InboundEvent]
    sent: Sequence[SentMessage]


def add_to_conversation(tx: Tx, now: datetime, event: InboundEvent, inbound: Inbound) -> str | None:
    """Put an item where its person's other ones are; None: it is not part of a conversation."""
    opens, quiet = event.kind in OPENS, event.kind in QUIET
    if not opens and not quiet and not event.kind.is_bounce and event.kind is not Kind.COMPLAINT:
        return None
    about = {
        "workspace_id": event.workspace_id,
        "account_id": event.account_id,
        "channel": event.channel,
        "address": event.address or "",
    }
    there = tx.one(
        """
        SELECT id FROM conversation
        WHERE workspace_id = :workspace_id AND account_id = :account_id AND channel = :channel
            AND address = :address
        """,
        **about,
    )
    if there is None and not (opens or quiet):
        return None
    row = tx.one(
        """
        INSERT INTO conversation (workspace_id, id, account_id, channel, address, written, name, chat_id, contact_id,
            subject, state, last_kind, last_text, last_at, created_at)
        VALUES (:workspace_id, :id, :account_id, :channel, :address, :written, :name, :chat_id, :contact_id,
            :subject, :state, :kind, :text, :at, :now)
        ON CONFLICT (workspace_id, account_id, channel, address) DO UPDATE SET
            state = CASE WHEN excluded.state = 'open' THEN 'open' ELSE conversation.state END,
            chat_id = coalesce(excluded.chat_id, conversation.chat_id),
            contact_id = coalesce(excluded.contact_id, conversation.contact_id),
            name = CASE WHEN excluded.name <> '' THEN excluded.name ELSE conversation.name END,
            last_kind = CASE WHEN excluded.last_at >= conversation.last_at THEN excluded.last_kind
                ELSE conversation.last_kind END,
            last_text = CASE WHEN excluded.last_at >= conversation.last_at THEN excluded.last_text
                ELSE conversation.last_text END,
            last_at = CASE WHEN excluded.last_at >= conversation.last_at THEN excluded.last_at
                ELSE conversation.last_at END,
            revision = conversation.revision + 1
        RETURNING id
        """,
        id=tx.new_id(),
        written=(inbound.address or event.address or "")[:320],
        name=" ".join(inbound.name.replace("\0", "").split())[:200],
        chat_id=inbound.chat_id,
        contact_id=event.contact_id,
        subject=event.subject,
        state=(ConversationState.OPEN if opens else ConversationState.DONE).value,
        kind=event.kind.value,
        text=" ".join((event.text or event.subject).split())[:LONGEST_EXCERPT],
        at=event.happened_at,
        now=now,
        **about,
    )
    assert row is not None, "an upsert returns its row"
    return row["id"]


def list_conversations(
    tx: Tx,
    *,
    workspace_id: str,
    state: ConversationState | None = None,
    label: ConversationLabel | None = None,
    assignee: str | None = None,
    account_id: str | None = None,
    accounts: Sequence[str] | None = None,
    after: tuple[datetime, str] | None = None,
    limit: int = 50,
) -> list[Conversation]:
    """List them, those with the newest message first."""
    conditions: list[str] = []
    params: dict[str, Any] = {"workspace_id": workspace_id, "limit": limit}
    wanted = {"state": state, "label": label, "assignee": assignee, "account_id": account_id}
    for column, value in wanted.items():
        if value is not None:
            conditions.append(f"{column} = :{column}")
            params[column] = str(value)
    if accounts is not None:
        conditions.append("account_id IN (SELECT id FROM TABLE(:accounts) AS asked (id text))")
        params["accounts"] = [(each,) for each in sorted(accounts)]
    if after is not None:
        conditions.append("(last_at, id) < (:before_at, :before_id)")
        params |= {"before_at": after[0], "before_id": after[1]}
    rows = tx.all(
        f"""
        SELECT {_COLUMNS} FROM conversation
        WHERE workspace_id = :workspace_id {"".join(f" AND {each}" for each in conditions)}
        ORDER BY last_at DESC, id DESC LIMIT :limit
        """,  # noqa: S608 - put together from constants
        **params,
    )
    return read_values(Conversation, rows)


def find_conversation(tx: Tx, workspace_id: str, id_: str) -> Conversation | NoSuchConversation:
    """Return one conversation."""
    row = tx.one(
        f"SELECT {_COLUMNS} FROM conversation WHERE workspace_id = :workspace_id AND id = :id",  # noqa: S608
        workspace_id=workspace_id,
        id=id_,
    )
    return NoSuchConversation(id_) if row is None else read_value(Conversation, row)


def read_thread(tx: Tx, there: Conversation) -> Thread:
    """Return a conversation with what came in and what we sent, the newest 500 of each, oldest first."""
    about = {"workspace_id": there.workspace_id, "id": there.id, "limit": LONGEST_THREAD}
    rows = tx.all(
        f"""
        SELECT {columns(InboundEvent, "inbound_event")} FROM inbound_event
        WHERE workspace_id = :workspace_id AND conversation_id = :id AND conversation_id IS NOT NULL
        ORDER BY happened_at DESC, id DESC LIMIT :limit
        """,  # noqa: S608 - put together from constants
        **about,
    )
    sent = tx.all(
        """
        SELECT d.id, d.state, d.due_at, d.sent_at, d.content, r.written_by FROM (
            SELECT delivery_id FROM conversation_reply
            WHERE workspace_id = :workspace_id AND conversation_id = :id
            UNION SELECT delivery_id FROM inbound_event
            WHERE workspace_id = :workspace_id AND conversation_id = :id AND conversation_id IS NOT NULL
            UNION SELECT delivery_id FROM activity
            WHERE workspace_id = :workspace_id AND recipient = :address AND account_id = :account_id
                AND recipient IS NOT NULL AND counts
        ) AS ours
        JOIN delivery d ON d.workspace_id = :workspace_id AND d.id = ours.delivery_id
        LEFT JOIN conversation_reply r
            ON r.workspace_id = :workspace_id AND r.conversation_id = :id AND r.delivery_id = d.id
        ORDER BY d.due_at DESC, d.id DESC LIMIT :limit
        """,
        address=there.address,
        account_id=there.account_id,
        **about,
    )
    return Thread(
        there,
        read_values(InboundEvent, rows)[::-1],
        [read_value(SentMessage, row) for row in reversed(sent)],
    )


def change_conversation(
    tx: Tx, now: datetime, there: Conversation, *, by: str, changes: dict[str, Any]
) -> Conversation:
    """Change state, label or assignee, those that are given."""
    said = {
        name: changes.get(name, getattr(there, name)) for name in ("state", "label", "assignee")
    }
    after = msgspec.structs.replace(there, **said, revision=there.revision + 1)
    if all(getattr(there, name) == value for name, value in said.items()):
        return there
    tx.run(
        """
        UPDATE conversation SET state = :state, label = :label, assignee = :assignee, revision = revision + 1
        WHERE workspace_id = :workspace_id AND id = :id
        """,
        workspace_id=there.workspace_id,
        id=there.id,
        state=after.state.value,
        label=None if after.label is None else after.label.value,
        assignee=after.assignee,
    )
    record(
        tx,
        now,
        workspace_id=there.workspace_id,
        by=by,
        action="conversation.change",
        subject_id=there.id,
        before={name: getattr(there, name) for name in changes},
        after={name: said[name] for name in changes},
    )
    return after
