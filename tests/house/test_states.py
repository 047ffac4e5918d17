"""The picture of states and the table in code say the same."""

import re
from pathlib import Path

from cadenza.engine.job import TRANSITIONS, State

PAGE = Path(__file__).parents[2] / "docs" / "states.md"


def test_the_drawn_moves_of_a_job_are_those_of_the_code() -> None:
    section = PAGE.read_text().partition("## A job")[2].partition("\n## ")[0]
    drawn = {
        (State(left), State(right))
        for left, right in re.findall(r"^ +(\w+) --> (\w+):", section, flags=re.MULTILINE)
    }

    assert drawn == TRANSITIONS
