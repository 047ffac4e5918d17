"""The application ends pauses, follows the tz database and warns of dry queues by itself."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from cadenza.bootstrap import Runtime
from cadenza.bootstrap.watch_queues import watch_queues
from cadenza.deliveries import lanes
from cadenza.deliveries.resume_plan import count_held
from cadenza.posts.create import Created, create
from cadenza.posts.model import NewPost
from cadenza.queues import pause, schedule
from cadenza.queues.add import Added, Queued, add
from cadenza.sql.tx import Tx
from tests.bootstrap.conftest import HOME

KEY: dict[str, Any] = {"workspace_id": HOME, "account_id": "ada", "by": "system"}
SLOTS = {str(day): ["09:00"] for day in range(7)}


async def queue_one(runtime: Runtime) -> str:
    def make(tx: Tx, now: datetime) -> str:
        schedule.write(tx, now, slots=SLOTS, **KEY)
        made = create(
            tx, now, NewPost(workspace_id=HOME, text="hello"), by="key:robot", approve=True
        )
        assert isinstance(made, Created)
        added = add(tx, now, workspace_id=HOME, post_id=made.id, by="system", targets=["ada"])
        assert isinstance(added, Added)
        (answer,) = added.answers
        assert isinstance(answer, Queued)
        return answer.ids[0]

    return await runtime.operations.run(make)


async def lane(runtime: Runtime) -> dict[str, Any]:
    row = await runtime.operations.read(
        lambda tx, _: tx.one("SELECT * FROM lane WHERE id = 'account:ada'")
    )
    assert row is not None
    return row


async def test_a_pause_with_an_end_ends(runtime: Runtime) -> None:
    await queue_one(runtime)
    await runtime.operations.run(
        lambda tx, now: pause.pause(tx, now, reason="news", until=now + timedelta(hours=1), **KEY)
    )
    await watch_queues(runtime, {})
    assert (await lane(runtime))["paused"]

    await runtime.operations.run(
        lambda tx, now: tx.run(
            "UPDATE lane SET paused_until = :past", past=now - timedelta(seconds=1)
        )
    )
    await watch_queues(runtime, {})
    assert not (await lane(runtime))["paused"]


async def test_another_tz_database_keeps_wall_times(runtime: Runtime) -> None:
    id_ = await queue_one(runtime)
    hour = timedelta(hours=1)

    def resolve_wrongly(tx: Tx, _now: datetime) -> datetime:
        row = tx.one("SELECT due_at FROM delivery WHERE id = :id", id=id_)
        assert row is not None
        tx.run(
            "UPDATE delivery SET due_at = :at, slot_at = :at WHERE id = :id",
            at=row["due_at"] + hour,
            id=id_,
        )
        tx.run("UPDATE queue SET tz_version = '1999a'")
        return row["due_at"]

    right = await runtime.operations.run(resolve_wrongly)
    await watch_queues(runtime, {})
    row = await runtime.operations.read(
        lambda tx, _: tx.one("SELECT due_at FROM delivery WHERE id = :id", id=id_)
    )
    assert row is not None
    assert row["due_at"] == right


async def test_a_dry_queue_is_told_once(runtime: Runtime) -> None:
    await queue_one(runtime)
    for _ in range(2):
        await watch_queues(runtime, {})
    told = await runtime.operations.read(
        lambda tx, _: tx.all("SELECT kind, subject_id FROM outbox WHERE kind = 'queue.dry'")
    )
    assert [row["subject_id"] for row in told] == ["ada"]


async def test_a_lane_that_was_left_shut_by_a_reconnect_opens_and_asks(runtime: Runtime) -> None:
    id_ = await queue_one(runtime)

    def leave_shut(tx: Tx, now: datetime) -> None:
        until = now + timedelta(days=3650)
        lanes.park(
            tx,
            now,
            workspace_id=HOME,
            lane_id="account:ada",
            until=until,
            reason="it needs a reconnect",
            by=lanes.RECONNECT,
        )
        tx.run(
            """
            INSERT INTO network_wait (workspace_id, scope, until_at, reason, asked_by)
            VALUES (:home, 'account:ada', :until, 'it needs a reconnect', 'reconnect')
            """,
            home=HOME,
            until=until,
        )
        tx.run("UPDATE delivery SET due_at = :past", past=now - timedelta(hours=1))

    await runtime.operations.run(leave_shut)
    await watch_queues(runtime, {})
    found = await lane(runtime)
    assert (found["parked_until"], found["unresumed_until"] is None) == (None, False)
    held = await runtime.operations.read(lambda tx, _: count_held(tx, workspace_id=HOME))
    assert held == {"ada": 1}
    waits = await runtime.operations.read(lambda tx, _: tx.all("SELECT * FROM network_wait"))
    assert waits == []
    row = await runtime.operations.read(
        lambda tx, _: tx.one("SELECT state FROM delivery WHERE id = :id", id=id_)
    )
    assert row == {"state": "scheduled"}
