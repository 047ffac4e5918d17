"""Merges hashtags of brand, category and post: each once, in the writing of the first that named it.

Two hashtags are the same when they differ in case or in how their letters are composed only, as
networks see it. What the text says already is not said again.
"""

import re
import unicodedata
from collections.abc import Iterable

import msgspec

_WRITTEN = re.compile(r"(?<![\w&])#(\w+)")
_LETTERS = re.compile(r"[^\w]+")


def merge(*lists: Iterable[str], text: str = "") -> tuple[str, ...]:
    """Return the hashtags (without their sign) in order, without repeats and without those in the text."""
    seen = {_key(tag) for tag in _WRITTEN.findall(text)}
    merged: list[str] = []
    for tag in (clean(each) for tags in lists for each in tags):
        if tag and _key(tag) not in seen:
            seen.add(_key(tag))
            merged.append(tag)
    return tuple(merged)


def clean(tag: str) -> str:
    """Return a hashtag without its sign and what no network takes into one: `#Spring sale!` is `Springsale`."""
    return _LETTERS.sub("", unicodedata.normalize("NFC", tag))


def append(text: str, tags: Iterable[str]) -> str:
    """Set hashtags below a text."""
    line = " ".join(f"#{tag}" for tag in tags)
    return "\n\n".join(part for part in (text.rstrip(), line) if part) if line else text


def read(stored: str | None) -> tuple[str, ...]:
    """Read a column of hashtags: JSON, or words parted by spaces."""
    if not stored:
        return ()
    if stored.startswith("["):
        return tuple(msgspec.json.decode(stored, type=list[str]))
    return tuple(stored.split())


def _key(tag: str) -> str:
    return unicodedata.normalize("NFKC", tag).casefold()
