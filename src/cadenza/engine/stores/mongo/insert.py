"""Taking jobs in, all or none, with writes to one document at a time.

A batch is first written as `arriving`, which nobody sees or takes; then it is committed and its
jobs are let go (`commit.py`). One that was called off, because it stood still while another waited
for a key of it, is laid down again. Limit: a slot of a pace and a throttle that a batch took stay
taken when its writer dies, and what it wrote to a debounced job stays written.
"""

import contextlib
from collections.abc import Sequence
from datetime import datetime, timedelta

from pymongo.errors import BulkWriteError, DuplicateKeyError

from cadenza.engine.job import (
    Debounce,
    Enqueued,
    NewJob,
    Pace,
    Rule,
    State,
    Throttle,
    Unique,
    While,
)
from cadenza.engine.stores.mongo.commit import await_decision, commit, withdraw
from cadenza.engine.stores.mongo.connection import MongoConnection, matched
from cadenza.engine.stores.mongo.documents import (
    ARRIVING,
    Arrival,
    Paper,
    to_millisecond,
    write_job,
)
from cadenza.engine.stores.mongo.gate import limit_lanes, open_lanes


async def insert(connection: MongoConnection, jobs: Sequence[NewJob]) -> list[Enqueued]:
    """Add jobs at one instant."""
    if not jobs:
        return []
    if len(jobs) == 1 and jobs[0].limit is None:
        return await insert_documents(connection, jobs, batch=False)
    while True:
        answers = await insert_documents(connection, jobs, batch=True)
        batch = answers_batch(answers)
        if batch is None or await commit(connection, batch):
            return answers
        await withdraw(connection, batch)
        await _give_back(connection, jobs, answers)


def answers_batch(answers: Sequence[Enqueued]) -> int | None:
    """Name the batch of what was laid down: its first new job."""
    return next((answer.id for answer in answers if answer.inserted), None)


async def insert_documents(
    connection: MongoConnection,
    jobs: Sequence[NewJob],
    *,
    batch: bool,
    firing_of: str | None = None,
) -> list[Enqueued]:
    """Write jobs; those of a batch, a call's or a schedule's firing, wait to be let go."""
    now = await connection.now()
    first = await connection.job_numbers(len(jobs))
    await open_lanes(connection, jobs)
    answers: list[Enqueued] = []
    plain: list[Paper] = []
    head: int | None = None
    for id_, job in enumerate(jobs, first):
        arrival = Arrival(head or id_, firing_of) if batch else None
        if job.rule is None:
            run_at = _due(job, now)
            plain.append(write_job(id_, job, now=now, run_at=run_at, arrival=arrival))
            answers.append(Enqueued("inserted", id_, run_at))
        else:
            answers.append(
                await _by_rule(connection, job, job.rule, id_=id_, now=now, arrival=arrival)
            )
        if head is None and answers[-1].inserted:
            head = id_
    await _write_plain(connection, plain)
    await limit_lanes(
        connection, [job for job, said in zip(jobs, answers, strict=True) if said.inserted]
    )
    return answers


async def _write_plain(connection: MongoConnection, plain: Sequence[Paper]) -> None:
    """Write what no rule is about; a write that was repeated after a cut-off may find itself."""
    if len(plain) == 1:
        with contextlib.suppress(DuplicateKeyError):
            await connection.jobs.insert_one(plain[0])
    elif plain:
        try:
            await connection.jobs.insert_many(plain, ordered=False)
        except BulkWriteError as error:
            if any(each.get("code") != 11000 for each in error.details["writeErrors"]):
                raise


def _due(job: NewJob, now: datetime) -> datetime:
    return to_millisecond(job.run_at or now + (job.delay or timedelta()))


async def _by_rule(
    connection: MongoConnection,
    job: NewJob,
    rule: Rule,
    *,
    id_: int,
    now: datetime,
    arrival: Arrival | None,
) -> Enqueued:
    run_at = _due(job, now)
    match rule:
        case Throttle(key, period):
            taken = await _throttle(
                connection, key, now, until=to_millisecond(now + period), id_=id_
            )
            if taken is not None:
                return taken
        case Pace(key, step):
            run_at = await _pace(connection, key, run_at, step)
        case Debounce(_, wait, max_wait):
            run_at = to_millisecond(now + (wait if max_wait is None else min(wait, max_wait)))
        case Unique():
            pass
    paper = write_job(id_, job, now=now, run_at=run_at, arrival=arrival)
    if isinstance(rule, Unique | Debounce):
        while_ = rule.while_ if isinstance(rule, Unique) else While.QUEUED
        paper |= {"unique_key": rule.key, "held_key": rule.key, "key_while": while_.value}
        return await _insert_keyed(connection, job, paper, now)
    await connection.jobs.insert_one(paper)
    return Enqueued("inserted", id_, run_at)


async def _insert_keyed(
    connection: MongoConnection, job: NewJob, paper: Paper, now: datetime
) -> Enqueued:
    """Insert unless the key is held; the holder may go while we look."""
    while True:
        try:
            await connection.jobs.insert_one(paper)
        except DuplicateKeyError:
            holder = await connection.jobs.find_one({"held_key": paper["held_key"]})
            if holder is None:
                continue
            if holder["state"] == ARRIVING and holder["batch"] != paper.get("batch"):
                await await_decision(connection, holder, mine=paper.get("batch"))
                continue
            answer = await _meet(connection, job, holder, now)
            if answer is None:
                continue
            return answer
        return Enqueued("inserted", paper["_id"], paper["run_at"])


async def _meet(
    connection: MongoConnection, job: NewJob, holder: Paper, now: datetime
) -> Enqueued | None:
    """Answer with the holder, or let the newest of a debounced key win; None: look again."""
    rule = job.rule
    if not isinstance(rule, Debounce) or holder["state"] == State.RUNNING.value:
        return Enqueued("existing", holder["_id"], holder["run_at"])
    run_at = now + (rule.wait if rule.max_wait is None else min(rule.wait, rule.max_wait))
    if rule.max_wait is not None:
        run_at = min(run_at, holder["created_at"] + rule.max_wait)
    run_at = to_millisecond(run_at)
    fence = {"_id": holder["_id"], "state": holder["state"], "held_key": rule.key}
    change = {"$set": {"payload": job.payload, "run_at": run_at}}
    if not matched(await connection.jobs.update_one(fence, change)):
        return None
    connection.wake({holder["queue"]})  # which may be another than the job's
    return Enqueued("debounced", holder["_id"], run_at)


async def _throttle(
    connection: MongoConnection, key: str, now: datetime, *, until: datetime, id_: int
) -> Enqueued | None:
    """Take a period for a key; answer with the one who has it."""
    name = f"throttle {key}"
    while True:
        try:
            await connection.marks.update_one(
                {"_id": name, "until": {"$lte": now}},
                {"$set": {"until": until, "first": id_}},
                upsert=True,
            )
        except DuplicateKeyError:
            mark = await connection.marks.find_one({"_id": name})
            if mark is None:
                continue
            return Enqueued("throttled", mark["first"], until=mark["until"])
        return None


async def _give_back(
    connection: MongoConnection, jobs: Sequence[NewJob], answers: Sequence[Enqueued]
) -> None:
    """Free the throttles of jobs that were withdrawn, lest they hold back themselves."""
    names = [f"throttle {job.rule.key}" for job in jobs if isinstance(job.rule, Throttle)]
    if names:
        gone = [answer.id for answer in answers if answer.inserted]
        await connection.marks.delete_many({"_id": {"$in": names}, "first": {"$in": gone}})


async def _pace(
    connection: MongoConnection, key: str, run_at: datetime, step: timedelta
) -> datetime:
    """Take the next free instant of a key."""
    name = f"pace {key}"
    while True:
        mark = await connection.marks.find_one({"_id": name})
        if mark is None:
            try:
                await connection.marks.insert_one(
                    {"_id": name, "until": to_millisecond(run_at + step)}
                )
            except DuplicateKeyError:
                continue
            return run_at
        taken = max(run_at, mark["until"])
        fence = {"_id": name, "until": mark["until"]}
        change = {"$set": {"until": to_millisecond(taken + step)}}
        if matched(await connection.marks.update_one(fence, change)):
            return taken
