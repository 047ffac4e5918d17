"""Writes what became of a delivery into the outbox, in the transaction that decides it.

One row for each end of each claim: however often a transaction is run again, there is one.
"""

from datetime import datetime

import msgspec

from cadenza.core.rollup import DeliveryState as State
from cadenza.sql.tx import Tx

WORTH_TELLING = frozenset({State.SENT, State.FAILED, State.UNCONFIRMED, State.MISSED})


def announce(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    id: str,
    lease: int,
    state: State,
    reason: str | None,
    url: str | None = None,
) -> None:
    """Leave word of an end that people want to hear of; other states are nobody's news."""
    if state not in WORTH_TELLING:
        return
    body = {"state": state.value, "reason": reason, "url": url}
    tx.run(
        """
        INSERT INTO outbox (workspace_id, id, kind, subject_id, body, created_at)
        VALUES (:workspace_id, :id, :kind, :subject, :body, :now)
        ON CONFLICT (workspace_id, id) DO NOTHING
        """,
        workspace_id=workspace_id,
        id=f"{id}:{lease}:{state.value}",
        kind=f"delivery.{state.value}",
        subject=id,
        body=msgspec.json.encode(body).decode(),
        now=now,
    )
