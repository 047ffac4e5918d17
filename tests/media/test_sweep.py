"""Cleaning up: rows first, bytes later, and never what is used."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from cadenza.engine.threads import Threads
from cadenza.media.add import Store, begin
from cadenza.media.disk import DiskStorage
from cadenza.media.model import Media
from cadenza.media.storage import StorageFailed
from cadenza.media.sweep import Cleaned, find_unused, mark_unused, notice_idle, removable, sweep
from cadenza.media.use import keep
from cadenza.sql.tx import Tx
from tests.media.conftest import BY, HOME, Library, facts

SOON = timedelta(0)
LONG = timedelta(days=30)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[DiskStorage]:
    threads = Threads(1)
    yield DiskStorage(tmp_path / "media", threads=threads)
    threads.close()


async def stored(library: Library, disk: DiskStorage, tmp_path: Path, letter: str = "a") -> Media:
    media = await library.add(letter * 64)
    (tmp_path / "bytes").write_bytes(letter.encode())
    await disk.write(media.file, tmp_path / "bytes", mime="", sha256="")
    return media


async def back_date(library: Library, column: str, days: int) -> None:
    def change(tx: Tx, now: datetime) -> None:
        tx.run(
            f"UPDATE media SET {column} = :at WHERE {column} IS NOT NULL",
            at=now - timedelta(days=days),
        )

    await library.operations.run(change)


async def test_what_nobody_uses_goes_after_its_time_and_its_grace(
    library: Library, disk: DiskStorage, tmp_path: Path
) -> None:
    media = await stored(library, disk, tmp_path)

    assert await sweep(library.operations, disk) == Cleaned(0, 0, 0)  # seen idle for the first time
    await back_date(library, "idle_at", 31)
    listed = await library.operations.read(lambda tx, now: find_unused(tx, now, workspace_id=HOME))
    assert [each.id for each in listed] == [media.id]
    assert await sweep(library.operations, disk) == Cleaned(1, 0, 0)  # marked; its bytes wait
    assert await disk.size(media.file) == 1
    await back_date(library, "deleted_at", 8)
    assert await sweep(library.operations, disk) == Cleaned(0, 1, 0)

    assert await disk.size(media.file) is None
    assert await library.rows("media") == []
    assert "media.sweep" in [row["action"] for row in await library.rows("audit")]


async def test_what_a_post_shows_or_a_pool_keeps_is_never_swept(
    library: Library, disk: DiskStorage, tmp_path: Path
) -> None:
    shown = await stored(library, disk, tmp_path, "a")
    kept = await stored(library, disk, tmp_path, "b")
    await library.operations.run(notice_idle)
    await back_date(library, "idle_at", 99)
    await library.use("p1", shown)
    await library.operations.run(lambda tx, _: keep(tx, HOME, "asset:1", [kept.id]))

    for _ in range(2):
        assert await sweep(library.operations, disk, unused_for=SOON, grace=SOON) == Cleaned(
            0, 0, 0
        )


async def test_the_time_of_idleness_begins_again_after_a_use(
    library: Library, disk: DiskStorage, tmp_path: Path
) -> None:
    media = await stored(library, disk, tmp_path)
    await library.operations.run(notice_idle)
    await back_date(library, "idle_at", 99)
    await library.use("p1", media)
    await library.use("p1")  # the post let go of it today

    assert await sweep(library.operations, disk) == Cleaned(0, 0, 0)


async def test_an_upload_cut_short_is_cleaned_up_with_its_bytes(
    library: Library, disk: DiskStorage, tmp_path: Path
) -> None:
    begun = await library.operations.run(
        lambda tx, now: begin(tx, now, workspace_id=HOME, facts=facts(), name="x", alt="", by=BY)
    )
    assert isinstance(begun, Store)
    (tmp_path / "bytes").write_bytes(b"a")
    await disk.write(begun.media.file, tmp_path / "bytes", mime="", sha256="")
    assert await sweep(library.operations, disk, grace=SOON) == Cleaned(0, 0, 0)
    await back_date(library, "created_at", 2)

    assert await sweep(library.operations, disk, grace=SOON) == Cleaned(1, 1, 0)

    assert await disk.size(begun.media.file) is None
    assert await library.rows("media") == []


async def test_a_storage_that_fails_is_tried_again_in_the_next_pass(
    library: Library, disk: DiskStorage, tmp_path: Path
) -> None:
    class Away(DiskStorage):
        async def delete(self, name: str) -> None:
            raise StorageFailed("away")

    media = await stored(library, disk, tmp_path)
    await library.operations.run(
        lambda tx, now: tx.run("UPDATE media SET deleted_at = :now", now=now)
    )
    threads = Threads(1)
    away = Away(tmp_path / "media", threads=threads)

    assert await sweep(library.operations, away, grace=SOON) == Cleaned(0, 0, 1)
    assert await sweep(library.operations, disk, grace=SOON) == Cleaned(0, 1, 0)
    assert await disk.size(media.file) is None
    threads.close()


async def test_a_crash_after_the_bytes_went_leaves_work_not_a_lie(
    library: Library, disk: DiskStorage, tmp_path: Path
) -> None:
    media = await stored(library, disk, tmp_path)
    await library.operations.run(
        lambda tx, now: tx.run("UPDATE media SET deleted_at = :now", now=now)
    )
    await disk.delete(media.file)  # and here the process died

    again = await library.operations.read(lambda tx, now: removable(tx, now, grace=SOON))
    assert [each.id for each in again] == [media.id]
    assert await sweep(library.operations, disk, grace=SOON) == Cleaned(0, 1, 0)


async def test_a_deleted_file_of_a_sent_post_keeps_its_row_for_the_history(
    library: Library, disk: DiskStorage, tmp_path: Path
) -> None:
    media = await stored(library, disk, tmp_path)
    await library.use("p1", media)
    await library.operations.run(
        lambda tx, now: tx.run("UPDATE media SET deleted_at = :now", now=now)
    )

    assert await sweep(library.operations, disk, grace=SOON) == Cleaned(0, 1, 0)

    (row,) = await library.rows("media")
    assert row["removed_at"] is not None
    assert await sweep(library.operations, disk, grace=SOON) == Cleaned(0, 0, 0)


async def test_a_pass_takes_a_bounded_number(library: Library) -> None:
    for number in range(5):
        await library.add(f"{number:064}")
    await library.operations.run(notice_idle)
    await back_date(library, "idle_at", 99)

    assert await library.operations.run(lambda tx, now: mark_unused(tx, now, most=3)) == 3
    assert await library.operations.run(lambda tx, now: mark_unused(tx, now, most=3)) == 2
