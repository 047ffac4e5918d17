"""How long is a text, in the network's own unit?

Networks count grapheme clusters, code points, UTF-16 units, bytes or weighted characters, and most
count a link as a fixed length. Counting wrongly means cutting a post or having it refused at 09:00.
Limit: grapheme rules follow the Unicode version of the `regex` library; a server with older rules may
count rare sequences (new emoji, Indic conjuncts) differently.
"""

import unicodedata
from collections.abc import Callable

import regex

Count = Callable[[str], int]

URL = regex.compile(r"(?i)\bhttps?://[^\s<>\"'`{}|\\^\[\]]*[^\s<>\"'`{}|\\^\[\].,;:!?)…]")
_REMOTE_MENTION = regex.compile(r"(?<![\w/])@([\w]+(?:[\w.-]*\w)?)@[\w.-]*\w")
_CLUSTER = regex.compile(r"\X")
# The signs for copyright and trade mark are plain letters unless a selector makes them pictures.
_EMOJI = regex.compile(r"(?![©®](?!\ufe0f))[\p{Extended_Pictographic}\p{Regional_Indicator}\u20e3]")
# Code points that X weighs as one; all others count two.
_LIGHT = ((0x0000, 0x10FF), (0x2000, 0x200D), (0x2010, 0x201F), (0x2032, 0x2037))


def graphemes(text: str) -> int:
    """Count what a reader sees as characters."""
    return sum(1 for _ in _CLUSTER.finditer(text))


def code_points(text: str) -> int:
    """Count Unicode code points."""
    return len(text)


def utf16(text: str) -> int:
    """Count UTF-16 units, as JavaScript's `length` does."""
    return len(text.encode("utf-16-le")) // 2


def utf8(text: str) -> int:
    """Count bytes of UTF-8."""
    return len(text.encode())


def with_short_urls(text: str, count: Count, *, each: int = 23) -> int:
    """Count a text in which every http(s) link has the same length."""
    # The rest is counted piece by piece, so that dropping a link joins no clusters.
    pieces = URL.split(text)
    return sum(count(piece) for piece in pieces) + (len(pieces) - 1) * each


def without_mention_hosts(text: str) -> str:
    """Shorten `@user@host` to `@user`: Mastodon lets the host go free."""
    return _REMOTE_MENTION.sub(r"@\1", text)


def mastodon(text: str, *, url_length: int = 23) -> int:
    """Count as Mastodon does: clusters, links of fixed length, hosts of mentions free."""
    return with_short_urls(without_mention_hosts(text), graphemes, each=url_length)


def threads(text: str) -> int:
    """Count as Threads does: code points, but an emoji weighs its bytes."""
    return sum(
        utf8(cluster) if _EMOJI.search(cluster) else len(cluster)
        for cluster in _CLUSTER.findall(text)
    )


def x_weight(text: str) -> int:
    """Count as X does: links 23, emoji 2, Latin and common marks 1, the rest 2, after NFC."""
    return with_short_urls(unicodedata.normalize("NFC", text), _x_plain)


def _x_plain(text: str) -> int:
    return sum(
        2 if _EMOJI.search(cluster) else sum(_x_point(ord(each)) for each in cluster)
        for cluster in _CLUSTER.findall(text)
    )


def _x_point(point: int) -> int:
    return 1 if any(first <= point <= last for first, last in _LIGHT) else 2
