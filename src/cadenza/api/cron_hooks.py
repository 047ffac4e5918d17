"""Entry points for an outside cron, where no worker runs all the time: send what is due, generate what is due.

Both may overlap with themselves and with running workers, and end in time; not complete means: call again.
They concern the whole application, so they take a key with their own scope that an owner of the installation has made. A
repetition is one more pass and does no harm, so there is no Idempotency-Key.
"""

from typing import Annotated

from fastapi import Query

from cadenza.api.request_context import Reader
from cadenza.api.routes import INSTANCE, Resource
from cadenza.api.schemas import Answer
from cadenza.bootstrap.generate_posts import SECONDS as GENERATING
from cadenza.bootstrap.generate_posts import generate_for_all
from cadenza.bootstrap.publish_pass import publish_pass
from cadenza.deliveries.run_pass import SECONDS as PUBLISHING

routes = Resource("passes")
Seconds = Annotated[float, Query(ge=1, le=300, description="End after so long at the latest")]


class Published(Answer):
    """How many deliveries were taken up; not complete: call again."""

    ran: int
    complete: bool


class GeneratedAll(Answer):
    """What was made, for how many workspaces; not complete: call again."""

    workspaces: int
    posts: int
    failed: int
    complete: bool


@routes.post("/publishing/run", needs=INSTANCE, scope="publishing:run")
async def run_publishing(ask: Reader, seconds: Seconds = PUBLISHING) -> Published:
    """Send what is due now, of all workspaces."""
    report = await publish_pass(ask.runtime, seconds)
    return Published(ran=report.ran, complete=report.complete)


@routes.post("/drafts/generate", needs=INSTANCE, scope="drafts:generate")
async def run_generation(ask: Reader, seconds: Seconds = GENERATING) -> GeneratedAll:
    """Generate for every workspace whose night has come."""
    report = await generate_for_all(ask.runtime, seconds)
    return GeneratedAll(
        workspaces=report.workspaces,
        posts=report.posts,
        failed=report.failed,
        complete=report.complete,
    )
