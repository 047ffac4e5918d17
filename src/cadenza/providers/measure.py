"""How long is a text on a channel, in the network's own unit, and how long may it be? As data.

For a composer that counts while somebody types: the same counting and the same numbers as each adapter's
`limits.py`, which `validate` refuses by. Limit: where an adapter has several limits (bytes beside clusters),
the nearest one is told, and `validate` says the others.
"""

from collections.abc import Callable
from dataclasses import dataclass

from cadenza.core.channels import Channel
from cadenza.providers import counting
from cadenza.providers.bluesky import limits as bluesky
from cadenza.providers.discord import limits as discord
from cadenza.providers.facebook import limits as facebook
from cadenza.providers.instagram import limits as instagram
from cadenza.providers.linkedin import limits as linkedin
from cadenza.providers.linkedin.little import commentary
from cadenza.providers.mastodon import limits as mastodon
from cadenza.providers.message import AccountRef, Message
from cadenza.providers.slack import limits as slack
from cadenza.providers.telegram import limits as telegram
from cadenza.providers.telegram.markup import BadMarkup, parse
from cadenza.providers.telegram_person import limits as telegram_person
from cadenza.providers.threads import limits as threads
from cadenza.providers.unipile import limits as unipile
from cadenza.providers.x import limits as x


@dataclass(frozen=True, slots=True)
class Length:
    """How long it is and may be; a limit of None: the network names none for texts."""

    unit: str
    length: int
    limit: int | None


def measure(provider: str, message: Message, account: AccountRef) -> list[Length]:
    """Measure a message: its text first, then each further part of a thread."""
    texts = (message.text, *message.parts)
    return [_measure(provider, message, account, text, part) for part, text in enumerate(texts)]


def most_files(provider: str, channel: Channel, account: AccountRef) -> int | None:
    """Say how many files one post may show; None: no number is known."""
    if channel is Channel.INSTAGRAM_STORY:
        return 1
    found = _FILES.get(provider)
    return mastodon.of_account(account).media if provider == "mastodon" else found


_FILES = {
    "bluesky": bluesky.IMAGES,
    "discord": discord.FILES,
    "facebook": facebook.PHOTOS,
    "instagram": instagram.CAROUSEL,
    "linkedin": linkedin.IMAGES,
    "slack": slack.PICTURES,
    "telegram": telegram.ALBUM,
    "telegram_person": telegram_person.FILES,
    "threads": threads.FILES,
    "x": x.IMAGES,
}


def _measure(provider: str, message: Message, account: AccountRef, text: str, part: int) -> Length:
    ruler = _RULERS.get(provider)
    if ruler is None:
        return Length("characters", counting.graphemes(text), None)
    return ruler(message, account, text, part)


def _mastodon(message: Message, account: AccountRef, text: str, part: int) -> Length:
    most = mastodon.of_account(account)
    warning = str(message.options.get("spoiler_text") or "")
    length = counting.mastodon(warning + text, url_length=most.url_length)
    return Length("characters", length, most.characters)


def _bluesky(message: Message, account: AccountRef, text: str, part: int) -> Length:
    length, size = counting.graphemes(text), counting.utf8(text)
    if size > bluesky.BYTES and length <= bluesky.GRAPHEMES:
        return Length("bytes", size, bluesky.BYTES)
    return Length("characters", length, bluesky.GRAPHEMES)


def _telegram(message: Message, account: AccountRef, text: str, part: int) -> Length:
    shown = message.html if part == 0 and message.html is not None else text
    try:
        seen = parse(shown, telegram.mode_of(message))
    except BadMarkup:
        seen = shown
    most = telegram.CAPTION if part == 0 and message.media else telegram.TEXT
    return Length("code points", counting.code_points(seen.strip()), most)


def _telegram_person(message: Message, account: AccountRef, text: str, part: int) -> Length:
    most = telegram_person.CAPTION if part == 0 and message.media else telegram_person.TEXT
    return Length("code points", counting.code_points(text), most)


def _instagram(message: Message, account: AccountRef, text: str, part: int) -> Length:
    if message.channel is Channel.INSTAGRAM_STORY:
        return Length("characters", instagram.caption_length(text), None)  # none of it is shown
    return Length("characters", instagram.caption_length(text), instagram.CAPTION)


def _slack(message: Message, account: AccountRef, text: str, part: int) -> Length:
    most = slack.BESIDE_PICTURES if message.media else slack.CHARACTERS
    return Length("characters", len(slack.escape(text)), most)


def _unipile(message: Message, account: AccountRef, text: str, part: int) -> Length:
    if message.channel is not Channel.LINKEDIN_INVITATION:
        return Length("characters", counting.code_points(text), None)
    own = account.settings.get("note_length")
    return Length(
        "characters", counting.code_points(text), own if isinstance(own, int) else unipile.NOTE
    )


Ruler = Callable[[Message, AccountRef, str, int], Length]
_RULERS: dict[str, Ruler] = {
    "bluesky": _bluesky,
    "discord": lambda _m, _a, text, _p: Length(
        "UTF-16 units", counting.utf16(text), discord.CHARACTERS
    ),
    "facebook": lambda _m, _a, text, _p: Length(
        "characters", facebook.length(text), facebook.CHARACTERS
    ),
    "instagram": _instagram,
    "linkedin": lambda _m, _a, text, _p: Length(
        "characters, escapes included", len(commentary(text)), linkedin.CHARACTERS
    ),
    "mastodon": _mastodon,
    "slack": _slack,
    "telegram": _telegram,
    "telegram_person": _telegram_person,
    "threads": lambda _m, _a, text, _p: Length(
        "characters, an emoji counts its bytes", counting.threads(text), threads.CHARACTERS
    ),
    "unipile": _unipile,
    "x": lambda _m, account, text, _p: Length(
        "weighted characters", counting.x_weight(text), x.characters(account)
    ),
}
