import asyncio
import json
import threading
from datetime import timedelta

import pytest

from cadenza.engine import Cancel, Engine, RateLimited, Retry, RetryPolicy, Running, Snooze, State
from tests.engine.conftest import finished, until, working

AT_ONCE = RetryPolicy(limit=2, delay=timedelta(milliseconds=1), jitter=0)


async def test_a_job_runs_and_keeps_its_output(engine: Engine) -> None:
    @engine.task
    async def add(a: int, b: int) -> int:
        return a + b

    async with working(engine):
        (job,) = await finished(engine, (await add.enqueue(a=2, b=3)).id)

    assert (job.state, job.attempts) == (State.DONE, 1)
    assert await engine.output(job.id) == 5


async def test_a_sync_handler_runs_in_a_thread_of_its_own(engine: Engine) -> None:
    @engine.task
    def where() -> str:
        return threading.current_thread().name

    async with working(engine):
        (job,) = await finished(engine, (await where.enqueue()).id)

    assert str(await engine.output(job.id)).startswith("cadenza-job")


async def test_limit_n_means_n_plus_one_calls_and_then_the_dead_letter(engine: Engine) -> None:
    calls: list[int] = []

    @engine.task(retry=AT_ONCE)
    async def fail(job: Running) -> None:
        calls.append(job.attempt)
        raise ValueError(f"no, {job.attempt}")

    async with working(engine):
        (job,) = await finished(engine, (await fail.enqueue()).id)

    assert calls == [1, 2, 3]
    assert State.FAILED is job.state
    assert [json.loads(e)["message"] for e in job.errors] == ["no, 1", "no, 2", "no, 3"]


async def test_a_redriven_job_starts_with_fresh_counters(engine: Engine) -> None:
    broken = True

    @engine.task(retry=0)
    async def mend() -> None:
        if broken:
            raise ValueError

    async with working(engine):
        (dead,) = await finished(engine, (await mend.enqueue()).id)
        broken = False
        assert [dead.id] == await engine.redrive()
        (job,) = await finished(engine, dead.id)

    assert (job.state, job.attempts) == (State.DONE, 1)


async def test_an_exception_named_never_is_not_tried_again(engine: Engine) -> None:
    @engine.task(retry=RetryPolicy(limit=9, never=(LookupError,)))
    async def lookup() -> None:
        raise KeyError("gone")

    async with working(engine):
        (job,) = await finished(engine, (await lookup.enqueue()).id)

    assert (job.state, job.attempts) == (State.FAILED, 1)


async def test_snooze_burns_no_attempt(engine: Engine) -> None:
    calls = 0

    @engine.task(retry=0)
    async def later() -> None:
        nonlocal calls
        calls += 1
        if calls < 3:
            raise Snooze(0.001)

    async with working(engine):
        (job,) = await finished(engine, (await later.enqueue()).id)

    assert (job.state, job.attempts, job.snoozes) == (State.DONE, 1, 2)


async def test_retry_at_a_chosen_instant_burns_an_attempt(engine: Engine) -> None:
    @engine.task(retry=1)
    async def again() -> None:
        raise Retry(0.001, "not yet")

    async with working(engine):
        (job,) = await finished(engine, (await again.enqueue()).id)

    assert (job.state, job.attempts) == (State.FAILED, 2)


async def test_a_handler_can_cancel_its_own_job(engine: Engine) -> None:
    @engine.task
    async def leave() -> None:
        raise Cancel("nobody wants it")

    async with working(engine):
        (job,) = await finished(engine, (await leave.enqueue()).id)

    assert State.CANCELED is job.state
    assert "nobody wants it" in job.errors[-1]


async def test_a_rate_limited_job_parks_its_lane_and_no_other(engine: Engine) -> None:
    @engine.task
    async def post(account: str) -> None:
        if account == "ada":
            raise RateLimited(60)

    async with working(engine):
        ada = await post.using(lane="ada").enqueue(account="ada")
        ben = await post.using(lane="ben").enqueue(account="ben")
        await finished(engine, ben.id)
        after = await post.using(lane="ada").enqueue(account="ada")
        job = await until(engine, ada.id, State.WAITING)

    assert (job.attempts, job.snoozes) == (0, 1)
    assert "default/ada is parked" in (await engine.why(after.id)).sentence


async def test_a_run_over_its_time_limit_is_stopped(engine: Engine) -> None:
    stopped = asyncio.Event()

    @engine.task(time_limit=0.02, retry=0)
    async def dawdle() -> None:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            stopped.set()
            raise

    async with working(engine):
        (job,) = await finished(engine, (await dawdle.enqueue()).id)

    assert stopped.is_set()
    assert "TimeoutError" in job.errors[-1]


async def test_after_a_stopped_run_the_slot_works_on(engine: Engine) -> None:
    @engine.task(time_limit=0.01, retry=0)
    async def dawdle() -> None:
        await asyncio.sleep(30)

    @engine.task
    async def quick() -> str:
        async with asyncio.timeout(1):  # needs a task that is not being canceled
            await asyncio.sleep(0)
        return "ok"

    async with working(engine, concurrency=1):
        await finished(engine, (await dawdle.enqueue()).id)
        (job,) = await finished(engine, (await quick.enqueue()).id)

    assert State.DONE is job.state


async def test_canceling_a_running_job_stops_its_handler(engine: Engine) -> None:
    @engine.task
    async def wait() -> None:
        await asyncio.sleep(30)

    async with working(engine):
        queued = await wait.enqueue()
        await until(engine, queued.id, State.RUNNING)
        assert await engine.cancel(queued.id) == ["requested"]
        (job,) = await finished(engine, queued.id)

    assert (job.state, job.attempts) == (State.CANCELED, 0)


async def test_progress_is_there_for_the_next_attempt(engine: Engine) -> None:
    @engine.task(retry=AT_ONCE)
    async def resume(job: Running) -> object:
        if job.progress is None:
            await job.report({"done": 7})
            raise ValueError
        return job.progress

    async with working(engine):
        (job,) = await finished(engine, (await resume.enqueue()).id)

    assert await engine.output(job.id) == {"done": 7}


async def test_a_job_of_an_unknown_task_waits_for_a_worker_that_knows_it(engine: Engine) -> None:
    async with working(engine) as worker:
        queued = await engine.enqueue("from_elsewhere", {"x": 1})
        async with asyncio.timeout(5):
            while (await engine.get(queued.id)).snoozes == 0:
                await asyncio.sleep(0.005)
        why = await engine.why(queued.id)

    assert worker.meters.settled == 1
    assert any("knows task 'from_elsewhere'" in check.message for check in why.blocked)


async def test_an_output_that_is_not_json_does_not_undo_the_work(engine: Engine) -> None:
    @engine.task(retry=0)
    async def odd() -> object:
        return object()

    async with working(engine):
        (job,) = await finished(engine, (await odd.enqueue()).id)

    assert State.DONE is job.state
    assert "OutputLost" in job.errors[-1]


async def test_a_payload_that_no_longer_fits_fails_without_a_call(engine: Engine) -> None:
    queued = await engine.enqueue("grown", {"old": 1})

    @engine.task
    async def grown(new: int) -> None:
        raise AssertionError

    async with working(engine):
        (job,) = await finished(engine, queued.id)

    assert State.FAILED is job.state
    assert "no longer fits" in job.errors[-1]


async def test_keep_false_deletes_a_done_job_at_once(engine: Engine) -> None:
    ran = asyncio.Event()

    @engine.task(keep=False)
    async def once() -> None:
        ran.set()

    async with working(engine) as worker:
        queued = await once.enqueue()
        await ran.wait()
        await worker.completer.empty.wait()

    assert await engine.store.get([queued.id]) == []


@pytest.mark.parametrize("error", [SystemExit(3), asyncio.CancelledError()])
async def test_no_exit_of_a_handler_ends_the_worker(engine: Engine, error: BaseException) -> None:
    @engine.task(retry=0)
    async def leave() -> None:
        raise error

    @engine.task
    async def stay() -> None: ...

    async with working(engine, concurrency=1):
        (job,) = await finished(engine, (await leave.enqueue()).id)
        assert State.FAILED is job.state
        await finished(engine, (await stay.enqueue()).id)
