"""Media as the pipeline asks for them."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from cadenza.core.channels import Channel
from cadenza.core.clock import SystemClock
from cadenza.deliveries.check_fit import StoredPiece
from cadenza.deliveries.render import render
from cadenza.engine.threads import Threads
from cadenza.media.disk import DiskStorage
from cadenza.media.files import MediaFiles
from cadenza.media.public import PublicFile, Signer, open_public
from tests.media.conftest import Library

SIGNER = Signer((b"k" * 32,))


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[DiskStorage]:
    threads = Threads(1)
    yield DiskStorage(tmp_path / "media", threads=threads)
    threads.close()


def delivery(media: dict[str, Any]) -> StoredPiece:
    content = msgspec.json.encode({"text": "hello", "media": [media]}).decode()
    return StoredPiece("ada", Channel.INSTAGRAM_FEED, content, None)


async def test_a_message_reads_the_bytes_and_carries_a_fresh_public_address(
    library: Library, disk: DiskStorage, tmp_path: Path
) -> None:
    media = await library.add()
    (tmp_path / "bytes").write_bytes(b"pixels")
    await disk.write(media.file, tmp_path / "bytes", mime=media.mime, sha256=media.sha256)
    clock = SystemClock()
    files = MediaFiles(disk, clock=clock, signer=SIGNER, public_base="https://cadenza.example")

    (item,) = render(delivery(media.as_content("my own words")), files).media

    assert await item.read() == b"pixels"
    assert (item.name, "/" in media.file) == (media.name, True)
    assert (item.width, item.height, item.alt) == (4, 3, "my own words")
    assert item.url is not None
    opened = open_public(SIGNER, item.url.split("/")[-2], now=clock.now())
    assert isinstance(opened, PublicFile)
    assert (opened.file, opened.mime) == (media.file, "image/png")
    assert opened.expires_at - clock.now() > timedelta(hours=5)


async def test_without_a_public_address_of_the_instance_there_is_none(
    library: Library, disk: DiskStorage
) -> None:
    media = await library.add()

    (item,) = render(delivery(media.as_content()), MediaFiles(disk, clock=SystemClock())).media

    assert item.url is None
