"""A database that went back in time, or whose clock jumped, sends nothing until a person confirms."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest

from cadenza.bootstrap import Runtime, open_runtime
from cadenza.bootstrap.guard import read_witness
from cadenza.cli import run_server
from cadenza.deliveries import claim as claiming
from cadenza.deliveries.explain import Explanation, explain
from cadenza.deliveries.installation import (
    CLOCK,
    LOCK,
    Confirmed,
    InstallationStatus,
    LastHeartbeat,
    NothingHeld,
    beat,
    confirm,
    hold,
)
from cadenza.deliveries.permit import PermitRequest, locks_of, permit
from cadenza.deliveries.resume_plan import SPACING
from tests.bootstrap.conftest import HOME, Town
from tests.bootstrap.test_work import until, working

A_WEEK = timedelta(days=7)


async def confirmed(runtime: Runtime) -> Confirmed | NothingHeld:
    witness = read_witness(runtime.settings.witness)
    return await runtime.operations.run(
        lambda tx, now: confirm(tx, now, by="operator", witness=witness), locks=[LOCK]
    )


async def beaten(runtime: Runtime, elapsed: LastHeartbeat | None = None) -> InstallationStatus:
    return await runtime.operations.run(
        lambda tx, now: beat(tx, now, elapsed=elapsed), locks=[LOCK]
    )


async def go_back(runtime: Runtime) -> None:
    """Let the database forget its last signs of life, as one that was restored has."""
    await runtime.operations.run(
        lambda tx, _: tx.run("UPDATE installation SET epoch = epoch - 2 WHERE id = 'this'")
    )


async def lived(runtime: Runtime) -> None:
    for _ in range(3):
        await runtime.guard.run_once()


async def test_a_restored_database_holds_until_a_person_confirms(
    town: Town, runtime: Runtime
) -> None:
    await lived(runtime)
    await go_back(runtime)
    overdue = await town.post(runtime, "perhaps it is out already")
    async with working(runtime):
        assert runtime.source.held
        await asyncio.sleep(0.3)
        assert town.visible() == []
        assert (await town.row(runtime, overdue))["state"] == "missed"

        assert await confirmed(runtime) == Confirmed("restore", missed=1)
        await runtime.guard.run_once()
        fresh = await town.post(runtime, "after the person's word")
        runtime.source.nudge()
        await until(town, runtime, fresh, "sent")
    assert town.visible() == ["after the person's word"]
    await runtime.guard.run_once()
    assert not runtime.source.held, "a confirmed restore is not found again"


async def test_what_was_in_a_call_when_the_copy_was_made_is_unconfirmed(
    town: Town, runtime: Runtime
) -> None:
    await lived(runtime)
    id_ = await town.post(runtime, "in the middle of its call")
    await permitted(runtime)
    await go_back(runtime)
    await runtime.guard.run_once()
    assert (await town.row(runtime, id_))["state"] == "unconfirmed"


async def test_what_was_claimed_when_the_copy_was_made_may_be_out(
    town: Town, runtime: Runtime
) -> None:
    await lived(runtime)
    id_ = await town.post(runtime, "claimed, and called a moment later")
    await runtime.operations.run(
        lambda tx, now: claiming.claim(tx, now, limit=1, worker="w", lease=timedelta(hours=1))
    )
    await go_back(runtime)
    await runtime.guard.run_once()
    assert (await town.row(runtime, id_))["state"] == "missed"
    assert await confirmed(runtime) == Confirmed("restore", missed=1)


async def test_what_was_claimed_may_be_out_though_the_clock_was_set_back_since(
    town: Town, runtime: Runtime
) -> None:
    await lived(runtime)
    id_ = await town.post(
        runtime, "called a moment after the copy, and a minute before the restore"
    )
    await runtime.operations.run(
        lambda tx, now: claiming.claim(tx, now, limit=1, worker="w", lease=timedelta(hours=1))
    )
    await go_back(runtime)
    await runtime.operations.run(  # as good as a clock that is four minutes behind
        lambda tx, now: tx.run(
            "UPDATE delivery SET due_at = :at WHERE id = :id", at=now + timedelta(minutes=4), id=id_
        )
    )
    await runtime.guard.run_once()
    assert (await town.row(runtime, id_))["state"] == "missed"


async def test_what_comes_due_in_a_copy_before_it_is_confirmed_may_be_out(
    town: Town, runtime: Runtime
) -> None:
    """A copy is held from when it is made; when it is started, more has been sent by the original."""
    await beaten(runtime)
    await runtime.operations.run(
        lambda tx, now: hold(tx, now, kind="restore", message="it is a copy")
    )
    id_ = await town.post(runtime, "due between the copy and its start")
    await runtime.guard.run_once()
    assert (await town.row(runtime, id_))["state"] == "missed"


async def permitted(runtime: Runtime) -> object:
    """Claim what is due and stand before the call."""
    (ticket,) = await runtime.operations.run(
        lambda tx, now: claiming.claim(tx, now, limit=1, worker="w", lease=timedelta(hours=1))
    )
    wish = PermitRequest(ticket, "attempt-1", 0)
    (answer,) = await runtime.operations.run(
        lambda tx, now: permit(tx, now, [wish]), locks=locks_of([wish])
    )
    return answer


async def test_the_guard_looks_before_the_first_request_can_come(
    town: Town, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else people could move what is overdue to a later time, at which it would go out again."""
    await lived(runtime)
    await go_back(runtime)
    id_ = await town.post(runtime, "perhaps it is out already")
    stop, states = asyncio.Event(), list[str]()

    async def serve(*_: object, **__: object) -> None:
        states.append((await town.row(runtime, id_))["state"])
        stop.set()

    async def greet(_: Runtime) -> None: ...

    monkeypatch.setattr(run_server, "serve", serve)
    await run_server.attend(runtime, stop, asyncio.Event(), worker=False, greet=greet)
    assert states == ["missed"]


async def test_the_last_gate_holds_even_a_worker_that_has_not_heard_yet(
    town: Town, runtime: Runtime
) -> None:
    await lived(runtime)
    await go_back(runtime)
    await runtime.guard.run_once()
    id_ = await town.post(runtime, "too late to be stopped by its worker")
    runtime.source.held = False
    assert type(await permitted(runtime)).__name__ == "Refusal"
    explained = await runtime.operations.read(
        lambda tx, now: explain(tx, now, workspace_id=HOME, delivery_id=id_)
    )
    assert isinstance(explained, Explanation)
    assert "restored from a backup" in explained.sentence
    assert "cadenza db confirm" in explained.sentence


async def test_a_clock_that_jumped_holds_and_a_person_lets_it_go_on(runtime: Runtime) -> None:
    first = await beaten(runtime)
    await runtime.operations.run(
        lambda tx, now: tx.run("UPDATE installation SET beat_at = :t", t=now - A_WEEK)
    )
    jumped = await beaten(runtime, LastHeartbeat(first.now - A_WEEK, 5.0))
    assert jumped.hold is not None
    assert jumped.hold.kind == CLOCK
    assert "jumped forward by 6 days" in jumped.hold.message
    assert await confirmed(runtime) == Confirmed(CLOCK, missed=0)
    assert (await beaten(runtime)).hold is None


async def test_a_hold_begins_where_the_clock_stood_before_it_jumped(runtime: Runtime) -> None:
    first = await beaten(runtime)
    await runtime.operations.run(
        lambda tx, now: tx.run("UPDATE installation SET beat_at = :t", t=now - A_WEEK)
    )
    jumped = await beaten(runtime, LastHeartbeat(first.now - A_WEEK, 5.0))
    assert jumped.hold is not None
    assert jumped.hold.since == first.now - A_WEEK + timedelta(seconds=5)


async def held_since(runtime: Runtime, ago: timedelta) -> None:
    await lived(runtime)
    await runtime.operations.run(
        lambda tx, now: hold(tx, now, kind=CLOCK, message="it jumped", since=now - ago)
    )


async def test_what_came_due_while_the_clock_was_uncertain_is_not_late_for_it(
    town: Town, runtime: Runtime
) -> None:
    await held_since(runtime, timedelta(hours=8))
    late = await town.post(runtime, "late before the hold", due=timedelta(hours=-10))
    meanwhile = await town.post(runtime, "due meanwhile", due=timedelta(hours=-7))
    await runtime.guard.run_once()
    assert runtime.source.held
    assert await confirmed(runtime) == Confirmed(CLOCK, missed=0)
    await runtime.guard.run_once()
    async with working(runtime):
        await until(town, runtime, late, "missed")
        await until(town, runtime, meanwhile, "sent")


async def test_what_came_due_while_the_clock_was_uncertain_goes_out_spaced(
    town: Town, runtime: Runtime
) -> None:
    await held_since(runtime, timedelta(hours=8))
    posts = [
        await town.post(runtime, f"{hours} hours ago", due=timedelta(hours=-hours))
        for hours in (7, 6, 5)
    ]
    async with working(runtime):
        assert runtime.source.held
        await confirmed(runtime)
        await runtime.guard.run_once()
        await until(town, runtime, posts[0], "sent")
        rows = [await town.row(runtime, id_) for id_ in posts]
    assert [row["state"] for row in rows] == ["sent", "scheduled", "scheduled"]
    assert rows[2]["due_at"] - rows[1]["due_at"] == SPACING
    assert rows[1]["due_at"] - rows[0]["due_at"] > SPACING / 2


async def test_a_jump_behind_a_restore_is_a_second_matter(runtime: Runtime) -> None:
    first = await beaten(runtime)
    await runtime.operations.run(
        lambda tx, now: hold(tx, now, kind="restore", message="it went back")
    )
    await runtime.operations.run(
        lambda tx, now: tx.run("UPDATE installation SET beat_at = :t", t=now - A_WEEK)
    )
    for _ in range(2):
        held = (await beaten(runtime, LastHeartbeat(first.now - A_WEEK, 5.0))).hold
        assert held is not None
        assert (held.kind, held.message.count("jumped forward")) == ("restore", 1)
    assert await confirmed(runtime) == Confirmed("restore", missed=0)
    still = (await beaten(runtime)).hold
    assert still is not None
    assert (still.kind, still.message.startswith("the database's clock jumped")) == (CLOCK, True)
    assert await confirmed(runtime) == Confirmed(CLOCK, missed=0)
    assert (await beaten(runtime)).hold is None


async def test_a_restore_behind_a_jump_is_held_as_well(town: Town, runtime: Runtime) -> None:
    await lived(runtime)
    await runtime.operations.run(lambda tx, now: hold(tx, now, kind=CLOCK, message="it jumped"))
    id_ = await town.post(runtime, "perhaps it is out already")
    await go_back(runtime)
    await runtime.guard.run_once()
    assert (await town.row(runtime, id_))["state"] == "missed"
    assert await confirmed(runtime) == Confirmed("restore", missed=1)
    assert (await beaten(runtime)).hold is not None
    assert await confirmed(runtime) == Confirmed(CLOCK, missed=0)
    assert (await beaten(runtime)).hold is None


async def test_a_jump_right_before_a_restore_is_confirmed_is_found_after_it(
    runtime: Runtime,
) -> None:
    first = await beaten(runtime)
    await runtime.operations.run(
        lambda tx, now: hold(tx, now, kind="restore", message="it went back")
    )
    await runtime.operations.run(
        lambda tx, now: tx.run("UPDATE installation SET beat_at = :t", t=now - A_WEEK)
    )
    assert await confirmed(runtime) == Confirmed("restore", missed=0)
    found = (await beaten(runtime, LastHeartbeat(first.now - A_WEEK, 5.0))).hold
    assert found is not None
    assert found.kind == CLOCK


async def test_a_clock_that_went_back_while_nobody_ran_is_noticed_at_the_start(
    runtime: Runtime,
) -> None:
    await beaten(runtime)
    await runtime.operations.run(
        lambda tx, now: tx.run("UPDATE installation SET beat_at = :t", t=now + A_WEEK)
    )
    hold = (await beaten(runtime)).hold
    assert hold is not None
    assert hold.kind == CLOCK


async def test_a_frozen_process_does_not_accuse_the_clock(runtime: Runtime) -> None:
    first = await beaten(runtime)
    # Others beat all the while: the last sign of life in the database is fresh.
    woken = await beaten(runtime, LastHeartbeat(first.now - A_WEEK, 5.0))
    assert woken.hold is None


async def test_a_jump_stops_the_call_before_any_worker_has_judged_it(
    town: Town, runtime: Runtime
) -> None:
    await beaten(runtime)
    id_ = await town.post(runtime, "of next week")
    await runtime.operations.run(
        lambda tx, now: tx.run("UPDATE installation SET beat_at = :t", t=now - A_WEEK)
    )
    assert type(await permitted(runtime)).__name__ == "Refusal"
    assert (await town.row(runtime, id_))["state"] == "scheduled"


async def test_a_night_without_workers_is_no_jump(runtime: Runtime) -> None:
    await beaten(runtime)
    await runtime.operations.run(
        lambda tx, now: tx.run("UPDATE installation SET beat_at = :t", t=now - A_WEEK)
    )
    assert (await beaten(runtime)).hold is None


async def test_there_is_nothing_to_confirm_while_all_is_well(runtime: Runtime) -> None:
    await beaten(runtime)
    assert await confirmed(runtime) == NothingHeld()


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_a_file_that_was_copied_back_is_known(town: Town, tmp_path: Path) -> None:
    file = Path(town.settings.database_address.removeprefix("sqlite:///"))
    async with open_runtime(town.settings) as runtime:
        await town.furnish(runtime)
        await lived(runtime)
        await asyncio.to_thread(copy, file, tmp_path / "backup")
        await lived(runtime)
    for leftover in file.parent.glob(f"{file.name}*"):
        leftover.unlink()
    (tmp_path / "backup").rename(file)
    async with open_runtime(town.settings) as runtime:
        await runtime.guard.run_once()
        assert runtime.source.held


async def test_another_database_under_the_same_witness_is_held_once(
    town: Town, runtime: Runtime
) -> None:
    await lived(runtime)
    await runtime.operations.run(
        lambda tx, _: tx.run("UPDATE installation SET lineage = 'of somebody else'")
    )
    await runtime.guard.run_once()
    assert runtime.source.held
    await confirmed(runtime)
    await runtime.guard.run_once()
    assert not runtime.source.held


def copy(source: Path, target: Path) -> None:
    with (
        contextlib.closing(sqlite3.connect(source)) as here,
        contextlib.closing(sqlite3.connect(target)) as there,
    ):
        here.backup(there)
