"""Text is counted as each network counts it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.core.channels import Channel
from cadenza.providers import counting
from cadenza.providers.base import Provider
from cadenza.providers.message import AccountRef, Message, Recipient
from cadenza.providers.registry import all_providers

FAMILY = "👨‍👩‍👧‍👦"


@pytest.mark.parametrize(
    ("text", "weight"),
    [
        ("日本", 4),
        ("café", 4),
        ("cafe\u0301", 4),
        ("…", 2),
        ("—", 1),
        ("€", 2),
        ("https://example.org/a/very/long/path/that/goes/on?and=on", 23),
        (FAMILY, 2),
        ("👍🏽", 2),
        ("🇩🇪", 2),
        ("#️⃣", 2),
        ("© 2026", 6),
        ("©️", 2),
        ("plain", 5),
        ("test.com", 23),
        ("Test https://test.com test https://test.com test.com test", 86),
        ("bit.ly/3abc and www.example.de", 23 + 5 + 23),
        ("ada@example.com on node.js 2.0, foo.de", 38),
        ("\u898b\u3066https://example.com/path/to/somewhere\u65e5\u672c", 4 + 23 + 4),
        ("(https://en.wikipedia.org/wiki/CBOR_(x)).", 1 + 23 + 2),
        ("https://user:secret@example.com/", 32),
    ],
)
def test_x_weighs_by_script_and_gives_links_one_length(text: str, weight: int) -> None:
    assert counting.x_weight(text) == weight


def test_mastodon_counts_links_as_23_and_lets_mention_hosts_go_free() -> None:
    assert counting.mastodon("hi @bob@example.org https://example.org/a/very/long/path") == 31


def test_a_link_right_after_a_word_of_a_script_without_blanks_is_one() -> None:
    assert counting.mastodon("\u898b\u3066https://example.org/a/very/long/path ok") == 2 + 23 + 3


def test_mastodon_takes_the_instances_own_link_length() -> None:
    assert counting.mastodon("https://example.org/a", url_length=10) == 10


def test_a_full_stop_after_a_link_is_counted_beside_it() -> None:
    assert counting.mastodon("see https://example.org.") == 4 + 23 + 1


@pytest.mark.parametrize(
    ("text", "count"), [(FAMILY, 1), ("🇩🇪🇫🇷", 2), ("e\u0301", 1), ("\r\n", 1), ("", 0)]
)
def test_graphemes_are_what_a_reader_sees(text: str, count: int) -> None:
    assert counting.graphemes(text) == count


def test_telegram_counts_code_points_where_others_count_utf16() -> None:
    text = "😀" * 4096
    assert (counting.code_points(text), counting.utf16(text), counting.utf8(text)) == (
        4096,
        8192,
        16384,
    )


def test_threads_weighs_emoji_by_their_bytes() -> None:
    assert counting.threads("ok 😀") == 3 + 4
    assert counting.threads("naïve") == 5


@given(st.text())
def test_no_unit_counts_more_than_bytes_or_fewer_than_clusters(text: str) -> None:
    text = text.encode("utf-8", "ignore").decode()
    counts = [
        counting.graphemes(text),
        counting.code_points(text),
        counting.utf16(text),
    ]
    assert counts == sorted(counts)
    assert counting.code_points(text) <= counting.utf8(text)


@given(st.text(alphabet="ab é日😀\n", max_size=60), st.integers(1, 40))
def test_a_text_without_links_has_no_fixed_lengths(text: str, each: int) -> None:
    assert counting.with_short_urls(text, counting.graphemes, each=each) == counting.graphemes(text)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            " \n\t",
            "\u200b",
            "\u200b\u200c\u200d\u2060\ufeff",
            "\u00ad",
            "\u3164",
            "\u115f\u1160",
        ),
        *("\u2800", "\ufe0f", "\u202e", "\U000e0041", "\u034f", "\x00\x07", "\u3000\u00a0"),
    ],
)
def test_a_text_of_which_nothing_is_seen_is_blank(text: str) -> None:
    assert counting.is_blank(text)


@pytest.mark.parametrize(
    "text", ["a", "\u200b.", "😀", "❤\ufe0f", "\u0301", "日", "\U0001fae9", "0"]
)
def test_a_text_of_which_something_is_seen_is_not_blank(text: str) -> None:
    assert not counting.is_blank(text)


HIDDEN = Message(
    channel=Channel.WEBHOOK, text="\u200b\u2060", recipient=Recipient("ada@example.org")
)
ALONE = [
    (provider, channel)
    for provider in all_providers().values()
    for channel in provider.channels
    # A story shows no text, and an invitation needs none.
    if channel not in {Channel.INSTAGRAM_FEED, Channel.INSTAGRAM_STORY, Channel.LINKEDIN_INVITATION}
]


@pytest.mark.parametrize(
    ("provider", "channel"), ALONE, ids=lambda each: getattr(each, "name", each)
)
def test_every_network_calls_a_hidden_text_empty(provider: Provider, channel: Channel) -> None:
    account = AccountRef(id="a1", remote_id="ada")
    found = provider.validate(replace(HIDDEN, channel=channel), account)
    assert "empty" in {each.code for each in found if each.blocking}
