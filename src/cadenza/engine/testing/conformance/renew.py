"""Renew: a heartbeat keeps leases, and brings home what was lost or is to be canceled."""

from cadenza.engine.job import NewJob, State
from cadenza.engine.outcomes import Verdict
from cadenza.engine.store import Renewal
from cadenza.engine.testing.conformance.harness import HOUR, LEASE, NEVER, SECOND, Harness


class Renewing:
    """What `renew` promises."""

    async def test_a_renewed_lease_counts_from_now(self, harness: Harness) -> None:
        id_ = await harness.add()
        batch = await harness.take()
        await harness.shift(LEASE - 5 * SECOND)
        now = await harness.store.now()
        assert await harness.store.renew("ada", [batch.lease], lease=HOUR) == Renewal()
        assert harness.same((await harness.job(id_)).lease_until, now + HOUR)

    async def test_a_renewed_lease_is_not_rescued(self, harness: Harness) -> None:
        id_ = await harness.add()
        batch = await harness.take()
        for _ in range(3):
            await harness.shift(LEASE - 5 * SECOND)
            await harness.store.renew("ada", [batch.lease], lease=LEASE)
            assert (await harness.store.rescue(crash_limit=NEVER)).returned == ()
        assert (await harness.job(id_)).state is State.RUNNING

    async def test_only_the_named_leases_are_extended(self, harness: Harness) -> None:
        await harness.store.insert([NewJob(task="greet")] * 2)
        kept, left = await harness.take(1), await harness.take(1)
        await harness.store.renew("ada", [kept.lease], lease=HOUR)
        await harness.shift(LEASE + SECOND)
        assert (await harness.store.rescue(crash_limit=NEVER)).returned == (left.jobs[0].id,)

    async def test_one_heartbeat_renews_all_jobs_of_a_lease(self, harness: Harness) -> None:
        await harness.store.insert([NewJob(task="greet")] * 5)
        batch = await harness.take()
        await harness.store.renew("ada", [batch.lease], lease=HOUR)
        await harness.shift(LEASE + SECOND)
        assert (await harness.store.rescue(crash_limit=NEVER)).returned == ()
        assert await harness.settle(batch) == []

    async def test_a_lease_that_ran_out_can_be_renewed_until_it_is_rescued(
        self, harness: Harness
    ) -> None:
        await harness.add()
        batch = await harness.take()
        await harness.shift(2 * LEASE)
        assert await harness.store.renew("ada", [batch.lease], lease=LEASE) == Renewal()
        assert (await harness.store.rescue(crash_limit=NEVER)).returned == ()

    async def test_a_rescued_lease_is_lost(self, harness: Harness) -> None:
        await harness.add()
        batch = await harness.crash()
        renewal = await harness.store.renew("ada", [batch.lease], lease=LEASE)
        assert renewal.lost == {batch.lease}

    async def test_a_closed_lease_is_lost(self, harness: Harness) -> None:
        await harness.add()
        batch = await harness.take()
        await harness.settle(batch, closed=True)
        assert (await harness.store.renew("ada", [batch.lease], lease=LEASE)).lost == {batch.lease}

    async def test_an_unknown_lease_is_lost(self, harness: Harness) -> None:
        assert (await harness.store.renew("ada", [4711], lease=LEASE)).lost == {4711}

    async def test_another_workers_lease_is_lost_and_not_extended(self, harness: Harness) -> None:
        await harness.add()
        batch = await harness.take(worker="ada")
        assert (await harness.store.renew("ben", [batch.lease], lease=HOUR)).lost == {batch.lease}
        await harness.shift(LEASE + SECOND)
        assert len((await harness.store.rescue(crash_limit=NEVER)).returned) == 1

    async def test_a_heartbeat_says_what_is_to_be_canceled(self, harness: Harness) -> None:
        ids = [await harness.add() for _ in range(3)]
        batch = await harness.take()
        await harness.store.cancel([ids[1]], reason="not wanted")
        renewal = await harness.store.renew("ada", [batch.lease], lease=LEASE)
        assert renewal == Renewal(cancel=frozenset({ids[1]}))

    async def test_a_heartbeat_names_only_its_own_jobs(self, harness: Harness) -> None:
        await harness.store.insert([NewJob(task="greet")] * 2)
        adas, bens = await harness.take(1, worker="ada"), await harness.take(1, worker="ben")
        await harness.store.cancel([bens.jobs[0].id], reason="not wanted")
        assert (await harness.store.renew("ada", [adas.lease], lease=LEASE)).cancel == frozenset()

    async def test_a_settled_job_is_no_longer_to_be_canceled(self, harness: Harness) -> None:
        id_ = await harness.add()
        batch = await harness.take()
        await harness.store.cancel([id_], reason="not wanted")
        await harness.settle(batch, Verdict.DONE, closed=False)
        assert (await harness.store.renew("ada", [batch.lease], lease=LEASE)).cancel == frozenset()

    async def test_renewing_nothing_loses_nothing(self, harness: Harness) -> None:
        assert await harness.store.renew("ada", [], lease=LEASE) == Renewal()
