"""One pass of publishing, for an outside cron that calls where no worker runs all the time."""

from cadenza.bootstrap.model import House
from cadenza.bootstrap.work import make_road
from cadenza.core.ids import name_worker
from cadenza.deliveries.run_pass import SECONDS, PassReport, publishing_run


async def publish_pass(house: House, seconds: float = SECONDS) -> PassReport:
    """Send what is due with a fresh worker; it may overlap with others, and ends in time."""
    await house.guard.run_once()  # before anything is claimed
    worker = make_road(house, name_worker())
    async with house.guard.kept(house.clock):
        report = await publishing_run(worker, house.source, clock=house.clock, seconds=seconds)
        await house.publisher.wait_for_calls()  # the process may end with the pass
    return report
