"""What is sent, by whom: content frozen for one channel, and the account as an adapter may know it.

A `Message` is complete before it reaches an adapter: variables filled, hashtags merged, media chosen.
An adapter fits it to its network or says in `validate` why it cannot; it never cuts silently.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from cadenza.core.channels import Channel
from cadenza.providers.http.redact import Secret


class MediaKind(StrEnum):
    """What a file is, by its content, not by its name."""

    IMAGE = "image"
    GIF = "gif"
    VIDEO = "video"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True)
class Fitting:
    """What is done to a file so that its channel takes it; `made`: it was, and the numbers are real."""

    change: str
    message: str
    name: str = ""  # as its owner calls it; what is sent is named by its type
    made: bool = False


@dataclass(frozen=True, slots=True)
class MediaItem:
    """A file to send along.

    `url` is public, for networks that fetch media themselves; `own_url` is where this instance listens, which
    may be its own machine or network alone.
    """

    kind: MediaKind
    mime: str
    size: int
    read: Callable[[], Awaitable[bytes]]
    name: str = ""
    url: str | None = None
    own_url: str | None = None
    width: int | None = None
    height: int | None = None
    seconds: float | None = None
    alt: str = ""
    fitting: Fitting | None = None


@dataclass(frozen=True, slots=True)
class Recipient:
    """To whom a message goes, where the channel has recipients: an address, a chat, a profile."""

    address: str
    name: str = ""
    fields: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One thing for one channel, complete."""

    channel: Channel
    text: str = ""
    media: tuple[MediaItem, ...] = ()
    parts: tuple[str, ...] = ()  # of a thread, after the first
    first_comment: str | None = None
    subject: str = ""
    html: str | None = None
    link: str | None = None
    recipient: Recipient | None = None
    unsubscribe_url: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])  # of this channel alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """An account's credentials, opened for one call; never logged, never serialised as they are."""

    access: Secret
    refresh: Secret | None = None
    expires_at: datetime | None = None
    refreshed_at: datetime | None = None
    extra: Mapping[str, Secret] = field(default_factory=dict[str, Secret])


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountRef:
    """The account that sends: who it is over there, and what was set for it here."""

    id: str
    remote_id: str
    handle: str = ""
    settings: Mapping[str, Any] = field(
        default_factory=dict[str, Any]
    )  # instance, host, from address


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """Our own registration with a network, from settings."""

    base_url: str
    client_id: str = ""
    client_secret: Secret | None = None
    options: Mapping[str, str] = field(default_factory=dict[str, str])  # API version, other hosts
