"""Which queues are known: a mistyped one is refused where a person would believe that they paused it.

Known is a queue that a task declares, a worker takes from, a schedule fills, or that has jobs or a gate, and the
one that jobs go to when nothing else is said. A program may still pause a queue before it is used: `Engine.pause`
doesn't ask.
"""

from cadenza.core.suggest import did_you_mean
from cadenza.engine.client import Engine
from cadenza.engine.errors import UnknownName

USUAL = "default"
NAMED = 20  # a refusal names no more


async def known_queues(engine: Engine) -> frozenset[str]:
    """Name every queue that something is known of."""
    return frozenset(
        (
            USUAL,
            *(task.options.queue for task in engine.tasks.values()),
            *(each.queue for each in await engine.tally()),
            *(each.scope.queue for each in await engine.gates()),
            *(each.queue for each in await engine.schedules()),
            *(queue for each in await engine.workers() for queue in each.queues),
        )
    )


async def check_queue(engine: Engine, queue: str) -> None:
    """Refuse a queue that nothing is known of; the refusal names those that are."""
    known = await known_queues(engine)
    if queue not in known:
        named = sorted(known)
        more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
        raise UnknownName(
            f"no queue {queue!r} is known: there are {', '.join(named[:NAMED])}{more}."
            f"{did_you_mean(queue, known)}"
        )
