"""A duty of the delivery worker: posts that are over their day's maximum go to the next free slot.

The delivery pipeline may not know the queue, so its gate only parks the lane; here the queue is asked to clear it.
"""

import logging

from cadenza.queues.move_over_daily_max import MovedOverMax, locks_of, move_over_daily_max, overfull
from cadenza.sql.transactions import Operation, Operations

log = logging.getLogger("cadenza.queues")
EVERY = 5.0  # seconds


class DailyMaxDuty:
    """Clears full days for one process; any number may, each lane is changed under its lock."""

    def __init__(self, operations: Operations) -> None:
        self._operations = operations

    async def run_once(self) -> float:
        """Clear every lane that waits for it."""
        for workspace_id, account_id in await self._operations.read(overfull):
            done = await self._operations.run(
                _of(workspace_id, account_id), locks=locks_of(workspace_id, account_id)
            )
            log.info(
                "a full day was cleared",
                extra={"account": account_id, "moved": len(done.moved), "full": len(done.full)},
            )
        return EVERY


def _of(workspace_id: str, account_id: str) -> Operation[MovedOverMax]:
    return lambda tx, now: move_over_daily_max(
        tx, now, workspace_id=workspace_id, account_id=account_id
    )
