"""The classic interface: lock the next document, handle it, give it its next time.

    scheduler = Scheduler(MemoryDocuments(), on_document=handle)
    await scheduler.start()

For collections and tables that already are somebody's own: one time field is all the state there
is. New work is better off as jobs (`Engine`), which have attempts, heartbeats and limits.
"""

from cadenza.engine.classic.document import ClassicStore, Document, FieldPaths
from cadenza.engine.classic.memory import MemoryDocuments
from cadenza.engine.classic.scheduler import Scheduler
from cadenza.engine.classic.sqlite import ClassicSqliteTable

__all__ = [
    "ClassicSqliteTable",
    "ClassicStore",
    "Document",
    "FieldPaths",
    "MemoryDocuments",
    "Scheduler",
]
