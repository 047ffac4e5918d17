"""The classic interface does what the mongodb-cron package's own tests ask of it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from cadenza.engine.classic import Document
from cadenza.engine.testing.clock import VirtualClock
from tests.engine.classic_shelf import MISSING, Diary, MemoryShelf, Shelf, SqliteShelf

SECOND = timedelta(seconds=1)
EVERY_SECOND = "* * * * * *"


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture(params=[MemoryShelf, SqliteShelf], ids=["memory", "sqlite"])
def shelf(request: pytest.FixtureRequest, clock: VirtualClock) -> Shelf:
    return request.param(clock)


@pytest.fixture
def diary(shelf: Shelf, clock: VirtualClock) -> Diary:
    return Diary(shelf, clock)


async def test_due_documents_are_handled_and_finished_ones_are_not(
    diary: Diary, shelf: Shelf, clock: VirtualClock
) -> None:
    ids = [shelf.add(name, clock.now() - SECOND) for name in ("Ada", "Ben", "Cy")]
    shelf.add("finished", None)
    scheduler = diary.scheduler()
    await scheduler.start()
    await clock.advance(3)
    await scheduler.stop()
    assert sorted(name for name, _ in diary.ran) == ["Ada", "Ben", "Cy"]
    assert [shelf.sleeps_until(id) for id in ids] == [None, None, None]


async def test_each_hook_is_called_in_its_turn(
    diary: Diary, shelf: Shelf, clock: VirtualClock
) -> None:
    shelf.add("Ada", clock.now())
    scheduler = diary.scheduler()
    assert not scheduler.is_running
    await scheduler.start()
    assert scheduler.is_running
    await clock.advance(1)
    await scheduler.stop()
    assert diary.calls == ["start", "document", "idle", "stop"]
    assert not scheduler.is_running


async def test_idleness_is_told_once_until_there_was_work_again(
    diary: Diary, shelf: Shelf, clock: VirtualClock
) -> None:
    scheduler = diary.scheduler()
    await scheduler.start()
    await clock.advance(10)
    assert diary.calls.count("idle") == 1
    assert scheduler.is_idle
    shelf.add("Ada", clock.now())
    await clock.advance(10)
    assert diary.calls == ["start", "idle", "document", "idle"]
    await scheduler.stop()
    assert not scheduler.is_idle


async def test_a_future_document_is_left_alone_until_its_time(
    diary: Diary, shelf: Shelf, clock: VirtualClock
) -> None:
    shelf.add("Ada", clock.now() + 3 * SECOND)
    scheduler = diary.scheduler(idle_delay=0.5)
    await scheduler.start()
    await clock.advance(2.9)
    assert diary.ran == []
    await clock.advance(1)
    await scheduler.stop()
    assert diary.ran == [("Ada", 3.0)]


async def test_a_recurring_document_is_free_again_after_its_run_not_after_its_lock(
    diary: Diary, shelf: Shelf, clock: VirtualClock
) -> None:
    shelf.add("Ada", clock.now(), interval=EVERY_SECOND)
    diary.handler = lambda _: clock.sleep(2)
    scheduler = diary.scheduler(lock_duration=60)
    await scheduler.start()
    await clock.advance(5.9)
    assert [at for _, at in diary.ran] == [0.0, 2.0, 4.0]
    await diary.stop(scheduler)


async def test_a_document_ten_days_late_runs_once_and_then_from_now(
    diary: Diary, shelf: Shelf, clock: VirtualClock
) -> None:
    shelf.add("Ada", clock.now() - timedelta(days=10), interval=EVERY_SECOND)
    scheduler = diary.scheduler(idle_delay=0.1)
    await scheduler.start()
    await clock.advance(2)
    await scheduler.stop()
    assert 2 <= len(diary.ran) <= 4


async def test_a_condition_chooses_the_documents(
    diary: Diary, shelf: Shelf, clock: VirtualClock
) -> None:
    shelf.add("Ada", clock.now(), handle=True)
    shelf.add("Ben", clock.now())
    scheduler = diary.scheduler(condition={"handle": True})
    await scheduler.start()
    await clock.advance(2)
    await scheduler.stop()
    assert [name for name, _ in diary.ran] == ["Ada"]


async def test_an_interval_repeats_on_its_grid(
    diary: Diary, shelf: Shelf, clock: VirtualClock
) -> None:
    shelf.add("Ada", clock.now(), interval=EVERY_SECOND)
    scheduler = diary.scheduler(idle_delay=0.1)
    await scheduler.start()
    await clock.advance(3.1)
    await scheduler.stop()
    assert [round(at, 1) for _, at in diary.ran] == [0.0, 1.0, 2.0, 3.0]


async def test_a_series_ends_with_its_last_allowed_start(
    diary: Diary, shelf: Shelf, clock: VirtualClock
) -> None:
    end = clock.now() + 2 * SECOND
    id_ = shelf.add("Ada", clock.now(), interval=EVERY_SECOND, repeat_until=end)
    scheduler = diary.scheduler(idle_delay=0.1)
    await scheduler.start()
    await clock.advance(6)
    await scheduler.stop()
    assert len(diary.ran) == 3
    assert shelf.sleeps_until(id_) is None


async def test_a_finished_document_removes_itself_if_it_says_so(
    diary: Diary, shelf: Shelf, clock: VirtualClock
) -> None:
    id_ = shelf.add("Ada", clock.now(), auto_remove=True)
    kept = shelf.add("Ben", clock.now(), auto_remove=False)
    scheduler = diary.scheduler()
    await scheduler.start()
    await clock.advance(2)
    await scheduler.stop()
    assert shelf.sleeps_until(id_) is MISSING
    assert shelf.sleeps_until(kept) is None


async def test_the_next_delay_stands_before_each_look_at_the_store(
    diary: Diary, shelf: Shelf, clock: VirtualClock
) -> None:
    for name in ("Ada", "Ben"):
        shelf.add(name, clock.now())
    scheduler = diary.scheduler(next_delay=2)
    await scheduler.start()
    await clock.advance(5)
    await scheduler.stop()
    assert [at for _, at in diary.ran] == [2.0, 4.0]


async def test_the_reprocess_delay_spaces_the_runs_of_one_document(
    diary: Diary, shelf: Shelf, clock: VirtualClock
) -> None:
    shelf.add("Ada", clock.now(), interval=EVERY_SECOND)
    scheduler = diary.scheduler(reprocess_delay=3, idle_delay=0.5)
    await scheduler.start()
    await clock.advance(9)
    await scheduler.stop()
    assert [at for _, at in diary.ran] == [0.0, 4.0, 8.0]


async def test_the_handler_sees_the_time_that_was_meant_and_may_change_what_comes_next(
    diary: Diary, shelf: Shelf, clock: VirtualClock
) -> None:
    meant = clock.now()
    id_ = shelf.add("Ada", meant, interval=EVERY_SECOND)
    seen: list[Document] = []

    def end_it(document: Document) -> None:
        seen.append(document)
        document.interval = None

    diary.handler = end_it
    scheduler = diary.scheduler()
    await scheduler.start()
    await clock.advance(3)
    await scheduler.stop()
    assert [document.sleep_until for document in seen] == [meant]
    assert shelf.sleeps_until(id_) is None
