"""Merging hashtags."""

from hypothesis import given
from hypothesis import strategies as st

from cadenza.posts import hashtags

TAGS = st.lists(st.text(max_size=8), max_size=6)


@given(TAGS, TAGS, TAGS, st.text(max_size=30))
def test_no_hashtag_is_said_twice_and_none_is_lost(
    brand: list[str], category: list[str], post: list[str], text: str
) -> None:
    merged = hashtags.merge(brand, category, post, text=text)
    alone = hashtags.merge(brand, category, post)
    assert hashtags.merge(merged) == merged
    assert set(merged) <= set(alone)
    assert hashtags.merge(alone, text=hashtags.append(text, merged)) == ()


@given(TAGS, TAGS)
def test_the_order_is_that_of_the_lists(first: list[str], second: list[str]) -> None:
    merged = hashtags.merge(first, second)
    before = hashtags.merge(first)
    assert merged[: len(before)] == before


def test_case_and_composition_make_no_other_hashtag() -> None:
    assert hashtags.merge(["#Café"], ["cafe\u0301", "CAFÉ"]) == ("Café",)


def test_nothing_to_add_leaves_the_text_as_it_is() -> None:
    assert hashtags.append("hello \n", ()) == "hello \n"
    assert hashtags.append("", ("a",)) == "#a"
