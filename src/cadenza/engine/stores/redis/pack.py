"""Between the engine's nouns and what the scripts keep, both ways.

Instants travel as microseconds since 1970, ids and leases as texts of 16 digits, everything else
in MessagePack, which the server's Lua reads and writes too. Limit: instants of 1970 to 2254, so
that a double holds them exactly.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from cadenza.engine.errors import InvalidJob
from cadenza.engine.job import (
    Claimed,
    Debounce,
    Enqueued,
    Gate,
    Job,
    Limit,
    NewJob,
    Pace,
    Rate,
    Rule,
    Schedule,
    Scope,
    State,
    Throttle,
    Unique,
    While,
    WorkerInfo,
)
from cadenza.engine.outcomes import Settlement
from cadenza.engine.store import Changed

QUEUES = 4096  # numbers of queues; the last digits (in that base) of ids and leases
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST = datetime(2255, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_HEAD = 33  # created, run_at, flag
_ARRAY_OF_NINE = 0x99  # MessagePack's word for what follows

pack = msgspec.msgpack.encode
unpack = msgspec.msgpack.Decoder(Any).decode
_read_body = msgspec.msgpack.Decoder(list[Any]).decode


def micros(span: timedelta | None) -> int:
    """Lay a span out."""
    return 0 if span is None else span // _MICROSECOND


def stamp(at: datetime) -> int:
    """Lay an instant out."""
    if not _EPOCH <= at < _LAST:
        raise InvalidJob(f"this store keeps instants of 1970 to 2254, not {at.isoformat()}")
    return (at - _EPOCH) // _MICROSECOND


def instant(number: Any) -> datetime:
    """Read an instant."""
    return _EPOCH + timedelta(microseconds=int(number))


def name_id(id_: int) -> str:
    """Write an id or a lease as the scripts know it."""
    return f"{id_:016d}"


def text(value: Any) -> str:
    """Read a text that came as bytes."""
    return value.decode() if isinstance(value, bytes) else value


def pairs(found: Any) -> Iterable[tuple[Any, Any]]:
    """Read a hash that came whole: as one, or as a flat list by an older protocol."""
    return found.items() if isinstance(found, dict) else zip(found[::2], found[1::2], strict=True)


# Jobs on their way in


def pack_job(job: NewJob) -> tuple[list[Any], bytes]:
    """Lay a new job out for insert.lua, its body apart."""
    key, while_ = _key(job.rule)
    body = [
        job.task, job.payload, job.priority, job.lane or False, job.tags, job.options or False,
        job.schedule or False, key, while_,
    ]  # fmt: skip
    extra: Any = False
    if job.rule or job.tags or job.lane or job.schedule:
        limit = pack_limit(job.limit) if job.limit else False
        rule = pack_rule(job.rule) if job.rule else False
        extra = [job.lane or False, limit, rule, job.tags, job.schedule or False, job.payload]
    at = -1 if job.run_at is None else stamp(job.run_at)
    return [job.task, job.priority, at, micros(job.delay), extra], pack(body)


def pack_uniform(job: NewJob, payloads: Iterable[str]) -> tuple[bytes, list[bytes]]:
    """Lay jobs out that differ in their payload alone: what they share is packed once."""
    at = -1 if job.run_at is None else stamp(job.run_at)
    shared = [job.priority, False, job.tags, job.options or False, False, False, ""]
    before = bytes([_ARRAY_OF_NINE]) + pack(job.task)
    after = b"".join(map(pack, shared))
    bodies = [before + pack(payload) + after for payload in payloads]
    return pack([job.task, job.priority, at, micros(job.delay)]), bodies


def _key(rule: Rule | None) -> tuple[str | bool, str]:
    match rule:
        case Unique(key, while_):
            return key, while_.value
        case Debounce(key):
            return key, While.QUEUED.value
        case _:
            return False, ""


def pack_rule(rule: Rule) -> list[Any]:
    """Lay a rule out: its kind, key, span and longest wait."""
    match rule:
        case Unique(key):
            return ["unique", key, 0, False]
        case Throttle(key, period):
            return ["throttle", key, micros(period), False]
        case Debounce(key, wait, max_wait):
            return ["debounce", key, micros(wait), False if max_wait is None else micros(max_wait)]
        case Pace(key, step):
            return ["pace", key, micros(step), False]


def pack_limit(limit: Limit) -> dict[str, int]:
    """Lay a limit out as the fields of a gate."""
    said: dict[str, int] = {}
    if limit.concurrency is not None:
        said["concurrency"] = limit.concurrency
    if limit.rate is not None:
        rate = limit.rate
        said |= {"count": rate.count, "per": micros(rate.per), "burst": rate.burst}
        said["interval"] = max(micros(rate.interval), 1)
    return said


def read_answer(answer: Sequence[Any]) -> Enqueued:
    """Read what became of one job."""
    outcome, id_, run_at, until = answer
    return Enqueued(
        outcome,
        int(id_),
        instant(run_at) if run_at >= 0 else None,
        instant(until) if until else None,
    )


# Jobs on their way out


def read_claimed(queue: str, lease: int, taken: Sequence[Any]) -> list[Claimed]:
    """Read what claim.lua handed out."""
    ids, blobs, mores = taken
    jobs: list[Claimed] = []
    for id_, blob, more in zip(ids, blobs, mores, strict=True):
        body = _read_body(blob[_HEAD:])
        job = Claimed(int(id_), lease, body[0], body[1], queue, 0, 0, instant(blob[16:32]))
        job.lane, job.options, job.schedule = body[3] or None, body[5] or None, body[6] or None
        if more is not None:
            job.attempts, job.crashes, job.snoozes, _, progress, *_ = unpack(more)
            job.progress = progress or None
        jobs.append(job)
    return jobs


def read_job(queue: str, row: Sequence[Any]) -> Job:
    """Read a row of rows.lua."""
    id_, blob, packed, lease, worker, until = row
    task, payload, priority, lane, tags, options, schedule, key, _ = _read_body(blob[_HEAD:])
    more = unpack(packed) if packed else (0, 0, 0, False, False, False, (), 0, False)
    attempts, crashes, snoozes, cancel, progress, output, errors, finished, state = more
    return Job(
        id=int(id_),
        queue=queue,
        task=task,
        state=State(state) if state else State.RUNNING if lease else State.WAITING,
        payload=payload,
        priority=priority,
        created_at=instant(blob[:16]),
        run_at=instant(blob[16:32]),
        attempts=attempts,
        crashes=crashes,
        snoozes=snoozes,
        lane=lane or None,
        unique_key=key or None,
        tags=tuple(tags),
        options=options or None,
        schedule=schedule or None,
        lease=int(lease or 0),
        lease_until=instant(float(until)) if until else None,
        worker=text(worker) if worker else None,
        cancel_requested=bool(cancel),
        progress=progress or None,
        output=output or None,
        errors=tuple(errors),
        finished_at=instant(finished) if finished else None,
    )


def read_words(ids: Sequence[int], words: Sequence[bytes]) -> dict[int, Changed]:
    """Read what became of each job that was to be changed."""
    return {id_: msgspec.convert(text(word), Changed) for id_, word in zip(ids, words, strict=True)}


def pack_settlement(settlement: Settlement, *, queue: str) -> list[Any]:
    """Lay an outcome out; a park of another queue is not this script's."""
    park: Any = False
    if settlement.park is not None and settlement.park.scope.queue == queue:
        park = [settlement.park.scope.lane or False, micros(settlement.park.wait)]
    return [
        name_id(settlement.id), name_id(settlement.lease), settlement.verdict.value,
        micros(settlement.delay), -1 if settlement.at is None else stamp(settlement.at),
        settlement.error or False, settlement.output or False, settlement.keep, park,
    ]  # fmt: skip


# Gates, schedules, workers


def read_gate(scope: Scope, packed: bytes) -> Gate:
    """Read a gate."""
    kept = unpack(packed)
    rate = None
    if "interval" in kept:
        rate = Rate(kept["count"], timedelta(microseconds=kept["per"]), kept["burst"])
    return Gate(
        scope=scope,
        paused=kept["paused"],
        reason=kept.get("reason"),
        parked_until=instant(kept["parked"]) if "parked" in kept else None,
        limit=Limit(kept.get("concurrency"), rate),
        in_flight=kept["in_flight"],
        next_start=instant(kept["next_start"]) if "next_start" in kept else None,
    )


_INSTANTS = ("next_at", "last_at")


def pack_schedule(schedule: Schedule) -> bytes:
    """Lay a schedule out; what is None is left out."""
    said = asdict(schedule)
    known = {name: value for name, value in said.items() if value is not None}
    return pack({name: stamp(v) if name in _INSTANTS else v for name, v in known.items()})


def read_schedule(packed: bytes) -> Schedule:
    """Read a schedule."""
    kept: dict[str, Any] = unpack(packed)
    kept |= {name: instant(kept[name]) for name in _INSTANTS if name in kept}
    return Schedule(**kept)


def read_worker(packed: bytes) -> WorkerInfo:
    """Read a worker's last word; when it was heard stands before it."""
    kept = msgspec.json.decode(packed[16:], type=WorkerInfo)
    return replace(kept, seen_at=instant(packed[:16]))
