"""What each channel can do, as a table for people: written from the adapters' own limits and promises.

`python -m cadenza.providers.capability_table` prints docs/guides/providers.md; a test compares the two, so the
page cannot say other than the code. Numbers come from each `limits.py`, promises from `capabilities`.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace

from cadenza.core.channels import Channel
from cadenza.providers.base import Capabilities, Idempotency, Provider
from cadenza.providers.bluesky import limits as bluesky
from cadenza.providers.discord import limits as discord
from cadenza.providers.facebook import limits as facebook
from cadenza.providers.instagram import limits as instagram
from cadenza.providers.linkedin import limits as linkedin
from cadenza.providers.mastodon.limits import Limits as Mastodon
from cadenza.providers.registry import all_connectors, all_providers
from cadenza.providers.slack import limits as slack
from cadenza.providers.smtp import limits as smtp
from cadenza.providers.telegram import limits as telegram
from cadenza.providers.telegram_person import limits as telegram_person
from cadenza.providers.threads import limits as threads
from cadenza.providers.unipile import limits as unipile
from cadenza.providers.webhook import limits as webhook
from cadenza.providers.x import limits as x

HEAD = """# What each channel takes and promises

This page is written by `python -m cadenza.providers.capability_table`; a test compares it with the code. More
about each network stands beside its adapter, in `src/cadenza/providers/<network>/README.md`.
A story's photo on a Facebook page cannot be looked up, though the page's other posts can. Telegram as a
person was run with Telethon against a stand-in, never against Telegram's own servers. A picture of another
type, or larger than a channel takes, is changed to fit (see [media.md](media.md)); videos and animations are not.
"""
NATIVE, OWN_ID, PER_CONTAINER = Idempotency.NATIVE, Idempotency.OWN_ID, Idempotency.PER_CONTAINER
SOME_SERVERS = Idempotency.SOME_SERVERS
REPEATS = {
    NATIVE: "the network knows our key",
    SOME_SERVERS: "Mastodon itself knows our key; other servers would post twice",
    OWN_ID: "we choose the post's id",
    PER_CONTAINER: "what was prepared shows once",
    Idempotency.NONE: "would be a second post, so it is never made blindly",
}


@dataclass(frozen=True, slots=True)
class Page:
    """What is told of a network and cannot be read off its adapter."""

    text: str
    media: str
    app: str = ""  # which credentials of an app are needed, if any
    settings: tuple[str, ...] = ()  # of an account, as they are stored
    options: tuple[str, ...] = ()  # of the app: `providers.<network>.options.<name>`


def _mb(size: int) -> str:
    step, unit = (1024 * 1024, "MiB") if size % (1024 * 1024) == 0 else (1_000_000, "MB")
    return f"{size / step:g} {unit}"


def _n(number: int) -> str:
    return f"{number:,}"


ID_SECRET = "`client_id`, `client_secret`"  # noqa: S105 - names of settings
META = ("version", "www", "appsecret_proof")
_MASTODON = Mastodon()
_SMTP = Page(
    "no limit of its own",
    f"attachments; {_mb(smtp.MAX_BYTES)} for the whole mail unless set otherwise",
    settings=(
        *("host", "port", "security", "username", "auth", "from_address", "from_name"),
        *("reply_to", "unsubscribe_mailto", "max_bytes", "bounce_domain"),
        *("dkim_selector", "dkim_domain", "signature"),
    ),
)
_SIGNED_IN_MAIL = replace(
    _SMTP,
    app=ID_SECRET,
    options=("sign_in_url", "smtp_host", "smtp_port", "smtp_security", "imap_host"),
)

PAGES: dict[str, Page] = {
    "bluesky": Page(
        f"{bluesky.GRAPHEMES} grapheme clusters and {_n(bluesky.BYTES)} bytes",
        f"{bluesky.IMAGES} pictures of {_mb(bluesky.IMAGE_BYTES)}, or 1 video of {_mb(bluesky.VIDEO_BYTES)}",
        settings=("pds",),
    ),
    "discord": Page(
        f"{_n(discord.CHARACTERS)} UTF-16 units",
        f"{discord.FILES} files of {_mb(discord.FILE_BYTES)}, {_mb(discord.ALL_BYTES)} together",
        settings=("guild_id",),
    ),
    "facebook": Page(
        f"{_n(facebook.CHARACTERS)} characters (stricter of code points and UTF-16 units)",
        f"{facebook.PHOTOS} photos of {_mb(facebook.PHOTO_BYTES)}, or 1 video; as reel or story: 1 file",
        ID_SECRET,
        options=META,
    ),
    "instagram": Page(
        f"{_n(instagram.CAPTION)} characters, {instagram.HASHTAGS} hashtags, {instagram.MENTIONS} "
        "mentions",
        f"1 to {instagram.CAROUSEL} files: JPEG {_mb(instagram.IMAGE_BYTES)} by a public address, "
        f"video {_mb(instagram.REEL_BYTES)} also as bytes",
        ID_SECRET,
        settings=("login", "page"),
        options=(*META, "api", "facebook", "login"),
    ),
    "linkedin": Page(
        f"{_n(linkedin.CHARACTERS)} characters, escapes included",
        f"{linkedin.IMAGES} pictures, or 1 video of {_mb(linkedin.VIDEO_BYTES[1])}, or 1 document of "
        f"{_mb(linkedin.DOCUMENT_BYTES)}",
        ID_SECRET,
        options=("version", "sign_in_url", "organisations"),
    ),
    "google_mail": _SIGNED_IN_MAIL,
    "microsoft_mail": replace(_SIGNED_IN_MAIL, options=("tenant", *_SIGNED_IN_MAIL.options)),
    "mastodon": Page(
        f"{_MASTODON.characters} grapheme clusters unless the server says otherwise; "
        f"a link counts {_MASTODON.url_length}",
        f"{_MASTODON.media} pictures of {_mb(_MASTODON.image_bytes)}, or 1 video of "
        f"{_mb(_MASTODON.video_bytes)}, unless the server says otherwise",
        settings=("instance", "limits"),
    ),
    "slack": Page(
        f"{_n(slack.CHARACTERS)} characters, {_n(slack.BESIDE_PICTURES)} beside pictures",
        f"{slack.PICTURES} pictures by a public address",
    ),
    "smtp": _SMTP,
    "telegram": Page(
        f"{_n(telegram.TEXT)} code points, {_n(telegram.CAPTION)} below files; markup not counted",
        f"{telegram.ALBUM} files: photo {_mb(telegram.PHOTO_BYTES)}, others {_mb(telegram.FILE_BYTES)}",
        settings=("chat_id", "file_bytes", "server"),
    ),
    "telegram_person": Page(
        f"{_n(telegram_person.TEXT)} code points, {_n(telegram_person.CAPTION)} below a file",
        f"{telegram_person.FILES} file of {_mb(telegram_person.FILE_BYTES)}",
        "`client_id` (api_id), `client_secret` (api_hash), and the extra `telegram`",
        settings=("chat",),
    ),
    "threads": Page(
        f"{threads.CHARACTERS} characters, an emoji counts its bytes; {threads.LINKS} links",
        f"{threads.FILES} files by a public address: picture {_mb(threads.IMAGE_BYTES)}, "
        f"video {_mb(threads.VIDEO_BYTES)}",
        ID_SECRET,
        options=META,
    ),
    "unipile": Page(
        "no limit of its own",
        f"attachments of {_mb(unipile.FILE_BYTES)}",
        settings=(
            "dsn",
            "kind",
            "note_length",
            "from_address",
            "from_name",
            "reply_to",
            "signature",
        ),
    ),
    "webhook": Page(
        f"{_n(webhook.ADVISED)} bytes for the whole body, as advice",
        "by address, in the body: public_url, else where the instance listens",
        settings=("url",),
    ),
    "x": Page(
        f"{x.CHARACTERS} weighted characters unless set otherwise; a link counts 23",
        f"{x.IMAGES} pictures, or 1 GIF, or 1 video",
        "`client_id`; `client_secret` unless the app is public",
        settings=("characters",),
        options=("sign_in_url",),
    ),
}

# Where one channel of a network differs: its text and its media.
DIFFERS: dict[Channel, tuple[str, str]] = {
    Channel.INSTAGRAM_STORY: (
        "none is shown",
        f"1 file: JPEG {_mb(instagram.IMAGE_BYTES)}, or video {_mb(instagram.STORY_BYTES)}, as above",
    ),
    Channel.LINKEDIN_INVITATION: (
        f"{unipile.NOTE} characters for the note, or fewer if set",
        "none",
    ),
}


def page() -> str:
    """Write the whole page."""
    rows = sorted(_channels(), key=lambda each: (each[0].value, each[1].name))
    parts = [HEAD, "## Limits\n", *_limits(rows), "\n## Promises\n", *_promises(rows)]
    parts += ["\n## What to set\n", *_settings()]
    return "\n".join(parts) + "\n"


def _channels() -> Iterator[tuple[Channel, Provider]]:
    for provider in all_providers().values():
        for channel in provider.channels:
            yield channel, provider


def _limits(rows: list[tuple[Channel, Provider]]) -> Iterator[str]:
    yield "| channel | by | text | media | thread | first comment |"
    yield "|---|---|---|---|---|---|"
    for channel, provider in rows:
        about, can = PAGES[provider.name], provider.capabilities(channel)
        told = DIFFERS.get(channel, (about.text, about.media))
        more = (_yes(can.threads), _yes(can.first_comment))
        cells = (f"`{channel}`", f"`{provider.name}`", *told, *more)
        yield f"| {' | '.join(cells)} |"


def _promises(rows: list[tuple[Channel, Provider]]) -> Iterator[str]:
    yield "| channel | by | a repeated call | can be looked up | when no answer comes | time for the call |"
    yield "|---|---|---|---|---|---|"
    for channel, provider in rows:
        can = provider.capabilities(channel)
        cells = (
            f"`{channel}`",
            f"`{provider.name}`",
            _repeats(can),
            _yes(can.findable),
            _doubt(can),
            "25 s"
            if can.pace is None
            else f"25 s and 1 s per {can.pace // 1000} kB, at most 5 min",
        )
        yield f"| {' | '.join(cells)} |"


def _settings() -> Iterator[str]:
    yield "| network | a person gives | our app (`providers.<network>.…`) | its options | kept per account |"
    yield "|---|---|---|---|---|"
    connectors = all_connectors()
    for name in sorted(PAGES):
        about, requested = PAGES[name], connectors[name].fields
        given = ", ".join(f"`{field.name}`" for field in requested) or "a sign-in on its page"
        cells = (f"`{name}`", given, about.app or "none", _names(about.options))
        yield f"| {' | '.join((*cells, _names(about.settings)))} |"


def _repeats(can: Capabilities) -> str:
    told = REPEATS[can.idempotency]
    return told.replace("our key", f"our key{_window(can)}") if can.window else told


def _doubt(can: Capabilities) -> str:
    if can.idempotency is NATIVE:
        return "repeated under the same key while the other side knows it"
    if can.idempotency is SOME_SERVERS:
        again = "repeated under the same key only where the server keeps it"
        return f"looked up; {again}, else sent again only if provably absent"
    if can.findable:
        return "looked up; sent again only if provably absent"
    return "stays unconfirmed: a person decides"


def _window(can: Capabilities) -> str:
    assert can.window is not None
    return f", for {can.window.total_seconds() / 3600:g} h"


def _yes(value: bool) -> str:  # noqa: FBT001 - it is all there is to say
    return "yes" if value else "no"


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "–"


if __name__ == "__main__":
    sys.stdout.write(page())
