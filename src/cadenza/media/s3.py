"""Stores files in a bucket of an S3-like store, through the guarded client.

Requests are signed (Signature V4) over the content's own hash, so the store refuses what was changed on
its way. Reads go in ranges, so that a film never lies in memory whole unless somebody asks for all of
it. The bucket's endpoint must stand in the client's policy if it is not public. Writes are one request
each: 5 GB at most. Harmless repeats are tried three times.
"""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import BinaryIO

from cadenza.core.clock import Clock
from cadenza.core.secret import Secret
from cadenza.engine.threads import Threads
from cadenza.media.sign_s3 import EMPTY, Credentials, presign, sign
from cadenza.media.storage import PIECE, NotStored, StorageFailed, checked
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.outcome import Reply
from cadenza.providers.http.request import Request, Stream, Timeouts

TRIES = 3
SLOWEST = 128 * 1024  # bytes a second that an upload must make
READ = 4 * PIECE
_CODE = re.compile(r"<Code>([A-Za-z0-9]{1,60})</Code>")
_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """Where the bucket is. `public_endpoint`: how the world reaches it, if it does."""

    endpoint: str
    name: str
    credentials: Credentials
    public_endpoint: str | None = None


class S3Storage:
    """One bucket, addressed by path (`https://host/bucket/name`), which every store understands."""

    def __init__(
        self, bucket: Bucket, *, http: OutboundClient, clock: Clock, threads: Threads
    ) -> None:
        self._bucket = bucket
        self._http = http
        self._clock = clock
        self._threads = threads

    async def write(self, name: str, source: Path, *, mime: str, sha256: str) -> None:
        """Send the file; the store compares it with its hash."""
        size = (await self._threads.call(source.stat, {})).st_size
        reply = await self._send(
            "PUT", name, headers={"content-type": mime}, payload=sha256, source=source, size=size
        )
        self._expect(reply, {200, 201, 204})

    async def read(self, name: str) -> bytes:
        """Return all of it."""
        return b"".join([piece async for piece in self.pieces(name)])

    async def pieces(
        self, name: str, *, start: int = 0, length: int | None = None
    ) -> AsyncIterator[bytes]:
        """Yield a stretch, one ranged request a piece."""
        at, end = start, None if length is None else start + length
        while end is None or at < end:
            last = at + READ - 1 if end is None else min(at + READ, end) - 1
            reply = await self._send("GET", name, headers={"range": f"bytes={at}-{last}"})
            if reply.status == 416:  # behind the end
                return
            self._expect(reply, {200, 206}, name)
            told = _RANGE.fullmatch(reply.header("content-range") or "")
            if told is None or int(told[1]) != at or not reply.body:
                raise StorageFailed("the bucket does not answer ranges as it should")
            yield reply.body
            at += len(reply.body)
            if at >= int(told[3]):
                return

    async def size(self, name: str) -> int | None:
        """Ask for the object's head."""
        reply = await self._send("HEAD", name)
        if reply.status == 404:
            return None
        self._expect(reply, {200})
        return int(reply.header("content-length") or 0)

    async def delete(self, name: str) -> None:
        """Remove the object."""
        self._expect(await self._send("DELETE", name), {200, 204, 404})

    def public_url(self, name: str, *, now: datetime, lasts: timedelta) -> str | None:
        """Return a presigned address, where the world reaches the bucket."""
        if self._bucket.public_endpoint is None:
            return None
        url = self._url(self._bucket.public_endpoint, name)
        return presign(url, credentials=self._bucket.credentials, now=now, lasts=lasts)

    def _url(self, endpoint: str, name: str) -> str:
        return f"{endpoint.rstrip('/')}/{self._bucket.name}/{checked(name)}"

    async def _send(
        self,
        method: str,
        name: str,
        *,
        headers: dict[str, str] | None = None,
        payload: str = EMPTY,
        source: Path | None = None,
        size: int = 0,
    ) -> Reply:
        """Sign and send; again after a moment when no answer came or the store is busy."""
        url = self._url(self._bucket.endpoint, name)
        said = ""
        for attempt in range(1, TRIES + 1):
            signed = sign(
                method,
                url,
                headers=headers or {},
                payload=payload,
                credentials=self._bucket.credentials,
                now=self._clock.now(),
            )
            outcome = await self._http.send(
                Request(
                    method,
                    url,
                    {**signed, "authorization": Secret(signed["authorization"])},
                    body=None if source is None else Stream(self._chunks(source), size),
                    timeout=Timeouts(total=60 + size / SLOWEST),
                    max_bytes=READ + PIECE,
                    idempotent=True,
                )
            )
            if isinstance(outcome, Reply) and outcome.status < 500:
                return outcome
            said = f"status {outcome.status}" if isinstance(outcome, Reply) else outcome.message
            if attempt < TRIES:
                await self._clock.sleep(0.1 * 4**attempt)
        raise StorageFailed(f"the bucket {self._bucket.name} did not answer well: {said}")

    async def _chunks(self, source: Path) -> AsyncIterator[bytes]:
        file: BinaryIO = await self._threads.call(source.open, {"mode": "rb"})
        try:
            while piece := await self._threads.call(_next, {"file": file}):
                yield piece
        finally:
            file.close()

    def _expect(self, reply: Reply, good: set[int], name: str = "") -> None:
        if reply.status in good:
            return
        code = _CODE.search(reply.text)
        said = code[1] if code else f"status {reply.status}"
        if name and reply.status == 404 and said != "NoSuchBucket":
            raise NotStored(f"{name} is not in the bucket {self._bucket.name}")
        raise StorageFailed(f"the bucket {self._bucket.name} says {said}{_advice(said)}")


def _advice(code: str) -> str:
    return {
        "NoSuchBucket": ": make it, or correct media.bucket",
        "InvalidAccessKeyId": ": correct media.access_key",
        "SignatureDoesNotMatch": ": correct media.secret_key (and media.region)",
        "AccessDenied": ": the key may not do this; it needs get, put and delete of objects",
        "RequestTimeTooSkewed": ": this machine's clock is wrong",
    }.get(code, "")


def _next(file: BinaryIO) -> bytes:
    return file.read(PIECE)
