"""Listing jobs: ids come from the smallest index that the filter allows, rows are then checked.

Limit: a filter of several fields reads its smallest index and drops what the others refuse.
"""

from collections.abc import Iterator

from cadenza.engine.job import Filter, Job, State

PAGE = 500
_FINISHED = (State.DONE, State.FAILED, State.CANCELED)


def indexes(wanted: Filter) -> Iterator[list[str]]:
    """Yield lists of indexes, each of which covers all that is wanted."""
    states = wanted.states or tuple(State)
    live = [state for state in states if state not in _FINISHED]
    over = [f"is:{state.value}" for state in states if state in _FINISHED]
    yield (["run"] if live == [State.RUNNING] else ["live"] if live else []) + over
    for kind, value in (
        ("task", wanted.task),
        ("tag", wanted.tag),
        ("lane", wanted.lane),
        ("schedule", wanted.schedule),
    ):
        if value is not None:
            yield [f"by:{kind}:{value}"]


def fits(job: Job, wanted: Filter) -> bool:
    """Say whether a row is wanted; its queue was chosen before."""
    return (
        (wanted.task is None or job.task == wanted.task)
        and (not wanted.states or job.state in wanted.states)
        and (wanted.tag is None or wanted.tag in job.tags)
        and (wanted.lane is None or job.lane == wanted.lane)
        and (wanted.schedule is None or job.schedule == wanted.schedule)
    )
