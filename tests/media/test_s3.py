"""Files in a bucket, on a real S3-like server."""

import hashlib
import os
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.request import urlopen

import pytest

from cadenza.core.clock import SystemClock
from cadenza.core.secret import Secret
from cadenza.engine.threads import Threads
from cadenza.media.s3 import READ, Bucket, S3Storage
from cadenza.media.sign_s3 import Credentials
from cadenza.media.storage import BadName, NotStored, StorageFailed
from cadenza.media.upload import UploadDesk, Uploaded, upload
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.policy import HostRule, Policy
from cadenza.sql.transactions import Operations
from tests.media import made
from tests.media.conftest import BY, HOME
from tests.servers.place import ServerUnavailableError
from tests.servers.run import skip_or_fail
from tests.servers.s3 import ACCESS_KEY, BUCKET, REGION, SECRET_KEY, PrivateS3

pytestmark = pytest.mark.slow

NAME = "ada/" + "a" * 64 + "-1.bin"


@pytest.fixture(scope="module")
def server() -> Iterator[PrivateS3]:
    try:
        server = PrivateS3.create()
    except ServerUnavailableError as reason:
        skip_or_fail("s3", reason)
        raise
    with server:
        yield server


@pytest.fixture
async def http(server: PrivateS3) -> AsyncIterator[OutboundClient]:
    policy = Policy(allow=(HostRule("127.0.0.1", server.port),))
    async with OutboundClient(policy, clock=SystemClock()) as http:
        yield http


@pytest.fixture
def threads() -> Iterator[Threads]:
    threads = Threads(2)
    yield threads
    threads.close()


def at(
    server: PrivateS3,
    http: OutboundClient,
    threads: Threads,
    *,
    secret: str = SECRET_KEY,
    name: str = BUCKET,
) -> S3Storage:
    bucket = Bucket(
        endpoint=server.endpoint,
        name=name,
        credentials=Credentials(ACCESS_KEY, Secret(secret), REGION),
        public_endpoint=server.endpoint,
    )
    return S3Storage(bucket, http=http, clock=SystemClock(), threads=threads)


@pytest.fixture
def s3(server: PrivateS3, http: OutboundClient, threads: Threads) -> S3Storage:
    return at(server, http, threads)


async def put(s3: S3Storage, tmp_path: Path, data: bytes) -> None:
    (tmp_path / "source").write_bytes(data)
    digest = hashlib.sha256(data).hexdigest()
    await s3.write(NAME, tmp_path / "source", mime="video/mp4", sha256=digest)


def fetch(url: str) -> tuple[bytes, str]:
    """Fetch as a network would, with no key of ours."""
    with urlopen(url) as reply:
        return reply.read(), reply.headers["content-type"]


async def test_what_is_written_is_read_whole_and_in_stretches(
    s3: S3Storage, tmp_path: Path
) -> None:
    data = os.urandom(READ + 77)
    await put(s3, tmp_path, data)

    assert await s3.size(NAME) == len(data)
    assert await s3.read(NAME) == data
    stretch = b"".join([piece async for piece in s3.pieces(NAME, start=5, length=READ + 9)])
    assert stretch == data[5 : READ + 14]
    assert [piece async for piece in s3.pieces(NAME, start=len(data))] == []


async def test_a_write_again_is_harmless_and_a_delete_twice_too(
    s3: S3Storage, tmp_path: Path
) -> None:
    await put(s3, tmp_path, b"one")
    await put(s3, tmp_path, b"one")
    assert await s3.read(NAME) == b"one"

    await s3.delete(NAME)
    await s3.delete(NAME)

    assert await s3.size(NAME) is None
    with pytest.raises(NotStored):
        await s3.read(NAME)


async def test_bytes_that_do_not_fit_their_hash_are_refused_by_the_store(
    s3: S3Storage, tmp_path: Path
) -> None:
    (tmp_path / "source").write_bytes(b"changed on its way")
    new, digest = f"ada/{'b' * 64}-1.bin", hashlib.sha256(b"x").hexdigest()

    with pytest.raises(StorageFailed):
        await s3.write(new, tmp_path / "source", mime="", sha256=digest)

    assert await s3.size(new) is None


async def test_a_presigned_address_is_fetched_by_anyone_until_it_expires(
    s3: S3Storage, tmp_path: Path
) -> None:
    await put(s3, tmp_path, b"for the network")
    now = datetime.now(UTC)
    good = s3.public_url(NAME, now=now, lasts=timedelta(minutes=5))
    old = s3.public_url(NAME, now=now - timedelta(minutes=10), lasts=timedelta(minutes=5))

    assert good is not None
    assert old is not None
    assert fetch(good) == (b"for the network", "video/mp4")
    with pytest.raises(OSError, match="403"):
        fetch(old)
    with pytest.raises(OSError, match="403"):
        fetch(good.replace("-1.bin", "-2.bin"))


async def test_a_wrong_key_and_a_missing_bucket_are_said_with_what_to_do(
    server: PrivateS3, http: OutboundClient, threads: Threads, tmp_path: Path
) -> None:
    with pytest.raises(StorageFailed, match=r"media\.secret_key"):
        await put(at(server, http, threads, secret="wrong"), tmp_path, b"x")
    with pytest.raises(StorageFailed, match=r"media\.bucket"):
        await put(at(server, http, threads, name="nowhere"), tmp_path, b"x")


async def test_a_private_endpoint_that_the_policy_does_not_name_is_not_called(
    server: PrivateS3, threads: Threads, tmp_path: Path
) -> None:
    async with OutboundClient(Policy(), clock=SystemClock()) as http:
        with pytest.raises(StorageFailed):
            await put(at(server, http, threads), tmp_path, b"x")


async def test_a_name_that_is_not_ours_leads_nowhere(s3: S3Storage) -> None:
    with pytest.raises(BadName):
        await s3.read("../other-bucket/key")


async def test_an_upload_goes_to_the_bucket(
    s3: S3Storage, operations: Operations, threads: Threads
) -> None:
    async def stream() -> AsyncIterator[bytes]:
        yield made.photo(6)

    desk = UploadDesk(operations=operations, storage=s3, threads=threads)
    answer = await upload(desk, stream(), workspace_id=HOME, name="cat.jpg", by=BY)

    assert isinstance(answer, Uploaded)
    assert answer.media.thumbnail is not None
    stored = await s3.read(answer.media.file)
    assert hashlib.sha256(stored).hexdigest() == answer.media.sha256
    assert (await s3.read(answer.media.thumbnail)).startswith(b"\xff\xd8\xff")
