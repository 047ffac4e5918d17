"""Addresses in their one spelling, and cells of files, for any text at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.contacts.addresses import read_address
from cadenza.contacts.model import Address, Field, Invalid, read_value
from cadenza.deliveries.read_recipients import fold_recipient

CHANNELS = st.sampled_from(["email", "linkedin", "telegram", "x", "signal"])


@given(CHANNELS, st.text(max_size=60))
def test_reading_never_breaks_and_is_stable(channel: str, text: str) -> None:
    read = read_address(channel, text)
    if isinstance(read, Address):
        again = read_address(channel, read.written)
        assert isinstance(again, Address)
        assert again.address == read.address == fold_recipient(read.written)


@pytest.mark.parametrize(
    ("channel", "spellings", "address"),
    [
        (
            "email",
            ["Ada@Example.org", " <ada@example.ORG>", "mailto:ada@example.org"],
            "ada@example.org",
        ),
        ("telegram", ["@Ada_L", "ada_l", "https://t.me/Ada_L", "t.me/ada_l/12"], "@ada_l"),
        ("telegram", ["-1001234"], "-1001234"),
        (
            "linkedin",
            ["https://www.linkedin.com/in/Ada-L/", "ada-l", "linkedin.com/in/ada-l?x=1"],
            "ada-l",
        ),
    ],
)
def test_many_spellings_are_one(channel: str, spellings: list[str], address: str) -> None:
    for text in spellings:
        read = read_address(channel, text)
        assert isinstance(read, Address), text
        assert read.address == address


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ada",
        "a@b",
        "a b@example.org",
        "a@@example.org",
        "a@-x.org",
        "a@x..org",
        "a@x.org, b@x.org",
    ],
)
def test_what_is_no_mail_address_is_refused(text: str) -> None:
    assert isinstance(read_address("email", text), Invalid)


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        ("info@example.org", "role"),
        ("info+x@example.org", "role"),
        ("ada@mailinator.com", "disposable"),
        ("ada@sub.mailinator.com", "disposable"),
        ("ada@example.org", None),
    ],
)
def test_addresses_that_hardly_anybody_reads_are_flagged(text: str, flag: str | None) -> None:
    read = read_address("email", text)
    assert isinstance(read, Address)
    assert read.flag == flag


NUMBER = Field("n", "N", "number")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12", 12),
        ("3.5", 3.5),
        ("3,5", 3.5),
        ("1,234", 1234),
        ("1.234,5", 1234.5),
        ("1,234.5", 1234.5),
    ],
)
def test_numbers_are_read_as_files_write_them(text: str, number: float) -> None:
    assert read_value(NUMBER, text) == number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_survives(number: float) -> None:
    assert read_value(NUMBER, repr(number)) == number


@given(st.text(max_size=30))
def test_no_text_breaks_a_number_or_a_date(text: str) -> None:
    read_value(NUMBER, text)
    read_value(Field("d", "D", "date"), text)
