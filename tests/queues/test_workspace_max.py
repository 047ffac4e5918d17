"""A workspace's maximum per day, applied to the queues that follow it."""

from collections import Counter
from typing import Any

from cadenza.core.zones import local_day
from cadenza.queues.model import NoRoom
from cadenza.queues.workspace_max import AppliedMax, apply_workspace_max
from tests.queues.conftest import ADA, DAILY, Desk


async def lower(desk: Desk, most: int | None) -> Any:
    return await desk.run(apply_workspace_max, "ada", "ben", max_per_day=most, by=ADA)


async def a_day(desk: Desk, account: str = "ada") -> list[int]:
    """Return how many posts wait on each day, in order."""
    zone = (await desk.queue(account)).schedule.zone
    rows = await desk.rows(
        "SELECT due_at FROM delivery WHERE account_id = :account ORDER BY due_at", account=account
    )
    return list(Counter(local_day(row["due_at"], zone) for row in rows).values())


async def test_what_a_lower_maximum_leaves_over_takes_the_next_free_slots(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    await desk.fill(5)
    assert await a_day(desk) == [2, 3]
    answer = await lower(desk, 1)
    assert isinstance(answer, AppliedMax)
    assert await a_day(desk) == [1] * 5
    due = await desk.rows("SELECT id, due_at FROM delivery")
    where = {row["id"]: row["due_at"] for row in due}
    assert {each.id: each.now_at for each in answer.moved}.items() <= where.items()
    assert len(answer.moved) == 3


async def test_a_queue_with_its_own_maximum_keeps_it(desk: Desk) -> None:
    await desk.week("ben", slots=DAILY, max_per_day=3)
    await desk.fill(5, "ben")
    before = await a_day(desk, "ben")
    assert await lower(desk, 1) == AppliedMax(())
    assert await a_day(desk, "ben") == before


async def test_a_higher_maximum_moves_nothing(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    await desk.fill(5)
    assert await lower(desk, 3) == AppliedMax(())
    assert await lower(desk, None) == AppliedMax(())


async def test_where_no_slot_is_left_within_a_year_it_is_refused(desk: Desk) -> None:
    await desk.week(slots={"1": ["12:00", "15:00"]})
    await desk.fill(60)
    assert isinstance(await lower(desk, 1), NoRoom)
