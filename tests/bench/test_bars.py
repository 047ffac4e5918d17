"""The bars of long queues are judged, not only printed."""

from typing import Any

import pytest

from bench.bars import judge_queues

WELL: dict[str, Any] = {"posts": 10_000, "ratio": 1.8, "turned": 0.9, "waited": 0.12}


def test_a_queue_within_its_bars_meets_them() -> None:
    assert [bar.met for bar in judge_queues("postgres", **WELL)] == [True] * 3


@pytest.mark.parametrize(("name", "value"), [("ratio", 3.1), ("turned", 5.1), ("waited", 0.6)])
def test_one_figure_over_its_bar_is_not_met(name: str, value: float) -> None:
    figures: dict[str, Any] = {**WELL, name: value}
    bars = judge_queues("postgres", **figures)
    assert [bar.met for bar in bars].count(False) == 1


def test_on_sqlite_nobody_promises_that_others_do_not_wait() -> None:
    figures: dict[str, Any] = {**WELL, "waited": 9.0}
    assert all(bar.met for bar in judge_queues("sqlite", **figures))
