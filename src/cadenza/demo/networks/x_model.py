"""What X keeps, and the shape in which it refuses."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from cadenza.demo.simulator.wire import Answer, say

PROBLEMS = "https://api.twitter.com/2/problems/"
DUPLICATE = "You are not allowed to create a Tweet with duplicate content."
NOT_PERMITTED = "You are not permitted to perform this action."
BAD_MEDIA = "Your media IDs are invalid."
INVALID = "One or more parameters to your request was invalid."
EPOCH_MS = 1_288_834_974_657
ACCESS_LIFE = timedelta(hours=2)
CODE_LIFE = timedelta(seconds=30)
MEDIA_LIFE = timedelta(hours=24)
SAME_TEXT = timedelta(hours=12)
MIB = 1024 * 1024
SCOPES = ("tweet.read", "tweet.write", "users.read", "media.write", "offline.access")
CATEGORIES = {
    "tweet_image": (("image/jpeg", "image/png", "image/webp", "image/gif"), 5 * MIB),
    "tweet_gif": (("image/gif",), 15 * MIB),
    "tweet_video": (("video/mp4", "video/quicktime"), 512 * MIB),
}


@dataclass(slots=True)
class User:
    id: str
    name: str
    characters: int = 280
    suspended: bool = False


@dataclass(slots=True)
class Token:
    user: str
    scopes: tuple[str, ...]
    expires_at: datetime
    trouble: bool = False


@dataclass(slots=True)
class Media:
    id: str
    user: str
    category: str
    ends_at: datetime
    total: int = 0
    pieces: dict[int, bytes] = field(default_factory=dict[int, bytes])
    closed_at: datetime | None = None
    ready_at: datetime | None = None
    broken: bool = False
    alt: str = ""

    def state(self, now: datetime) -> str:
        if self.ready_at is None or self.closed_at is None:
            return "pending"
        if self.ready_at > now:
            return "in_progress"
        return "failed" if self.broken else "succeeded"


@dataclass(slots=True)
class Post:
    id: str
    user: str
    text: str
    at: datetime
    listed_at: datetime
    reply_to: str | None
    media: tuple[str, ...]
    links: tuple[tuple[str, str], ...] = ()  # t.co and what it leads to


@dataclass(slots=True)
class Client:
    id: str
    secret: str | None
    redirect_uri: str
    codes: dict[str, tuple[str, tuple[str, ...], str, datetime]] = field(
        default_factory=dict[str, tuple[str, tuple[str, ...], str, datetime]]
    )


def problem(status: int, kind: str, detail: str, title: str = "", **more: Any) -> Answer:
    """Make a problem as X writes it; `kind` empty means about:blank."""
    where = PROBLEMS + kind if kind else "about:blank"
    body = {"title": title or detail, "detail": detail, "type": where, "status": status}
    return say(status, {**body, **more})


def invalid(words: str) -> Answer:
    """Refuse parameters."""
    errors = [{"message": words}]
    return problem(400, "invalid-request", INVALID, "Invalid Request", errors=errors)
