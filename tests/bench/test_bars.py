"""The bars of long queues and of the pipeline are judged, not only printed."""

from typing import Any

import pytest

from bench.bars import judge_pipeline, judge_queues, tell

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


ROAD = {"rate": 1000.0, "of_bare": 0.5, "beside": 2.0}


def test_a_road_at_its_bars_meets_them_and_one_below_does_not() -> None:
    assert [bar.met for bar in judge_pipeline(**ROAD)] == [True] * 3
    for name, value in {"rate": 999.0, "of_bare": 0.49, "beside": 2.01}.items():
        figures = ROAD | {name: value}
        assert [bar.met for bar in judge_pipeline(**figures)].count(False) == 1


def test_what_was_not_measured_is_not_judged(capsys: pytest.CaptureFixture[str]) -> None:
    assert [bar.figures for bar in judge_pipeline(beside=1.5)] == ["1.50 times"]
    assert tell(judge_pipeline(beside=1.5)) == 0
    assert tell(judge_pipeline(beside=2.5)) == 1
    assert "NOT MET" in capsys.readouterr().out
