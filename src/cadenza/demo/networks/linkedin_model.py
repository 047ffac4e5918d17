"""What LinkedIn keeps, and the shape in which it refuses."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from cadenza.demo.simulator.wire import Answer, say

OLDEST_VERSION = "202507"
NEWEST_VERSION = "202607"
ACCESS_LIFE = timedelta(days=60)
REFRESH_LIFE = timedelta(days=365)
UPLOAD_LIFE = timedelta(hours=1)
SAME_TEXT = timedelta(minutes=10)
PIECE = 4_194_304
MEMBER = ("openid", "profile", "w_member_social")
PAGES = ("r_organization_social", "w_organization_social", "rw_organization_admin")
ROLES = ("ADMINISTRATOR", "CONTENT_ADMIN", "DIRECT_SPONSORED_CONTENT_POSTER")
TOKEN_TROUBLE = {
    "invalid": (65600, "INVALID_ACCESS_TOKEN", "Invalid access token"),
    "revoked": (65601, "REVOKED_ACCESS_TOKEN", "The token used in the request has been revoked"),
    "expired": (65602, "EXPIRED_ACCESS_TOKEN", "The token used in the request has expired"),
    "empty": (65604, "EMPTY_ACCESS_TOKEN", "Empty oauth2 access token"),
}
THROTTLED = "Resource level throttle {} DAY limit for calls to this resource is reached."


@dataclass(slots=True)
class Token:
    """An access token: whose, for what, until when."""

    person: str
    scopes: tuple[str, ...]
    expires_at: datetime
    trouble: str = ""


@dataclass(slots=True)
class Grant:
    """A refresh token: it keeps the end that it was born with."""

    person: str
    scopes: tuple[str, ...]
    ends_at: datetime


@dataclass(slots=True)
class Person:
    urn: str
    name: str
    roles: dict[str, str] = field(default_factory=dict[str, str])  # organisation's URN -> role


@dataclass(slots=True)
class UploadedAsset:
    """A file: where its pieces go, what has come, when it can be used."""

    urn: str
    kind: str  # image, video, document
    owner: str
    urls_end: datetime
    pieces: list[bytes | None]
    marks: list[str] = field(default_factory=list[str])
    secret: str = ""  # of the upload address
    token: str = ""
    size: int | None = None
    broken: bool = False
    ready_at: datetime | None = None

    def status(self, now: datetime) -> str:
        if self.ready_at is None:
            return "WAITING_UPLOAD"
        if self.broken:
            return "PROCESSING_FAILED"
        return "AVAILABLE" if self.ready_at <= now else "PROCESSING"


@dataclass(slots=True)
class Post:
    urn: str
    author: str
    commentary: str
    at: datetime
    listed_at: datetime
    content: dict[str, Any]


@dataclass(slots=True)
class Client:
    id: str
    secret: str
    redirect_uri: str
    refreshes: bool = False  # an approved partner's app
    codes: dict[str, tuple[str, tuple[str, ...]]] = field(
        default_factory=dict[str, tuple[str, tuple[str, ...]]]
    )


def refuse(status: int, code: str, message: str, number: int | None = None) -> Answer:
    """Make a refusal in LinkedIn's shape."""
    body: dict[str, Any] = {"status": status, "message": message}
    if number is not None:
        body["serviceErrorCode"] = number
    if code:
        body["code"] = code
    return say(status, body)
