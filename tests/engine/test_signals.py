"""A test can wait for what an engine does."""

from __future__ import annotations

import asyncio

import pytest

from cadenza.engine import Engine
from cadenza.engine.outcomes import Verdict
from cadenza.engine.testing.signals import Signal, listen


async def test_a_job_is_waited_for_without_sleeping() -> None:
    async with Engine("memory://") as engine:
        heard: list[object] = []
        engine.hooks.on_job = lambda claimed, _: heard.append(claimed.id)
        signals = listen(engine)
        greet = engine.declare(lambda: None, name="greet")
        worker = engine.worker()
        running = asyncio.ensure_future(worker.run())
        await signals.on_start.wait()
        job = await greet.enqueue()
        claimed, settlement = await signals.on_job.wait()
        assert (claimed.id, settlement.verdict) == (job.id, Verdict.DONE)
        await signals.on_idle.wait()
        worker.stop()
        await signals.on_stop.wait()
        await running
        assert heard == [job.id]


async def test_what_happened_before_the_wait_is_not_lost() -> None:
    signal: Signal[int] = Signal()
    signal.emit(1)
    signal.listen()
    signal.emit(2)
    signal.emit(3)
    assert [await signal.wait(), await signal.wait()] == [2, 3]


async def test_what_does_not_happen_is_said() -> None:
    with pytest.raises(TimeoutError, match="the bell did not happen"):
        await Signal[int]("the bell").wait(0.01)
