"""What a queue is: an account's weekly slots with their state, and one post's place in it.

A queue's order is the order of instants; there is no position beside them. One delivery a post and
account leads (it holds the slot); the post's other channels on that account follow at its instant.
"""

from dataclasses import dataclass
from datetime import datetime

from cadenza.core.slots import Passed, Slot
from cadenza.core.weekly import WeeklySchedule
from cadenza.core.zones import local

# Rows that hold their slot, as the unique key of slots says it.
LIVE = "('draft', 'scheduled', 'sending', 'unconfirmed')"
# Rows that count against a day: those, and what was sent.
COUNTED = "('draft', 'scheduled', 'sending', 'sent', 'unconfirmed')"


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """An account's queue, as one transaction sees it."""

    workspace_id: str
    account_id: str
    lane_id: str
    name: str
    schedule: WeeklySchedule  # with the cap that counts: its own, else the workspace's
    own_max_per_day: int | None
    enabled: bool
    revision: int
    tz_version: str
    paused: bool
    pause_reason: str | None
    paused_until: datetime | None
    paused_at: datetime | None
    paused_by: str | None
    parked_until: datetime | None
    unresumed_until: datetime | None  # what was due before waits for a resume choice
    runnable_at: datetime | None  # when the lane's first delivery may go
    account_state: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One post's place: the delivery that holds the slot, and those that follow it."""

    id: str
    post_id: str | None
    at: datetime
    wall_time: str | None
    followers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Moved:
    """A delivery that got another instant."""

    id: str
    post_id: str | None
    was_at: datetime
    now_at: datetime


@dataclass(frozen=True, slots=True)
class NoQueue:
    """The workspace has no such account, or the account has no weekly schedule."""

    account_id: str
    message: str


@dataclass(frozen=True, slots=True)
class NoRoom:
    """Nothing is free: why, and what was passed over. Nothing was changed."""

    account_id: str
    message: str
    passed: Passed | None = None


def locks(workspace_id: str, *account_ids: str) -> list[str]:
    """Name what every operation on these queues decides about."""
    return sorted(f"account:{workspace_id}:{account_id}" for account_id in set(account_ids))


def wall_text(slot: Slot) -> str:
    """Write a slot's wall time as the schedule says it: `2026-03-08T02:30`."""
    return f"{slot.day.isoformat()}T{slot.wall_time.isoformat('minutes')}"


def clock_text(instant: datetime, schedule: WeeklySchedule) -> str:
    """Write what the account's clock shows at an instant."""
    return local(instant, schedule.zone).replace(tzinfo=None).isoformat(timespec="minutes")
