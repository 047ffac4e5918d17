"""How long is a text, in the network's own unit?

Networks count grapheme clusters, code points, UTF-16 units, bytes or weighted characters, and most
count a link as a fixed length. Counting wrongly means cutting a post or having it refused at 09:00.
Limits: grapheme rules follow the Unicode version of the `regex` library; a server with older rules may
count rare sequences (new emoji, Indic conjuncts) differently. X links `example.com` too; which endings make a
bare name a link is known here for the usual ones alone.
"""

import unicodedata
from collections.abc import Callable

import regex

Count = Callable[[str], int]

# Scripts without blanks write a link right after a word, so no boundary of words is asked for.
URL = regex.compile(
    r"(?i)(?<![a-z0-9_])https?://[^\s<>\"'`{}|\\^\[\]]*[^\s<>\"'`{}|\\^\[\].,;:!?)…]"
)
# What X turns into t.co: a link ends where a script begins that its paths do not know, and needs no scheme.
_X_NAME = r"(?:[\p{Latin}\p{Cyrillic}0-9_-]+|[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]+)"
_X_GENERIC = (
    r"(?:com|org|net|edu|gov|mil|int|info|biz|name|pro|mobi|museum|travel|jobs|cat|tel|asia|app|dev|blog|news|shop|"
    r"store|online|site|website|tech|cloud|digital|media|agency|studio|design|world|today|live|life|space|xyz|club|"
    r"art|wiki|page|link|social|email|games|video|music|photo|photos|network|systems|solutions|academy|coffee|co|tv)"
)
_X_IN_PATH = r"[\p{Latin}\p{Cyrillic}0-9!*';:=+,.$/%#\[\]\-\u2013_~@|&]"
_X_PATH_END = r"[\p{Latin}\p{Cyrillic}0-9=_#/+\-]"
_X_REST = (
    rf"(?::\d+)?(?:/(?:(?:{_X_IN_PATH}|\({_X_IN_PATH}+\))*(?:{_X_PATH_END}|\({_X_IN_PATH}+\)))?)?"
    r"(?:\?[a-z0-9!?*'@();:&=+$/%#\[\]\-_.,~|]*[a-z0-9\-_&=#/])?"
)
_X_HERE = r"(?<![a-z0-9@\uff20$#\uff03])"  # also the wide forms of @ and #
_X_END = r"(?![a-z0-9@+_-])"
X_LINK = regex.compile(
    rf"(?i){_X_HERE}https?://(?:{_X_NAME}\.)+\p{{L}}[a-z0-9-]*[\p{{Latin}}\p{{Cyrillic}}]{_X_END}{_X_REST}"
    rf"|{_X_HERE}(?<![_./-])(?:[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?\.)+(?:{_X_GENERIC}{_X_END}|[a-z]{{2}}(?=/)){_X_REST}"
    rf"|{_X_HERE}(?<![_./-])www\.(?:[a-z0-9-]+\.)+[a-z]{{2,}}{_X_END}{_X_REST}"
)
# Spaces, controls, and what has no shape of its own: zero-width signs, fillers, selectors, the empty Braille cell.
_UNSEEN = regex.compile(r"[\s\p{Cc}\p{Default_Ignorable_Code_Point}\u2800]*")
_REMOTE_MENTION = regex.compile(r"(?<![\w/])@([\w]+(?:[\w.-]*\w)?)@[\w.-]*\w")
_CLUSTER = regex.compile(r"\X")
# The signs for copyright and trade mark are plain letters unless a selector makes them pictures.
_EMOJI = regex.compile(r"(?![©®](?!\ufe0f))[\p{Extended_Pictographic}\p{Regional_Indicator}\u20e3]")
# Code points that X weighs as one; all others count two.
_LIGHT = ((0x0000, 0x10FF), (0x2000, 0x200D), (0x2010, 0x201F), (0x2032, 0x2037))


def is_blank(text: str) -> bool:
    """Say whether a reader would see nothing: such a text counts as none."""
    return _UNSEEN.fullmatch(text) is not None


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


def with_short_urls(
    text: str, count: Count, *, each: int = 23, link: regex.Pattern[str] = URL
) -> int:
    """Count a text in which every link has the same length."""
    # The rest is counted piece by piece, so that dropping a link joins no clusters.
    pieces = link.split(text)
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
    return with_short_urls(unicodedata.normalize("NFC", text), _x_plain, link=X_LINK)


def _x_plain(text: str) -> int:
    return sum(
        2 if _EMOJI.search(cluster) else sum(_x_point(ord(each)) for each in cluster)
        for cluster in _CLUSTER.findall(text)
    )


def _x_point(point: int) -> int:
    return 1 if any(first <= point <= last for first, last in _LIGHT) else 2
