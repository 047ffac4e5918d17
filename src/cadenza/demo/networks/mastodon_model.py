"""What a Mastodon server keeps, and the words in which it refuses."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

TEMPORARY = "There was a temporary problem serving your request, please try again"
NO_SUCH_POST = "The post you are trying to reply to does not appear to exist."
NOT_FINISHED = "Cannot attach files that have not finished processing. Try again in a moment!"
MIXED = "Cannot attach a video to a post that already contains images"
NOT_YOURS = "not found or already attached to another post"
NO_TYPE = "Validation failed: File type of uploaded media could not be verified"
BAD_VISIBILITY = "Validation failed: Visibility is not included in the list"
OUTSIDE_SCOPES = "This action is outside the authorized scopes"
TOKEN_TROUBLE = {
    "invalid": "The access token is invalid",
    "expired": "The access token expired",
    "revoked": "The access token was revoked",
}

KEY_LIFE = timedelta(hours=1)
VISIBILITIES = ("public", "unlisted", "private", "direct")
FIELDS = {
    *("status", "media_ids", "visibility", "language", "sensitive"),
    *("spoiler_text", "in_reply_to_id"),
}
SCOPES = ("read", "write")


@dataclass(slots=True)
class Rules:
    """What an instance has configured."""

    max_characters: int = 500
    max_media: int = 4
    url_length: int = 23
    processing: timedelta = timedelta()  # how long a video is worked on, on the networks' clock
    media_v2: bool = True
    pleroma: bool = False  # says its length in Pleroma's way
    image_size: int = 16 * 1024 * 1024
    video_size: int = 99 * 1024 * 1024
    alt_limit: int = 10_000
    software: str = "mastodon"  # as nodeinfo names it; empty: there is no nodeinfo
    keeps_keys: bool = True  # GoToSocial, Friendica and older Pixelfed ignore Idempotency-Key
    page: int = 40  # the most that a list shows at once, whatever was asked for
    hides_reblogs: bool = True  # knows `exclude_reblogs`
    markdown: bool = False  # takes texts for Markdown, as GoToSocial does for who chose it
    tells_source: bool = True  # knows /statuses/:id/source


def like_gotosocial() -> Rules:
    """Return what GoToSocial does otherwise."""
    return Rules(max_characters=5000, software="gotosocial", keeps_keys=False)


@dataclass(slots=True)
class Token:
    account: str
    scopes: tuple[str, ...] = SCOPES
    trouble: str = ""  # invalid, expired, revoked
    app: str = ""  # the name of the client that it was given to


@dataclass(slots=True)
class Media:
    id: str
    account: str
    mime: str
    ready_at: datetime
    broken: bool = False
    attached: bool = False


@dataclass(slots=True)
class Person:
    id: str
    handle: str
    trouble: str = ""  # a 403's words
    drops_silently: bool = False


@dataclass(slots=True)
class Status:
    id: str
    account: str
    text: str
    at: datetime
    listed_at: datetime
    reply_to: str | None
    media: tuple[str, ...] = ()
    app: str = ""
    reblog: bool = False


@dataclass(slots=True)
class Client:
    id: str
    secret: str
    redirect_uri: str
    scopes: tuple[str, ...]
    name: str = ""
    codes: dict[str, str] = field(default_factory=dict[str, str])  # code -> account
