"""Bringing in what other schedulers have left to do: read their words, say what differs, insert.

Readers (`mongodb_cron`, `agenda`, `pgboss`) turn one foreign record into a `Found`; `import_records` writes
what was found into an engine, or only says what it would write. The source is never changed.
"""

from cadenza.engine.adopt.import_records import ImportedRecord, import_records
from cadenza.engine.adopt.model import ForeignJob, ForeignSchedule, Found, LeftOut

__all__ = ["ForeignJob", "ForeignSchedule", "Found", "ImportedRecord", "LeftOut", "import_records"]
