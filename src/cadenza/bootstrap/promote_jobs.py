"""The engine's part of a promotion: its tables are built differently in the two stores.

Finished jobs lie apart on PostgreSQL; lanes are woken, so that the first claim looks at each; numbers of
leases and jobs go on rising. Rows of workers stay behind: none runs.
"""

import sqlite3
from hashlib import sha256
from typing import Any

import msgspec

from cadenza.db.schema import ENGINE_SCHEMA
from cadenza.sql.postgres import Connection
from cadenza.sql.tx import from_microseconds

ENGINE_TABLES = ("job", "job_done", "lease", "gate", "wake", "marker", "schedule", "worker")
WAITING, RUNNING, FIRST_FINISHED = 0, 2, 4
_SHARED = (
    *("id", "lease", "priority", "attempts", "crashes", "snoozes", "queue", "task", "payload"),
    *("lane", "unique_key", "options", "schedule", "progress"),
)


async def copy_jobs(source: sqlite3.Connection, target: Connection) -> tuple[int, str]:
    """Copy jobs, gates, markers and schedules; return how many jobs there are, and their hash."""
    source.row_factory = sqlite3.Row
    await target.execute(f"SET LOCAL search_path = {ENGINE_SCHEMA}")
    try:
        rows = [dict(row) for row in source.execute("SELECT * FROM job ORDER BY id")]
        await _put_jobs(target, rows)
        await _put_gates(target, [dict(row) for row in source.execute("SELECT * FROM gate")])
        await _put_rest(source, target)
        await _go_on_counting(source, target)
    finally:
        source.row_factory = None
    before = _digest((row["id"], row["task"], row["queue"], row["payload"]) for row in rows)
    there = await target.fetch(
        """
        SELECT id, task, queue, payload FROM job
        UNION ALL SELECT id, task, queue, payload FROM job_done ORDER BY id
        """
    )
    after = _digest(tuple(row) for row in there)
    if before != after:
        raise AssertionError("the jobs did not arrive as they left")
    return before


async def _put_jobs(target: Connection, rows: list[dict[str, Any]]) -> None:
    live = [_live(row) for row in rows if row["state"] < FIRST_FINISHED]
    done = [_done(row) for row in rows if row["state"] >= FIRST_FINISHED]
    for table, records in (("job", live), ("job_done", done)):
        if records:
            await target.copy_records_to_table(
                table,
                records=[tuple(record.values()) for record in records],
                columns=list(records[0]),
            )


def _live(row: dict[str, Any]) -> dict[str, Any]:
    held = row["state"] == RUNNING  # by a worker that is dead: as a rescue has it
    return {
        **_job(row),
        "state": WAITING if held else row["state"],
        "crashes": row["crashes"] + held,
        "unique_while": row["unique_while"],
    }


def _done(row: dict[str, Any]) -> dict[str, Any]:
    finished = {"finished_at": from_microseconds(row["finished_at"]), "output": row["output"]}
    return {**_job(row), "state": row["state"], **finished}


def _job(row: dict[str, Any]) -> dict[str, Any]:
    return {
        **{name: row[name] for name in _SHARED},
        "run_at": from_microseconds(row["run_at"]),
        "created_at": from_microseconds(row["created_at"]),
        "cancel_requested": bool(row["cancel_requested"]),
        "tags": _list(row["tags"]),
        "errors": _list(row["errors"]),
    }


async def _put_gates(target: Connection, rows: list[dict[str, Any]]) -> None:
    await target.executemany(
        """
        INSERT INTO gate (queue, lane, paused, reason, parked_until, concurrency, rate_count, rate_per,
            rate_burst, next_start, awake, opens_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8 * interval '1 microsecond', $9, $10, $2 <> '',
            greatest('-infinity'::timestamptz, $5, $10))
        """,
        [
            (
                row["queue"],
                row["lane"],
                bool(row["paused"]),
                row["reason"],
                _instant(row["parked_until"]),
                row["concurrency"],
                row["rate_count"],
                row["rate_per"],
                row["rate_burst"],
                _instant(row["next_start"]),
            )
            for row in rows
        ],
    )


async def _put_rest(source: sqlite3.Connection, target: Connection) -> None:
    markers = source.execute("SELECT kind, key, at, job FROM marker").fetchall()
    await target.executemany(
        "INSERT INTO marker (kind, key, at, job_id) VALUES ($1, $2, $3, $4)",
        [(kind, key, _instant(at), job) for kind, key, at, job in markers],
    )
    rows = [dict(row) for row in source.execute("SELECT * FROM schedule")]
    for row in rows:
        row["paused"] = bool(row["paused"])
        row["next_at"], row["last_at"] = _instant(row["next_at"]), _instant(row["last_at"])
    if rows:
        await target.copy_records_to_table(
            "schedule", records=[tuple(row.values()) for row in rows], columns=list(rows[0])
        )


async def _go_on_counting(source: sqlite3.Connection, target: Connection) -> None:
    counted = dict(source.execute("SELECT name, seq FROM sqlite_sequence").fetchall())
    for sequence, table in (("job_id", "job"), ("lease_number", "lease")):
        last = int(counted.get(table) or 0)
        if last:
            await target.execute("SELECT setval($1::regclass, $2)", sequence, last)


def _digest(rows: Any) -> tuple[int, str]:
    total = sha256()
    count = 0
    for row in rows:
        count += 1
        total.update(msgspec.json.encode(row))
    return count, total.hexdigest()


def _list(text: str | None) -> list[str] | None:
    return None if text is None else msgspec.json.decode(text, type=list[str])


def _instant(value: int | None) -> Any:
    return None if value is None else from_microseconds(value)
