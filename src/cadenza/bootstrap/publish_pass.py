"""One pass of publishing, for an outside cron that calls where no worker runs all the time."""

from cadenza.bootstrap.model import Runtime
from cadenza.bootstrap.work import make_delivery_worker
from cadenza.core.ids import name_worker
from cadenza.deliveries.run_pass import SECONDS, PassReport, publishing_run


async def publish_pass(runtime: Runtime, seconds: float = SECONDS) -> PassReport:
    """Send what is due with a fresh worker; it may overlap with others, and ends in time."""
    await runtime.guard.run_once()  # before anything is claimed
    worker = make_delivery_worker(runtime, name_worker())
    async with runtime.guard.kept(runtime.clock):
        report = await publishing_run(worker, runtime.source, clock=runtime.clock, seconds=seconds)
        await runtime.publisher.wait_for_calls()  # the process may end with the pass
    return report
