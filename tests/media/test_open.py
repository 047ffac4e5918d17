"""The storage that the settings name."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cadenza.config.load import BadSettings
from cadenza.config.model import Media, Settings
from cadenza.core.clock import SystemClock
from cadenza.core.secret import Secret
from cadenza.engine.threads import Threads
from cadenza.media.disk import DiskStorage
from cadenza.media.open import open_storage
from cadenza.media.s3 import S3Storage
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.policy import Policy

S3 = Media(
    storage="s3",
    endpoint="https://s3.example",
    bucket="media",
    access_key="ada",
    secret_key=Secret("not-a-secret"),
)


@pytest.fixture
async def http() -> AsyncIterator[OutboundClient]:
    async with OutboundClient(Policy(), clock=SystemClock()) as http:
        yield http


@pytest.fixture
def threads() -> Iterator[Threads]:
    threads = Threads(1)
    yield threads
    threads.close()


def test_a_folder_is_the_default(http: OutboundClient, threads: Threads, tmp_path: Path) -> None:
    opened = open_storage(Settings(data=tmp_path), http=http, clock=SystemClock(), threads=threads)
    assert isinstance(opened, DiskStorage)


def test_a_bucket_is_opened_when_all_is_said(http: OutboundClient, threads: Threads) -> None:
    settings = replace(Settings(), media=S3)
    opened = open_storage(settings, http=http, clock=SystemClock(), threads=threads)
    assert isinstance(opened, S3Storage)


def test_what_a_bucket_lacks_is_named(http: OutboundClient, threads: Threads) -> None:
    settings = replace(Settings(), media=replace(S3, bucket="", secret_key=None))
    with pytest.raises(BadSettings, match=r"media\.bucket, media\.secret_key"):
        open_storage(settings, http=http, clock=SystemClock(), threads=threads)
