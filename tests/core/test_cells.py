"""Cells that spreadsheets must not run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.core.cells import guard, unguard


@pytest.mark.parametrize(
    "cell",
    [
        "=1+1",
        "+1",
        "-1",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "=cmd|' /C calc'!A0",
        "|calc",
        "\uff1d1",
        "\uff5c1",
        "'=1",
        "''=1",
    ],
)
def test_what_begins_like_a_formula_is_guarded(cell: str) -> None:
    assert guard(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["hello", "", "1-2", "a=b", "'tis", " spaced"])
def test_what_does_not_is_left_alone(cell: str) -> None:
    assert guard(cell) == cell


@given(st.text(alphabet=st.sampled_from(list("'=+-@|\t\rab "))))
def test_what_was_guarded_comes_back_as_it_was(cell: str) -> None:
    assert unguard(guard(cell)) == cell
    assert not guard(cell).startswith(("=", "+", "-", "@", "|", "\t", "\r"))
