"""Stores files in a folder of this machine.

Bytes are written beside and moved into place after they are on the disk, so that a name stands for a
whole file or for nothing. Symbolic links are not followed. Blocking work goes to threads. Limit: several
machines need a shared folder or a bucket.
"""

import contextlib
import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import BinaryIO

from cadenza.engine.threads import Threads
from cadenza.media.storage import PIECE, NotStored, checked


class DiskStorage:
    """One folder; workspaces are folders in it."""

    def __init__(self, root: Path, *, threads: Threads) -> None:
        self._root = root
        self._threads = threads

    async def write(self, name: str, source: Path, *, mime: str, sha256: str) -> None:
        """Copy it beside, make it durable, move it into place."""
        await self._threads.call(_write, {"source": source, "target": self._path(name)})

    async def read(self, name: str) -> bytes:
        """Return all of it."""
        return await self._threads.call(_read, {"path": self._path(name)})

    async def pieces(
        self, name: str, *, start: int = 0, length: int | None = None
    ) -> AsyncIterator[bytes]:
        """Yield a stretch piece by piece, each read in a thread."""
        file = await self._threads.call(_open, {"path": self._path(name), "start": start})
        left = length
        try:
            while left is None or left > 0:
                most = PIECE if left is None else min(PIECE, left)
                piece = await self._threads.call(_next, {"file": file, "most": most})
                if not piece:
                    return
                left = None if left is None else left - len(piece)
                yield piece
        finally:
            file.close()

    async def size(self, name: str) -> int | None:
        """Ask the file system."""
        return await self._threads.call(_size, {"path": self._path(name)})

    async def delete(self, name: str) -> None:
        """Remove it."""
        await self._threads.call(_delete, {"path": self._path(name)})

    def public_url(self, name: str, *, now: datetime, lasts: timedelta) -> str | None:
        """A folder has no address; the API serves it under a signed one (`public.py`)."""
        return None

    def _path(self, name: str) -> Path:
        return self._root / checked(name)


def _write(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, beside = tempfile.mkstemp(prefix=".incoming-", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as out, source.open("rb") as given:
            shutil.copyfileobj(given, out, PIECE)
            out.flush()
            os.fsync(out.fileno())
        os.replace(beside, target)  # noqa: PTH105 - both are in one folder, so this is one step
        _sync(target.parent)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(beside)  # noqa: PTH108 - a name that mkstemp gave
        raise


def _sync(folder: Path) -> None:
    """Make the folder's new entry durable as well."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _open(path: Path, start: int = 0) -> BinaryIO:
    try:
        file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb")
    except OSError as error:
        raise NotStored(f"{path.parent.name}/{path.name} is not in the media folder") from error
    file.seek(start)
    return file


def _read(path: Path) -> bytes:
    with _open(path) as file:
        return file.read()


def _next(file: BinaryIO, most: int) -> bytes:
    return file.read(most)


def _size(path: Path) -> int | None:
    return path.stat().st_size if path.is_file() and not path.is_symlink() else None


def _delete(path: Path) -> None:
    path.unlink(missing_ok=True)
