"""Writes what became of a delivery into the outbox, in the transaction that decides it.

One row for each end of each claim: however often a transaction is run again, there is one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from cadenza.core.rollup import DeliveryState as State
from cadenza.db.write_outbox import OutboxEvent, write_outbox
from cadenza.deliveries.model import Delivery
from cadenza.deliveries.planners import announces
from cadenza.deliveries.reasons import Reason
from cadenza.sql.tx import Tx

WORTH_TELLING = frozenset({State.SENT, State.FAILED, State.UNCONFIRMED, State.MISSED})


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryEvent:
    """What one claim of a delivery came to."""

    workspace_id: str
    id: str
    lease: int
    state: State
    reason: Reason | None
    url: str | None = None
    planner: str | None = None

    @classmethod
    def of(
        cls, delivery: Delivery, state: State, reason: Reason | None, url: str | None = None
    ) -> Self:
        """Tell what became of a delivery."""
        return cls(
            workspace_id=delivery.workspace_id,
            id=delivery.id,
            lease=delivery.lease,
            state=state,
            reason=reason,
            url=url,
            planner=delivery.planner,
        )


def announce(tx: Tx, now: datetime, news: Sequence[DeliveryEvent]) -> None:
    """Leave word of ends that people want to hear of; other states are nobody's news."""
    told = [one for one in news if one.state in WORTH_TELLING and announces(one.planner)]
    write_outbox(tx, now, [_outbox_event(one) for one in told])


def _outbox_event(one: DeliveryEvent) -> OutboxEvent:
    return OutboxEvent(
        workspace_id=one.workspace_id,
        id=f"{one.id}:{one.lease}:{one.state.value}",
        kind=f"delivery.{one.state.value}",
        subject_id=one.id,
        body={
            "state": one.state.value,
            "reason": one.reason and one.reason.text,
            "reason_code": one.reason and one.reason.code.value,
            "url": one.url,
        },
    )
