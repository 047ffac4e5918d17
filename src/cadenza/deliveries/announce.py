"""Writes what became of a delivery into the outbox, in the transaction that decides it.

One row for each end of each claim: however often a transaction is run again, there is one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cadenza.core.rollup import DeliveryState as State
from cadenza.db.write_outbox import OutboxEvent, write_outbox
from cadenza.sql.tx import Tx

WORTH_TELLING = frozenset({State.SENT, State.FAILED, State.UNCONFIRMED, State.MISSED})


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryEvent:
    """What one claim of a delivery came to."""

    workspace_id: str
    id: str
    lease: int
    state: State
    reason: str | None
    url: str | None = None


def announce(tx: Tx, now: datetime, news: Sequence[DeliveryEvent]) -> None:
    """Leave word of ends that people want to hear of; other states are nobody's news."""
    write_outbox(tx, now, [_outbox_event(one) for one in news if one.state in WORTH_TELLING])


def _outbox_event(one: DeliveryEvent) -> OutboxEvent:
    return OutboxEvent(
        workspace_id=one.workspace_id,
        id=f"{one.id}:{one.lease}:{one.state.value}",
        kind=f"delivery.{one.state.value}",
        subject_id=one.id,
        body={"state": one.state.value, "reason": one.reason, "url": one.url},
    )
