"""Pausing, parking and limiting: changes of gates, under their row locks.

A queue's count of running jobs is kept only while the queue is limited, so that an unlimited
queue that was once paused is as quick as before. When a limit arrives, claims and settlements
are held off for the moment it takes to count: all of them touch the lease table.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from cadenza.engine.job import Gate, Limit, Scope
from cadenza.engine.stores.postgres.rows import opening, read_gate
from cadenza.sql.postgres import Connection


async def change_gate(
    connection: Connection,
    sql: Mapping[str, str],
    scope: Scope,
    *,
    paused: bool | None = None,
    reason: str | None = None,
    limit: Limit | None = None,
    park: timedelta | None = None,
) -> Gate:
    """Change what is given, within the caller's transaction."""
    counts = limit is not None and scope.lane is None
    if counts:
        await connection.execute(sql["hold_leases"])
    await connection.execute(sql["make_gate"], scope.queue, scope.lane or "")
    row = await connection.fetchrow(sql["lock_lane"], scope.queue, scope.lane or "")
    assert row is not None
    now: Any = await connection.fetchval(sql["now"])
    gate = read_gate(row)
    if counts or not row["counted"]:
        gate = replace(gate, in_flight=await _count(connection, sql, scope))
    if paused is not None:
        gate = replace(gate, paused=paused, reason=reason if paused else None)
    if limit is not None:
        gate = replace(gate, limit=limit)
    if park is not None:
        gate = replace(gate, parked_until=_parked(gate, now, park))
    await _write(connection, sql, gate)
    return gate


async def _count(connection: Connection, sql: Mapping[str, str], scope: Scope) -> int:
    counted: Any = await connection.fetchval(sql["count_running"], scope.queue)
    return counted


def _parked(gate: Gate, now: datetime, park: timedelta) -> datetime | None:
    """Say until when; a park only ever grows, unless it is ended."""
    if park <= timedelta():
        return None
    return max(now + park, gate.parked_until or now)


async def _write(connection: Connection, sql: Mapping[str, str], gate: Gate) -> None:
    """Write a gate that the caller holds."""
    await connection.execute(sql["write_gate"], *_columns(gate))


def _columns(gate: Gate) -> tuple[object, ...]:
    """Lay out a gate for `write_gate`."""
    rate = gate.limit.rate
    return (
        gate.scope.queue,
        gate.scope.lane or "",
        gate.paused,
        gate.reason,
        gate.parked_until,
        gate.limit.concurrency,
        rate.count if rate else None,
        rate.per if rate else None,
        rate.burst if rate else None,
        gate.in_flight,
        opening(gate),
    )


async def show_gates(connection: Connection, sql: Mapping[str, str]) -> list[Gate]:
    """List every gate."""
    found = [read_gate(row) for row in await connection.fetch(sql["show_gates"])]
    return sorted(found, key=lambda gate: str(gate.scope))
