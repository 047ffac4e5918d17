"""Looks after posts every minute, as a job: missing approvals, what would fail soon, what was missed."""

import asyncio
import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypeAlias

from cadenza.bootstrap.model import Runtime
from cadenza.deliveries.approve import BATCH, sweep_unapproved
from cadenza.media.storage import BadName, StorageFailed
from cadenza.posts.preflight import PreflightBatch, check_due_soon, files_due_soon, warn_unapproved
from cadenza.sql.transactions import Operation

log = logging.getLogger("cadenza.posts")
EVERY = "* * * * *"
AT_ONCE = 8  # questions to the storage
After: TypeAlias = tuple[datetime, str] | None


async def watch_posts(runtime: Runtime, payload: Mapping[str, Any]) -> None:
    """Warn of what waits for an approval, call missed what nobody approved, check what is due soon."""
    warned = await runtime.operations.run(warn_unapproved)
    missed = passed = await runtime.operations.run(sweep_unapproved)
    while passed == BATCH:
        passed = await runtime.operations.run(sweep_unapproved)
        missed += passed
    at_risk, after = 0, None
    while True:
        gone = await _gone(runtime, after)
        batch = await runtime.operations.run(_from(runtime, after, gone))
        at_risk, after = at_risk + len(batch.told), batch.next
        if after is None:
            break
    if warned or missed or at_risk:
        log.info(
            "posts looked after",
            extra={"unapproved": len(warned), "missed": missed, "at_risk": at_risk},
        )


async def _gone(runtime: Runtime, after: After) -> frozenset[str]:
    """Ask the storage for the files of the next batch; one that does not answer is not called gone."""
    names = await runtime.operations.read(lambda tx, now: files_due_soon(tx, now, after=after))
    gone: set[str] = set()
    for start in range(0, len(names), AT_ONCE):
        some = names[start : start + AT_ONCE]
        sizes = await asyncio.gather(*(_size(runtime, name) for name in some))
        gone |= {name for name, size in zip(some, sizes, strict=True) if size is None}
    return frozenset(gone)


async def _size(runtime: Runtime, name: str) -> int | None:
    try:
        return await runtime.library.storage.size(name)
    except BadName:
        return None  # it was never stored here
    except StorageFailed as failed:
        log.warning("the media storage did not answer", extra={"detail": str(failed)})
        return 0


def _from(runtime: Runtime, after: After, gone: frozenset[str]) -> Operation[PreflightBatch]:
    return lambda tx, now: check_due_soon(tx, now, after=after, files=runtime.files, gone=gone)
