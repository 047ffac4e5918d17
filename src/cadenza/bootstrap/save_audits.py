"""Each night: how full every limit ever was is kept, so that an audit in the day replays little, as a job.

Rule by rule, the ledger is read in a transaction that writes nothing and stands in nobody's way.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from cadenza.bootstrap.model import Runtime
from cadenza.deliveries.audit_limits import judge_settled, list_rules, save_audit

EVERY = "11 4 * * *"


async def save_audits(runtime: Runtime, payload: Mapping[str, Any]) -> None:
    """Judge each rule up to some days ago, and keep the worst."""
    for rule in await runtime.operations.read(list_rules):
        worst = await runtime.operations.read(partial(judge_settled, rule=rule))
        if worst is not None:
            await runtime.operations.run(partial(save_audit, rule=rule, worst=worst))
