"""Many producers, one pace: every job gets an instant of its own, and none is dropped."""

from datetime import datetime, timedelta
from itertools import pairwise

from tests.races.conftest import EIGHT, Shared


async def test_eight_producers_get_distinct_instants_a_step_apart(shared: Shared) -> None:
    hands = shared.crew.all_do("insert_paced", step=3.0, count=20)
    times = sorted(datetime.fromisoformat(at) for hand in hands for at in hand)
    assert len(times) == EIGHT * 20
    assert all(later - earlier >= timedelta(seconds=3) for earlier, later in pairwise(times))
    assert sum(tally.count for tally in await shared.store.tally()) == EIGHT * 20


async def test_each_producer_sees_its_own_jobs_in_order(shared: Shared) -> None:
    hands = shared.crew.all_do("insert_paced", step=1.0, count=20)
    assert all(hand == sorted(hand) for hand in hands)
