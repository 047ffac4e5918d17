"""From a delivery's stored content to the message that an adapter gets.

Content is JSON that a planner completed for its channel: text, parts, media by name, subject, link.
Media are read through a port, so that a file on disk, one in a bucket, and one of a test look alike.
Pictures that the channel does not take are changed by its rules: `render` shows them as they will be,
`render_fitted` makes them; both go by the same plan.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import msgspec

from cadenza.core.channels import Channel
from cadenza.providers.fit_picture import (
    FittedFile,
    PictureChange,
    PictureRules,
    fitted,
    plan,
    planned,
)
from cadenza.providers.message import MediaItem, MediaKind, Message, Recipient


class Files(Protocol):
    """Where media lie."""

    async def read(self, name: str) -> bytes: ...


@runtime_checkable
class PublicFiles(Protocol):
    """Files that can be fetched from outside: an address is asked for again each time, as it expires."""

    def public_url(self, name: str) -> str | None: ...


@runtime_checkable
class LocalFiles(Protocol):
    """Files that can be fetched where this instance listens, whoever reaches that."""

    def own_url(self, name: str) -> str | None: ...


@runtime_checkable
class Fits(Protocol):
    """Files that can be changed to what a channel takes; None: this one cannot."""

    async def fit(self, name: str, change: PictureChange) -> FittedFile | None: ...


class _Media(msgspec.Struct, kw_only=True):
    file: str
    name: str = ""  # as its owner calls it; where the file lies is nobody else's business
    kind: MediaKind
    mime: str
    size: int
    url: str | None = None
    width: int | None = None
    height: int | None = None
    seconds: float | None = None
    alt: str = ""


class _Content(msgspec.Struct, kw_only=True):
    text: str = ""
    media: list[_Media] = []
    parts: list[str] = []
    first_comment: str | None = None
    subject: str = ""
    html: str | None = None
    link: str | None = None
    recipient_name: str = ""
    recipient_fields: dict[str, str] = {}  # what the network knows them by besides, e.g. `chat_id`
    unsubscribe_url: str | None = None
    options: dict[str, Any] = {}


class Renderable(Protocol):
    """What a message is made from: a delivery, or a post's content for one channel."""

    @property
    def channel(self) -> Channel:
        """Where it goes."""
        ...

    @property
    def content(self) -> str:
        """JSON, complete for its channel."""
        ...

    @property
    def recipient(self) -> str | None:
        """Whom it is for, where the channel has one."""
        ...


def render(delivery: Renderable, files: Files, rules: PictureRules | None = None) -> Message:
    """Read the content; what is not complete raises, and the gate calls it a problem."""
    content = _read(delivery)
    items = (_item(media, files) for media in content.media)
    media = tuple(
        planned(item, change) if (change := plan(item, rules)) else item for item in items
    )
    return _message(delivery, content, media)


async def render_fitted(delivery: Renderable, files: Files, rules: PictureRules | None) -> Message:
    """Read the content and change the pictures that need it; never within a transaction."""
    content = _read(delivery)
    media = [await _fitted(each, files, rules) for each in content.media]
    return _message(delivery, content, tuple(media))


def _read(delivery: Renderable) -> _Content:
    return msgspec.json.decode(delivery.content, type=_Content)


def _message(delivery: Renderable, content: _Content, media: tuple[MediaItem, ...]) -> Message:
    recipient = delivery.recipient
    return Message(
        channel=delivery.channel,
        text=content.text,
        media=media,
        parts=tuple(content.parts),
        first_comment=content.first_comment,
        subject=content.subject,
        html=content.html,
        link=content.link,
        recipient=(
            None
            if recipient is None
            else Recipient(recipient, content.recipient_name, content.recipient_fields)
        ),
        unsubscribe_url=content.unsubscribe_url,
        options=content.options,
    )


async def _fitted(media: _Media, files: Files, rules: PictureRules | None) -> MediaItem:
    """Return the file as the channel takes it; one that cannot be changed stays, and `validate` says so."""
    item = _item(media, files)
    change = plan(item, rules)
    if change is None or not isinstance(files, Fits):
        return item
    made = await files.fit(media.file, change)
    if made is None:
        return item
    found = fitted(item, change, made)
    return replace(
        found,
        read=_reader(files, made.file),
        url=_address(files, made.file),
        own_url=_own_address(files, made.file),
    )


def _item(media: _Media, files: Files) -> MediaItem:
    return MediaItem(
        kind=media.kind,
        mime=media.mime,
        size=media.size,
        read=_reader(files, media.file),
        name=media.name or media.file.rpartition("/")[2],
        url=media.url or _address(files, media.file),
        own_url=media.url or _own_address(files, media.file),
        width=media.width,
        height=media.height,
        seconds=media.seconds,
        alt=media.alt,
    )


def _address(files: Files, name: str) -> str | None:
    return files.public_url(name) if isinstance(files, PublicFiles) else None


def _own_address(files: Files, name: str) -> str | None:
    return files.own_url(name) if isinstance(files, LocalFiles) else None


def _reader(files: Files, name: str) -> Callable[[], Awaitable[bytes]]:
    async def read() -> bytes:
        return await files.read(name)

    return read
