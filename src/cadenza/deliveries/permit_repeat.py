"""Lets a doubt be looked into by making its call again, under the key that the network knows it by.

What never left leaves with such a look, so it asks what a permit asks: nothing goes while all sending is
held, the workspace stopped, the account paused or unable to send, or when the delivery is no longer wanted.
Read under the account's lock, right before the call. The attempt keeps its place in every limit, so budgets
are not asked. Limit: nor are hours and gaps; the call was allowed once.
"""

from datetime import datetime, timedelta

from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries import gates
from cadenza.deliveries.facts import read_facts
from cadenza.deliveries.gates import End, Facts, Wait
from cadenza.deliveries.permit import SEND_TIMEOUT
from cadenza.deliveries.reconcile import Doubt, Held, look_again
from cadenza.sql.tx import Tx

ASKED = ("installation", "workspace", "account", gates.NETWORK)  # gates, in their order
A_MINUTE = timedelta(minutes=1)  # between two looks at what holds it


def permit_repeat(tx: Tx, now: datetime, doubt: Doubt) -> datetime | Held:
    """Return the instant at which it was allowed; what holds it is written with the delivery."""
    key = (doubt.ticket.workspace_id, doubt.ticket.id)
    facts = read_facts(tx, now, [key], hold=True).get(key)
    if facts is None or not _still_in_doubt(facts, doubt):
        return Held("it is no doubt any more")
    says = _refusal(facts)
    if says is None:
        return now if _write_intent(tx, now, doubt) else Held("it is no doubt any more")
    look_again(tx, doubt, now + A_MINUTE, says)
    return Held(says)


def _write_intent(tx: Tx, now: datetime, doubt: Doubt) -> bool:
    """Until it has ended nobody may take silence for absence; say whether nothing is known meanwhile."""
    written = tx.run(
        """
        UPDATE attempt SET repeated_until = :until
        WHERE workspace_id = :workspace_id AND id = :id AND (outcome IS NULL OR outcome = 'Unconfirmed')
        """,
        until=now + SEND_TIMEOUT,
        workspace_id=doubt.ticket.workspace_id,
        id=doubt.attempt["id"],
    )
    return written == 1


def _still_in_doubt(facts: Facts, doubt: Doubt) -> bool:
    row = facts.delivery
    return row["state"] == State.UNCONFIRMED and row["lease"] == doubt.ticket.lease


def _refusal(facts: Facts) -> str | None:
    """Say what stands in the way of a call."""
    row, lane = facts.delivery, facts.lane
    for name in ASKED:
        answer = gates.GATES[name](facts)
        if isinstance(answer, Wait | End):
            return answer.says
    if lane["paused"]:
        return f"paused: {lane['pause_reason'] or 'no reason given'}"
    if not row["approved"]:
        return "nobody approved it any more"
    if row["not_after_at"] is not None and facts.now > row["not_after_at"]:
        return "its last allowed time has passed"
    return None
