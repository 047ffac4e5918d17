"""Runs that are cut short: by a limit, a cancel, a stop, a lease that ran out."""

import asyncio
from datetime import timedelta

import pytest

from cadenza.engine import Engine, Hooks, State
from cadenza.engine.job import Claimed
from cadenza.engine.outcomes import Settlement
from cadenza.engine.stores.memory import MemoryStore
from cadenza.engine.testing.clock import VirtualClock
from tests.engine.conftest import finished, until, working


async def test_a_handler_that_will_not_be_stopped_leaves_a_sound_slot(engine: Engine) -> None:
    @engine.task(time_limit=0.02, retry=0)
    async def stubborn() -> str:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            return "finished all the same"
        return ""

    @engine.task(retry=0)
    async def cancels_itself() -> None:
        raise asyncio.CancelledError

    @engine.task
    async def good() -> None: ...

    async with working(engine, concurrency=1):
        (job,) = await finished(engine, (await stubborn.enqueue()).id)
        assert job.state is State.DONE
        await finished(engine, (await cancels_itself.enqueue()).id)
        await finished(engine, (await good.enqueue()).id)


async def test_an_error_while_being_stopped_burns_no_attempt(engine: Engine) -> None:
    @engine.task
    async def trip() -> None:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError as error:
            raise ConnectionError from error

    async with working(engine, grace=0.02):
        queued = await trip.enqueue()
        await until(engine, queued.id, State.RUNNING)

    job = await engine.get(queued.id)
    assert (job.state, job.attempts) == (State.WAITING, 0)


async def test_an_error_while_being_canceled_ends_canceled(engine: Engine) -> None:
    @engine.task(retry=0)
    async def trip() -> None:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError as error:
            raise ConnectionError from error

    async with working(engine):
        queued = await trip.enqueue()
        await until(engine, queued.id, State.RUNNING)
        await engine.cancel(queued.id)
        (job,) = await finished(engine, queued.id)

    assert job.state is State.CANCELED


async def test_a_stop_that_meets_a_slow_hook_does_not_undo_the_work() -> None:
    told = asyncio.Event()

    async def on_job(*_: object) -> None:
        told.set()
        await asyncio.sleep(30)

    async with Engine("memory://", hooks=Hooks(on_job=on_job)) as engine:

        @engine.task(time_limit=0.05, retry=0)
        async def work() -> str:
            return "done"

        async with working(engine, grace=0.02):
            queued = await work.enqueue()
            await told.wait()

        assert (await engine.get(queued.id)).state is State.DONE


async def test_hooks_hear_of_a_run_over_its_limit() -> None:
    heard: list[str] = []

    def on_error(error: BaseException, _: Claimed | None) -> None:
        heard.append(type(error).__name__)

    def on_job(_: Claimed, settlement: Settlement) -> None:
        heard.append(settlement.verdict)

    async with Engine("memory://", hooks=Hooks(on_error=on_error, on_job=on_job)) as engine:

        @engine.task(time_limit=0.02, retry=0)
        async def dawdle() -> None:
            await asyncio.sleep(30)

        async with working(engine):
            await finished(engine, (await dawdle.enqueue()).id)

    assert heard == ["TimeoutError", "failed"]


async def test_a_handler_that_never_ends_does_not_hold_up_the_stop() -> None:
    end = asyncio.Event()
    async with Engine("memory://") as engine:

        @engine.task
        async def immortal() -> None:
            while not end.is_set():
                try:
                    await end.wait()
                except asyncio.CancelledError:
                    continue

        async with asyncio.timeout(8), working(engine, grace=0.01):
            queued = await immortal.enqueue()
            await until(engine, queued.id, State.RUNNING)
        assert (await engine.get(queued.id)).state is State.WAITING
        end.set()


async def test_a_job_whose_lease_ran_out_in_the_buffer_is_not_lost() -> None:
    clock, store_clock = VirtualClock(), VirtualClock()
    first = asyncio.Event()
    ran: list[int] = []

    async with Engine(MemoryStore(clock=store_clock), clock=clock) as engine:

        @engine.task
        async def work(number: int) -> None:
            ran.append(number)
            if number == 0:
                await first.wait()

        await work.enqueue_many([{"number": n} for n in range(3)])
        async with working(engine, concurrency=1) as worker:
            worker.producer._wanted = lambda: 3 - len(ran)
            worker.inventory.hungry.set()
            while worker.inventory.busy + len(worker.inventory.buffer) < 3:
                await asyncio.sleep(0)
            clock.shift(timedelta(seconds=28))  # past the local deadline; the store still holds it
            first.set()
            for _ in range(200):
                await asyncio.sleep(0)
            worker.producer._wanted = lambda: 3
            worker.producer.wake("")
            for _ in range(200):
                await asyncio.sleep(0)
        jobs = await engine.find()

    assert sorted(ran) == [0, 1, 2]
    assert {(job.state, job.crashes) for job in jobs} == {(State.DONE, 0)}


async def test_a_second_cancel_of_run_leaves_nothing_behind() -> None:
    async with Engine("memory://") as engine:

        @engine.task
        async def work() -> None:
            await asyncio.sleep(30)

        before = asyncio.all_tasks()
        worker = engine.worker(grace=30)
        running = asyncio.create_task(worker.run())
        await worker.started.wait()
        queued = await work.enqueue()
        await until(engine, queued.id, State.RUNNING)
        for _ in range(2):
            running.cancel()
            await asyncio.sleep(0.05)
        with pytest.raises(asyncio.CancelledError):
            await running
        await asyncio.sleep(0.05)
        assert asyncio.all_tasks() == before
