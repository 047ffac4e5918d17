"""Telegram's markups: what people will see, and the sentence for what cannot be read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.providers.telegram.markup import (
    HTML,
    MARKDOWN,
    BadMarkup,
    escape_html,
    escape_markdown,
    parse,
)


@given(st.text())
def test_escaped_text_is_seen_as_it_was_written(text: str) -> None:
    assert parse(escape_html(text), HTML) == text
    assert parse(escape_markdown(text), MARKDOWN) == text


def test_markdown_is_escaped_as_telegram_asks() -> None:
    assert escape_markdown("1.5-2 (ok)! a_b") == r"1\.5\-2 \(ok\)\! a\_b"


@pytest.mark.parametrize(
    ("text", "mode", "seen"),
    [
        (
            '<a href="https://example.org">here</a> &amp; <tg-spoiler>now</tg-spoiler>',
            HTML,
            "here & now",
        ),
        ("&#128512; &nbsp;", HTML, "😀 &nbsp;"),
        ("*a* _b_ __c__ ~d~ ||e|| `f*` ```\ng```", MARKDOWN, "a b c d e f* \ng"),
        ("[site](https://example.org) ![😀](tg://emoji?id=1)", MARKDOWN, "site 😀"),
        (">quoted", MARKDOWN, "quoted"),
    ],
)
def test_people_see_the_text_without_its_markup(text: str, mode: str, seen: str) -> None:
    assert parse(text, mode) == seen


@pytest.mark.parametrize(
    ("text", "mode", "message"),
    [
        ("é<h1>x</h1>", HTML, 'Unsupported start tag "h1" at byte offset 2'),
        ("a < b", HTML, "Unclosed start tag at byte offset 2"),
        ("x</b>", HTML, "Unexpected end tag at byte offset 1"),
        ("<b>x</i>", HTML, 'Unmatched end tag at byte offset 4, expected "</b>", found "</i>"'),
        ("<b>x", HTML, 'Can\'t find end tag corresponding to start tag "b"'),
        ("1.5", MARKDOWN, "Character '.' is reserved and must be escaped with the preceding '\\'"),
        ("é*x", MARKDOWN, "Can't find end of Bold entity at byte offset 2"),
        ("`x", MARKDOWN, "Can't find end of Code entity at byte offset 0"),
        ("[x] y", MARKDOWN, "Can't find end of TextUrl entity at byte offset 0"),
    ],
)
def test_broken_markup_is_refused_in_telegrams_words(text: str, mode: str, message: str) -> None:
    with pytest.raises(BadMarkup) as wrong:
        parse(text, mode)
    assert str(wrong.value) == f"can't parse entities: {message}"
