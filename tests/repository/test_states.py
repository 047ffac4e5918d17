"""The pictures of states and the tables in code say the same."""

import re
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from cadenza.core.rollup import DeliveryState
from cadenza.deliveries.model import TRANSITIONS as DELIVERY
from cadenza.engine.job import TRANSITIONS as JOB
from cadenza.engine.job import State as JobState

PAGE = Path(__file__).parents[2] / "docs" / "states.md"


State = TypeVar("State", bound=StrEnum)


def drawn(heading: str, states: type[State]) -> set[tuple[State, State]]:
    section = PAGE.read_text().partition(f"## {heading}")[2].partition("\n## ")[0]
    moves = re.findall(r"^ +(\w+) --> (\w+)", section, flags=re.MULTILINE)
    return {(states(left), states(right)) for left, right in moves}


def test_the_drawn_moves_of_a_job_are_those_of_the_code() -> None:
    assert drawn("A job", JobState) == JOB


def test_the_drawn_moves_of_a_delivery_are_those_of_the_code() -> None:
    assert drawn("A delivery", DeliveryState) == DELIVERY
