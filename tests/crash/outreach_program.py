"""The worker process of the outreach crash test: the pipeline's own, with the planners that count and re-plan."""

import asyncio

from cadenza.bootstrap.register_planners import register_planners
from tests.crash.pipeline_program import main


def run(words: list[str]) -> None:
    """Work as the nursery's child."""
    register_planners()
    asyncio.run(main(*words))
