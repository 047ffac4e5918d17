"""What a foreign record can come to: a job, a schedule, or something left out, with the reason.

`notes` say what will mean something else here than it did there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignJob:
    """Work that is still to be done once."""

    source: str  # how the other system names it; a second import meets the first by it
    task: str
    payload: Mapping[str, Any]
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignSchedule:
    """Work that recurs: by a cron expression, or every so many seconds."""

    source: str
    name: str
    task: str
    payload: Mapping[str, Any]
    cron: str | None = None
    dialect: str = "standard"
    every: float | None = None
    anchor: datetime | None = None
    zone: str = "UTC"
    repeat_until: datetime | None = None
    next_at: datetime | None = None  # its next run there, which may be overdue or off its cron
    paused: bool = False
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A record that is not brought in; `refused` ones need somebody's attention."""

    source: str
    reason: str
    refused: bool = True


Found = ForeignJob | ForeignSchedule | LeftOut


def refuse_unknown(source: str, record: Mapping[str, Any], known: frozenset[str]) -> LeftOut | None:
    """Refuse a record that says something whose meaning is not known here."""
    strange = sorted(n for n in record.keys() - known if record[n] not in (None, False, [], {}))
    if not strange:
        return None
    return LeftOut(source=source, reason=f"not understood: {', '.join(strange)}")
