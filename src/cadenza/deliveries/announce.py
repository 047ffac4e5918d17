"""Writes what became of a delivery into the outbox, in the transaction that decides it.

One row for each end of each claim: however often a transaction is run again, there is one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec

from cadenza.core.rollup import DeliveryState as State
from cadenza.sql.tx import Tx

WORTH_TELLING = frozenset({State.SENT, State.FAILED, State.UNCONFIRMED, State.MISSED})


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """What one claim of a delivery came to."""

    workspace_id: str
    id: str
    lease: int
    state: State
    reason: str | None
    url: str | None = None


def announce(tx: Tx, now: datetime, news: Sequence[News]) -> None:
    """Leave word of ends that people want to hear of; other states are nobody's news."""
    told = [one for one in news if one.state in WORTH_TELLING]
    if not told:
        return
    tx.run(
        """
        INSERT INTO outbox (workspace_id, id, kind, subject_id, body, created_at)
        SELECT workspace_id, id, kind, subject_id, body, :now
        FROM TABLE(:news) AS news (workspace_id text, id text, kind text, subject_id text, body text)
        WHERE true
        ON CONFLICT (workspace_id, id) DO NOTHING
        """,
        news=[
            (
                one.workspace_id,
                f"{one.id}:{one.lease}:{one.state.value}",
                f"delivery.{one.state.value}",
                one.id,
                _body(one),
            )
            for one in told
        ],
        now=now,
    )


def _body(one: News) -> str:
    body = {"state": one.state.value, "reason": one.reason, "url": one.url}
    return msgspec.json.encode(body).decode()
