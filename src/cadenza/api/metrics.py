"""The numbers of this installation for Prometheus: jobs by state, deliveries by state, and how late the pipeline is.

Read from the database when somebody scrapes; a worker's own counters are served by the worker.
"""

from datetime import datetime

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from cadenza.api.request_context import ReadContext
from cadenza.deliveries.lanes import TURN
from cadenza.sql.tx import Row, Tx


async def render(ask: ReadContext) -> bytes:
    """Count, and write it as Prometheus reads it."""
    registry = CollectorRegistry()
    jobs = Gauge("cadenza_jobs", "Jobs by state", ["queue", "state"], registry=registry)
    for tally in await ask.runtime.engine.store.tally():
        jobs.labels(tally.queue, tally.state.value).set(tally.count)
    waiting, late = await ask.read(_look)
    deliveries = Gauge("cadenza_deliveries", "Deliveries by state", ["state"], registry=registry)
    for row in waiting:
        deliveries.labels(row["state"]).set(row["count"])
    Gauge(
        "cadenza_delivery_lag_seconds", "How late the first runnable lane is", registry=registry
    ).set(late)
    return generate_latest(registry)


def _look(tx: Tx, now: datetime) -> tuple[list[Row], float]:
    rows = tx.all(
        """
        SELECT state, count(*) AS count FROM delivery
        WHERE state IN ('scheduled', 'sending', 'unconfirmed', 'failed') GROUP BY state
        """
    )
    return rows, delivery_lag(tx, now)


def delivery_lag(tx: Tx, now: datetime) -> float:
    """Say how many seconds the first runnable lane waits already."""
    row = tx.one(
        f"""
        SELECT min(runnable_at) AS first_at FROM lane
        WHERE NOT paused AND runnable_at IS NOT NULL AND in_flight < in_flight_limit AND {TURN} <= :now
        """,  # noqa: S608 - a constant
        now=now,
    )
    first = None if row is None else row["first_at"]
    return 0.0 if first is None else max(0.0, (now - first).total_seconds())
