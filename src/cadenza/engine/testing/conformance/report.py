"""Report: progress is written under the fence, and the next run finds it."""

from cadenza.engine.outcomes import Verdict
from cadenza.engine.testing.conformance.harness import Harness, read


class Reporting:
    """What `report` promises."""

    async def test_a_running_job_reports_its_progress(self, harness: Harness) -> None:
        id_ = await harness.add()
        batch = await harness.take()
        assert await harness.store.report(id_, batch.lease, '{"page": 3}') is True
        assert read((await harness.job(id_)).progress) == {"page": 3}

    async def test_the_newest_report_counts(self, harness: Harness) -> None:
        id_ = await harness.add()
        batch = await harness.take()
        for page in (1, 2):
            await harness.store.report(id_, batch.lease, f'{{"page": {page}}}')
        assert read((await harness.job(id_)).progress) == {"page": 2}

    async def test_the_next_run_finds_the_progress(self, harness: Harness) -> None:
        id_ = await harness.add()
        batch = await harness.take()
        await harness.store.report(id_, batch.lease, '{"page": 3}')
        await harness.settle(batch, Verdict.RETRY)
        (job,) = (await harness.take()).jobs
        assert read(job.progress) == {"page": 3}

    async def test_a_stale_lease_reports_nothing(self, harness: Harness) -> None:
        id_ = await harness.add()
        batch = await harness.crash()
        assert await harness.store.report(id_, batch.lease, "{}") is False
        held = await harness.take()
        assert await harness.store.report(id_, batch.lease, "{}") is False
        assert (await harness.job(id_)).progress is None
        assert await harness.store.report(id_, held.lease, "{}") is True

    async def test_a_finished_job_reports_nothing(self, harness: Harness) -> None:
        id_ = await harness.add()
        batch = await harness.take()
        await harness.settle(batch)
        assert await harness.store.report(id_, batch.lease, "{}") is False

    async def test_an_unknown_job_reports_nothing(self, harness: Harness) -> None:
        assert await harness.store.report(987_654, 1, "{}") is False
