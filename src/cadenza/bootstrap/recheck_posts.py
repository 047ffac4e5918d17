"""Checks once an hour, as a job, whether channels still take what is planned: limits change under posts."""

import logging
from collections.abc import Mapping
from typing import Any

from cadenza.bootstrap.model import House
from cadenza.deliveries.recheck_fit import Rechecked, recheck_fit
from cadenza.sql.operate import Operation

log = logging.getLogger("cadenza.posts")
EVERY = "17 * * * *"


async def recheck_posts(house: House, payload: Mapping[str, Any]) -> None:
    """Walk through all that is planned, a batch at a time."""
    changed, after = 0, None
    while True:
        done = await house.operations.run(_from(house, after))
        changed, after = changed + len(done.changed), done.next
        if after is None:
            break
    if changed:
        log.info("planned posts were checked again", extra={"changed": changed})


def _from(house: House, after: Any) -> Operation[Rechecked]:
    return lambda tx, _: recheck_fit(tx, after=after, files=house.files)
