"""The inbox as values: what came in, as an intake hands it over, and the conversations that people answer."""

from datetime import datetime
from enum import StrEnum

from msgspec import Struct

from cadenza.contacts.addresses import EMAIL
from cadenza.inbox.listeners import InboundKind

LONGEST_TEXT = 100_000  # characters of a reply that are stored
LONGEST_EXCERPT = 200


class ConversationState(StrEnum):
    """Whether somebody still has to act."""

    OPEN = "open"
    DONE = "done"


class ConversationLabel(StrEnum):
    """What a person made of it."""

    INTERESTED = "interested"
    NOT_NOW = "not_now"
    WRONG_PERSON = "wrong_person"


class Inbound(Struct, frozen=True, kw_only=True):
    """One thing that came in, before it is matched."""

    workspace_id: str
    account_id: str
    remote_id: str  # what a repetition is known by
    kind: InboundKind
    source: str
    at: datetime
    trusted: bool = False  # a provider that we know says it, not a mail that anyone can write
    channel: str = EMAIL  # of the address
    address: str | None = None  # whom it is about, as written
    name: str = ""
    answers_to: tuple[str, ...] = ()  # remote ids of ours, the likeliest first
    recipients: tuple[str, ...] = ()  # other spellings of whom we wrote to: profile ids, names
    token: str | None = None  # of our bounce address
    chat_id: str | None = None
    message_id: str | None = None  # its own, to answer to
    subject: str = ""
    text: str = ""
    code: str | None = None
    diagnostic: str = ""


class InboundEvent(Struct, frozen=True):
    """A row of `inbound_event`."""

    workspace_id: str
    id: str
    account_id: str
    kind: InboundKind
    source: str
    trusted: bool
    channel: str
    address: str | None
    contact_id: str | None
    delivery_id: str | None
    matched_by: str | None
    answers_to: str  # JSON
    conversation_id: str | None
    message_id: str | None
    subject: str
    text: str
    code: str | None
    diagnostic: str
    happened_at: datetime
    recorded_at: datetime


class Conversation(Struct, frozen=True):
    """A row of `conversation`."""

    workspace_id: str
    id: str
    account_id: str
    channel: str
    address: str
    written: str
    name: str
    chat_id: str | None
    contact_id: str | None
    subject: str
    state: ConversationState
    label: ConversationLabel | None
    assignee: str | None
    last_kind: InboundKind
    last_text: str
    last_at: datetime
    created_at: datetime
    revision: int


class Recorded(Struct, frozen=True):
    """It is stored now; `new` is False for a repetition."""

    id: str
    kind: InboundKind
    new: bool
    delivery_id: str | None = None
    contact_id: str | None = None


class NoSuchConversation(Struct, frozen=True):
    """There is none of that id in the workspace."""

    id: str
