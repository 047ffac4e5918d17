"""Taking jobs in: one statement for plain jobs, COPY for many, a script where rules or lanes are involved.

A script runs on any connection (see `sql/script.py`), so a job can join the caller's own
transaction. Ids are drawn first and in order, so what is added together is claimed in the
order in which it was given, however the statements below group it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from cadenza.engine.errors import StoreUnavailable
from cadenza.engine.job import Debounce, Enqueued, Limit, NewJob, Pace, Throttle, Unique, While
from cadenza.engine.stores.postgres.rows import DEFERRED, READY, WHILE, array_literal
from cadenza.sql.postgres import Connection
from cadenza.sql.script import Row, Script, Statement

POLL_FLOOR = timedelta(
    seconds=5
)  # sooner than this, sleepers must be told; later, they look by themselves
ROUNDS = 10  # against keys that are freed while we look who holds them
COLUMNS = (
    "id", "created_at", "run_at", "state", "queue", "task", "payload", "priority", "options", "schedule", "tags",
)  # fmt: skip

Lane = tuple[str, str]


def is_plain(job: NewJob) -> bool:
    """Say whether a job needs neither a rule nor a lane."""
    return job.rule is None and job.lane is None


def due_of(job: NewJob, now: datetime) -> datetime:
    """Say when a job is due if no rule says otherwise."""
    return job.run_at or now + (job.delay or timedelta())


def insert_script(
    sql: Mapping[str, str],
    jobs: Sequence[NewJob],
    *,
    channel: str,
    tell: Iterable[str] | None = None,
) -> Script[list[Enqueued]]:
    """Script: add jobs within the open transaction, answer each in order.

    `tell` names the queues whose workers are told; None means all that got work.
    """
    told = {job.queue for job in jobs} if tell is None else set(tell)
    if all(map(is_plain, jobs)):
        return (yield from _insert_plain(sql, jobs, channel, told))
    entry = yield from _draw(sql, jobs)
    yield from entry.throttle()
    yield from entry.pace()
    yield from entry.add()
    yield from entry.debounce()
    yield from entry.open_lanes()
    yield from entry.announce(channel, told)
    return entry.answers()


def _insert_plain(
    sql: Mapping[str, str], jobs: Sequence[NewJob], channel: str, told: set[str]
) -> Script[list[Enqueued]]:
    found = yield Statement(sql["insert_plain"], plain_params(jobs, channel, told))
    return [Enqueued("inserted", row[0], row[1]) for row in sorted(found, key=lambda row: row[0])]


def plain_params(jobs: Sequence[NewJob], channel: str, told: Iterable[str]) -> tuple[Any, ...]:
    """Lay out plain jobs for `insert_plain`."""
    return (
        [job.queue for job in jobs],
        [job.task for job in jobs],
        [job.payload for job in jobs],
        [job.priority for job in jobs],
        [job.run_at for job in jobs],
        [job.delay for job in jobs],
        [job.options for job in jobs],
        [job.schedule for job in jobs],
        [array_literal(job.tags) for job in jobs],
        channel,
        list(told),
    )


async def copy_in(
    connection: Connection, sql: Mapping[str, str], jobs: Sequence[NewJob], *, schema: str
) -> list[Enqueued]:
    """Add many plain jobs by COPY, within the open transaction."""
    row = await connection.fetchrow(sql["take_ids"], len(jobs))
    assert row is not None
    now, ids = row
    answers: list[Enqueued] = []
    records: list[tuple[Any, ...]] = []
    for id_, job in zip(ids, jobs, strict=True):
        run_at = due_of(job, now)
        answers.append(Enqueued("inserted", id_, run_at))
        records.append(
            (
                id_,
                now,
                run_at,
                READY if run_at <= now else DEFERRED,
                job.queue,
                job.task,
                job.payload,
                job.priority,
                job.options,
                job.schedule,
                job.tags or None,
            )
        )
    await connection.copy_records_to_table(
        "job", schema_name=schema, columns=COLUMNS, records=records
    )
    return answers


@dataclass(slots=True)
class _Draft:
    """One job on its way in, until its answer is known."""

    job: NewJob
    id: int
    run_at: datetime
    key: str | None = None
    while_: While | None = None
    answer: Enqueued | None = None

    def inserted(self) -> None:
        self.answer = Enqueued("inserted", self.id, self.run_at)


def _draw(sql: Mapping[str, str], jobs: Sequence[NewJob]) -> Script["_Entry"]:
    found = yield Statement(sql["take_ids"], (len(jobs),))
    now, ids = found[0]
    drafts = [_Draft(job, id_, due_of(job, now)) for job, id_ in zip(jobs, ids, strict=True)]
    for draft in drafts:
        match draft.job.rule:
            case Unique(key, while_):
                draft.key, draft.while_ = key, while_
            case Debounce(key, wait):
                draft.key, draft.while_, draft.run_at = key, While.QUEUED, now + wait
            case _:
                pass
    return _Entry(sql, now, drafts)


@dataclass(slots=True)
class _Entry:
    """Jobs that come in together, at one instant."""

    sql: Mapping[str, str]
    now: datetime
    drafts: list[_Draft]
    called: set[Lane] | None = None

    def answers(self) -> list[Enqueued]:
        return [draft.answer for draft in self.drafts if draft.answer is not None]

    def throttle(self) -> Script[None]:
        """Let the first of a key through, answer the others."""
        drafts = [draft for draft in self.drafts if isinstance(draft.job.rule, Throttle)]
        firsts: dict[str, _Draft] = {}
        periods: dict[str, timedelta] = {}
        for draft in drafts:
            rule = draft.job.rule
            if isinstance(rule, Throttle) and rule.key not in firsts:
                firsts[rule.key], periods[rule.key] = draft, rule.period
        if not firsts:
            return
        ids = [draft.id for draft in firsts.values()]
        passed = yield Statement(
            self.sql["throttle_keys"], (self.now, list(firsts), list(periods.values()), ids)
        )
        open_keys = {row[0] for row in passed}
        found = yield Statement(self.sql["find_throttled"], (list(firsts),))
        until = {row[0]: (row[1], row[2]) for row in found}
        for draft in drafts:
            rule = draft.job.rule
            assert isinstance(rule, Throttle)
            at, first = until[rule.key]
            if at > self.now and not (firsts[rule.key] is draft and rule.key in open_keys):
                draft.answer = Enqueued("throttled", first, until=at)

    def pace(self) -> Script[None]:
        """Give jobs of a key instants apart, in the order they came."""
        paced = [
            (draft, draft.job.rule) for draft in self.drafts if isinstance(draft.job.rule, Pace)
        ]
        keys = sorted({rule.key for _, rule in paced})
        if not keys:
            return
        yield Statement(self.sql["make_paces"], (keys,), rows=False)
        held = yield Statement(self.sql["lock_paces"], (keys,))
        free = {row[0]: row[1] for row in held}
        for draft, rule in paced:
            draft.run_at = max(free.get(rule.key) or draft.run_at, draft.run_at)
            free[rule.key] = draft.run_at + rule.step
        yield Statement(self.sql["write_paces"], (keys, [free[key] for key in keys]), rows=False)

    def add(self) -> Script[None]:
        """Insert all but debounced jobs; find out who holds a key that was taken."""
        left = [
            draft for draft in self.drafts
            if draft.answer is None and not isinstance(draft.job.rule, Debounce)
        ]  # fmt: skip
        for _ in range(ROUNDS):
            if not left:
                return
            found = yield Statement(self.sql["insert_rows"], (self.now, *_columns(left)))
            added = {row[0] for row in found}
            for draft in left:
                if draft.id in added:
                    draft.inserted()
            left = yield from self._answer_existing(
                [draft for draft in left if draft.answer is None]
            )
        raise StoreUnavailable("a unique key kept changing hands while a job was added; try again")

    def debounce(self) -> Script[None]:
        """Insert or push back, one job of a key at a time."""
        left = [draft for draft in self.drafts if isinstance(draft.job.rule, Debounce)]
        for _ in range(ROUNDS + len(left)):
            if not left:
                return
            wave = list({draft.key: draft for draft in reversed(left)}.values())
            waits = [
                draft.job.rule.max_wait if isinstance(draft.job.rule, Debounce) else None
                for draft in wave
            ]
            found = yield Statement(
                self.sql["insert_debounced"], (self.now, *_columns(wave), waits)
            )
            self._read_debounced({row[1]: row for row in found}, wave)
            yield from self._answer_existing([draft for draft in wave if draft.answer is None])
            left = [draft for draft in left if draft.answer is None]
        raise StoreUnavailable(
            "a debounced key kept changing hands while a job was added; try again"
        )

    def _read_debounced(self, found: Mapping[Any, Row], wave: Iterable[_Draft]) -> None:
        for draft in wave:
            if draft.key not in found:
                continue
            id_, _, run_at, queue, lane = found[draft.key]
            outcome = "inserted" if id_ == draft.id else "debounced"
            draft.answer = Enqueued(outcome, id_, run_at)
            draft.run_at = run_at
            if lane is not None:
                self.called = {*(self.called or ()), (queue, lane)}

    def _answer_existing(self, left: list[_Draft]) -> Script[list[_Draft]]:
        """Answer with who holds the key; return those whose key was freed meanwhile."""
        if not left:
            return []
        found = yield Statement(self.sql["find_keys"], ([draft.key for draft in left],))
        holders = {row[0]: row for row in found}
        for draft in left:
            if draft.key in holders:
                draft.answer = Enqueued("existing", holders[draft.key][1], holders[draft.key][2])
        return [draft for draft in left if draft.answer is None]

    def open_lanes(self) -> Script[None]:
        """Make sure that every lane has its gate and its newest limit; call those with ready jobs."""
        lanes: dict[Lane, Limit | None] = {}
        called = self.called or set()
        for draft in self._inserted():
            if draft.job.lane is not None:
                lane = (draft.job.queue, draft.job.lane)
                lanes[lane] = draft.job.limit or lanes.get(lane)
                if draft.run_at <= self.now:
                    called.add(lane)
        if lanes:
            found = yield Statement(self.sql["find_gates"], _pairs(lanes))
            known = {(row[0], row[1]): tuple(row[2:6]) for row in found}
            fresh = [lane for lane, limit in lanes.items() if limit is None and lane not in known]
            if fresh:
                yield Statement(self.sql["make_lanes"], _pairs(fresh), rows=False)
            limited = {
                lane: limit_columns(limit) for lane, limit in lanes.items()
                if limit is not None and known.get(lane) != limit_columns(limit)
            }  # fmt: skip
            if limited:
                columns = [list(column) for column in zip(*limited.values(), strict=True)]
                yield Statement(self.sql["limit_lanes"], (*_pairs(limited), *columns), rows=False)
        if called:
            yield Statement(self.sql["call_lanes"], _pairs(sorted(called)), rows=False)

    def announce(self, channel: str, told: set[str]) -> Script[None]:
        """Notify the queues that got work soon due."""
        soon = self.now + POLL_FLOOR
        queues = sorted(
            {draft.job.queue for draft in self._inserted() if draft.run_at <= soon} & told
        )
        if queues:
            yield Statement(self.sql["notify"], (channel, queues))

    def _inserted(self) -> Iterator[_Draft]:
        return (
            draft for draft in self.drafts if draft.answer is not None and draft.answer.inserted
        )


def limit_columns(limit: Limit) -> tuple[Any, ...]:
    """Lay a limit out as the four columns of a gate."""
    rate = limit.rate
    return (
        limit.concurrency,
        *((rate.count, rate.per, rate.burst) if rate else (None, None, None)),
    )


def _pairs(lanes: Iterable[Lane]) -> tuple[list[str], list[str]]:
    pairs = list(lanes)
    return [queue for queue, _ in pairs], [lane for _, lane in pairs]


def _columns(drafts: Sequence[_Draft]) -> tuple[list[Any], ...]:
    jobs = [draft.job for draft in drafts]
    return (
        [draft.id for draft in drafts],
        [draft.run_at for draft in drafts],
        [job.queue for job in jobs],
        [job.task for job in jobs],
        [job.payload for job in jobs],
        [job.priority for job in jobs],
        [job.lane for job in jobs],
        [job.options for job in jobs],
        [job.schedule for job in jobs],
        [array_literal(job.tags) for job in jobs],
        [draft.key for draft in drafts],
        [WHILE[draft.while_] if draft.while_ else None for draft in drafts],
    )
