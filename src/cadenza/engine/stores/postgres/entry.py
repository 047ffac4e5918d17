"""Jobs that come in together under rules and into lanes, at one instant, statement by statement.

Each method is a part of the script of `insert.py`. Keys are taken by the unique index, instants of
throttle and pace by locks on their markers, always in the order of keys; a lane's gate is made
or limited with its first job, and a `wake` row calls it, so no gate is held until the commit.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from cadenza.engine.errors import StoreUnavailable
from cadenza.engine.job import Debounce, Enqueued, Limit, NewJob, Pace, Throttle, Unique, While
from cadenza.engine.stores.postgres.rows import WHILE, array_literal
from cadenza.sql.script import Row, Script, Statement

ROUNDS = 10  # against keys that are freed while we look who holds them
UNSTEADY = "a unique key kept changing hands while a job was added; try again"

Lane = tuple[str, str]


def due_of(job: NewJob, now: datetime) -> datetime:
    """Say when a job is due if no rule says otherwise."""
    return job.run_at or now + (job.delay or timedelta())


@dataclass(slots=True)
class Draft:
    """One job on its way in, until its answer is known."""

    job: NewJob
    id: int
    run_at: datetime
    key: str | None = None
    while_: While | None = None
    answer: Enqueued | None = None

    @property
    def debounced(self) -> bool:
        return isinstance(self.job.rule, Debounce)

    def inserted(self) -> None:
        self.answer = Enqueued("inserted", self.id, self.run_at)


def draw(sql: Mapping[str, str], jobs: Sequence[NewJob]) -> Script["Entry"]:
    found = yield Statement(sql["take_ids"], (len(jobs),))
    now, ids = found[0]
    drafts = [Draft(job, id_, due_of(job, now)) for job, id_ in zip(jobs, ids, strict=True)]
    for draft in drafts:
        match draft.job.rule:
            case Unique(key, while_):
                draft.key, draft.while_ = key, while_
            case Debounce(key, wait, max_wait):
                draft.key, draft.while_ = key, While.QUEUED
                draft.run_at = now + (wait if max_wait is None else min(wait, max_wait))
            case _:
                pass
    return Entry(sql, now, drafts)


@dataclass(slots=True)
class Entry:
    """Jobs that come in together, at one instant."""

    sql: Mapping[str, str]
    now: datetime
    drafts: list[Draft]
    called: set[Lane] = field(default_factory=set)  # lanes that got ready jobs

    def answers(self) -> list[Enqueued]:
        return [draft.answer for draft in self.drafts if draft.answer is not None]

    def throttle(self) -> Script[None]:
        """Let the first of a key through, answer the others."""
        drafts = [draft for draft in self.drafts if isinstance(draft.job.rule, Throttle)]
        firsts: dict[str, Draft] = {}
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

    def statement_batches(self) -> list[list[Draft]]:
        """Part what may not go in one statement: a second word on a key that is debounced."""
        debounced = {draft.key for draft in self.drafts if draft.debounced}
        said: Counter[str | None] = Counter()
        statement_batches: dict[int, list[Draft]] = {}
        for draft in self.drafts:
            if draft.answer is None:
                statement_batches.setdefault(said[draft.key], []).append(draft)
                said[draft.key] += draft.key in debounced and draft.key is not None
        return [statement_batches[number] for number in sorted(statement_batches)]

    def add(self, left: list[Draft]) -> Script[None]:
        """Insert jobs; find out who holds a key that was taken."""
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
        raise StoreUnavailable(UNSTEADY)

    def debounce(self, left: list[Draft]) -> Script[None]:
        """Insert jobs, or push back the waiting ones of their keys."""
        for _ in range(ROUNDS):
            if not left:
                return
            rules = [draft.job.rule for draft in left]
            waits = [rule.max_wait if isinstance(rule, Debounce) else None for rule in rules]
            params = (self.now, *_columns(left), waits)
            found = yield Statement(self.sql["insert_debounced"], params)
            self._read_debounced({row[1]: row for row in found}, left)
            left = yield from self._answer_existing(
                [draft for draft in left if draft.answer is None]
            )
        raise StoreUnavailable(UNSTEADY)

    def _read_debounced(self, found: Mapping[Any, Row], wave: Iterable[Draft]) -> None:
        for draft in wave:
            if draft.key not in found:
                continue
            id_, _, run_at, queue, lane = found[draft.key]
            outcome = "inserted" if id_ == draft.id else "debounced"
            draft.answer = Enqueued(outcome, id_, run_at)
            draft.run_at = run_at
            if lane is not None:
                self.called.add((queue, lane))

    def _answer_existing(self, left: list[Draft]) -> Script[list[Draft]]:
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
        for draft in self._inserted():
            if draft.job.lane is not None:
                lane = (draft.job.queue, draft.job.lane)
                lanes[lane] = draft.job.limit or lanes.get(lane)
                if draft.run_at <= self.now:
                    self.called.add(lane)
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
        if self.called:
            yield Statement(self.sql["call_lanes"], _pairs(sorted(self.called)), rows=False)

    def queues_due(self, within: timedelta) -> set[str]:
        """Name the queues that got work due within so long."""
        soon = self.now + within
        return {draft.job.queue for draft in self._inserted() if draft.run_at <= soon}

    def _inserted(self) -> Iterator[Draft]:
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


def _columns(drafts: Sequence[Draft]) -> tuple[list[Any], ...]:
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
