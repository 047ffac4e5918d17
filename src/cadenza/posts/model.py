"""What a post is: its content, its variants for channels, its approval, and what it still needs.

A variant overrides single fields and inherits the rest (None: inherit). An approval names the hash of
what was approved; content with another hash is not approved, whoever changed it. How a post shows is
not here: it is derived from its deliveries (`read.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import Any

import msgspec

from cadenza.core.channels import Channel
from cadenza.sql.tx import Row

NEEDS_MEDIA = "needs media"
NEEDS_COPY = "needs copy"
PLACEHOLDER = "[Placeholder – write me]"  # in a text that a program laid out and nobody wrote yet


class Source(StrEnum):
    """Who thought of it."""

    MANUAL = "manual"
    RULE = "rule"
    QUEUE = "queue"


@dataclass(frozen=True, slots=True)
class PostMedia:
    """A file of the library, described in the post's own words; None: in the library's."""

    media_id: str
    alt: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """What is different on one channel. None inherits; an empty value is one ("no first comment")."""

    text: str | None = None
    media: tuple[PostMedia, ...] | None = None
    hashtags: tuple[str, ...] | None = None  # instead of all merged ones
    parts: tuple[str, ...] | None = None
    first_comment: str | None = None
    link: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])  # of this channel alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """All that is published of a post, before it is composed for a channel."""

    text: str = ""
    variants: Mapping[Channel, Variant] = field(default_factory=dict[Channel, Variant])
    media: tuple[PostMedia, ...] = ()
    hashtags: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()  # of a thread, after the first
    first_comment: str | None = None
    link: str | None = None

    @property
    def media_ids(self) -> tuple[str, ...]:
        """Name every file that any channel shows, once each."""
        shown = [*self.media, *(m for v in self.variants.values() for m in v.media or ())]
        return tuple(dict.fromkeys(item.media_id for item in shown))

    def as_json(self) -> str:
        """Return it as it is stored: the same content is the same text."""
        return msgspec.json.encode(self, order="sorted").decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPost:
    """A post as a person, a rule or an import hands it in."""

    workspace_id: str
    text: str = ""
    variants: Mapping[Channel, Variant] = field(default_factory=dict[Channel, Variant])
    media: tuple[PostMedia, ...] = ()
    hashtags: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    first_comment: str | None = None
    link: str | None = None
    title: str = ""
    category_id: str | None = None
    labels: tuple[str, ...] = ()
    source: Source = Source.MANUAL
    author_id: str | None = None
    blockers: tuple[str, ...] = ()

    @property
    def content(self) -> Content:
        """Return what is published of it."""
        return Content(
            text=self.text,
            variants=self.variants,
            media=self.media,
            hashtags=self.hashtags,
            parts=self.parts,
            first_comment=self.first_comment,
            link=self.link,
        )


@dataclass(frozen=True, slots=True)
class Approval:
    """Who approved what, and when."""

    by: str
    at: datetime
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """A post as it stands."""

    workspace_id: str
    id: str
    title: str
    source: Source
    author_id: str | None
    category_id: str | None
    labels: tuple[str, ...]
    content: Content
    content_hash: str
    blockers: tuple[str, ...]
    revision: int
    approval: Approval | None
    created_at: datetime
    updated_at: datetime

    @property
    def approved(self) -> bool:
        """Say whether what it says now is what was approved."""
        return self.approval is not None and self.approval.hash == self.content_hash

    @property
    def etag(self) -> str:
        """Name this state of it, for an edit that must not overwrite another's."""
        return f'"{self.revision}"'


@dataclass(frozen=True, slots=True)
class NoSuchPost:
    """The workspace has no post of that id (any more)."""

    id: str
    message: str = "there is no such post: it may have been deleted"


@dataclass(frozen=True, slots=True)
class MovedMeanwhile:
    """It no longer stands where the caller saw it: nothing was changed. `at` is where it stands, if anywhere."""

    at: datetime | None

    @property
    def message(self) -> str:
        if self.at is None:
            return "somebody took it back meanwhile: it has no time there"
        return f"somebody moved it meanwhile: it goes out {self.at:%Y-%m-%d %H:%M} UTC now"


@dataclass(frozen=True, slots=True)
class NotAllowed:
    """Whoever asked may not do that: nothing was changed."""

    message: str


@dataclass(frozen=True, slots=True)
class Blocked:
    """Something must be done first: nothing was changed."""

    blockers: tuple[str, ...]

    @property
    def message(self) -> str:
        """Say it in one line."""
        return f"it {' and '.join(self.blockers)}: edit the post first"


def content_of(text: str) -> Content:
    """Read stored content."""
    return msgspec.json.decode(text, type=Content)


def hash_of(content: Content, *, title: str = "", category_id: str | None = None) -> str:
    """Name a content: what is approved, and what a later edit is compared with.

    The category belongs to it, as it brings hashtags; their own changes void nothing.
    """
    whole = msgspec.json.encode((title, category_id, content.as_json()))
    return sha256(whole).hexdigest()


def post_of(row: Row, labels: tuple[str, ...] = ()) -> Post:
    """Read a row."""
    approval = None
    if row["approved_at"] is not None:
        approval = Approval(row["approved_by"], row["approved_at"], row["approved_hash"])
    return Post(
        workspace_id=row["workspace_id"],
        id=row["id"],
        title=row["title"],
        source=Source(row["source"]),
        author_id=row["author_id"],
        category_id=row["category_id"],
        labels=labels,
        content=content_of(row["content"]),
        content_hash=row["content_hash"],
        blockers=tuple(msgspec.json.decode(row["blockers"])),
        revision=row["revision"],
        approval=approval,
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )
