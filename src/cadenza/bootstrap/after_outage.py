"""When a worker starts after nothing ran for a while, or sending goes on after a hold: late posts are spaced first.

How long nothing ran is what the installation's last sign of life tells, read before this process gives
its first. A short restart is no outage; a database whose sending is held is left as it is until a person has
confirmed. Limit: a worker that starts in the seconds between that word and the others' hearing it spaces nothing.
"""

import logging
from datetime import datetime, timedelta

from cadenza.bootstrap.model import Runtime
from cadenza.deliveries.installation import read_signs
from cadenza.deliveries.space_out import overdue_accounts
from cadenza.queues.missed import space
from cadenza.queues.move_over_daily_max import locks_of
from cadenza.sql.transactions import Operation
from cadenza.sql.tx import Tx

log = logging.getLogger("cadenza.worker")
OUTAGE = timedelta(minutes=2)


async def silence(runtime: Runtime) -> timedelta:
    """Return for how long no process gave a sign of life; nothing, if none ever ran here."""

    def read(tx: Tx, now: datetime) -> timedelta:
        signs = read_signs(tx, now)
        return timedelta() if signs is None else now - signs.beat_at

    return await runtime.operations.read(read)


async def space_what_is_late(runtime: Runtime, silent: timedelta) -> int:
    """After an outage, give late posts their turns; return for how many accounts."""
    if silent < OUTAGE or runtime.source.held:
        return 0
    return await space_all(runtime, silent)


async def space_all(runtime: Runtime, silent: timedelta) -> int:
    """Give late posts their turns, account by account, after so long a silence; return for how many accounts."""
    accounts = await runtime.operations.read(overdue_accounts)
    for account in accounts:
        await runtime.operations.run(_of(*account), locks=locks_of(*account))
    if accounts:
        log.warning(
            "nothing was sent for a while: what is late goes out spaced",
            extra={"minutes": int(silent.total_seconds() // 60), "accounts": len(accounts)},
        )
    return len(accounts)


def _of(workspace_id: str, account_id: str) -> Operation[None]:
    def run(tx: Tx, now: datetime) -> None:
        space(tx, now, workspace_id=workspace_id, account_id=account_id)

    return run
