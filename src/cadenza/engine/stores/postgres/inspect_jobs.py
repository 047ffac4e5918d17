"""Showing, canceling and reviving jobs, live and finished ones alike."""

from collections.abc import Mapping, Sequence
from typing import Any

from cadenza.engine.job import Filter, Job, State, Tally
from cadenza.engine.notes import cancel_note
from cadenza.engine.store import Changed
from cadenza.engine.stores.postgres.rows import CODES, RUNNING, STATES, read_job
from cadenza.sql.postgres import LONG_SECONDS, Connection


async def get_jobs(connection: Connection, sql: Mapping[str, str], ids: Sequence[int]) -> list[Job]:
    """Return the jobs of these ids, in the order asked."""
    found = {row["id"]: row for row in await connection.fetch(sql["get_jobs"], list(ids))}
    return [read_job(found[id_]) for id_ in ids if id_ in found]


async def find_jobs(connection: Connection, sql: Mapping[str, str], wanted: Filter) -> list[Job]:
    """List newest first, from both tables."""
    states = [code for state in wanted.states or State for code in CODES[state]]
    found = await connection.fetch(
        sql["find_jobs"],
        wanted.limit,
        wanted.before,
        states,
        wanted.queue,
        wanted.task,
        wanted.tag,
        wanted.lane,
        wanted.schedule,
    )
    return [read_job(row) for row in found]


async def tally_jobs(connection: Connection, sql: Mapping[str, str]) -> list[Tally]:
    """Count by queue and state."""
    counts: dict[tuple[str, State], int] = {}
    for row in await connection.fetch(sql["tally_jobs"], timeout=LONG_SECONDS):
        key = (row["queue"], STATES[row["state"]])
        counts[key] = counts.get(key, 0) + row["count"]
    return [Tally(queue, state, count) for (queue, state), count in sorted(counts.items())]


async def cancel_jobs(
    connection: Connection, sql: Mapping[str, str], ids: Sequence[int], reason: str
) -> list[Changed]:
    """Cancel waiting jobs, ask for running ones; within the caller's transaction."""
    live = await _hold(connection, sql, ids)
    running = [id_ for id_, state in live.items() if state == RUNNING]
    waiting = [id_ for id_, state in live.items() if state != RUNNING]
    now: Any = await connection.fetchval(sql["now"])
    if running:
        await connection.execute(sql["request_cancel"], running, cancel_note(reason, now))
    if waiting:
        await connection.execute(sql["cancel_waiting"], waiting, cancel_note(reason, now))
    finished = await _finished(connection, sql, [id_ for id_ in ids if id_ not in live])
    changed = set(waiting)
    answers: list[Changed] = []
    for id_ in ids:
        if id_ in changed:
            changed.discard(id_)
            answers.append("changed")
        elif id_ in live and live[id_] == RUNNING:
            answers.append("requested")
        else:
            answers.append("unchanged" if id_ in finished or id_ in live else "unknown")
    return answers


async def revive_jobs(
    connection: Connection, sql: Mapping[str, str], ids: Sequence[int]
) -> tuple[list[Changed], set[str]]:
    """Make finished jobs wait again and waiting ones due; within the caller's transaction."""
    back = await connection.fetch(sql["revive_finished"], list(ids))
    live = await _hold(
        connection, sql, [id_ for id_ in ids if id_ not in {row["id"] for row in back}]
    )
    waiting = [id_ for id_, state in live.items() if state != RUNNING]
    hurried = await connection.fetch(sql["hurry_waiting"], waiting) if waiting else []
    changed = {row["id"] for row in (*back, *hurried)}
    answers: list[Changed] = [
        "changed" if id_ in changed else "unchanged" if id_ in live else "unknown" for id_ in ids
    ]
    return answers, {row["queue"] for row in (*back, *hurried)}


async def _hold(
    connection: Connection, sql: Mapping[str, str], ids: Sequence[int]
) -> dict[int, int]:
    found: list[Any] = await connection.fetch(sql["hold_jobs"], list(ids))
    return {row["id"]: row["state"] for row in found}


async def _finished(connection: Connection, sql: Mapping[str, str], ids: Sequence[int]) -> set[int]:
    if not ids:
        return set()
    return {row["id"] for row in await connection.fetch(sql["find_finished"], list(ids))}
