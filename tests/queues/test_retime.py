"""Another tz database: wall times stay, instants follow, and what moved is listed."""

from datetime import datetime, timedelta

from cadenza.core.zones import tz_version
from cadenza.queues.resolve_again import Retimed, outdated, resolve_again
from cadenza.sql.tx import Tx
from tests.queues.conftest import DAILY, HOME, Desk


async def resolved_by_older_rules(desk: Desk) -> None:
    """As if Berlin had been thought an hour further west."""
    await desk.week(slots=DAILY)
    await desk.fill(3)
    await desk.by_hand(desk.now + timedelta(days=5))

    def shift(tx: Tx, _now: datetime) -> None:
        hour = "interval '1 hour'" if tx.dialect == "postgresql" else "3600000000"
        tx.run(f"UPDATE delivery SET due_at = due_at + {hour} WHERE slot_at IS NOT NULL")
        tx.run("UPDATE delivery SET slot_at = due_at WHERE slot_at IS NOT NULL")
        tx.run("UPDATE queue SET tz_version = '1999z'")

    await desk.operations.run(shift)


async def test_queued_posts_keep_their_wall_time_and_what_moved_is_listed(desk: Desk) -> None:
    await resolved_by_older_rules(desk)
    assert await desk.operations.read(outdated) == [(HOME, "ada")]
    answer = await desk.run(resolve_again, account_id="ada")
    assert isinstance(answer, Retimed)
    assert (answer.was, answer.version) == ("1999z", tz_version())
    assert [m.was_at - m.now_at for m in answer.moved] == [timedelta(hours=1)] * 3
    rows = await desk.rows(
        "SELECT due_at, slot_at, wall_time FROM delivery WHERE slot_at IS NOT NULL ORDER BY due_at"
    )
    assert [row["wall_time"] for row in rows] == [
        "2026-05-04T12:00",
        "2026-05-04T15:00",
        "2026-05-05T09:00",
    ]
    assert [row["due_at"].hour for row in rows] == [10, 13, 7]
    assert await desk.operations.read(outdated) == []


async def test_a_worker_with_older_rules_leaves_a_queue_to_the_newer(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    await desk.operations.run(lambda tx, _: tx.run("UPDATE queue SET tz_version = '2999a'"))
    assert await desk.operations.read(outdated) == []


async def test_a_second_time_nothing_moves(desk: Desk) -> None:
    await resolved_by_older_rules(desk)
    await desk.run(resolve_again, account_id="ada")
    revision = (await desk.queue()).revision
    again = await desk.run(resolve_again, account_id="ada")
    assert isinstance(again, Retimed)
    assert again.moved == ()
    assert (await desk.queue()).revision == revision
