"""Keys and byte ranges: the vectors of the protocol, and what must hold for any text."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from cadenza.providers.bluesky.facets import facets, handles
from cadenza.providers.bluesky.keys import record_key, tid, unordered_key

VECTOR = (
    "✨ example mentioning @atproto.com to share the URL 👨‍❤️‍👨 https://en.wikipedia.org/wiki/CBOR."
)
AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def test_a_tid_is_written_as_the_protocol_says() -> None:
    assert tid(1_700_000_000_000_000, 7) == "3ke6kg3wk222b"


def test_offsets_count_bytes() -> None:
    found = facets(VECTOR, {"atproto.com": "did:plc:ada"})
    ranges = [(each["index"]["byteStart"], each["index"]["byteEnd"]) for each in found]
    assert ranges == [(23, 35), (74, 108)]


def test_handles_are_found_once_and_mail_addresses_are_none() -> None:
    assert handles("@ada.test, @ada.test (@ben.test) cy@cy.test @dee.nowhere") == (
        "ada.test",
        "ben.test",
    )


@given(
    st.text(min_size=1),
    st.text(min_size=1),
    st.integers(0, 60 * 366 * 86400),
)
def test_a_key_is_valid_and_the_same_for_the_same_attempt(
    account: str, attempt: str, seconds: int
) -> None:
    account, attempt = (each.encode("utf-8", "ignore").decode() for each in (account, attempt))
    at = AT + timedelta(seconds=seconds)
    key = record_key(account, attempt, at, 0)
    assert re.fullmatch(r"[234567abcdefghij][234567a-z]{12}", key)
    assert key == record_key(account, attempt, at, 0)
    assert record_key(account, attempt, at + timedelta(seconds=1), 0) > key


def test_attempts_and_accounts_have_keys_of_their_own() -> None:
    keys = {record_key(f"a{n % 5}", f"k{n // 5}", AT, 0) for n in range(500)}
    assert len(keys) == 500


@given(st.lists(st.text(min_size=1), min_size=2, max_size=130), st.integers(0, 999_999))
def test_the_parts_of_a_thread_sort_as_they_are_read(attempts: list[str], micros: int) -> None:
    at = AT + timedelta(microseconds=micros)
    named = [each.encode("utf-8", "ignore").decode() for each in attempts]
    keys = [record_key("a1", attempt, at, part) for part, attempt in enumerate(named)]
    assert keys == sorted(set(keys))


def test_an_attempt_from_before_the_order_keeps_its_key() -> None:
    assert unordered_key("a1", "attempt", AT) == "3mg2vbwv64nje"
