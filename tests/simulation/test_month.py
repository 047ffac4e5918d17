"""A planned month keeps every rule of outreach, and the checks would see it if it did not."""

from collections import Counter

import pytest

from tests.simulation.month import MISTAKES, PEOPLE, SEQUENCES, live_through

SEEDS = range(3)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_a_planned_month_keeps_hours_caps_gaps_and_stops(seed: int) -> None:
    world = live_through(seed)
    assert world.faults == []
    assert len({call.contact for call in world.calls if call.step == 0}) == SEQUENCES * PEOPLE
    follow_ups = Counter(call.contact for call in world.calls if call.step == 1)
    assert len(follow_ups) > 2 * PEOPLE
    assert world.replies  # a reply on the third day
    assert not set(world.replies) & set(follow_ups)  # stops the message of the fifth


def test_the_same_seed_is_the_same_month() -> None:
    assert live_through(3).calls == live_through(3).calls


@pytest.mark.slow
@pytest.mark.parametrize("mistake", sorted(MISTAKES))
def test_a_planted_mistake_is_found(mistake: str) -> None:
    assert any(live_through(seed, mistake).faults for seed in SEEDS), "it lives on"
