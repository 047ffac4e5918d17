"""Looks after queues every minute, as a job: pauses that end, queues that run dry, a new tz database.

An account that can send and whose lane still waits for a connection is opened: nothing stays shut by accident.

A pause that ends by itself shifts what came due meanwhile to the next free slots: nobody is there to
choose, and a flood is never right. After an update of the tz database, coming posts keep their wall
time; what moved stands in the log and in each queue's audit.
"""

import logging
from collections.abc import Mapping
from typing import Any

from cadenza.bootstrap.model import Runtime
from cadenza.deliveries import resume_plan
from cadenza.queues import resolve_again, resume, runway
from cadenza.queues.model import locks
from cadenza.sql.transactions import Operation

log = logging.getLogger("cadenza.queues")
BY = "system"


async def watch_queues(runtime: Runtime, payload: Mapping[str, Any]) -> None:
    """End pauses that are over, bring queues to the tz database in use, warn of those that run dry."""
    operations = runtime.operations
    for home, account in await operations.read(resume.ended):
        resumed = await operations.run(_resume(home, account), locks=locks(home, account))
        _tell("a pause ended by itself", home, account, type(resumed).__name__)
    for home, account in await operations.read(resume_plan.find_stuck):
        reopened = await operations.run(_reopen(home, account), locks=locks(home, account))
        _tell("a lane waited for an account that is connected", home, account, repr(reopened))
    for home, account in await operations.read(resolve_again.outdated):
        retimed = await operations.run(_retime(home, account), locks=locks(home, account))
        _tell("a queue met another tz database", home, account, type(retimed).__name__)
    for home, account in await operations.run(runway.tell_dry):
        _tell("a queue runs dry", home, account, "told")


def _resume(home: str, account: str) -> Operation[object]:
    return lambda tx, now: resume.resume(tx, now, workspace_id=home, account_id=account, by=BY)


def _reopen(home: str, account: str) -> Operation[object]:
    return lambda tx, now: resume_plan.reopen(tx, now, workspace_id=home, account_id=account)


def _retime(home: str, account: str) -> Operation[object]:
    return lambda tx, now: resolve_again.resolve_again(
        tx, now, workspace_id=home, account_id=account, by=BY
    )


def _tell(what: str, home: str, account: str, answer: str) -> None:
    log.info(what, extra={"workspace_id": home, "account_id": account, "answer": answer})
