"""Checks once an hour, as a job, whether channels still take what is planned: limits change under posts."""

import logging
from collections.abc import Mapping
from typing import Any

from cadenza.bootstrap.model import Runtime
from cadenza.deliveries.recheck_fit import Rechecked, recheck_fit
from cadenza.sql.transactions import Operation

log = logging.getLogger("cadenza.posts")
EVERY = "17 * * * *"


async def recheck_posts(runtime: Runtime, payload: Mapping[str, Any]) -> None:
    """Walk through all that is planned, a batch at a time."""
    changed, after = 0, None
    while True:
        done = await runtime.operations.run(_from(runtime, after))
        changed, after = changed + len(done.changed), done.next
        if after is None:
            break
    if changed:
        log.info("planned posts were checked again", extra={"changed": changed})


def _from(runtime: Runtime, after: Any) -> Operation[Rechecked]:
    return lambda tx, _: recheck_fit(tx, after=after, files=runtime.files)
