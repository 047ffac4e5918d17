"""Generation of posts as the application runs it: nightly by the engine's schedule, or when somebody asks.

Both may overlap with themselves and with each other, and end in time; what is left is done by the next.
"""

from collections.abc import Mapping
from typing import Any

from cadenza.bootstrap.model import Runtime
from cadenza.core.timebox import TimeBox
from cadenza.drafts.generate_all import (
    AllReport,
    WorkspaceReport,
    generate_all,
    generate_workspace,
)

SECONDS = 50.0  # of a call from outside
AS_A_JOB = 480.0  # well within a job's time limit


async def generate_for_all(runtime: Runtime, seconds: float = SECONDS) -> AllReport:
    """Generate for every workspace whose night has come."""
    return await generate_all(
        runtime.operations, clock=runtime.clock, copywriter=runtime.copywriter, seconds=seconds
    )


async def generate_for_one(
    runtime: Runtime, workspace_id: str, seconds: float = SECONDS
) -> WorkspaceReport:
    """Generate for one workspace now."""
    box = TimeBox(runtime.clock, seconds)
    return await generate_workspace(
        runtime.operations, workspace_id=workspace_id, box=box, copywriter=runtime.copywriter
    )


async def run_nightly(runtime: Runtime, payload: Mapping[str, Any]) -> None:
    """Run as the recurring job; a schedule of minutes meets 02:00 in every zone."""
    await generate_for_all(runtime, AS_A_JOB)


async def run_on_demand(runtime: Runtime, payload: Mapping[str, Any]) -> None:
    """Run as a job that an API call enqueued: `{"workspace_id": …}`."""
    await generate_for_one(runtime, payload["workspace_id"], AS_A_JOB)
