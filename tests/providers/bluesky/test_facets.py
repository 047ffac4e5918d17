"""Links, tags and mentions: the same as in Bluesky's own app, and ranges that hold for any text."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cadenza.providers.bluesky.facets import facets, handles

# What RichText of `@atproto/api` 0.19.19 finds and shows, by byte range, kind and value. `ours` where servers
# would refuse what it found: an address with no scheme, or none at all.
CORPUS = Path(__file__).parents[2] / "data" / "bluesky_facets.jsonl"
LINES: list[dict[str, Any]] = [json.loads(line) for line in CORPUS.read_text().splitlines()]
PIECES = (
    *(
        "https://",
        "http",
        "example.com",
        "@ada.bsky.social",
        "@b.com",
        "#",
        "\uff03",
        "tag",
        "$AAPL",
    ),
    *("(", ")", "'", "[", ".", ",", "!", " ", "\n", "\u00a0", "\u200b", "\ufeff", "\x1c", "\u0085"),
    *("é", "e\u0301", "हिन्दी", "日本", "😀", "👨\u200d❤\ufe0f\u200d👨", "🇩🇪", "/", ":", "1", "_"),
)


def found(text: str) -> list[list[Any]]:
    """Find them all, with every handle known by itself."""
    dids = {handle: handle for handle in handles(text)}
    return [
        [
            each["index"]["byteStart"],
            each["index"]["byteEnd"],
            each["features"][0]["$type"].partition("#")[2],
            next(value for key, value in each["features"][0].items() if key != "$type"),
        ]
        for each in facets(text, dids)
    ]


@pytest.mark.parametrize("line", LINES, ids=lambda line: ascii(line["text"])[:60])
def test_a_text_is_marked_as_in_blueskys_own_app(line: dict[str, Any]) -> None:
    assert found(line["text"]) == line.get("ours", line["shown"])


def test_the_corpus_holds_every_kind_and_enough_texts() -> None:
    assert len(LINES) >= 250
    assert {mark[2] for line in LINES for mark in line["shown"]} == {"link", "tag", "mention"}


@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES)).map("".join)))
@example("#foo(https://example.org)")
@example("a.com(@b.com)")
def test_ranges_are_whole_characters_in_order_and_never_overlap(text: str) -> None:
    text = text.encode("utf-8", "ignore").decode()
    data, marks = text.encode(), found(text)
    for start, end, kind, value in marks:
        shown = data[start:end].decode()
        assert shown.strip()
        assert kind != "link" or value.endswith(shown)
        assert kind != "tag" or len(value.encode("utf-16-le")) <= 2 * 64
    assert all(before[1] <= after[0] for before, after in pairwise(marks))
