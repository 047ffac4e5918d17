from datetime import UTC, datetime
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.core.rollup import DeliveryState as D
from cadenza.core.rollup import Leg, PostState, roll_up, state_of

NINE, TEN = (datetime(2026, 6, 1, hour, tzinfo=UTC) for hour in (9, 10))


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ([], "draft"),
        ([D.CANCELED, D.SKIPPED], "draft"),
        ([D.SENDING, D.UNCONFIRMED, D.SENT, D.FAILED], "publishing"),
        ([D.UNCONFIRMED, D.SENT, D.SCHEDULED], "needs_check"),
        ([D.SENT, D.SCHEDULED], "publishing_rest"),
        ([D.SENT, D.DRAFT, D.FAILED], "publishing_rest"),
        ([D.SENT, D.SENT], "published"),
        ([D.SENT, D.CANCELED, D.SKIPPED], "published"),
        ([D.SENT, D.FAILED], "partially_published"),
        ([D.SENT, D.MISSED], "partially_published"),
        ([D.FAILED, D.MISSED], "failed"),
        ([D.MISSED, D.MISSED], "missed"),
        ([D.DRAFT, D.SCHEDULED], "draft"),
        ([D.FAILED, D.DRAFT], "draft"),
        ([D.FAILED, D.SCHEDULED], "scheduled"),
        ([D.SCHEDULED], "scheduled"),
    ],
)
def test_the_first_rule_that_fits_wins(states: list[D], expected: str) -> None:
    assert state_of(states) == expected


def test_every_mixture_has_an_answer() -> None:
    for size in range(len(D) + 1):
        for mixture in combinations(D, size):
            assert state_of(mixture) in PostState


LEGS = st.builds(
    Leg,
    st.sampled_from(D),
    st.none() | st.sampled_from([NINE, TEN]),
    st.none() | st.sampled_from([NINE, TEN]),
)


@given(st.lists(LEGS, max_size=6))
def test_order_and_dropped_deliveries_change_nothing(
    legs: list[Leg],
) -> None:
    dropped = [Leg(D.CANCELED, NINE), Leg(D.SKIPPED, NINE, NINE)]
    assert roll_up(reversed(legs)) == roll_up(legs) == roll_up([*dropped, *legs])


def test_the_earliest_sending_is_when_it_was_published() -> None:
    answer = roll_up([Leg(D.SENT, NINE, TEN), Leg(D.SENT, NINE, NINE), Leg(D.FAILED, NINE)])
    assert answer.published_at == NINE
    assert answer.scheduled_at is None


def test_the_earliest_of_what_lives_is_when_it_is_scheduled() -> None:
    legs = [Leg(D.SCHEDULED, TEN), Leg(D.CANCELED, NINE), Leg(D.MISSED, NINE)]
    assert roll_up(legs).scheduled_at == TEN
