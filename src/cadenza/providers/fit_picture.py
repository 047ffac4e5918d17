"""Which pictures a channel takes, and what must become of one that it does not take as it is.

One mechanism for all networks: their limits are declared here from each adapter's `limits.py`, `plan` says what to
change, `media/convert.py` does it. A picture becomes a JPEG of at most so many bytes and pixels, which can always
be made. Not changed: what moves (a still would not be the same thing) and proportions (cutting is for a person).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from cadenza.core.channels import Channel
from cadenza.providers.bluesky import limits as bluesky
from cadenza.providers.discord import limits as discord
from cadenza.providers.facebook import limits as facebook
from cadenza.providers.instagram import limits as instagram
from cadenza.providers.linkedin import limits as linkedin
from cadenza.providers.mastodon import limits as mastodon
from cadenza.providers.message import AccountRef, Fitting, MediaItem, MediaKind
from cadenza.providers.telegram import limits as telegram
from cadenza.providers.threads import limits as threads
from cadenza.providers.x import limits as x

JPEG = "image/jpeg"
_USUAL = (JPEG, "image/png", "image/webp", "image/gif")
_NAMES = {JPEG: "JPEG", "image/png": "PNG", "image/webp": "WebP", "image/gif": "GIF"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureRules:
    """What a channel takes as a picture; None: no such limit."""

    types: tuple[str, ...] = _USUAL
    bytes: int | None = None
    pixels: int | None = None
    sides: int | None = None  # width and height together


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureChange:
    """Make a JPEG within these bounds. The same change of the same file is the same picture."""

    bytes: int | None
    pixels: int | None
    sides: int | None

    @property
    def name(self) -> str:
        """Name the change, for where its result is kept."""
        return f"jpeg-{self.bytes or 0}-{self.pixels or 0}-{self.sides or 0}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedFile:
    """A picture that was changed, as it is stored."""

    file: str
    mime: str
    size: int
    width: int
    height: int
    stopped: bool = False  # the file moved, and its first frame was taken


def rules_of(provider: str, channel: Channel, account: AccountRef) -> PictureRules | None:
    """Return what the channel takes; None: nothing is changed for it."""
    return _RULES[provider](channel, account) if provider in _RULES else None


def plan(item: MediaItem, rules: PictureRules | None) -> PictureChange | None:
    """Say what must be done with a file; None: it fits, or it is nothing that can be changed."""
    still = item.kind in {MediaKind.IMAGE, MediaKind.GIF} and item.seconds is None
    if rules is None or not still or _fits(item, rules):
        return None
    return PictureChange(bytes=rules.bytes, pixels=rules.pixels, sides=rules.sides)


def planned(item: MediaItem, change: PictureChange) -> MediaItem:
    """Return the file as the channel will get it, as far as that is known before it is made."""
    scale = scale_within(change, item.width or 1, item.height or 1)
    turns = "will be converted to JPEG" if item.mime != JPEG else "will be made smaller"
    most = "" if change.bytes is None else f", {write_size(change.bytes)} at most"
    return replace(
        item,
        kind=MediaKind.IMAGE,
        mime=JPEG,
        size=item.size if change.bytes is None else min(item.size, change.bytes),
        width=item.width and max(1, int(item.width * scale)),
        height=item.height and max(1, int(item.height * scale)),
        fitting=Fitting(change.name, f"{item.name or 'A picture'} {turns}{most}.", item.name),
    )


def fitted(item: MediaItem, change: PictureChange, made: FittedFile) -> MediaItem:
    """Return the file as the channel gets it; how its bytes are read is the caller's to say."""
    turns = "Converted to JPEG" if item.mime != JPEG else "Made smaller"
    message = f"{turns}, {write_size(item.size)} → {write_size(made.size)}"
    if item.width and item.height and made.width * made.height < item.width * item.height:
        message += f", {item.width}×{item.height} → {made.width}×{made.height}"
    still = "; only its first frame is sent" if made.stopped else ""
    named = f"{item.name}: {message[:1].lower()}{message[1:]}" if item.name else message
    return replace(
        item,
        kind=MediaKind.IMAGE,
        mime=made.mime,
        size=made.size,
        name=f"{item.name.rpartition('.')[0] or item.name}.jpg" if item.name else "",
        width=made.width,
        height=made.height,
        fitting=Fitting(change.name, f"{named}{still}.", item.name, made=True),
    )


def scale_within(change: PictureChange, width: int, height: int) -> float:
    """Return by how much the sides must shrink before bytes are counted; 1: not at all."""
    scale = 1.0
    if change.pixels is not None and width * height > change.pixels:
        scale = min(scale, (change.pixels / (width * height)) ** 0.5)
    if change.sides is not None and width + height > change.sides:
        scale = min(scale, change.sides / (width + height))
    return scale


def write_size(size: int) -> str:
    """Write a number of bytes as people read it."""
    if size < 100_000:
        return f"{max(1, round(size / 1000))} kB"
    return f"{size / 1_000_000:.1f} MB".replace(".0 MB", " MB")


def _fits(item: MediaItem, rules: PictureRules) -> bool:
    width, height = item.width or 0, item.height or 0
    return (
        item.mime in rules.types
        and (rules.bytes is None or item.size <= rules.bytes)
        and (rules.pixels is None or width * height <= rules.pixels)
        and (rules.sides is None or width + height <= rules.sides)
    )


Rules = Callable[[Channel, AccountRef], PictureRules]
_RULES: dict[str, Rules] = {
    "bluesky": lambda _c, _a: PictureRules(bytes=bluesky.IMAGE_BYTES),
    "discord": lambda _c, _a: PictureRules(bytes=discord.FILE_BYTES),
    "facebook": lambda _c, _a: PictureRules(types=facebook.PHOTO_TYPES, bytes=facebook.PHOTO_BYTES),
    "instagram": lambda _c, _a: PictureRules(types=(JPEG,), bytes=instagram.IMAGE_BYTES),
    "linkedin": lambda _c, _a: PictureRules(types=linkedin.IMAGE_TYPES, pixels=linkedin.PIXELS - 1),
    "mastodon": lambda _c, account: PictureRules(bytes=mastodon.of_account(account).image_bytes),
    "telegram": lambda _c, _a: PictureRules(bytes=telegram.PHOTO_BYTES, sides=telegram.PHOTO_SIDES),
    "threads": lambda _c, _a: PictureRules(types=threads.IMAGE_TYPES, bytes=threads.IMAGE_BYTES),
    "x": lambda _c, _a: PictureRules(
        types=(*x.TYPES[MediaKind.IMAGE], *x.TYPES[MediaKind.GIF]),
        bytes=x.BYTES[MediaKind.IMAGE],
    ),
}
