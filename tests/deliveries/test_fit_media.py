"""Pictures reach each network as it takes them, through the whole pipeline, and repeats send the same bytes."""

import io
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from PIL import Image

from cadenza.core.channels import Channel
from cadenza.core.clock import SystemClock
from cadenza.demo.networks.meta_containers import Rules
from cadenza.demo.simulator.faults import Kind
from cadenza.demo.simulator.network import SimulatedNetwork
from cadenza.demo.simulator.serve import Simulator
from cadenza.engine.threads import Threads
from cadenza.media.disk import DiskStorage
from cadenza.media.files import MediaFiles
from cadenza.media.model import Media
from cadenza.media.upload import UploadDesk, Uploaded, upload
from tests.deliveries.conftest import HOME, Pipeline
from tests.deliveries.test_publish import until, working
from tests.media.test_convert import noise, written
from tests.providers.bluesky.fixtures import BLOBS, bluesky
from tests.providers.instagram.fixtures import instagram


@pytest.fixture
def desk(pipeline: Pipeline, tmp_path: Path) -> Iterator[UploadDesk]:
    threads = Threads(2)
    storage = DiskStorage(tmp_path / "media", threads=threads)
    yield UploadDesk(operations=pipeline.operations, storage=storage, threads=threads)
    threads.close()


async def taken_in(desk: UploadDesk, data: bytes) -> Media:
    async def pieces() -> AsyncIterator[bytes]:
        yield data

    answer = await upload(desk, pieces(), workspace_id=HOME, name="sea.png", by="member:ada")
    assert isinstance(answer, Uploaded), answer
    return answer.media


def content(media: Media) -> str:
    shown: dict[str, Any] = {"text": "Good morning", "media": [media.as_content("The sea")]}
    return msgspec.json.encode(shown).decode()


class Fetched(MediaFiles):
    """Files that the simulated network fetches from the simulator's own address."""

    def __init__(
        self, desk: UploadDesk, folder: Path, simulator: Simulator, simulated: SimulatedNetwork
    ) -> None:
        super().__init__(desk.storage, clock=SystemClock(), desk=desk)
        self._folder, self._simulator, self._simulated = folder, simulator, simulated
        self.requested: list[str] = []

    def public_url(self, name: str) -> str | None:
        self.requested.append(name)
        data = (self._folder / name).read_bytes()
        mime = "image/jpeg" if name.endswith(".jpg") else "image/png"
        return self._simulator.put_media(self._simulated, name.rpartition("/")[2], mime, data)


@pytest.mark.parametrize("route", [None, BLOBS])
async def test_a_large_png_goes_out_on_bluesky_within_its_limit(
    pipeline: Pipeline, desk: UploadDesk, route: str | None
) -> None:
    media = await taken_in(desk, written(noise(1000, 900)))
    assert media.size > 2_000_000
    files = MediaFiles(desk.storage, clock=SystemClock(), desk=desk)
    async with bluesky() as (scene, simulated), working(pipeline, scene, files=files):
        if route is not None:
            simulated.faults.plan(Kind.ERROR_BEFORE, route, status=503)
        id_ = await pipeline.post(content=content(media), channel=Channel.BLUESKY)
        if route is not None:
            await hurry(pipeline, id_)
        await until(pipeline, id_, "sent")
        (record,) = simulated.records.values()
        (shown,) = record["embed"]["images"]
        assert shown["image"]["mimeType"] == "image/jpeg"
        assert shown["image"]["size"] <= 2_000_000
        assert shown["alt"] == "The sea"
        assert len(simulated.blobs) == 1, "a repeat sends the same bytes"


async def test_a_png_goes_out_on_instagram_as_a_jpeg(
    pipeline: Pipeline, desk: UploadDesk, tmp_path: Path
) -> None:
    image = Image.new("RGBA", (500, 500), (0, 0, 0, 0))
    media = await taken_in(desk, written(image))
    async with instagram(files=(), rules=Rules(picture=timedelta())) as (scene, simulated):
        files = Fetched(desk, tmp_path / "media", scene.simulator, simulated)
        async with working(pipeline, scene, files=files):
            id_ = await pipeline.post(content=content(media), channel=Channel.INSTAGRAM_FEED)
            await until(pipeline, id_, "sent")
        assert scene.visible() == ["Good morning"]
        sent = await desk.storage.read(files.requested[-1])
        with Image.open(io.BytesIO(sent)) as opened:
            assert opened.format == "JPEG"
            assert opened.getpixel((5, 5)) == (255, 255, 255)


async def test_an_animation_that_is_too_large_is_refused_as_before(
    pipeline: Pipeline, desk: UploadDesk
) -> None:
    frames = [noise(1000, 1000, "L"), noise(1001, 1001, "L").crop((1, 1, 1001, 1001))] * 2
    data = written(frames[0], "GIF", save_all=True, append_images=frames[1:], duration=100)
    media = await taken_in(desk, data)
    assert media.size > 2_000_000
    files = MediaFiles(desk.storage, clock=SystemClock(), desk=desk)
    async with bluesky() as (scene, simulated), working(pipeline, scene, files=files):
        id_ = await pipeline.post(content=content(media), channel=Channel.BLUESKY)
        row = await until(pipeline, id_, "failed", "sent")
        assert row["state"] == "failed"
        assert "Bluesky takes 2000000" in row["reason"]
        assert not simulated.records


async def hurry(pipeline: Pipeline, id_: str) -> None:
    """Let a try that waits for its turn go at once, whenever it comes back."""

    def due(tx: Any, now: Any) -> None:
        tx.run("UPDATE delivery SET due_at = :at WHERE id = :id", at=now - timedelta(1), id=id_)

    await until(pipeline, id_, "sent", "scheduled")
    await pipeline.operations.run(due)
