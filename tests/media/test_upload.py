"""Taking files in, from a stream of bytes to the library and the disk."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from cadenza.engine.threads import Threads
from cadenza.media.add import RemovedMeanwhile
from cadenza.media.disk import DiskStorage
from cadenza.media.examine import Unfit
from cadenza.media.limits import MIB, Limits
from cadenza.media.storage import StorageFailed
from cadenza.media.upload import UploadDesk, Uploaded, upload
from cadenza.sql.transactions import Operations
from tests.media import made
from tests.media.conftest import AWAY, BY, HOME, Library


@pytest.fixture
def threads() -> Iterator[Threads]:
    threads = Threads(2)
    yield threads
    threads.close()


@pytest.fixture
def desk(operations: Operations, threads: Threads, tmp_path: Path) -> UploadDesk:
    (tmp_path / "scratch").mkdir()
    storage = DiskStorage(tmp_path / "media", threads=threads)
    return UploadDesk(
        operations=operations, storage=storage, threads=threads, scratch=tmp_path / "scratch"
    )


async def stream(data: bytes, piece: int = 1000) -> AsyncIterator[bytes]:
    for at in range(0, len(data), piece):
        yield data[at : at + piece]


async def take(desk: UploadDesk, data: bytes, name: str = "cat.png", home: str = HOME) -> Any:
    return await upload(desk, stream(data), workspace_id=home, name=name, by=BY, alt="a cat")


def files(desk: UploadDesk, tmp_path: Path) -> list[str]:
    return sorted(
        str(p.relative_to(tmp_path))
        for p in tmp_path.rglob("*")
        if p.is_file() and "sqlite" not in p.name
    )


async def test_an_upload_is_stored_with_its_small_picture_and_leaves_no_scratch(
    desk: UploadDesk, tmp_path: Path
) -> None:
    answer = await take(desk, made.picture("PNG"), "../../Cat\u202e.exe")

    assert isinstance(answer, Uploaded)
    media = answer.media
    assert (media.name, media.alt, media.mime) == ("Cat.exe.png", "a cat", "image/png")
    assert files(desk, tmp_path) == sorted([f"media/{media.file}", f"media/{media.thumbnail}"])
    assert await desk.storage.read(media.file) == (tmp_path / "media" / media.file).read_bytes()
    assert media.sha256 in media.file


async def test_a_second_upload_of_the_same_content_stores_nothing(
    desk: UploadDesk, tmp_path: Path
) -> None:
    first = await take(desk, made.photo(place=True))
    again = await take(desk, made.photo(), "other.jpg")  # only its place was another

    assert again == Uploaded(first.media, known=True)
    assert len(files(desk, tmp_path)) == 2


async def test_two_workspaces_share_nothing(desk: UploadDesk, tmp_path: Path) -> None:
    here, there = await take(desk, made.PDF), await take(desk, made.PDF, home=AWAY)

    assert here.media.file != there.media.file
    assert len(files(desk, tmp_path)) == 2


async def test_a_stream_without_an_end_is_cut_at_the_bound(
    desk: UploadDesk, tmp_path: Path
) -> None:
    small = UploadDesk(
        operations=desk.operations,
        storage=desk.storage,
        threads=desk.threads,
        scratch=desk.scratch,
        limits=Limits(image_bytes=10, gif_bytes=10, video_bytes=3 * MIB, document_bytes=10),
    )
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < 20 * MIB:  # endless enough
            sent += MIB
            yield made.film()[:100] + bytes(MIB - 100)

    answer = await upload(small, endless(), workspace_id=HOME, name="x", by=BY)

    assert isinstance(answer, Unfit)
    assert answer.reason == "size"
    assert sent <= 4 * MIB
    assert files(desk, tmp_path) == []


async def test_a_refused_file_leaves_neither_row_nor_bytes(
    desk: UploadDesk, library: Library, tmp_path: Path
) -> None:
    answer = await take(desk, made.SVG, "cat.png")

    assert isinstance(answer, Unfit)
    assert await library.rows("media") == []
    assert files(desk, tmp_path) == []


async def test_a_full_workspace_is_told_so(desk: UploadDesk) -> None:
    bound = UploadDesk(
        operations=desk.operations,
        storage=desk.storage,
        threads=desk.threads,
        limits=Limits(workspace_bytes=300),
    )
    first = await take(bound, made.PDF)
    assert isinstance(first, Uploaded)

    answer = await take(bound, made.picture("JPEG"))

    assert isinstance(answer, Unfit)
    assert answer.reason == "space"


async def test_uploads_at_once_of_one_content_end_in_one_file(
    desk: UploadDesk, tmp_path: Path
) -> None:
    answers = await asyncio.gather(*(take(desk, made.picture("JPEG")) for _ in range(6)))

    assert len({answer.media.id for answer in answers}) == 1
    assert len(files(desk, tmp_path)) == 2


async def test_an_upload_whose_storage_fails_can_be_done_again(
    desk: UploadDesk, library: Library, tmp_path: Path
) -> None:
    class Full(DiskStorage):
        async def write(self, name: str, source: Path, *, mime: str, sha256: str) -> None:
            raise StorageFailed("no space")

    broken = UploadDesk(
        operations=desk.operations,
        storage=Full(tmp_path / "media", threads=desk.threads),
        threads=desk.threads,
    )
    with pytest.raises(StorageFailed):
        await take(broken, made.PDF)
    (begun,) = await library.rows("media")
    assert begun["stored_at"] is None

    answer = await take(desk, made.PDF)

    assert isinstance(answer, Uploaded)
    assert answer.media.id == begun["id"]


async def test_an_upload_that_was_swept_meanwhile_says_so(desk: UploadDesk, tmp_path: Path) -> None:
    class Slow(DiskStorage):
        async def write(self, name: str, source: Path, *, mime: str, sha256: str) -> None:
            await desk.operations.run(
                lambda tx, now: tx.run("UPDATE media SET deleted_at = :now", now=now)
            )

    slow = UploadDesk(
        operations=desk.operations,
        storage=Slow(tmp_path / "media", threads=desk.threads),
        threads=desk.threads,
    )
    assert isinstance(await take(slow, made.PDF), RemovedMeanwhile)
