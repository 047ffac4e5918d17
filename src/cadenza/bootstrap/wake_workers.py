"""Wakes workers as soon as a commit gives them something to send: an add, an approval, a resume, publish now.

What this process commits wakes its own worker at once. Other processes hear of it from PostgreSQL by NOTIFY,
and on a SQLite file they see that it changed (`work.py`). A wake-up is a hint: what is missed, the next look
finds.
"""

from collections.abc import Callable

from cadenza.deliveries.lanes import QUEUE
from cadenza.deliveries.source import DeliverySource
from cadenza.engine.store import Store
from cadenza.engine.stores.postgres import PostgresStore
from cadenza.engine.stores.sqlite import SqliteStore
from cadenza.sql.transactions import Operations, PostgresOperations, SqliteOperations


def wake_workers(
    operations: Operations, source: DeliverySource, store: Store
) -> Callable[[], None]:
    """Join commits with the worker that waits for them; return how to end that."""
    if isinstance(operations, SqliteOperations) and isinstance(store, SqliteStore):
        return operations.watch(lambda queue: _nudge(source, store, queue))
    if isinstance(operations, PostgresOperations) and isinstance(store, PostgresStore):
        return _by_notify(operations, source, store)
    return lambda: None


def _nudge(source: DeliverySource, store: SqliteStore, queue: str) -> None:
    if queue == QUEUE:
        source.nudge()
    else:
        store.nudge(queue)


def _by_notify(
    operations: PostgresOperations, source: DeliverySource, store: PostgresStore
) -> Callable[[], None]:
    def ours(queue: str) -> None:
        source.nudge()
        store.notify_soon(queue)

    def theirs(queue: str) -> None:
        if queue in ("", QUEUE):
            source.nudge()

    ends = (operations.watch(ours), store.watch(theirs))

    def end() -> None:
        for each in ends:
            each()

    return end
