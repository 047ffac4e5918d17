"""Packs a workspace's export in the background, and removes exports that have expired, as jobs.

It reads page by page, writes a file in the scratch folder and hands it to the media storage whole, so every
server can give it out. A run that is cut short begins again. Progress is written about once a second.
"""

import hashlib
import logging
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from cadenza.bootstrap.model import Runtime
from cadenza.db.exported import TABLES
from cadenza.media.storage import StorageFailed
from cadenza.posts import export_requests
from cadenza.posts.export import export_workspace

log = logging.getLogger("cadenza.exports")
NAME = "pack_export"
EVERY = "37 * * * *"
TOLD_EVERY = 1.0  # seconds


@dataclass(slots=True)
class _Packing:
    """One export on its way into a file."""

    runtime: Runtime
    workspace_id: str
    export_id: str
    total: int = 0
    done: int = 0
    told_at: float = 0.0

    async def count(self) -> None:
        """Count what there is to write, a table at a time: no long reading stands in anybody's way."""
        for table in TABLES:
            self.total += await self.runtime.operations.read(
                partial(
                    export_requests.count_rows, workspace_id=self.workspace_id, table=table.name
                )
            )
        await self.tell()

    async def pack(self, file: BinaryIO) -> str:
        """Write all of it; return the hash of the bytes."""
        hashed = hashlib.sha256()
        pieces = export_workspace(self.runtime.operations, self.workspace_id, counted=self.add)
        async for piece in pieces:
            await self.runtime.library.threads.call(_write, {"file": file, "piece": piece})
            hashed.update(piece)
            if self.runtime.clock.monotonic() - self.told_at >= TOLD_EVERY:
                await self.tell()
        return hashed.hexdigest()

    def add(self, rows: int) -> None:
        """Count rows that were written."""
        self.done += rows

    async def tell(self) -> None:
        """Write how far it is."""
        self.told_at = self.runtime.clock.monotonic()
        await self.runtime.operations.run(
            partial(
                export_requests.tell_progress,
                workspace_id=self.workspace_id,
                export_id=self.export_id,
                done=self.done,
                total=self.total,
            )
        )


async def pack_export(runtime: Runtime, payload: Mapping[str, Any]) -> None:
    """Pack one export, unless it is done or gone."""
    about = {"workspace_id": payload["workspace_id"], "export_id": payload["export_id"]}
    found = await runtime.operations.read(partial(export_requests.find_export, **about))
    if found is None or found.state == "ready":
        return
    packing = _Packing(runtime, **about)
    try:
        with tempfile.TemporaryDirectory(
            prefix="cadenza-export-", dir=runtime.library.desk.scratch
        ) as folder:
            path = Path(folder) / "export.zip"
            await packing.count()
            with path.open("wb") as file:
                sha256 = await packing.pack(file)
            size = path.stat().st_size
            await runtime.library.storage.write(
                found.file, path, mime="application/zip", sha256=sha256
            )
    except Exception as error:
        reason = (
            "the storage did not take it" if isinstance(error, StorageFailed) else "it broke off"
        )
        await runtime.operations.run(partial(export_requests.fail, **about, reason=reason))
        raise
    await runtime.operations.run(
        partial(export_requests.finish, **about, rows=packing.done, bytes_=size)
    )


async def sweep_exports(runtime: Runtime, payload: Mapping[str, Any]) -> None:
    """Remove what has expired: the bytes first, so that nothing is left that nobody knows of."""
    for each in await runtime.operations.read(export_requests.list_expired):
        try:
            await runtime.library.storage.delete(each.file)
        except StorageFailed as error:
            log.warning("an export cannot be removed yet", extra={"error": str(error)})
            continue
        await runtime.operations.run(
            partial(export_requests.forget, workspace_id=each.workspace_id, export_id=each.id)
        )


def _write(file: BinaryIO, piece: bytes) -> None:
    file.write(piece)
