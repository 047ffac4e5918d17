"""The hourly clean-up of sign-ups that nobody confirmed, as a job."""

from collections.abc import Mapping
from typing import Any

from cadenza.bootstrap.model import Runtime
from cadenza.contacts.sign_up import MOST_FORGOTTEN, forget_signups

EVERY = "47 * * * *"


async def prune_signups(runtime: Runtime, payload: Mapping[str, Any]) -> None:
    """Make passes until one finds little."""
    while await runtime.operations.run(forget_signups) == MOST_FORGOTTEN:
        pass
