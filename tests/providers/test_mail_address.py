"""One plain address, and nothing that could become a second one, a command or a header."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.providers.mail_address import is_address, is_one

ENDS = '<>,;:"\\[]() \t\r\n\x00\x7f@\u2028'


@pytest.mark.parametrize(
    "text",
    [
        "ada@example.com",
        "o'ada+x=1@mail.example.co.uk",
        "søren@exämple.org",
        "a!b#c@xn--exmple-cua.org",
    ],
)
def test_an_address_is_one(text: str) -> None:
    assert is_address(text)
    assert is_one(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "ada", "ada@", "@example.com", "ada@localhost", "ada@.org", "ada@example.org."),
        *("ada@example..org", f"{'a' * 65}@example.org", f"ada@{'a' * 250}.org"),
    ],
)
def test_what_is_no_address_is_none(text: str) -> None:
    assert not is_address(text)


@given(st.sampled_from(ENDS), st.integers(0, 15))
def test_no_sign_that_ends_something_stands_anywhere_in_it(sign: str, at: int) -> None:
    plain = "ada@example.org"
    assert not is_address(plain[:at] + sign + plain[at:])
    assert not is_one(plain[:at] + sign + plain[at:])


def test_half_a_sign_is_told_and_raises_nothing() -> None:
    assert not is_address("\ud800@example.org")
