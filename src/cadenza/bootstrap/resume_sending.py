"""After a person confirmed a restore: what becomes of the posts that were set aside because they may be out.

`check` leaves them missed, to be looked at one by one; the other choices are those for any missed post, for
every account at once. Each account is a transaction of its own, after sending was let go on: what a crash
leaves undone stays missed, where a person sees it. Limit: an account without a queue keeps its posts missed.
"""

from functools import partial

from cadenza.bootstrap.overdue import Overdue, Rescheduled
from cadenza.deliveries.installation import list_maybe_sent
from cadenza.queues.missed import Rescued, rescue_missed
from cadenza.queues.move_over_daily_max import locks_of
from cadenza.queues.resume import ResumeChoice
from cadenza.sql.transactions import Operations


async def reschedule_overdue(operations: Operations, overdue: Overdue, *, by: str) -> Rescheduled:
    """Do the choice for every account; return what came of it."""
    waiting = await operations.read(list_maybe_sent)
    total = sum(len(ids) for ids in waiting.values())
    if overdue is Overdue.CHECK:
        return Rescheduled(left=total)
    moved = drafts = 0
    for (workspace_id, account_id), ids in waiting.items():
        done = await operations.run(
            partial(
                rescue_missed,
                workspace_id=workspace_id,
                account_id=account_id,
                choice=ResumeChoice(overdue.value),
                by=by,
                ids=ids,
            ),
            locks=locks_of(workspace_id, account_id),
        )
        if isinstance(done, Rescued):
            drafts += len(done.drafts)
            moved += len(ids) - len(done.drafts) - len(done.full) - len(done.gone)
    return Rescheduled(moved, drafts, total - moved - drafts)
