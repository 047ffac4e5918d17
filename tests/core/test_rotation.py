from collections import Counter
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from cadenza.core.rotation import Choice, Load, Why, stay_with, take_freest, take_turn

CAST = ["ada", "ben", "cy"]
NINE = datetime(2026, 6, 1, 9, 0, tzinfo=UTC)


def turns(count: int, enabled: set[str], position: int = 0) -> tuple[list[str], int]:
    names: list[str] = []
    for _ in range(count):
        choice = take_turn(CAST, enabled=enabled, position=position)
        assert choice is not None
        names.append(choice.account)
        position = choice.position
    return names, position


def test_everyone_takes_turns_and_the_next_batch_goes_on() -> None:
    first, position = turns(4, set(CAST))
    assert first == ["ada", "ben", "cy", "ada"]
    assert turns(2, set(CAST), position)[0] == ["ben", "cy"]


def test_a_disabled_account_is_passed_over_without_breaking_the_order() -> None:
    assert turns(4, {"ada", "cy"})[0] == ["ada", "cy", "ada", "cy"]


def test_nobody_able_means_no_choice() -> None:
    assert take_turn(CAST, enabled=set(), position=1) is None
    assert take_turn([], enabled={"ada"}, position=0) is None
    assert take_freest([]) is None


def test_a_position_beyond_a_shortened_list_wraps_around() -> None:
    assert take_turn(["ada"], enabled={"ada"}, position=2) == Choice("ada", 0, Why.TURN)


@given(
    st.lists(st.text(max_size=3), min_size=1, max_size=8, unique=True),
    st.integers(0, 20),
    st.integers(1, 60),
)
def test_over_any_run_no_account_is_two_turns_ahead(
    accounts: list[str], position: int, count: int
) -> None:
    seen: Counter[str] = Counter(dict.fromkeys(accounts, 0))
    for _ in range(count):
        choice = take_turn(accounts, enabled=set(accounts), position=position)
        assert choice is not None
        seen[choice.account] += 1
        position = choice.position
    assert max(seen.values()) - min(seen.values()) <= 1


def test_the_freest_goes_first_and_ties_go_to_the_lowest_share() -> None:
    later = NINE + timedelta(minutes=1)
    assert take_freest([Load("ada", later, 0, 9), Load("ben", NINE, 8, 9)]) == Choice(
        "ben", 0, Why.BALANCE
    )
    tied = [Load("ada", NINE, 10, 20), Load("ben", NINE, 12, 50), Load("cy", NINE, 0, 0)]
    choice = take_freest(tied, position=2)
    assert choice == Choice("ben", 2, Why.BALANCE)


def test_a_contact_stays_with_who_spoke_to_them_and_costs_no_turn() -> None:
    assert stay_with("ben", enabled=set(CAST), position=2) == Choice("ben", 2, Why.STICKY)
    assert stay_with("ben", enabled={"ada"}, position=2) is None
    assert stay_with(None, enabled=set(CAST), position=2) is None
