"""Generation of posts as the house runs it: nightly by the engine's schedule, or when somebody asks.

Both may overlap with themselves and with each other, and end in time; what is left is done by the next.
"""

from collections.abc import Mapping
from typing import Any

from cadenza.bootstrap.model import House
from cadenza.core.timebox import TimeBox
from cadenza.drafts.generate_all import (
    AllReport,
    WorkspaceReport,
    generate_all,
    generate_workspace,
)

SECONDS = 50.0  # of a call from outside
AS_A_JOB = 480.0  # well within a job's time limit


async def generate_for_all(house: House, seconds: float = SECONDS) -> AllReport:
    """Generate for every workspace whose night has come."""
    return await generate_all(
        house.operations, clock=house.clock, copywriter=house.copywriter, seconds=seconds
    )


async def generate_for_one(
    house: House, workspace_id: str, seconds: float = SECONDS
) -> WorkspaceReport:
    """Generate for one workspace now."""
    box = TimeBox(house.clock, seconds)
    return await generate_workspace(
        house.operations, workspace_id=workspace_id, box=box, copywriter=house.copywriter
    )


async def run_nightly(house: House, payload: Mapping[str, Any]) -> None:
    """Run as the recurring job; a schedule of minutes meets 02:00 in every zone."""
    await generate_for_all(house, AS_A_JOB)


async def run_on_demand(house: House, payload: Mapping[str, Any]) -> None:
    """Run as a job that an API call enqueued: `{"workspace_id": …}`."""
    await generate_for_one(house, payload["workspace_id"], AS_A_JOB)
