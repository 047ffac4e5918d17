"""What in a text is a link, a hashtag or a mention: byte ranges, as the AT Protocol wants them.

The rules are those of Bluesky's own app (RichText in `@atproto/api`), so a post links here what it links
there: the same white space, the same domain endings, the same punctuation cut off. Two things differ, because
servers refuse the post otherwise: a link without a scheme gets one, and an address that is none stays text.
Of two that overlap the first stays, as readers show it. Offsets count bytes of UTF-8, the end is exclusive.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import regex

_TAG_LENGTH = 64  # in UTF-16 units
_SPACE = r"\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_HIDDEN = r"\u00ad\u2060\u200a\u200b\u200c\u200d\u20e2"
_START = rf"(?:(?<![\s\S])|(?<=[{_SPACE}(]))"
_TAG_START = rf"(?:(?<![\s\S])|(?<=[{_SPACE}]))"

_MENTION = regex.compile(
    rf"{_START}@([a-zA-Z0-9.-]+)"
    r"(?:(?<=[a-zA-Z0-9])(?![a-zA-Z0-9_])|(?<=[.-])(?=[a-zA-Z0-9_]))"  # where a word ends or begins
)
_LINK = regex.compile(
    rf"{_START}(?:[hH][tT][tT][pP][sS]?://[^{_SPACE}]+"
    rf"|(?P<domain>[a-zA-Z][a-zA-Z0-9]*(?:\.[a-zA-Z0-9]+)+)[^{_SPACE}]*)"
)
_TAG = regex.compile(
    rf"{_TAG_START}[#\uff03]((?!\ufe0f)[^{_SPACE}{_HIDDEN}]*"
    rf"[^0-9\p{{P}}{_SPACE}{_HIDDEN}]+[^{_SPACE}{_HIDDEN}]*)"
)
_TICKER = regex.compile(
    rf"{_START}\$([A-Za-z][A-Za-z0-9]{{0,4}})(?=[{_SPACE}.,;:!?)\"'\u2019]|(?![\s\S]))"
)
_TAG_END = regex.compile(r"\p{P}+(?![\s\S])")
_ADDRESS = regex.compile(rf"[a-zA-Z0-9_]+:(?://)?[^/{_SPACE}][^{_SPACE}]*")


class _Mark(NamedTuple):
    """A stretch of the text, in characters, and what it is."""

    start: int
    end: int
    feature: dict[str, str]


def handles(text: str) -> tuple[str, ...]:
    """Return the handles that are mentioned, each once."""
    return tuple(dict.fromkeys(handle for _, handle in _mentions(text)))


def facets(text: str, dids: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the facets of a text, in order; a handle without a did stays plain text."""
    found, free = list[dict[str, Any]](), 0
    for mark in sorted(_marks(text, dids), key=lambda each: each.start):
        if mark.start < free:
            continue
        free = mark.end
        found.append(
            {
                "index": {
                    "byteStart": len(text[: mark.start].encode()),
                    "byteEnd": len(text[: mark.end].encode()),
                },
                "features": [mark.feature],
            }
        )
    return found


def _marks(text: str, dids: Mapping[str, str]) -> Iterator[_Mark]:
    for start, handle in _mentions(text):
        if did := dids.get(handle):
            yield _Mark(start, start + 1 + len(handle), _feature("mention", "did", did))
    for start, end, uri in _links(text):
        yield _Mark(start, end, _feature("link", "uri", uri))
    for start, tag in _tags(text):
        yield _Mark(start, start + 1 + len(tag), _feature("tag", "tag", tag))
    for ticker in _TICKER.finditer(text):
        name = f"${ticker.group(1).upper()}"
        yield _Mark(*ticker.span(), _feature("tag", "tag", name))


def _mentions(text: str) -> Iterator[tuple[int, str]]:
    for match in _MENTION.finditer(text):
        handle = match.group(1)
        if _is_domain(handle) or handle.endswith(".test"):
            yield match.start(), handle


def _links(text: str) -> Iterator[tuple[int, int, str]]:
    for match in _LINK.finditer(text):
        shown, domain = match.group(), match.group("domain")
        if domain is None and not shown.startswith("http"):
            continue  # a scheme in capitals: the app links none
        if domain is not None and not _is_domain(domain):
            continue
        if shown[-1] in ".,;:!?":
            shown = shown[:-1]
        if shown.endswith(")") and "(" not in shown:
            shown = shown[:-1]
        uri = shown if domain is None else f"https://{shown}"
        if _ADDRESS.fullmatch(uri):
            yield match.start(), match.start() + len(shown), uri


def _tags(text: str) -> Iterator[tuple[int, str]]:
    for match in _TAG.finditer(text):
        tag = _TAG_END.sub("", match.group(1))
        if tag and len(tag.encode("utf-16-le")) <= 2 * _TAG_LENGTH:
            yield match.start(), tag


def _feature(kind: str, field: str, value: str) -> dict[str, str]:
    return {"$type": f"app.bsky.richtext.facet#{kind}", field: value}


def _is_domain(name: str) -> bool:
    return "." in name and name.rpartition(".")[2] in _top_level_domains()


@cache
def _top_level_domains() -> frozenset[str]:
    """Read the endings that domains may have: those of the root zone that are written in ASCII."""
    return frozenset(Path(__file__).with_name("top_level_domains.txt").read_text().split())
