"""Reads and first writes an account's weekly schedule, in either shape that people send.

The map ("0" to "6", Sunday is 0) and the flat list are read alike; repeated times collapse; a slot may
say what it does in a gap and in a fold. `write` is for an account that has no schedule yet: changing one
that holds posts goes through `change`, which says what becomes of them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import msgspec

from cadenza.core.weekly import (
    ScheduleError,
    WeeklySchedule,
    read_policies,
    read_times,
    write_times,
)
from cadenza.core.zones import UnknownZoneError, get_zone, tz_version
from cadenza.db import audit
from cadenza.deliveries.set_limit import recount
from cadenza.queues import store
from cadenza.queues.model import NoQueue, Queue
from cadenza.sql.tx import Tx


@dataclass(frozen=True, slots=True)
class BadSchedule:
    """It cannot be read: what is wrong, and what to do. Nothing was changed."""

    message: str


@dataclass(frozen=True, slots=True)
class HasSchedule:
    """The account has one: change it with `change`, which says what becomes of its posts."""

    queue: Queue


@dataclass(frozen=True, slots=True)
class Written:
    """The account has a queue now."""

    queue: Queue


def write(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    account_id: str,
    slots: object,
    by: str,
    name: str = "",
    zone: str | None = None,
    max_per_day: int | None = None,
    enabled: bool = True,
    blackouts: Iterable[date] = (),
) -> Written | HasSchedule | BadSchedule | NoQueue:
    """Give an account its first schedule; without a zone it keeps the account's own."""
    home = tx.value(
        "SELECT zone FROM account WHERE workspace_id = :workspace_id AND id = :account_id",
        workspace_id=workspace_id,
        account_id=account_id,
    )
    if home is None:
        return NoQueue(account_id, "the workspace has no such account")
    there = store.hold(tx, workspace_id=workspace_id, account_id=account_id)
    if isinstance(there, Queue):
        return HasSchedule(there)
    week = read_week(slots, zone=zone or home, max_per_day=max_per_day, blackouts=blackouts)
    if isinstance(week, BadSchedule):
        return week
    tx.run(
        """
        INSERT INTO queue (workspace_id, account_id, name, slots, max_per_day, enabled, blackouts,
            revision, tz_version, created_at, changed_at)
        VALUES (:workspace_id, :account_id, :name, :slots, :max_per_day, :enabled, :blackouts,
            1, :tz_version, :now, :now)
        """,
        workspace_id=workspace_id,
        account_id=account_id,
        name=name,
        max_per_day=max_per_day,
        enabled=enabled,
        tz_version=tz_version(),
        now=now,
        **as_columns(week),
    )
    set_zone(tx, now, workspace_id=workspace_id, account_id=account_id, zone=week.zone.name)
    audit.record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="queue.schedule",
        subject_id=account_id,
        after=as_data(week),
    )
    queue = store.read(tx, workspace_id=workspace_id, account_id=account_id)
    assert isinstance(queue, Queue), "an account has its lane from the start"
    return Written(queue)


def read_week(
    slots: object,
    *,
    zone: str,
    max_per_day: int | None = None,
    blackouts: Iterable[date] = (),
) -> WeeklySchedule | BadSchedule:
    """Read a week in either shape, or say what is wrong with it."""
    try:
        return WeeklySchedule(
            get_zone(zone),
            read_times(slots),
            max_per_day=max_per_day,
            blackouts=frozenset(blackouts),
            policies=read_policies(slots),
        )
    except (ScheduleError, UnknownZoneError) as error:
        return BadSchedule(str(error))


def as_columns(week: WeeklySchedule) -> dict[str, Any]:
    """Write a week as the queue's row keeps it."""
    slots = write_times(week.times, week.policies)
    dates = sorted(day.isoformat() for day in week.blackouts)
    return {
        "slots": msgspec.json.encode(slots).decode(),
        "blackouts": msgspec.json.encode(dates).decode(),
    }


def as_data(week: WeeklySchedule) -> dict[str, Any]:
    """Show a week to an API or a command line."""
    return {
        "zone": week.zone.name,
        "slots_by_day": write_times(week.times, week.policies),
        "max_per_day": week.max_per_day,
        "blackouts": sorted(day.isoformat() for day in week.blackouts),
    }


def as_list(week: WeeklySchedule) -> list[Mapping[str, int | str]]:
    """Show a week's slots as the flat list."""
    return [
        {"dayOfWeek": int(day), **slot}
        for day, slots in write_times(week.times, week.policies).items()
        for slot in slots
    ]


def set_zone(tx: Tx, now: datetime, *, workspace_id: str, account_id: str, zone: str) -> None:
    """Keep the account's zone, which is the queue's; its limits count by the days of another."""
    account = {"workspace_id": workspace_id, "account_id": account_id}
    changed = tx.run(
        """
        UPDATE account SET zone = :zone
        WHERE workspace_id = :workspace_id AND id = :account_id AND zone <> :zone
        """,
        zone=zone,
        **account,
    )
    if changed:
        recount(tx, now, **account)
