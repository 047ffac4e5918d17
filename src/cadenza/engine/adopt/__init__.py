"""Bringing in what other schedulers have left to do: read their words, say what differs, insert.

Readers (`mongodb_cron`, `agenda`, `pgboss`) turn one foreign record into a `Found`; `bring` writes
what was found into an engine, or only says what it would write. The source is never changed.
"""

from cadenza.engine.adopt.bring import Brought, bring
from cadenza.engine.adopt.model import ForeignJob, ForeignSchedule, Found, LeftOut

__all__ = ["Brought", "ForeignJob", "ForeignSchedule", "Found", "LeftOut", "bring"]
