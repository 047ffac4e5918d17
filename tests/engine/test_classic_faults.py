"""Where the Node package goes wrong, the classic interface does not."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from cadenza.core.clock import SystemClock
from cadenza.engine.classic import ClassicSqliteTable, Document, FieldPaths, Scheduler
from cadenza.engine.classic.memory import MemoryDocuments
from cadenza.engine.errors import InvalidJob
from cadenza.engine.testing.clock import VirtualClock
from cadenza.sql.sqlite import SqliteDatabase
from tests.engine.classic_shelf import Diary, MemoryShelf, Shelf, SqliteShelf

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


def explode(_: Document) -> None:
    raise ConnectionError("the network blinked")


async def test_stopping_waits_for_the_handler_and_the_last_write(
    diary: Diary, shelf: Shelf, clock: VirtualClock
) -> None:
    id_ = shelf.add("Ada", clock.now())
    diary.handler = lambda _: clock.sleep(5)
    scheduler = diary.scheduler()
    await scheduler.start()
    await clock.advance(1)
    assert scheduler.is_processing
    stopping = asyncio.ensure_future(scheduler.stop())
    await clock.advance(3)
    assert not stopping.done()
    assert "stop" not in diary.calls
    await clock.advance(2)
    await stopping
    assert diary.calls == ["start", "document", "stop"]
    assert shelf.sleeps_until(id_) is None


async def test_a_stop_right_after_an_error_ends(
    diary: Diary, shelf: Shelf, clock: VirtualClock
) -> None:
    shelf.add("Ada", clock.now())
    diary.handler = explode
    scheduler = diary.scheduler(next_delay=5)
    await scheduler.start()
    await clock.advance(5)
    assert diary.calls == ["start", "document", "error"]
    assert not scheduler.is_processing
    await scheduler.stop()
    assert diary.calls[-1] == "stop"


async def test_a_failed_document_stays_locked_and_is_tried_again_when_the_lock_runs_out(
    diary: Diary, shelf: Shelf, clock: VirtualClock
) -> None:
    shelf.add("Ada", clock.now())
    shelf.add("Ben", clock.now() + SECOND)
    diary.handler = lambda d: explode(d) if d.data["name"] == "Ada" else None
    scheduler = diary.scheduler(lock_duration=60)
    await scheduler.start()
    await clock.advance(59)
    assert [name for name, _ in diary.ran] == ["Ada", "Ben"]
    await clock.advance(3)
    assert [name for name, _ in diary.ran] == ["Ada", "Ben", "Ada"]
    await scheduler.stop()


async def test_an_error_hook_that_fails_does_not_end_the_loop(
    diary: Diary, shelf: Shelf, clock: VirtualClock
) -> None:
    def fail_again(error: Exception) -> None:
        raise RuntimeError("the hook is broken as well") from error

    shelf.add("Ada", clock.now())
    diary.handler = explode
    scheduler = diary.scheduler(on_error=fail_again)
    await scheduler.start()
    await clock.advance(1)
    diary.handler = lambda _: None
    shelf.add("Ben", clock.now())
    await clock.advance(2)
    await scheduler.stop()
    assert [name for name, _ in diary.ran] == ["Ada", "Ben"]


async def test_a_stale_worker_overwrites_nothing(
    diary: Diary, shelf: Shelf, clock: VirtualClock
) -> None:
    """The first is slower than its lock, the second takes over; only the second's result counts."""
    id_ = shelf.add("Ada", clock.now(), interval="0 0 * * *")
    other = Diary(shelf, clock)
    diary.handler = lambda _: clock.sleep(30)
    slow = diary.scheduler(lock_duration=10)
    quick = other.scheduler(lock_duration=1000)
    other.handler = lambda _: clock.sleep(100)
    await slow.start()
    await clock.advance(5)
    await quick.start()
    await clock.advance(20)
    assert len(diary.ran) == len(other.ran) == 1
    lock = shelf.sleeps_until(id_)
    await clock.advance(20)  # the slow one has finished by now
    assert shelf.sleeps_until(id_) == lock
    await diary.stop(slow)
    await other.stop(quick, 100)
    assert shelf.sleeps_until(id_).hour == 0


async def test_what_a_person_writes_during_a_run_is_not_overwritten(
    diary: Diary, shelf: Shelf, clock: VirtualClock
) -> None:
    id_ = shelf.add("Ada", clock.now(), interval=EVERY_SECOND)
    diary.handler = lambda _: shelf.set_sleep(id_, None)
    scheduler = diary.scheduler()
    await scheduler.start()
    await clock.advance(5)
    await scheduler.stop()
    assert len(diary.ran) == 1
    assert shelf.sleeps_until(id_) is None


async def test_a_handler_may_stop_its_own_scheduler(
    diary: Diary, shelf: Shelf, clock: VirtualClock
) -> None:
    for name in ("Ada", "Ben"):
        shelf.add(name, clock.now())
    scheduler = diary.scheduler()
    diary.handler = lambda _: scheduler.stop()
    await scheduler.start()
    await clock.advance(5)
    assert diary.calls == ["start", "document", "stop"]


async def test_starting_and_stopping_twice_is_harmless_and_a_stopped_one_starts_again(
    diary: Diary, shelf: Shelf, clock: VirtualClock
) -> None:
    scheduler = diary.scheduler()
    await scheduler.stop()
    await scheduler.start()
    await scheduler.start()
    await clock.advance(1)
    await asyncio.gather(scheduler.stop(), scheduler.stop())
    assert diary.calls == ["start", "idle", "stop"]
    shelf.add("Ada", clock.now())
    await scheduler.start()
    await clock.advance(1)
    await scheduler.stop()
    assert diary.calls[3:] == ["start", "document", "idle", "stop"]


async def test_a_store_that_fails_is_not_asked_without_end(clock: VirtualClock) -> None:
    class Broken(MemoryDocuments):
        requested = 0

        async def lock_next(self, *_: object, **__: object) -> Document | None:
            self.requested += 1
            raise ConnectionError("the store is away")

    store = Broken()
    errors: list[Exception] = []
    scheduler = Scheduler(store, on_document=explode, on_error=errors.append, clock=clock)
    await scheduler.start()
    await clock.advance(10)
    await scheduler.stop()
    assert 10 <= store.requested <= 11
    assert len(errors) == store.requested


async def test_the_document_that_is_due_longest_goes_first(
    diary: Diary, shelf: Shelf, clock: VirtualClock
) -> None:
    for name, age in (("Cy", 1), ("Ada", 3), ("Ben", 2)):
        shelf.add(name, clock.now() - age * SECOND)
    scheduler = diary.scheduler()
    await scheduler.start()
    await clock.advance(1)
    await scheduler.stop()
    assert [name for name, _ in diary.ran] == ["Ada", "Ben", "Cy"]


@pytest.mark.parametrize("settings", [{"idle_delay": 0}, {"lock_duration": 0}, {"next_delay": -1}])
def test_delays_that_would_do_harm_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(InvalidJob):
        Scheduler(MemoryDocuments(), on_document=explode, **settings)  # pyright: ignore[reportArgumentType]


async def test_fields_may_lie_deep_in_a_json_column(clock: VirtualClock) -> None:
    database = SqliteDatabase(":memory:", clock=clock)
    paths = FieldPaths(
        id="id",
        sleep_until="body.when.next",
        interval="body.when.cron",
        repeat_until="body.when.end",
        auto_remove="body.once",
    )
    body = '{"name": "Ada", "when": {"next": 0, "cron": "0 0 * * *"}, "kind": "chore"}'
    database.run_sync(
        lambda tx, _: tx.execute("CREATE TABLE things (id TEXT PRIMARY KEY, body TEXT)")
    )
    database.run_sync(lambda tx, _: tx.execute("INSERT INTO things VALUES ('a', ?)", (body,)))
    store = ClassicSqliteTable(database, "things", fields=paths, condition={"body.kind": "chore"})
    found = await store.lock_next(clock.now() + SECOND, now=clock.now())
    assert found is not None
    assert (found.id, found.interval, found.auto_remove) == ("a", "0 0 * * *", False)
    assert await store.lock_next(clock.now() + SECOND, now=clock.now()) is None
    assert await store.update("a", sleep_until=None, locked_until=found.locked_until)
    kept = database.read_sync(lambda tx, _: tx.execute("SELECT body FROM things").fetchone()[0])
    assert kept == '{"name":"Ada","when":{"next":null,"cron":"0 0 * * *"},"kind":"chore"}'


@pytest.mark.parametrize("name", ["x; DROP TABLE y", 'a"b', "", "a.b", "[a]"])
def test_a_table_of_an_odd_name_is_refused(name: str, clock: VirtualClock) -> None:
    with SqliteDatabase(":memory:", clock=clock) as database, pytest.raises(InvalidJob):
        ClassicSqliteTable(database, name)


@pytest.mark.parametrize("path", ["x; --", "a..b", "a[b].c", "[0].b", "0.b", "", "a.'b"])
def test_an_odd_field_path_is_refused(path: str) -> None:
    with pytest.raises(InvalidJob, match="field path"):
        FieldPaths(sleep_until=path)


async def test_many_schedulers_on_one_file_handle_each_document_once(tmp_path: Path) -> None:
    clock = SystemClock()
    path = str(tmp_path / "chores.sqlite3")
    ran: list[int] = []
    with SqliteDatabase(path, clock=clock) as one, SqliteDatabase(path, clock=clock) as two:
        one.run_sync(
            lambda tx, _: tx.execute(
                "CREATE TABLE chores (id INTEGER PRIMARY KEY, sleep_until INTEGER,"
                " interval TEXT, repeat_until INTEGER, auto_remove INTEGER)"
            )
        )
        one.run_sync(
            lambda tx, _: tx.executemany(
                "INSERT INTO chores VALUES (?, 0, NULL, NULL, 1)", [(n,) for n in range(60)]
            )
        )

        async def handle(document: Document) -> None:
            ran.append(document.id)
            await asyncio.sleep(0)

        schedulers = [
            Scheduler(ClassicSqliteTable(database, "chores"), on_document=handle)
            for database in (one, two, one, two)
        ]
        for scheduler in schedulers:
            await scheduler.start()
        async with asyncio.timeout(20):
            while not all(scheduler.is_idle for scheduler in schedulers):
                await asyncio.sleep(0.01)
        for scheduler in schedulers:
            await scheduler.stop()
        left = one.read_sync(lambda tx, _: tx.execute("SELECT count(*) FROM chores").fetchone()[0])
    assert sorted(ran) == list(range(60))
    assert left == 0
