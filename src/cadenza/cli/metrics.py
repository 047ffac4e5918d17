"""Serves a worker's numbers to Prometheus, on 127.0.0.1 only.

Counters are read when somebody scrapes; how deep the queues are is asked of the store every few
seconds by a duty of the worker, so that a scrape never waits for a database.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from cadenza.client.errors import ClientError
from cadenza.engine.job import State, Tally
from cadenza.engine.meters import collector
from cadenza.engine.store import Store
from cadenza.engine.worker import Worker

EVERY = 10.0  # seconds between counts of the queues


class Depths(Collector):
    """How many jobs stand in each queue and state, as last counted."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._last: Sequence[Tally] = ()

    async def run_once(self) -> float:
        """Count; say when to count again."""
        self._last = await self._store.tally()
        return EVERY

    def collect(self) -> Iterator[Metric]:
        """Yield one gauge; a state that a queue has nothing in reads 0, so that alarms can clear."""
        gauge = GaugeMetricFamily(
            "cadenza_jobs", "Jobs in the store by state", labels=["queue", "state"]
        )
        counted = {(tally.queue, tally.state): tally.count for tally in self._last}
        for queue in sorted({tally.queue for tally in self._last}):
            for state in State:
                gauge.add_metric([queue, state.value], counted.get((queue, state), 0))
        yield gauge


class Load(Collector):
    """What this worker has in hand."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    def collect(self) -> Iterator[Metric]:
        """Yield slots, running jobs and claimed jobs that wait for a slot."""
        worker = self._worker
        for name, text, value in (
            ("slots", "Jobs that this worker can run at once", worker.concurrency),
            ("running", "Jobs that this worker runs now", worker.inventory.busy),
            ("in_stock", "Jobs claimed by this worker and not begun", len(worker.inventory.buffer)),
        ):
            yield GaugeMetricFamily(f"cadenza_worker_{name}", text, value=value)


@contextmanager
def serving(worker: Worker, store: Store, port: int) -> Generator[int]:
    """Serve while the worker runs; the port 0 takes any free one. Gives the port that was taken."""
    depths = Depths(store)
    worker.duties.append(worker.loop("queue depths", depths.run_once))
    registry = CollectorRegistry()
    registry.register(collector(worker.meters))
    registry.register(depths)
    registry.register(Load(worker))
    try:
        server, thread = start_http_server(port, addr="127.0.0.1", registry=registry)
    except OSError as error:
        raise ClientError(f"metrics cannot be served on 127.0.0.1:{port}: {error}") from error
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
