"""Adds a plain job inside the caller's own product transaction: both are committed, or neither.

For applications whose tables and jobs are in one database, as the product's are. Workers are woken after the commit
(`Tx.wake`). Limit: no rule, no lane, no delay; the task's declared options apply.
"""

from collections.abc import Mapping
from datetime import datetime

from cadenza.engine.encode import to_json
from cadenza.sql.tx import Tx

_INSERT = {
    "sqlite": """
        INSERT INTO job (state, priority, run_at, created_at, queue, task, payload)
        VALUES (1, 0, :now, :now, :queue, :task, :payload)
    """,
    "postgresql": """
        INSERT INTO cadenza.job (state, priority, run_at, created_at, queue, task, payload)
        VALUES (1, 0, :now, :now, :queue, :task, :payload)
    """,
}


def enqueue_in(
    tx: Tx, now: datetime, task: str, payload: Mapping[str, object], *, queue: str
) -> None:
    """Add a job that may run as soon as the transaction is committed."""
    text = to_json(payload, what=f"the payload of task {task!r}")
    tx.run(_INSERT[tx.dialect], now=now, queue=queue, task=task, payload=text)
    tx.wake(queue)
