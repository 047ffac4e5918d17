"""Watch: news wakes those who watch, in this process, and across processes where a store can."""

import asyncio

import pytest

from cadenza.engine.job import Scope
from cadenza.engine.outcomes import Verdict
from cadenza.engine.testing.conformance.harness import HOUR, Harness

PATIENCE = 10.0  # seconds; a wake-up that comes later is none


class _Ear:
    """Hears wake-ups, and can be waited on."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self._rang = asyncio.Event()

    def __call__(self, queue: str) -> None:
        self.heard.append(queue)
        self._rang.set()

    async def hear(self, queue: str) -> None:
        """Wait until news of the queue, or of any queue, has come."""
        async with asyncio.timeout(PATIENCE):
            while not {queue, ""} & set(self.heard):
                self._rang.clear()
                await self._rang.wait()
        self.heard.clear()


class Waking:
    """What `watch` promises."""

    async def test_an_insert_wakes(self, harness: Harness) -> None:
        ear = _Ear()
        stop = harness.store.watch(ear)
        await harness.add(queue="mail")
        await ear.hear("mail")
        stop()

    async def test_a_job_that_waits_again_wakes(self, harness: Harness) -> None:
        await harness.add()
        batch = await harness.take()
        ear = _Ear()
        stop = harness.store.watch(ear)
        await harness.settle(batch, Verdict.RELEASED)
        await ear.hear("default")
        stop()

    async def test_a_rescue_a_revival_and_an_opened_gate_wake(self, harness: Harness) -> None:
        id_ = await harness.add()
        await harness.take()
        await harness.shift(HOUR)
        ear = _Ear()
        stop = harness.store.watch(ear)
        await harness.store.rescue(crash_limit=9)
        await ear.hear("default")
        await harness.store.revive([id_])
        await ear.hear("default")
        await harness.store.set_gate(Scope("default"), paused=False)
        await ear.hear("default")
        stop()

    async def test_a_request_to_cancel_wakes(self, harness: Harness) -> None:
        id_ = await harness.add()
        await harness.take()
        ear = _Ear()
        stop = harness.store.watch(ear)
        await harness.store.cancel([id_], reason="not wanted")
        await ear.hear("default")
        stop()

    async def test_every_watcher_is_woken(self, harness: Harness) -> None:
        ears = [_Ear(), _Ear()]
        stops = [harness.store.watch(ear) for ear in ears]
        await harness.add()
        for ear in ears:
            await ear.hear("default")
        for stop in stops:
            stop()

    async def test_a_watcher_that_stopped_hears_no_more(self, harness: Harness) -> None:
        gone, here = _Ear(), _Ear()
        harness.store.watch(gone)()
        stop = harness.store.watch(here)
        await harness.add()
        await here.hear("default")
        assert gone.heard == []
        stop()

    async def test_another_process_is_woken(self, harness: Harness) -> None:
        if not harness.store.traits.many_processes:
            pytest.skip("the store serves one process")
        if not harness.store.traits.notifies:
            pytest.skip("the store does not notify other processes; they poll")
        other = await harness.open_peer()
        ear = _Ear()
        stop = other.watch(ear)
        try:
            await harness.add()  # what is far off need not be told: sleepers look by themselves
            await ear.hear("default")
        finally:
            stop()
            await other.close()
