"""Names the locks of an act on a post: the accounts that it has deliveries for, and those that are named.

Acts on posts hold deliveries and then their lanes, acts on queues the other way round; the accounts' locks,
taken before either, keep the two from waiting for each other. Limit: they are read before the transaction,
so a place that a post gets in between is not among them; then the database lets one of the two start over.
"""

from collections.abc import Sequence

from cadenza.api.request_context import ReadContext
from cadenza.posts.targets import Targets
from cadenza.queues.model import locks
from cadenza.sql.tx import Tx


async def post_locks(
    ask: ReadContext, post_id: str | None, targets: Targets | None = None
) -> Sequence[str]:
    """Name the locks of what is about to be done with a post, at these targets too."""
    named = {each if isinstance(each, str) else each[0] for each in targets or ()}
    there: list[str] = []
    if post_id is not None:
        there = await ask.read(lambda tx, _: _accounts(tx, ask.workspace_id, post_id))
    return locks(ask.workspace_id, *there, *named)


def _accounts(tx: Tx, workspace_id: str, post_id: str) -> list[str]:
    rows = tx.all(
        """
        SELECT DISTINCT account_id FROM delivery
        WHERE workspace_id = :workspace_id AND post_id = :post_id
            AND state NOT IN ('canceled', 'skipped')
        """,
        workspace_id=workspace_id,
        post_id=post_id,
    )
    return [row["account_id"] for row in rows]
