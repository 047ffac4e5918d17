"""What in a text is a link, a hashtag or a mention: byte ranges, as the AT Protocol wants them.

Offsets count bytes of UTF-8, the end is exclusive. A mention needs the person's did; one that cannot
be resolved stays plain text, as a reader would expect.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import regex

from cadenza.providers.counting import URL

_MENTION = regex.compile(
    r"(?:^|(?<=[\s(]))@((?:[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\.)+[a-zA-Z]{2,63})\b"
)
_TAG = regex.compile(r"(?:^|(?<=[\s(]))#([\p{L}\p{N}_]*[\p{L}_][\p{L}\p{N}_]{0,63})")


def handles(text: str) -> tuple[str, ...]:
    """Return the handles that are mentioned, each once."""
    return tuple(dict.fromkeys(match.group(1).lower() for match in _MENTION.finditer(text)))


def facets(text: str, dids: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the facets of a text, in order."""
    found = sorted(_found(text, dids), key=lambda each: each[0])
    return [
        {"index": {"byteStart": start, "byteEnd": end}, "features": [feature]}
        for start, end, feature in found
    ]


def _found(text: str, dids: Mapping[str, str]) -> Iterator[tuple[int, int, dict[str, str]]]:
    for link in URL.finditer(text):
        yield *_bytes(text, link.span()), _feature("link", "uri", link.group())
    for tag in _TAG.finditer(text):
        yield *_bytes(text, tag.span()), _feature("tag", "tag", tag.group(1))
    for mention in _MENTION.finditer(text):
        did = dids.get(mention.group(1).lower())
        if did:
            yield *_bytes(text, mention.span()), _feature("mention", "did", did)


def _feature(kind: str, field: str, value: str) -> dict[str, str]:
    return {"$type": f"app.bsky.richtext.facet#{kind}", field: value}


def _bytes(text: str, span: tuple[int, int]) -> tuple[int, int]:
    return len(text[: span[0]].encode()), len(text[: span[1]].encode())
