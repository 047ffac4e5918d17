"""What a template is: its content as a person writes it, and a version of it, frozen and compiled.

A version is never changed: who planned with one sends exactly that, whatever was saved since. The compiled form is
kept with it, so that a newer cleaner or Markdown reader changes nothing that was checked and seen.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec

from cadenza.core.channels import Channel
from cadenza.providers.message import MediaKind
from cadenza.sql.tx import Row

CHANNELS = (
    Channel.EMAIL,
    Channel.TELEGRAM,
    Channel.LINKEDIN_MESSAGE,
    Channel.LINKEDIN_INVITATION,
    Channel.LINKEDIN_INMAIL,
    Channel.SLACK,
    Channel.DISCORD,
    Channel.WEBHOOK,
)
KINDS = {
    MediaKind.IMAGE: "PHOTO",
    MediaKind.GIF: "PHOTO",
    MediaKind.VIDEO: "VIDEO",
    MediaKind.DOCUMENT: "DOCUMENT",
}


class BodyFormat(StrEnum):
    """How the body is written."""

    TEXT = "text"
    MARKDOWN = "markdown"
    HTML = "html"


class TemplateMedia(msgspec.Struct, frozen=True, kw_only=True):
    """A file of the library that goes along; of a mail, an attachment."""

    media_id: str
    alt: str | None = None  # None: as the library describes it


class TemplateVariant(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one channel gets instead; None is the same as everywhere."""

    subject: str | None = None
    text: str | None = None
    media: tuple[TemplateMedia, ...] | None = None
    options: dict[str, Any] = {}


class TemplateContent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A template as its author writes it."""

    body: str
    subject: str = ""
    format: BodyFormat = BodyFormat.TEXT
    css: str = ""  # for pasted HTML
    text: str | None = None  # the plain text of a mail, where the one that is made does not do
    media: tuple[TemplateMedia, ...] = ()
    variants: dict[Channel, TemplateVariant] = {}

    @property
    def media_ids(self) -> tuple[str, ...]:
        """Name every file, each once."""
        shown = [*self.media, *(m for v in self.variants.values() for m in v.media or ())]
        return tuple(dict.fromkeys(each.media_id for each in shown))


class TemplateVariable(msgspec.Struct, frozen=True, kw_only=True):
    """A variable that a template uses; one that is not required has a default or stands in a condition."""

    name: str
    required: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateVersion:
    """One saved state of a template; frozen."""

    workspace_id: str
    id: str
    template_id: str
    number: int
    content: TemplateContent
    compiled: str  # JSON of `compile.Compiled`
    variables: tuple[TemplateVariable, ...]
    removed: tuple[str, ...]  # what the cleaner took out of pasted HTML
    saved_by: str
    saved_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A template with its newest version."""

    workspace_id: str
    id: str
    name: str
    created_at: datetime
    updated_at: datetime
    version: TemplateVersion


@dataclass(frozen=True, slots=True)
class NoSuchTemplate:
    """The workspace has no such template, or no such version of it."""

    message: str = "there is no template of that id here"


@dataclass(frozen=True, slots=True)
class NameTaken:
    """Another template has the name."""

    name: str

    @property
    def message(self) -> str:
        """Say it in one line."""
        return f"there is a template {self.name!r} already: choose another name"


@dataclass(frozen=True, slots=True)
class TemplateChanged:
    """Somebody saved a newer version meanwhile."""

    version: int
    message: str = "somebody saved a newer version meanwhile: read it again, then decide"


@dataclass(frozen=True, slots=True)
class UnreadableTemplate:
    """The text is no template: where, and what to change."""

    field: str
    message: str
    line: int = 0
    column: int = 0


def template_locks(workspace_id: str) -> list[str]:
    """Name the lock of a workspace's templates: names are unique and versions are counted under it."""
    return [f"templates:{workspace_id}"]


def version_of(row: Row) -> TemplateVersion:
    """Read a row of `template_version`."""
    return TemplateVersion(
        workspace_id=row["workspace_id"],
        id=row["id"],
        template_id=row["template_id"],
        number=row["number"],
        content=msgspec.json.decode(row["content"], type=TemplateContent),
        compiled=row["compiled"],
        variables=tuple(msgspec.json.decode(row["variables"], type=list[TemplateVariable])),
        removed=tuple(msgspec.json.decode(row["removed"], type=list[str])),
        saved_by=row["saved_by"],
        saved_at=row["saved_at"],
    )


Variables = Mapping[str, Any]
