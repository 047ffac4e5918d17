"""A picture is changed once for a network and kept: every later send has the same bytes."""

import asyncio
import io
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from PIL import Image

from cadenza.core.clock import SystemClock
from cadenza.engine.threads import Threads
from cadenza.media import fit as fit_module
from cadenza.media.disk import DiskStorage
from cadenza.media.files import MediaFiles
from cadenza.media.fit import fit
from cadenza.media.model import Media
from cadenza.media.storage import NotStored
from cadenza.media.sweep import Cleaned, sweep
from cadenza.media.upload import UploadDesk, Uploaded, upload
from cadenza.providers.fit_picture import PictureChange
from tests.media.conftest import AWAY, BY, HOME, Library
from tests.media.test_convert import noise, written
from tests.media.test_sweep import back_date

SMALL = PictureChange(bytes=40_000, pixels=None, sides=None)
SMALLER = PictureChange(bytes=20_000, pixels=None, sides=None)


@pytest.fixture
def desk(library: Library, tmp_path: Path) -> Iterator[UploadDesk]:
    threads = Threads(2)
    storage = DiskStorage(tmp_path / "media", threads=threads)
    yield UploadDesk(operations=library.operations, storage=storage, threads=threads)
    threads.close()


async def taken_in(desk: UploadDesk, workspace_id: str = HOME) -> Media:
    async def pieces() -> AsyncIterator[bytes]:
        yield written(noise(300, 200))

    answer = await upload(desk, pieces(), workspace_id=workspace_id, name="sea.png", by=BY)
    assert isinstance(answer, Uploaded)
    return answer.media


async def test_it_is_made_once_and_kept(
    desk: UploadDesk, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    media = await taken_in(desk)
    first = await fit(desk, media.file, SMALL)
    assert first is not None
    assert first.size <= 40_000
    kept = await desk.storage.read(first.file)
    assert len(kept) == first.size
    assert Image.open(io.BytesIO(kept)).size == (first.width, first.height)

    def otherwise(**_: object) -> None:
        raise AssertionError("it was made already")

    monkeypatch.setattr(fit_module, "convert", otherwise)
    assert await fit(desk, media.file, SMALL) == first
    assert (
        await MediaFiles(desk.storage, clock=SystemClock(), desk=desk).fit(media.file, SMALL)
        == first
    )
    assert len(await library.rows("media_fit")) == 1


async def test_one_whose_file_is_gone_is_made_again(desk: UploadDesk, library: Library) -> None:
    media = await taken_in(desk)
    first = await fit(desk, media.file, SMALL)
    assert first is not None
    await desk.storage.delete(first.file)
    assert await fit(desk, media.file, SMALL) == first
    assert await desk.storage.size(first.file) == first.size
    assert len(await library.rows("media_fit")) == 1


async def test_several_at_once_get_one_result(desk: UploadDesk, library: Library) -> None:
    media = await taken_in(desk)
    found = await asyncio.gather(*(fit(desk, media.file, SMALL) for _ in range(8)))
    assert len(set(found)) == 1
    assert len(await library.rows("media_fit")) == 1


async def test_each_network_and_each_workspace_has_its_own(
    desk: UploadDesk, library: Library
) -> None:
    ours, theirs = await taken_in(desk), await taken_in(desk, AWAY)
    made = [
        await fit(desk, media.file, change)
        for media in (ours, theirs)
        for change in (SMALL, SMALLER)
    ]
    files = {each.file for each in made if each is not None}
    assert len(files) == 4
    assert {row["workspace_id"] for row in await library.rows("media_fit")} == {HOME, AWAY}


async def test_a_file_that_is_no_picture_cannot_be_changed(
    desk: UploadDesk, library: Library, tmp_path: Path
) -> None:
    (tmp_path / "text").write_bytes(b"hello")
    await desk.storage.write(f"{HOME}/a.png", tmp_path / "text", mime="", sha256="")
    assert await fit(desk, f"{HOME}/a.png", SMALL) is None
    with pytest.raises(NotStored):
        await fit(desk, f"{HOME}/gone.png", SMALL)
    assert await library.rows("media_fit") == []


async def test_what_was_made_goes_with_its_source(desk: UploadDesk, library: Library) -> None:
    media = await taken_in(desk)
    made = await fit(desk, media.file, SMALL)
    assert made is not None
    await sweep(desk.operations, desk.storage)
    await back_date(library, "idle_at", 31)
    await sweep(desk.operations, desk.storage)
    assert await desk.storage.size(made.file) == made.size, "the grace holds for it too"
    await back_date(library, "deleted_at", 8)
    assert await sweep(desk.operations, desk.storage, grace=timedelta(days=7)) == Cleaned(0, 1, 0)
    assert await desk.storage.size(made.file) is None
    assert await library.rows("media_fit") == []
