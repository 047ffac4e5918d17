"""Over the posts of a day at the moment of sending: moved on, visibly, and only as many as must."""

from datetime import UTC, datetime

from cadenza.queues.defer import NotDeferred, OverCap, defer_over_cap, over_cap
from cadenza.queues.model import Moved
from tests.queues.conftest import DAILY, MONDAY, Desk


async def over(desk: Desk) -> list[str]:
    """Two posts today, then the workspace allows one a day."""
    await desk.week(slots=DAILY)
    posts = await desk.fill(2)
    await desk.operations.run(lambda tx, _: tx.run("UPDATE workspace SET max_per_day = 1"))
    return [post.ids[0] for post in posts]


async def test_only_those_behind_the_cap_are_over_it(desk: Desk) -> None:
    first, second = await over(desk)
    assert await desk.run(over_cap, id=first) is None
    assert await desk.run(over_cap, id=second) == OverCap(before=1, cap=1)


async def test_it_moves_to_the_next_free_slot_and_says_why(desk: Desk) -> None:
    _, second = await over(desk)
    answer = await desk.run(defer_over_cap, id=second)
    assert isinstance(answer, Moved)
    row = await desk.row("delivery", second)
    assert row["due_at"] == row["slot_at"] == datetime(2026, 5, 5, 7, tzinfo=UTC)
    assert "the day has its 1 posts" in row["reason"]
    said = await desk.rows("SELECT actor FROM audit WHERE action = 'queue.defer'")
    assert said == [{"actor": "system"}]
    assert isinstance(await desk.run(defer_over_cap, id=second), NotDeferred)


async def test_what_was_sent_counts_and_publish_now_passes(desk: Desk) -> None:
    await desk.week(slots=DAILY, max_per_day=1)
    await desk.by_hand(MONDAY)
    await desk.send()
    late = await desk.by_hand(MONDAY.replace(hour=12))
    assert await desk.run(over_cap, id=late) == OverCap(before=1, cap=1)
    await desk.operations.run(
        lambda tx, _: tx.run("UPDATE delivery SET priority = -100 WHERE id = :id", id=late)
    )
    assert await desk.run(over_cap, id=late) is None


async def test_without_a_queue_or_a_cap_nothing_is_over(desk: Desk) -> None:
    lone = await desk.by_hand(MONDAY, "ben")
    assert await desk.run(over_cap, id=lone) is None
    await desk.week(slots=DAILY)
    posts = await desk.fill(2)
    assert await desk.run(over_cap, id=posts[1].ids[0]) is None
