"""Retention on every store: what is to be kept for ever is, and the pass that forgets still works."""

from datetime import timedelta

from cadenza.engine import Engine
from cadenza.engine.loops.prune import Pruner

FOREVER = timedelta.max


async def test_what_is_kept_for_ever_stays_and_the_rest_goes(address: str) -> None:
    async with Engine(address, keep_done=0, keep_failed=FOREVER) as engine:
        canceled = await engine.enqueue("greet")
        await engine.cancel(canceled.id)
        pruner = Pruner(engine.store, done=engine.keep_done, failed=engine.keep_failed)
        await engine.store.now()  # a moment, so that it is older than no time at all
        await pruner.run_once()
        assert await engine.store.get([canceled.id]) == []


async def test_all_may_be_kept_for_ever(address: str) -> None:
    async with Engine(address, keep_done=FOREVER, keep_failed=FOREVER) as engine:
        canceled = await engine.enqueue("greet")
        await engine.cancel(canceled.id)
        pruner = Pruner(engine.store, done=engine.keep_done, failed=engine.keep_failed)
        await pruner.run_once()
        assert len(await engine.store.get([canceled.id])) == 1
