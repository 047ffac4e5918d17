import asyncio
from datetime import timedelta
from itertools import pairwise

from cadenza.engine import Engine, Limit, Pace, Rate
from tests.engine.conftest import finished, working


async def test_a_lane_never_runs_more_at_once_than_its_limit(engine: Engine) -> None:
    now = 0
    most = 0

    @engine.task
    async def call() -> None:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.002)
        now -= 1

    prepared = call.using(lane="host", limit=Limit(concurrency=3))
    async with working(engine, concurrency=20):
        answers = await prepared.enqueue_many([{}] * 60)
        await finished(engine, *(answer.id for answer in answers))

    assert most == 3


async def test_a_queue_can_be_limited_as_a_whole(engine: Engine) -> None:
    now = 0
    most = 0

    @engine.task
    async def call() -> None:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.002)
        now -= 1

    await engine.limit("default", limit=Limit(concurrency=2))
    async with working(engine):
        answers = await call.enqueue_many([{}] * 30)
        await finished(engine, *(answer.id for answer in answers))

    assert most == 2


async def test_a_rate_spaces_the_starts(engine: Engine) -> None:
    starts: list[float] = []

    @engine.task
    async def call() -> None:
        starts.append(asyncio.get_running_loop().time())

    prepared = call.using(lane="api", limit=Limit(rate=Rate(100, timedelta(seconds=1))))
    async with working(engine):
        answers = await prepared.enqueue_many([{}] * 10)
        await finished(engine, *(answer.id for answer in answers))

    # The claims are 10 ms apart; a start may lag behind its claim, so look at the whole.
    assert starts[-1] - starts[0] >= 0.085


async def test_paced_jobs_get_spaced_instants_and_none_is_dropped(engine: Engine) -> None:
    @engine.task
    async def send(number: int) -> None: ...

    every = timedelta(seconds=3)
    answers = await send.using(pace=Pace("campaign", every)).enqueue_many(
        [{"number": n} for n in range(20)]
    )

    instants = [answer.run_at for answer in answers]
    assert len(set(instants)) == 20
    assert all(b - a == every for a, b in pairwise(instants) if a and b)


async def test_jitter_only_ever_widens_the_pace(engine: Engine) -> None:
    @engine.task
    async def send(number: int) -> None: ...

    every = timedelta(seconds=3)
    answers = await send.using(pace=Pace("campaign", every), jitter=2).enqueue_many(
        [{"number": n} for n in range(50)]
    )

    instants = [answer.run_at for answer in answers if answer.run_at]
    gaps = [b - a for a, b in pairwise(instants)]
    assert min(gaps) >= every
    assert max(gaps) <= every + timedelta(seconds=2)
    assert len(set(gaps)) > 10


async def test_a_paused_queue_hands_nothing_out_until_it_is_resumed(engine: Engine) -> None:
    @engine.task
    async def call() -> None: ...

    await engine.pause("default", reason="provider is down")
    async with working(engine):
        queued = await call.enqueue()
        await asyncio.sleep(0.05)
        why = await engine.why(queued.id)
        assert "default is paused: provider is down" in why.sentence
        await engine.resume("default")
        await finished(engine, queued.id)


async def test_a_slow_lane_does_not_hold_up_the_others(engine: Engine) -> None:
    go = asyncio.Event()

    @engine.task
    async def call(waits: bool) -> None:
        if waits:
            await go.wait()

    slow = call.using(lane="slow", limit=Limit(concurrency=1))
    async with working(engine, concurrency=4):
        await slow.enqueue_many([{"waits": True}] * 50)
        answers = await call.using(lane="quick").enqueue_many([{"waits": False}] * 50)
        answers += await call.enqueue_many([{"waits": False}] * 50)
        await finished(engine, *(answer.id for answer in answers))
        assert not any(job.state.finished for job in await engine.find(lane="slow"))
        await engine.store.cancel([job.id for job in await engine.find(lane="slow")], reason="")
        go.set()
