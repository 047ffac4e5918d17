"""The hourly clean-up of answers that programs may no longer ask for again, as a job."""

from collections.abc import Mapping
from typing import Any

from cadenza.bootstrap.model import House
from cadenza.db.keep_answers import MOST, sweep

EVERY = "23 * * * *"


async def sweep_answers(house: House, payload: Mapping[str, Any]) -> None:
    """Make passes until one finds little."""
    while await house.operations.run(sweep) == MOST:
        pass
