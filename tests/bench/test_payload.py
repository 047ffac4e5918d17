"""Every job of the bench carries exactly as much as every other."""

import json

from hypothesis import given
from hypothesis import strategies as st

from bench import payload


@given(st.integers(min_value=0, max_value=10**9 - 1))
def test_both_forms_are_a_hundred_bytes_and_hold_the_number(number: int) -> None:
    body = json.dumps(payload.body(number), separators=(",", ":"))
    text = payload.text(number)
    assert len(body) == len(text) == 100
    assert json.loads(body)["n"] == int(json.loads(text)["n"]) == number
    assert payload.number_of(text) == number
