"""Looks after posts every minute, as a job: missing approvals, what would fail soon, what was missed."""

import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from cadenza.bootstrap.model import House
from cadenza.deliveries.approve import BATCH, sweep_unapproved
from cadenza.posts.preflight import Looked, check_due_soon, warn_unapproved
from cadenza.sql.operate import Operation

log = logging.getLogger("cadenza.posts")
EVERY = "* * * * *"


async def watch_posts(house: House, payload: Mapping[str, Any]) -> None:
    """Warn of what waits for an approval, call missed what nobody approved, check what is due soon."""
    warned = await house.operations.run(warn_unapproved)
    missed = passed = await house.operations.run(sweep_unapproved)
    while passed == BATCH:
        passed = await house.operations.run(sweep_unapproved)
        missed += passed
    at_risk, after = 0, None
    while True:
        looked = await house.operations.run(_from(house, after))
        at_risk, after = at_risk + len(looked.told), looked.next
        if after is None:
            break
    if warned or missed or at_risk:
        log.info(
            "posts looked after",
            extra={"unapproved": len(warned), "missed": missed, "at_risk": at_risk},
        )


def _from(house: House, after: tuple[datetime, str] | None) -> Operation[Looked]:
    return lambda tx, now: check_due_soon(tx, now, after=after, files=house.files)
