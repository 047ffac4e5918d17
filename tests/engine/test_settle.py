"""An outcome that cannot be written: its job is rescued, and nothing else suffers."""

import asyncio
import logging
from collections.abc import Sequence
from datetime import timedelta

import pytest

from cadenza.engine import Engine, Running, State, completer
from cadenza.engine.outcomes import Settlement
from tests.engine.conftest import finished, working

SHORT = timedelta(seconds=1)


class Poisoned:
    """A settle that trips over the outcome of one job, however it is worded, as an error of ours would."""

    def __init__(self, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
        self.id: int | None = None
        self._settle = engine.store.settle
        monkeypatch.setattr(engine.store, "settle", self)

    async def __call__(
        self, settlements: Sequence[Settlement], *, closed: Sequence[int] = ()
    ) -> list[Settlement]:
        if any(settlement.id == self.id for settlement in settlements):
            raise RuntimeError("an error of ours")
        return await self._settle(settlements, closed=closed)


@pytest.fixture
def poisoned(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Poisoned:
    return Poisoned(engine, monkeypatch)


async def test_an_outcome_that_always_raises_ends_neither_the_worker_nor_a_neighbour(
    engine: Engine, poisoned: Poisoned, caplog: pytest.LogCaptureFixture
) -> None:
    @engine.task
    async def work() -> None: ...

    ids = [answer.id for answer in await work.enqueue_many([{}] * 5)]
    poisoned.id = ids[2]
    async with working(engine) as worker:  # which raises here if the worker has ended
        others = await finished(engine, *ids[:2], *ids[3:])
        (later,) = await finished(engine, (await work.enqueue()).id)
        (job,) = await engine.store.get([ids[2]])

    assert [each.state for each in (*others, later)] == [State.DONE] * 5
    assert job.state is State.RUNNING
    assert (worker.meters.settled, worker.meters.dropped) == (5, 1)
    (told,) = [r for r in caplog.records if r.getMessage().startswith("an outcome is dropped")]
    assert told.levelno == logging.ERROR
    assert vars(told)["job"] == ids[2]


@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside a longer one"])
async def test_a_job_whose_outcome_was_dropped_is_run_again(
    engine: Engine, poisoned: Poisoned, *, beside: bool
) -> None:
    @engine.task
    async def work(job: Running) -> int:
        if job.id != poisoned.id:
            await asyncio.sleep(1.5)  # the lease is renewed for this one, and ends with it
        elif job.crashes:
            poisoned.id = None
        return job.crashes

    first = (await work.enqueue_many([{}] * (1 + beside)))[0].id
    poisoned.id = first
    async with working(engine, lease=SHORT):
        (job,) = await finished(engine, first)

    assert (job.state, job.crashes) == (State.DONE, 1)
    assert await engine.output(first) == 1


async def test_a_lease_is_closed_by_the_write_of_its_last_outcome_and_not_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A process that dies between two writes would leave jobs behind that no rescue finds."""
    monkeypatch.setattr(completer, "MOST", 2)
    async with Engine("memory://") as engine:
        really = engine.store.settle
        under: list[int] = []  # the leases that outcomes came under
        shut: list[int] = []
        late: list[int] = []

        async def settle(
            settlements: Sequence[Settlement], *, closed: Sequence[int] = ()
        ) -> list[Settlement]:
            late.extend(each.id for each in settlements if each.lease in shut)
            under.extend(settlement.lease for settlement in settlements)
            shut.extend(closed)
            await asyncio.sleep(0.005)  # while others gather
            return await really(settlements, closed=closed)

        monkeypatch.setattr(engine.store, "settle", settle)

        @engine.task
        async def work() -> None: ...

        ids = [answer.id for answer in await work.enqueue_many([{}] * 9)]
        async with working(engine):
            await finished(engine, *ids)
    assert (len(under), late) == (9, [])
    assert sorted(shut) == sorted(set(under))
