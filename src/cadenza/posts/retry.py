"""Tries once more what failed or was missed of a post, and nothing else: what is out is never touched.

The error stays in the attempts. An unconfirmed send is not retried: a person settles it first, or finds it settled.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from cadenza.core.rollup import DeliveryState as State
from cadenza.db.audit import record
from cadenza.deliveries.expedite import Instant, retime
from cadenza.deliveries.hold import hold_post
from cadenza.deliveries.render import Files
from cadenza.posts.find import Hold, find
from cadenza.posts.model import NoSuchPost
from cadenza.posts.preflight import DoesNotFit, refuse_unfit
from cadenza.posts.publish_now import NotApproved
from cadenza.sql.tx import Tx


class NotFailed(NamedTuple):
    """A delivery that was asked for and has not failed."""

    delivery_id: str
    state: State


@dataclass(frozen=True, slots=True)
class Retrying:
    """These go again, from now on; `left` were asked for and have not failed."""

    deliveries: tuple[str, ...]
    left: tuple[NotFailed, ...] = ()


Answer = Retrying | NoSuchPost | NotApproved | DoesNotFit


def retry(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    post_id: str,
    by: str,
    only: Collection[str] | None = None,
    files: Files | None = None,
) -> Answer:
    """Retry `only` these deliveries of a post, or all that failed or were missed."""
    post = find(tx, workspace_id, post_id, hold=Hold.CHANGE)
    if isinstance(post, NoSuchPost):
        return post
    if not post.approved:
        return NotApproved()
    held = [row for row in hold_post(tx, workspace_id, post_id) if only is None or row.id in only]
    lost = [row for row in held if row.state in (State.FAILED, State.MISSED)]
    if unfit := refuse_unfit(tx, workspace_id, lost, files):
        return unfit
    retime(tx, now, lost, {row.id: Instant(now, "", "") for row in lost})
    if lost:
        record(
            tx,
            now,
            workspace_id=workspace_id,
            by=by,
            action="post.retry",
            subject_id=post_id,
            after={"deliveries": [row.id for row in lost]},
        )
    requested = held if only is not None else []
    left = tuple(NotFailed(row.id, row.state) for row in requested if row not in lost)
    return Retrying(tuple(row.id for row in lost), left)
