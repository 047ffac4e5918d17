"""Media in a running application: taken in, read by the pipeline, fetched from outside, swept at night."""

from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path

import pytest

from cadenza.bootstrap.runtime import open_runtime
from cadenza.bootstrap.sweep_media import sweep_media
from cadenza.config.load import BadSettings
from cadenza.config.model import Media, Settings
from cadenza.media.public import PublicFile, open_public
from cadenza.media.upload import Uploaded, upload
from cadenza.sql.tx import Tx
from tests.media import made


async def one(data: bytes) -> AsyncIterator[bytes]:
    yield data


def _settle_in(tx: Tx, now: datetime) -> None:
    tx.run(
        "INSERT INTO workspace (id, name, zone, created_at) VALUES ('ada', 'Ada', 'UTC', :now)",
        now=now,
    )


async def test_an_upload_is_read_by_the_road_and_fetched_from_outside(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, public_url="https://cadenza.example")
    async with open_runtime(settings) as runtime:
        await runtime.operations.run(_settle_in)
        answer = await upload(
            runtime.library.desk, one(made.PDF), workspace_id="ada", name="a.pdf", by="member:ada"
        )
        assert isinstance(answer, Uploaded)
        assert await runtime.files.read(answer.media.file) == made.PDF
        url = runtime.library.files.public_url(answer.media.file)
        assert url is not None
        opened = open_public(runtime.library.signer, url.split("/")[-2], now=runtime.clock.now())
        assert isinstance(opened, PublicFile)
        assert opened.file == answer.media.file
        await sweep_media(runtime, {})


async def test_without_a_public_address_nothing_can_be_fetched(tmp_path: Path) -> None:
    async with open_runtime(Settings(data=tmp_path)) as runtime:
        assert runtime.library.files.public_url("ada/" + "a" * 64 + "-1.png") is None


async def test_a_bucket_that_is_half_said_stops_the_start(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, media=Media(storage="s3"))
    with pytest.raises(BadSettings, match=r"media\.bucket"):
        async with open_runtime(settings):
            pass
