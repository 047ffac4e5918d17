"""Files in a folder: whole or not there, and never outside of it."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cadenza.engine.threads import Threads
from cadenza.media.disk import DiskStorage
from cadenza.media.storage import PIECE, BadName, NotStored, checked

NAME = "ada/" + "a" * 64 + "-1.png"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[DiskStorage]:
    threads = Threads(2)
    yield DiskStorage(tmp_path / "media", threads=threads)
    threads.close()


async def put(disk: DiskStorage, tmp_path: Path, data: bytes, name: str = NAME) -> None:
    (tmp_path / "source").write_bytes(data)
    await disk.write(name, tmp_path / "source", mime="image/png", sha256="")


async def test_what_is_written_is_read_whole_and_in_stretches(
    disk: DiskStorage, tmp_path: Path
) -> None:
    data = os.urandom(2 * PIECE + 77)
    await put(disk, tmp_path, data)

    assert await disk.read(NAME) == data
    assert await disk.size(NAME) == len(data)
    assert b"".join([piece async for piece in disk.pieces(NAME)]) == data
    stretch = [piece async for piece in disk.pieces(NAME, start=5, length=PIECE + 9)]
    assert b"".join(stretch) == data[5 : PIECE + 14]
    assert max(map(len, stretch)) <= PIECE


async def test_a_write_again_is_harmless_and_a_delete_twice_too(
    disk: DiskStorage, tmp_path: Path
) -> None:
    await put(disk, tmp_path, b"one")
    await put(disk, tmp_path, b"one")
    assert await disk.read(NAME) == b"one"

    await disk.delete(NAME)
    await disk.delete(NAME)

    assert await disk.size(NAME) is None
    with pytest.raises(NotStored):
        await disk.read(NAME)


async def test_a_write_that_fails_leaves_nothing(disk: DiskStorage, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await disk.write(NAME, tmp_path / "missing", mime="", sha256="")

    assert [path for path in (tmp_path / "media").rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "ada/../../etc/passwd",
        "/etc/passwd",
        "ada/..",
        "ada/.hidden",
        "ada/a\x00b",
        "ada/a/b",
        "ada\\b",
        "ada/..%2fb",
        "",
        "ada",
        "ada/x\n",
        "ada/" + "x" * 300,
    ],
)
async def test_a_name_that_is_not_ours_leads_nowhere(disk: DiskStorage, name: str) -> None:
    with pytest.raises(BadName):
        checked(name)
    with pytest.raises(BadName):
        await disk.read(name)
    with pytest.raises(BadName):
        await disk.delete(name)


async def test_a_link_is_not_followed(disk: DiskStorage, tmp_path: Path) -> None:
    (tmp_path / "media" / "ada").mkdir(parents=True)
    (tmp_path / "secret").write_text("the key")
    (tmp_path / "media" / NAME).symlink_to(tmp_path / "secret")

    assert await disk.size(NAME) is None
    with pytest.raises(NotStored):
        await disk.read(NAME)


def test_a_folder_has_no_address_of_its_own(disk: DiskStorage) -> None:
    now = datetime(2026, 5, 1, tzinfo=UTC)
    assert disk.public_url(NAME, now=now, lasts=timedelta(hours=1)) is None
