"""Taking back what silent workers hold.

Expired leases are locked, so that a late heartbeat waits and then learns that it came too late;
each job that was started under one and still runs counts a crash. The lease row goes in the same transaction,
so a job is never running without one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cadenza.engine.notes import crash_note
from cadenza.engine.stores.postgres.rows import CANCELED, FAILED
from cadenza.sql.postgres import Connection

LEASES = 100  # taken back in one transaction, as `expired_leases` says


@dataclass(slots=True)
class RescuedRow:
    """What one pass took back."""

    leases: set[int] = field(default_factory=set)
    returned: list[int] = field(default_factory=list)
    buried: list[int] = field(default_factory=list)
    queues: set[str] = field(default_factory=set)


async def rescue_jobs(
    connection: Connection, sql: Mapping[str, str], crash_limit: int
) -> RescuedRow:
    """Take back up to a hundred leases in one transaction."""
    taken = RescuedRow()
    async with connection.transaction():
        found = await connection.fetch(sql["expired_leases"])
        taken.leases = {row["number"] for row in found}
        running = [row for row in found if row["id"] is not None]
        ending = [
            row
            for row in running
            if row["cancel_requested"]
            or (row["crashed"] and row["crashes"] + row["crashed"] >= crash_limit)
        ]
        waiting = [row for row in running if row not in ending]
        gone = await _end(connection, sql, ending)
        back = await _return(connection, sql, waiting)
        if taken.leases:
            await connection.execute(sql["close_leases"], list(taken.leases))
    for row in running:
        if row["id"] in back or (row["id"] in gone and row["cancel_requested"]):
            taken.returned.append(row["id"])
            taken.queues.add(row["queue"])
        elif row["id"] in gone:
            taken.buried.append(row["id"])
    return taken


async def _end(connection: Connection, sql: Mapping[str, str], ending: list[Any]) -> set[int]:
    """Finish jobs that were to be canceled, or whose process died once too often."""
    if not ending:
        return set()
    row = await connection.fetchrow(
        sql["settle_finished"],
        [row["id"] for row in ending],
        [row["number"] for row in ending],
        [],
        [CANCELED if row["cancel_requested"] else FAILED for row in ending],
        [0] * len(ending),
        [row["crashed"] for row in ending],
        [
            None
            if row["cancel_requested"]
            else crash_note(row["crashes"] + row["crashed"], row["now"])
            for row in ending
        ],
        [None] * len(ending),
    )
    return _ids(row, ending)


async def _return(connection: Connection, sql: Mapping[str, str], waiting: list[Any]) -> set[int]:
    if not waiting:
        return set()
    count = len(waiting)
    row = await connection.fetchrow(
        sql["settle_waiting"],
        [row["id"] for row in waiting],
        [row["number"] for row in waiting],
        [],
        [0] * count,
        [row["crashed"] for row in waiting],
        [0] * count,
        [None] * count,
        [None] * count,
        [None] * count,
    )
    return _ids(row, waiting)


def _ids(row: Any, requested: list[Any]) -> set[int]:
    return (
        {one["id"] for one in requested}
        if row["settled"] == len(requested)
        else set(row["ids"] or ())
    )
