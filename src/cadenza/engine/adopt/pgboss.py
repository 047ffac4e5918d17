"""Rows of pg-boss (versions 10 to 12), read as jobs and schedules.

A row comes as the JSON of all its columns, because they differ from version to version; a column
with a value that means nothing here is refused by name. A queue there becomes a queue and a task
of that name here. Priorities are turned round: there the higher goes first. What a schedule makes
is read as pg-boss would make it: by the schedule's options, else by its queue's, else by the defaults.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from cadenza.engine.adopt.model import (
    ForeignJob,
    ForeignSchedule,
    Found,
    LeftOut,
    refuse_unknown,
)
from cadenza.engine.adopt.plain import TURNED, differs_by_release, to_instant, to_payload
from cadenza.engine.job import Limit, Unique, While
from cadenza.engine.retry import RetryPolicy

_PAST = {
    "created_on", "started_on", "completed_on", "output", "retry_count", "source_name",
    "source_id", "source_created_on", "source_retry_count", "root_id", "heartbeat_on",
}  # fmt: skip
_KEPT = {"keep_until", "delete_after_seconds", "deletion_seconds", "retention_seconds"}
_KNOWN = frozenset(
    {
        "id", "name", "priority", "data", "state", "retry_limit", "retry_delay", "retry_backoff",
        "retry_delay_max", "start_after", "singleton_key", "singleton_on", "expire_in",
        "expire_seconds", "policy", "dead_letter", "heartbeat_seconds", *_PAST, *_KEPT,
    }
)  # fmt: skip
_SAID = {
    "priority": "priority", "retryLimit": "retry_limit", "retryDelay": "retry_delay",
    "retryBackoff": "retry_backoff", "retryDelayMax": "retry_delay_max",
    "expireInSeconds": "expire_seconds", "deadLetter": "dead_letter",
    "heartbeatSeconds": "heartbeat_seconds",
}  # fmt: skip
_SPANS = {"expireInMinutes": 60, "expireInHours": 3600}  # of version 10
_KEPT_SAID = {
    "retentionSeconds", "retentionMinutes", "retentionHours", "retentionDays", "deleteAfterSeconds",
}  # fmt: skip
_OF_QUEUE = frozenset(_SAID.values()) - {"priority"}
_USUAL = {"retry_limit": 2, "retry_delay": 0, "retry_backoff": False, "expire_seconds": 900}
_KNOWN_OF_SCHEDULE = frozenset(
    {
        "name", "cron", "timezone", "data", "options", "created_on", "updated_on", "key", "kind",
        "last_job_id", "last_run_on", "queue",
    }
)  # fmt: skip
_NO_DELAY_MAX = timedelta(hours=24)


def read_job(row: Mapping[str, Any]) -> Found:
    """Read one row of the table `job`."""
    source = f"pg-boss {row['id']}"
    strange = refuse_unknown(source, row, _KNOWN)
    if strange is not None:
        return strange
    if str(row["name"]).startswith("__pgboss__"):
        return LeftOut(source=source, reason="pg-boss's own upkeep", refused=False)
    if row["state"] == "active":
        reason = "it runs there now: stop pg-boss, wait until it is done or expired, import again"
        return LeftOut(source=source, reason=reason)
    if row["state"] not in ("created", "retry"):
        return LeftOut(source=source, reason=f"it is {row['state']}", refused=False)
    notes: list[str] = []
    options = _options(row, notes)
    run_at = to_instant(row.get("start_after"))
    if run_at is not None:
        options["run_at"] = run_at
    refusal = _policy(row, options, notes)
    if refusal is not None:
        return LeftOut(source=source, reason=refusal)
    if row.get("keep_until"):
        notes.append("there it was deleted after keep_until even if it had not run; never here")
    return ForeignJob(
        source=source,
        task=str(row["name"]),
        payload=to_payload(row.get("data")),
        options=options,
        notes=tuple(notes),
    )


def _options(row: Mapping[str, Any], notes: list[str]) -> dict[str, Any]:
    """Read what jobs and schedules have in common."""
    priority = -int(row.get("priority") or 0)
    options: dict[str, Any] = {
        "queue": row["name"],
        "priority": priority,
        "retry": _retry(row, notes),
    }
    if priority:
        notes.append(TURNED)
    limit = _seconds(row)
    if limit:
        options["time_limit"] = limit
    if row.get("dead_letter"):
        notes.append(
            f"a failed one went to the queue {row['dead_letter']!r} there; here it stays in its "
            "own, failed, until it is redriven"
        )
    if row.get("heartbeat_seconds"):
        notes.append("heartbeat_seconds: every worker here has a heartbeat of its own")
    return options


def _retry(row: Mapping[str, Any], notes: list[str]) -> RetryPolicy:
    used = int(row.get("retry_count") or 0)
    left = max(int(row.get("retry_limit") or 0) - used, 0)
    if used:
        notes.append(f"{used} of its retries are used up; {left} are left")
    delay = timedelta(seconds=int(row.get("retry_delay") or 0))
    if not row.get("retry_backoff"):
        return RetryPolicy(left, delay, 1.0, max(delay, timedelta(seconds=1)), 0.0)
    longest = row.get("retry_delay_max")
    cap = timedelta(seconds=int(longest)) if longest else _NO_DELAY_MAX
    first = max(delay, timedelta(seconds=1))
    return RetryPolicy(left, first * 2, 2.0, max(cap, first * 2), 0.5)


def _seconds(row: Mapping[str, Any]) -> timedelta | None:
    if row.get("expire_seconds"):
        return timedelta(seconds=float(row["expire_seconds"]))
    text = row.get("expire_in")
    if not text:
        return None
    days, _, clock = str(text).rpartition(" ")
    hours, minutes, seconds = (float(part) for part in clock.split(":"))
    whole = int(days.split()[0]) if days else 0
    return timedelta(days=whole, hours=hours, minutes=minutes, seconds=seconds)


def _policy(row: Mapping[str, Any], options: dict[str, Any], notes: list[str]) -> str | None:
    """Carry a queue's policy over; say why not, where it cannot be."""
    key = str(row.get("singleton_key") or "")
    policy = row.get("policy") or "standard"
    if row.get("singleton_on"):
        notes.append("its throttle slot is not carried over: a new send is not held back by it")
    match policy:
        case "standard":
            if key:
                notes.append("singleton_key alone means nothing in pg-boss 10 and later")
        case "short":
            options["unique"] = Unique(f"pg-boss {row['name']} {key}", While.QUEUED)
        case "exclusive":
            options["unique"] = Unique(f"pg-boss {row['name']} {key}", While.LIVE)
        case "singleton":
            options["lane"], options["limit"] = key or "singleton", Limit(concurrency=1)
        case _:
            return f"policy {policy!r} has no counterpart here"
    return None


def read_schedule(row: Mapping[str, Any]) -> Found:
    """Read one row of the table `schedule`; `queue` in it is the row of its queue."""
    source = f"pg-boss schedule {row['name']} {row.get('key') or ''}".rstrip()
    strange = refuse_unknown(source, row, _KNOWN_OF_SCHEDULE)
    if strange is not None:
        return strange
    if row.get("kind") not in (None, "cron"):
        return LeftOut(source=source, reason=f"a schedule of kind {row['kind']!r}: say it as cron")
    if differs_by_release(str(row["cron"])):
        reason = f"cron {row['cron']!r} names other days in pg-boss 10 than in 11 and 12"
        return LeftOut(source=source, reason=f"{reason}: schedule it by hand")
    said = dict(row.get("options") or {})
    missed = said.pop("missed", None)
    made = _made_by(row, said)
    if said:
        return LeftOut(source=source, reason=f"options not understood: {', '.join(sorted(said))}")
    notes = ["a missed occurrence was lost there after a minute; here one run makes up for it"]
    if missed:
        notes = [f"missed: {missed!r} there; here one run makes up for what was missed"]
    policy = made.get("policy") or "standard"
    if policy != "standard":
        notes.append(
            f"its queue's policy {policy!r} is not carried over; its own runs never overlap"
        )
    return ForeignSchedule(
        source=source,
        name=" ".join(filter(None, [str(row["name"]), row.get("key")])),
        task=str(row["name"]),
        payload=to_payload(row.get("data")),
        cron=str(row["cron"]),
        zone=str(row.get("timezone") or "UTC"),
        options=_options(made, notes),
        notes=tuple(notes),
    )


def _made_by(row: Mapping[str, Any], said: dict[str, Any]) -> dict[str, Any]:
    """Lay out a job of a schedule as pg-boss would; what was understood is taken out of `said`."""
    queue = {name: value for name, value in (row.get("queue") or {}).items() if value is not None}
    made = {**_USUAL, **{name: queue[name] for name in queue.keys() & (_OF_QUEUE | {"policy"})}}
    for name, factor in _SPANS.items():
        if name in said:
            made["expire_seconds"] = said.pop(name) * factor
    made |= {column: said.pop(name) for name, column in _SAID.items() if name in said}
    for name in ("tz", "key", *_KEPT_SAID):
        said.pop(name, None)
    return {**made, "name": row["name"]}
