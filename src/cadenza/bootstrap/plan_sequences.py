"""Plans sequences in the background, as a job: assigns accounts, finds times, cancels what an ended one had planned.

Each chunk is a transaction under the locks of the sequence and of one account, so that two planners never book the
same place. A run that is cut short goes on with whoever still waits. A pass each minute wakes snoozed people and
sequences that have somebody to plan.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from cadenza.bootstrap.model import Runtime
from cadenza.contacts.unsubscribe import Subscriber, unsubscribe_url
from cadenza.outreach import run
from cadenza.outreach.list_ready import list_ready, ready_accounts, wake_snoozed
from cadenza.outreach.model import (
    JOB,
    NoSuchSequence,
    SequenceState,
    account_lock,
    sequence_lock,
)
from cadenza.outreach.plan import Unsubscribe, assign_chunk, plan_account
from cadenza.outreach.store import find_sequence, join_by_label

NAME = JOB
EVERY = "* * * * *"


async def plan_sequence(runtime: Runtime, payload: Mapping[str, Any]) -> None:
    """Plan whoever waits in one sequence; of one that has ended, cancel what waits."""
    about = {
        "workspace_id": str(payload["workspace_id"]),
        "sequence_id": str(payload["sequence_id"]),
    }
    lock = sequence_lock(**about)
    operations = runtime.operations
    there = await operations.read(lambda tx, _: find_sequence(tx, **about))
    if isinstance(there, NoSuchSequence):
        return
    if there.state is SequenceState.ENDED:
        while await operations.run(partial(run.cancel_chunk, **about), locks=[lock]):
            continue
        return
    if there.state is not SequenceState.RUNNING:
        return
    if there.account_labels:
        await operations.run(partial(join_by_label, **about), locks=[lock])
    while await operations.run(partial(assign_chunk, **about), locks=[lock]):
        continue
    link = _links(runtime)
    for account_id in await operations.read(partial(ready_accounts, **about)):
        locks = [lock, account_lock(about["workspace_id"], account_id)]
        chunk = partial(plan_account, account_id=account_id, unsubscribe=link, **about)
        while (await operations.run(chunk, locks=locks)).left:
            continue


async def plan_sequences(runtime: Runtime, payload: Mapping[str, Any]) -> None:
    """Wake snoozed people, and plan every running sequence that has somebody to plan."""
    await runtime.operations.run(wake_snoozed)
    for workspace_id, sequence_id in await runtime.operations.read(list_ready):
        await plan_sequence(runtime, {"workspace_id": workspace_id, "sequence_id": sequence_id})


def _links(runtime: Runtime) -> Unsubscribe:
    def link(workspace_id: str, address: str) -> str | None:
        who = Subscriber(workspace_id, "email", address)
        return unsubscribe_url(runtime.keyring, runtime.settings.public_url, who)

    return link
