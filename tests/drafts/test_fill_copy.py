"""A template is no program: names are put in, and nothing is worked out, looked up or read twice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.drafts.fill_copy import fill, names_in

VALUES = {"brand": "Ada & friends", "month": "March"}


@pytest.mark.parametrize(
    "program",
    [
        "{{7*7}}",
        "{{ brand.__class__.__mro__ }}",
        "{{brand|upper}}",
        "{{ ''.join(['a'] * 10**9) }}",
        "{% for x in range(10**9) %}{{ x }}{% endfor %}",
        "{0.__class__}{brand.__init__.__globals__}",
        "${brand} #{brand} <%= brand %>",
        "{{__import__('os').system('id')}}",
        '{{ env "PATH" }}{{getHostByName "evil.example"}}',
        "%(brand)s $brand",
    ],
)
def test_what_is_more_than_a_name_stays_as_it_was_written(program: str) -> None:
    assert fill(program, VALUES) == program


def test_a_value_brings_no_names_of_its_own() -> None:
    assert fill("{{brand}}", {"brand": "{{month}}", "month": "March"}) == "{{month}}"


@given(st.text(alphabet="{} \nab_.%$", max_size=200), st.text(max_size=50))
def test_filling_is_bounded_by_what_goes_in(copy: str, value: str) -> None:
    filled = fill(copy, dict.fromkeys(names_in(copy), value))
    assert len(filled) <= len(copy) + copy.count("{{") * len(value)
