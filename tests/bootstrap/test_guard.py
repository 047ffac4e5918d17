"""A database that went back in time, or whose clock jumped, sends nothing until a person confirms."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest

from cadenza.bootstrap import House, open_house
from cadenza.bootstrap.guard import read_witness
from cadenza.cli import stand
from cadenza.deliveries import claim as claiming
from cadenza.deliveries.explain import Explanation, explain
from cadenza.deliveries.installation import (
    CLOCK,
    LOCK,
    Confirmed,
    Elapsed,
    NothingHeld,
    Signs,
    beat,
    confirm,
    hold,
)
from cadenza.deliveries.permit import Wish, locks_of, permit
from cadenza.deliveries.resume_plan import SPACING
from tests.bootstrap.conftest import HOME, Town
from tests.bootstrap.test_work import until, working

A_WEEK = timedelta(days=7)


async def confirmed(house: House) -> Confirmed | NothingHeld:
    witness = read_witness(house.settings.witness)
    return await house.operations.run(
        lambda tx, now: confirm(tx, now, by="operator", witness=witness), locks=[LOCK]
    )


async def beaten(house: House, elapsed: Elapsed | None = None) -> Signs:
    return await house.operations.run(lambda tx, now: beat(tx, now, elapsed=elapsed), locks=[LOCK])


async def go_back(house: House) -> None:
    """Let the database forget its last signs of life, as one that was restored has."""
    await house.operations.run(
        lambda tx, _: tx.run("UPDATE installation SET epoch = epoch - 2 WHERE id = 'this'")
    )


async def lived(house: House) -> None:
    for _ in range(3):
        await house.guard.run_once()


async def test_a_restored_database_holds_until_a_person_confirms(town: Town, house: House) -> None:
    await lived(house)
    await go_back(house)
    overdue = await town.post(house, "perhaps it is out already")
    async with working(house):
        assert house.source.held
        await asyncio.sleep(0.3)
        assert town.visible() == []
        assert (await town.row(house, overdue))["state"] == "missed"

        assert await confirmed(house) == Confirmed("restore", missed=1)
        await house.guard.run_once()
        fresh = await town.post(house, "after the person's word")
        house.source.nudge()
        await until(town, house, fresh, "sent")
    assert town.visible() == ["after the person's word"]
    await house.guard.run_once()
    assert not house.source.held, "a confirmed restore is not found again"


async def test_what_was_in_a_call_when_the_copy_was_made_is_a_doubt(
    town: Town, house: House
) -> None:
    await lived(house)
    id_ = await town.post(house, "in the middle of its call")
    await permitted(house)
    await go_back(house)
    await house.guard.run_once()
    assert (await town.row(house, id_))["state"] == "unconfirmed"


async def test_what_was_claimed_when_the_copy_was_made_may_be_out(town: Town, house: House) -> None:
    await lived(house)
    id_ = await town.post(house, "claimed, and called a moment later")
    await house.operations.run(
        lambda tx, now: claiming.claim(tx, now, limit=1, worker="w", lease=timedelta(hours=1))
    )
    await go_back(house)
    await house.guard.run_once()
    assert (await town.row(house, id_))["state"] == "missed"
    assert await confirmed(house) == Confirmed("restore", missed=1)


async def test_what_was_claimed_may_be_out_though_the_clock_was_set_back_since(
    town: Town, house: House
) -> None:
    await lived(house)
    id_ = await town.post(house, "called a moment after the copy, and a minute before the restore")
    await house.operations.run(
        lambda tx, now: claiming.claim(tx, now, limit=1, worker="w", lease=timedelta(hours=1))
    )
    await go_back(house)
    await house.operations.run(  # as good as a clock that is four minutes behind
        lambda tx, now: tx.run(
            "UPDATE delivery SET due_at = :at WHERE id = :id", at=now + timedelta(minutes=4), id=id_
        )
    )
    await house.guard.run_once()
    assert (await town.row(house, id_))["state"] == "missed"


async def test_what_comes_due_in_a_copy_before_it_is_confirmed_may_be_out(
    town: Town, house: House
) -> None:
    """A copy is held from when it is made; when it is started, more has been sent by the original."""
    await beaten(house)
    await house.operations.run(lambda tx, now: hold(tx, now, kind="restore", says="it is a copy"))
    id_ = await town.post(house, "due between the copy and its start")
    await house.guard.run_once()
    assert (await town.row(house, id_))["state"] == "missed"


async def permitted(house: House) -> object:
    """Claim what is due and stand before the call."""
    (ticket,) = await house.operations.run(
        lambda tx, now: claiming.claim(tx, now, limit=1, worker="w", lease=timedelta(hours=1))
    )
    wish = Wish(ticket, "attempt-1", 0)
    (answer,) = await house.operations.run(
        lambda tx, now: permit(tx, now, [wish]), locks=locks_of([wish])
    )
    return answer


async def test_the_guard_looks_before_the_first_request_can_come(
    town: Town, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else people could move what is overdue to a later time, at which it would go out again."""
    await lived(house)
    await go_back(house)
    id_ = await town.post(house, "perhaps it is out already")
    stop, states = asyncio.Event(), list[str]()

    async def serve(*_: object, **__: object) -> None:
        states.append((await town.row(house, id_))["state"])
        stop.set()

    async def greet(_: House) -> None: ...

    monkeypatch.setattr(stand, "serve", serve)
    await stand.attend(house, stop, asyncio.Event(), worker=False, greet=greet)
    assert states == ["missed"]


async def test_the_last_gate_holds_even_a_worker_that_has_not_heard_yet(
    town: Town, house: House
) -> None:
    await lived(house)
    await go_back(house)
    await house.guard.run_once()
    id_ = await town.post(house, "too late to be stopped by its worker")
    house.source.held = False
    assert type(await permitted(house)).__name__ == "Refusal"
    explained = await house.operations.read(
        lambda tx, now: explain(tx, now, workspace_id=HOME, delivery_id=id_)
    )
    assert isinstance(explained, Explanation)
    assert "restored from a backup" in explained.sentence
    assert "cadenza db confirm" in explained.sentence


async def test_a_clock_that_jumped_holds_and_a_person_lets_it_go_on(house: House) -> None:
    first = await beaten(house)
    await house.operations.run(
        lambda tx, now: tx.run("UPDATE installation SET beat_at = :t", t=now - A_WEEK)
    )
    jumped = await beaten(house, Elapsed(first.now - A_WEEK, 5.0))
    assert jumped.hold is not None
    assert jumped.hold.kind == CLOCK
    assert "jumped forward by 6 days" in jumped.hold.says
    assert await confirmed(house) == Confirmed(CLOCK, missed=0)
    assert (await beaten(house)).hold is None


async def test_a_hold_begins_where_the_clock_stood_before_it_jumped(house: House) -> None:
    first = await beaten(house)
    await house.operations.run(
        lambda tx, now: tx.run("UPDATE installation SET beat_at = :t", t=now - A_WEEK)
    )
    jumped = await beaten(house, Elapsed(first.now - A_WEEK, 5.0))
    assert jumped.hold is not None
    assert jumped.hold.since == first.now - A_WEEK + timedelta(seconds=5)


async def held_since(house: House, ago: timedelta) -> None:
    await lived(house)
    await house.operations.run(
        lambda tx, now: hold(tx, now, kind=CLOCK, says="it jumped", since=now - ago)
    )


async def test_what_came_due_while_the_clock_was_in_doubt_is_not_late_for_it(
    town: Town, house: House
) -> None:
    await held_since(house, timedelta(hours=8))
    late = await town.post(house, "late before the hold", due=timedelta(hours=-10))
    meanwhile = await town.post(house, "due meanwhile", due=timedelta(hours=-7))
    await house.guard.run_once()
    assert house.source.held
    assert await confirmed(house) == Confirmed(CLOCK, missed=0)
    await house.guard.run_once()
    async with working(house):
        await until(town, house, late, "missed")
        await until(town, house, meanwhile, "sent")


async def test_what_came_due_while_the_clock_was_in_doubt_goes_out_spaced(
    town: Town, house: House
) -> None:
    await held_since(house, timedelta(hours=8))
    posts = [
        await town.post(house, f"{hours} hours ago", due=timedelta(hours=-hours))
        for hours in (7, 6, 5)
    ]
    async with working(house):
        assert house.source.held
        await confirmed(house)
        await house.guard.run_once()
        await until(town, house, posts[0], "sent")
        rows = [await town.row(house, id_) for id_ in posts]
    assert [row["state"] for row in rows] == ["sent", "scheduled", "scheduled"]
    assert rows[2]["due_at"] - rows[1]["due_at"] == SPACING
    assert rows[1]["due_at"] - rows[0]["due_at"] > SPACING / 2


async def test_a_jump_behind_a_restore_is_a_second_matter(house: House) -> None:
    first = await beaten(house)
    await house.operations.run(lambda tx, now: hold(tx, now, kind="restore", says="it went back"))
    await house.operations.run(
        lambda tx, now: tx.run("UPDATE installation SET beat_at = :t", t=now - A_WEEK)
    )
    for _ in range(2):
        held = (await beaten(house, Elapsed(first.now - A_WEEK, 5.0))).hold
        assert held is not None
        assert (held.kind, held.says.count("jumped forward")) == ("restore", 1)
    assert await confirmed(house) == Confirmed("restore", missed=0)
    still = (await beaten(house)).hold
    assert still is not None
    assert (still.kind, still.says.startswith("the database's clock jumped")) == (CLOCK, True)
    assert await confirmed(house) == Confirmed(CLOCK, missed=0)
    assert (await beaten(house)).hold is None


async def test_a_restore_behind_a_jump_is_held_as_well(town: Town, house: House) -> None:
    await lived(house)
    await house.operations.run(lambda tx, now: hold(tx, now, kind=CLOCK, says="it jumped"))
    id_ = await town.post(house, "perhaps it is out already")
    await go_back(house)
    await house.guard.run_once()
    assert (await town.row(house, id_))["state"] == "missed"
    assert await confirmed(house) == Confirmed("restore", missed=1)
    assert (await beaten(house)).hold is not None
    assert await confirmed(house) == Confirmed(CLOCK, missed=0)
    assert (await beaten(house)).hold is None


async def test_a_jump_right_before_a_restore_is_confirmed_is_found_after_it(house: House) -> None:
    first = await beaten(house)
    await house.operations.run(lambda tx, now: hold(tx, now, kind="restore", says="it went back"))
    await house.operations.run(
        lambda tx, now: tx.run("UPDATE installation SET beat_at = :t", t=now - A_WEEK)
    )
    assert await confirmed(house) == Confirmed("restore", missed=0)
    found = (await beaten(house, Elapsed(first.now - A_WEEK, 5.0))).hold
    assert found is not None
    assert found.kind == CLOCK


async def test_a_clock_that_went_back_while_nobody_ran_is_noticed_at_the_start(
    house: House,
) -> None:
    await beaten(house)
    await house.operations.run(
        lambda tx, now: tx.run("UPDATE installation SET beat_at = :t", t=now + A_WEEK)
    )
    hold = (await beaten(house)).hold
    assert hold is not None
    assert hold.kind == CLOCK


async def test_a_frozen_process_does_not_accuse_the_clock(house: House) -> None:
    first = await beaten(house)
    # Others beat all the while: the last sign of life in the database is fresh.
    woken = await beaten(house, Elapsed(first.now - A_WEEK, 5.0))
    assert woken.hold is None


async def test_a_jump_stops_the_call_before_any_worker_has_judged_it(
    town: Town, house: House
) -> None:
    await beaten(house)
    id_ = await town.post(house, "of next week")
    await house.operations.run(
        lambda tx, now: tx.run("UPDATE installation SET beat_at = :t", t=now - A_WEEK)
    )
    assert type(await permitted(house)).__name__ == "Refusal"
    assert (await town.row(house, id_))["state"] == "scheduled"


async def test_a_night_without_workers_is_no_jump(house: House) -> None:
    await beaten(house)
    await house.operations.run(
        lambda tx, now: tx.run("UPDATE installation SET beat_at = :t", t=now - A_WEEK)
    )
    assert (await beaten(house)).hold is None


async def test_there_is_nothing_to_confirm_while_all_is_well(house: House) -> None:
    await beaten(house)
    assert await confirmed(house) == NothingHeld()


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_a_file_that_was_copied_back_is_known(town: Town, tmp_path: Path) -> None:
    file = Path(town.settings.database_address.removeprefix("sqlite:///"))
    async with open_house(town.settings) as house:
        await town.furnish(house)
        await lived(house)
        await asyncio.to_thread(copy, file, tmp_path / "backup")
        await lived(house)
    for leftover in file.parent.glob(f"{file.name}*"):
        leftover.unlink()
    (tmp_path / "backup").rename(file)
    async with open_house(town.settings) as house:
        await house.guard.run_once()
        assert house.source.held


async def test_another_database_under_the_same_witness_is_held_once(
    town: Town, house: House
) -> None:
    await lived(house)
    await house.operations.run(
        lambda tx, _: tx.run("UPDATE installation SET lineage = 'of somebody else'")
    )
    await house.guard.run_once()
    assert house.source.held
    await confirmed(house)
    await house.guard.run_once()
    assert not house.source.held


def copy(source: Path, target: Path) -> None:
    with (
        contextlib.closing(sqlite3.connect(source)) as here,
        contextlib.closing(sqlite3.connect(target)) as there,
    ):
        here.backup(there)
