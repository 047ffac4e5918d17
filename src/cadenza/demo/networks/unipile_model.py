"""What Unipile keeps of accounts, people and chats, and the fields that each call may have."""

from dataclasses import dataclass, field
from datetime import datetime

TITLES = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    415: "Unsupported Media Type",
    422: "Unprocessable Entity",
    429: "Too Many Requests",
    500: "Internal Server Error",
}
MAIL_FIELDS = {
    *("account_id", "to", "cc", "bcc", "from", "subject", "body", "attachments"),
    *("custom_headers", "reply_to", "tracking_options", "draft_id"),
}
CHAT_FIELDS = {
    *("account_id", "attendees_ids", "text", "subject", "attachments"),
    *("linkedin[api]", "linkedin[inmail]"),
}
MESSAGE_FIELDS = {"text", "attachments", "thread_id"}
INVITE_FIELDS = {"provider_id", "account_id", "message"}
APIS = {"classic", "recruiter", "sales_navigator"}
ATTACHMENT = 25 * 1024 * 1024


@dataclass(slots=True)
class Account:
    id: str
    name: str
    type: str = "LINKEDIN"
    status: str = "OK"
    note_length: int = 300


@dataclass(slots=True)
class Person:
    """Someone on LinkedIn; `state` is the type of a refusal."""

    id: str
    name: str
    connected: bool = True
    state: str = ""
    public: str = ""  # their public identifier


@dataclass(slots=True)
class Chat:
    id: str
    account: str
    person: str


@dataclass(slots=True)
class Item:
    """Something that a list will show, from `listed_at` on."""

    kind: str  # message, email, invitation, relation
    account: str
    to: str
    listed_at: datetime
    shown: dict[str, object]
    chat: str = ""


@dataclass(slots=True)
class Rules:
    """How this Unipile behaves."""

    null_ids: bool = False
    # What is said beyond the day's limit: by action, status and type.
    beyond: dict[str, tuple[int, str]] = field(
        default_factory=lambda: {
            "invitation": (422, "cannot_resend_yet"),
            "message": (429, "too_many_requests"),
            "inmail": (500, "provider_error"),
            "email": (429, "too_many_requests"),
        }
    )


class UnipileRefused(Exception):
    """Ends a call with a type."""

    def __init__(self, status: int, kind: str, detail: str = "") -> None:
        super().__init__(kind)
        self.status = status
        self.kind = kind
        self.detail = detail
