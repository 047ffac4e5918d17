"""Answers a conversation: a delivery of its own, by the same account, to the same person, in the same thread.

It goes the way of every message: it passes the account's hours, as a person waits for it, and never a suppression,
a stop or a limit. Mails carry the headers that put them below what they answer; chats go into the same chat.
"""

from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from cadenza.accounts.model import read_account
from cadenza.contacts.addresses import EMAIL, LINKEDIN, TELEGRAM
from cadenza.core.channels import Channel
from cadenza.db.audit import record
from cadenza.deliveries.gates import GONE, HURRY
from cadenza.deliveries.model import Action, NewDelivery
from cadenza.deliveries.render import Files
from cadenza.inbox.model import Conversation
from cadenza.sql.tx import Tx
from cadenza.templates.send import MessageRefused, hand_over

CHANNELS = {
    EMAIL: (Channel.EMAIL, Action.EMAIL),
    LINKEDIN: (Channel.LINKEDIN_MESSAGE, Action.MESSAGE),
    TELEGRAM: (Channel.TELEGRAM, Action.MESSAGE),
}


MOST_REFERENCES = 5
LONGEST_ID = 150


class Answered(Struct, frozen=True):
    """It is on its way: the delivery to ask about it by, and what lets it wait, if something does."""

    delivery_id: str
    due_at: datetime
    waits: tuple[str, ...]


def answer_conversation(
    tx: Tx,
    now: datetime,
    there: Conversation,
    *,
    text: str,
    by: str,
    files: Files | None = None,
) -> Answered | MessageRefused:
    """Write to the person; run it under the account's lock, and roll back what is refused."""
    account = read_account(tx, there.workspace_id, there.account_id)
    if account is None or account.state == GONE:
        return MessageRefused("no_account", "This account was disconnected: connect it again.")
    if not there.address or there.channel not in CHANNELS:
        return MessageRefused(
            "no_address", "Nobody can tell who wrote this: it cannot be answered."
        )
    channel, action = CHANNELS[there.channel]
    delivery = NewDelivery(
        id=tx.new_id(),
        workspace_id=there.workspace_id,
        account_id=there.account_id,
        channel=channel,
        action=action,
        due_at=now,
        content=msgspec.json.encode(_content(tx, there, text), order="sorted").decode(),
        recipient=there.written or there.address,
        priority=HURRY,
    )
    waits = hand_over(tx, now, delivery, account, files)
    if isinstance(waits, MessageRefused):
        return waits
    tx.run(
        """
        INSERT INTO conversation_reply (workspace_id, conversation_id, delivery_id, written_by, created_at)
        VALUES (:workspace_id, :conversation_id, :delivery_id, :by, :now)
        """,
        workspace_id=there.workspace_id,
        conversation_id=there.id,
        delivery_id=delivery.id,
        by=by,
        now=now,
    )
    record(
        tx,
        now,
        workspace_id=there.workspace_id,
        by=by,
        action="conversation.reply",
        subject_id=there.id,
        after={"delivery": delivery.id},
    )
    return Answered(delivery.id, delivery.due_at, waits)


def _content(tx: Tx, there: Conversation, text: str) -> dict[str, Any]:
    content: dict[str, Any] = {"text": text, "recipient_name": there.name}
    if there.channel != EMAIL:
        fields = {"chat_id": there.chat_id} if there.chat_id else {}
        return {**content, "recipient_fields": fields}
    last = tx.one(
        """
        SELECT subject, message_id, answers_to FROM inbound_event
        WHERE workspace_id = :workspace_id AND conversation_id = :id AND conversation_id IS NOT NULL
            AND kind IN ('reply', 'unsubscribe', 'unknown', 'out_of_office')
        ORDER BY happened_at DESC, id DESC LIMIT 1
        """,
        workspace_id=there.workspace_id,
        id=there.id,
    )
    subject = (last["subject"] if last else "") or there.subject
    content["subject"] = subject if subject.lower().startswith("re:") else f"Re: {subject}".strip()
    if last is not None and _plain(last["message_id"] or ""):
        before = msgspec.json.decode(last["answers_to"], type=list[str])
        ids = [each for each in reversed(before) if _plain(each)]
        content["options"] = {
            "in_reply_to": last["message_id"],
            "references": " ".join(dict.fromkeys([*ids[-MOST_REFERENCES:], last["message_id"]])),
        }
    return content


def _plain(message_id: str) -> bool:
    """Say whether an id can stand in a header."""
    return message_id.startswith("<") and message_id.isascii() and len(message_id) <= LONGEST_ID
