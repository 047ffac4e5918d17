"""Keeps what was said with networks beside the outcomes that it led to, and lets it go after some weeks.

One statement for a whole batch, and none if nothing was said. The names of the rows are drawn before, so
writing a batch again after a lost answer adds nothing; of an unconfirmed send that is looked into again and again the
last look is kept. The outcome never hangs on any of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec

from cadenza.providers.http.exchange import Exchange, Step
from cadenza.providers.outcome import NotReady, Outcome
from cadenza.sql.tx import Row, Tx
from cadenza.sql.values import Key

KEPT_FOR = timedelta(days=30)
BATCH = 2000


@dataclass(frozen=True, slots=True)
class RecordedExchange:
    """One exchange under its row's name."""

    id: str
    exchange: Exchange


def worth_keeping(
    outcome: Outcome, attempt_id: str | None, exchanges: Sequence[Exchange]
) -> list[Exchange]:
    """Leave out what only asked whether the other side is ready by now: it is asked again and again."""
    if attempt_id is not None or not isinstance(outcome, NotReady):
        return list(exchanges)
    return [each for each in exchanges if each.method != "GET"]


def record_exchanges(
    tx: Tx, exchanges: Sequence[tuple[Key, str | None, Sequence[RecordedExchange]]]
) -> None:
    """Write all that was said about these deliveries."""
    rows = [
        (
            workspace_id,
            each.id,
            delivery_id,
            attempt_id,
            each.exchange.step.value,
            each.exchange.began_at,
            msgspec.json.encode(each.exchange.as_data()).decode(),
        )
        for (workspace_id, delivery_id), attempt_id, said in exchanges
        for each in said
    ]
    if not rows:
        return
    tx.run(
        """
        INSERT INTO exchange (workspace_id, id, delivery_id, attempt_id, step, began_at, told)
        SELECT workspace_id, id, delivery_id, attempt_id, step, began_at, told
        FROM TABLE(:rows) AS new (
            workspace_id text, id text, delivery_id text, attempt_id text, step text, began_at timestamptz,
            told text
        )
        WHERE true
        ON CONFLICT (workspace_id, id) DO UPDATE SET began_at = excluded.began_at, told = excluded.told
        """,
        rows=rows,
    )


@dataclass(frozen=True, slots=True)
class StoredExchange:
    """An exchange as it is shown."""

    id: str
    attempt_id: str | None
    step: Step
    began_at: datetime
    told: Row


def read_exchanges(
    tx: Tx, *, workspace_id: str, delivery_id: str, most: int = 200
) -> list[StoredExchange]:
    """Return the newest exchanges about a delivery, in the order in which they were held."""
    rows = tx.all(
        """
        SELECT id, attempt_id, step, began_at, told FROM exchange
        WHERE workspace_id = :workspace_id AND delivery_id = :delivery_id
        ORDER BY began_at DESC, id DESC LIMIT :most
        """,
        workspace_id=workspace_id,
        delivery_id=delivery_id,
        most=most,
    )
    return [
        StoredExchange(
            id=row["id"],
            attempt_id=row["attempt_id"],
            step=Step(row["step"]),
            began_at=row["began_at"],
            told=msgspec.json.decode(row["told"]),
        )
        for row in reversed(rows)
    ]


def prune_exchanges(
    tx: Tx, now: datetime, *, kept_for: timedelta = KEPT_FOR, most: int = BATCH
) -> int:
    """Remove the oldest that are past their time, a bounded number; say how many."""
    return tx.run(
        """
        DELETE FROM exchange WHERE (workspace_id, id) IN (
            SELECT workspace_id, id FROM exchange WHERE began_at < :before_at ORDER BY began_at LIMIT :most
        )
        """,
        before_at=now - kept_for,
        most=most,
    )
