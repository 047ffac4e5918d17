"""LinkedIn's text: nothing that is written is cut, whatever signs it holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.demo.networks.linkedin_little import shown
from cadenza.providers.linkedin.little import commentary, escape, plain


def test_reserved_signs_are_escaped() -> None:
    assert escape("a_b (c) #x @y \\") == r"a\_b \(c\) \#x \@y \\"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Go #hiking now", r"Go {hashtag|\#|hiking} now"),
        ("#été!", r"{hashtag|\#|été}!"),
        ("we are #1", r"we are \#1"),
        ("https://a.example/#top", r"https://a.example/\#top"),
        ("C# and a#b", r"C\# and a\#b"),
        ("#snake_case", r"\#snake\_case"),
    ],
)
def test_only_plain_words_become_hashtags(text: str, written: str) -> None:
    assert commentary(text) == written


def test_an_unescaped_sign_cuts_the_text_over_there() -> None:
    assert shown("Meet us (today)") == "Meet us "


@pytest.mark.parametrize("text", ["#हिन्दी है", "#cafe\u0301 x", "#ไทย", "#日本 (#ok)"])
def test_hashtags_of_any_script_are_whole(text: str) -> None:
    written = commentary(text)
    assert "{hashtag|" in written
    assert (shown(written), plain(written)) == (text, text)


@given(st.text(alphabet=st.sampled_from("ab é\u0301ि😀\n1|{}@[]()<>#\\*_~/:&."), max_size=40))
def test_people_see_what_was_written_and_it_reads_back(text: str) -> None:
    written = commentary(text)
    assert shown(written) == text
    assert plain(written) == text
