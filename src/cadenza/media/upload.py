"""Takes a file in: bytes to a scratch file within a bound, a look in a thread, a row, the storage, done.

Between any two steps the process may die: before the row nothing is left but a scratch file that goes
with its folder, after it the row tells the sweep what to remove, and the same upload again goes on
where this one stopped. What is refused says why and what to do.
"""

import asyncio
import hashlib
import tempfile
from collections.abc import AsyncIterable
from dataclasses import dataclass, field
from pathlib import Path

from cadenza.engine.threads import Threads
from cadenza.media.add import Full, Known, RemovedMeanwhile, begin, finish
from cadenza.media.examine import Unfit, examine, too_big
from cadenza.media.limits import Limits
from cadenza.media.model import Facts, Media
from cadenza.media.name import safe_name
from cadenza.media.storage import PIECE, Storage
from cadenza.sql.transactions import Operations

AT_ONCE = 2  # pictures opened at the same time: each may take 150 MB


@dataclass(frozen=True, slots=True)
class Uploaded:
    """It is in the library; `known`: it was before, and nothing was stored again."""

    media: Media
    known: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadDesk:
    """What taking in needs; one a process."""

    operations: Operations
    storage: Storage
    threads: Threads
    limits: Limits = field(default_factory=Limits)
    scratch: Path | None = None  # where uploads wait; None: the system's folder
    turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))


async def upload(
    desk: UploadDesk,
    chunks: AsyncIterable[bytes],
    *,
    workspace_id: str,
    name: str,
    by: str,
    alt: str = "",
) -> Uploaded | Unfit | RemovedMeanwhile:
    """Take a stream of bytes into the workspace's library."""
    with tempfile.TemporaryDirectory(prefix="cadenza-upload-", dir=desk.scratch) as folder:
        path, small = Path(folder) / "file", Path(folder) / "small"
        if not await _receive(desk, chunks, path):
            return Unfit("size", too_big("a file", desk.limits.most))
        async with desk.turns:
            facts: Facts | Unfit = await desk.threads.call(
                examine, {"path": path, "small": small, "limits": desk.limits}
            )
        if isinstance(facts, Unfit):
            return facts
        begun = await desk.operations.run(
            lambda tx, now: begin(
                tx,
                now,
                workspace_id=workspace_id,
                facts=facts,
                name=safe_name(name, facts.extension),
                alt=alt,
                by=by,
                most=desk.limits.workspace_bytes,
            )
        )
        if isinstance(begun, Full):
            return Unfit("space", begun.message)
        if isinstance(begun, Known):
            return Uploaded(begun.media, known=True)
        media = begun.media
        await desk.storage.write(media.file, path, mime=media.mime, sha256=media.sha256)
        if media.thumbnail is not None:
            await _store_small(desk, media.thumbnail, small)
    done = await desk.operations.run(lambda tx, now: finish(tx, now, media=media, by=by))
    return done if isinstance(done, RemovedMeanwhile) else Uploaded(done)


async def _receive(desk: UploadDesk, chunks: AsyncIterable[bytes], path: Path) -> bool:
    """Write the stream to a scratch file; False when it is larger than anything that is taken."""
    received, waiting = 0, bytearray()
    await desk.threads.call(path.touch, {})
    async for chunk in chunks:
        received += len(chunk)
        if received > desk.limits.most:
            return False
        waiting += chunk
        if len(waiting) >= PIECE:
            await desk.threads.call(_append, {"path": path, "data": bytes(waiting)})
            waiting.clear()
    await desk.threads.call(_append, {"path": path, "data": bytes(waiting)})
    return True


async def _store_small(desk: UploadDesk, name: str, small: Path) -> None:
    digest = await desk.threads.call(_digest, {"path": small})
    await desk.storage.write(name, small, mime="image/jpeg", sha256=digest)


def _append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
