"""The hourly clean-up of answers that programs may no longer ask for again, as a job."""

from collections.abc import Mapping
from typing import Any

from cadenza.bootstrap.model import Runtime
from cadenza.db.idempotency import MOST, sweep

EVERY = "23 * * * *"


async def prune_idempotency(runtime: Runtime, payload: Mapping[str, Any]) -> None:
    """Make passes until one finds little."""
    while await runtime.operations.run(sweep) == MOST:
        pass
