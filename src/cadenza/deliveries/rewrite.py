"""Gives a post's deliveries new content, as long as none of it has left.

What waits gets the new content and a higher revision; what a worker had claimed is taken back, so that
it is claimed again with the new words. What is being sent, unconfirmed or sent keeps what it was permitted
with and is reported as frozen. What failed or was missed is rewritten too: a retry sends the new words.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries.check_fit import find_unfit, flag
from cadenza.deliveries.hold import settle_lanes
from cadenza.deliveries.model import ComposedPost, Delivery
from cadenza.sql.tx import Tx

FROZEN = frozenset({State.SENDING, State.UNCONFIRMED, State.SENT})


@dataclass(frozen=True, slots=True)
class Frozen:
    """It keeps what it had: the permit was given before."""

    id: str
    account_id: str
    channel: str
    state: State


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The deliveries with new content, and those that it came too late for."""

    changed: tuple[str, ...]
    frozen: tuple[Frozen, ...]


def rewrite(tx: Tx, held: Sequence[Delivery], pieces: Sequence[ComposedPost]) -> Rewritten:
    """Write pieces into the deliveries that `hold_post` returned; unapproved ones become drafts."""
    by_place = {(piece.account_id, piece.channel): piece for piece in pieces}
    paired = [
        (row, by_place[row.account_id, row.channel])
        for row in held
        if (row.account_id, row.channel) in by_place
    ]
    frozen = tuple(
        Frozen(row.id, row.account_id, row.channel, row.state)
        for row, piece in paired
        if row.state in FROZEN and row.content != piece.content
    )
    changed = [
        (row, piece)
        for row, piece in paired
        if row.state not in FROZEN
        and (row.content != piece.content or (row.approved and not piece.approved))
    ]
    if changed:
        _write(tx, changed)
    return Rewritten(tuple(row.id for row, _ in changed), frozen)


def _write(tx: Tx, changed: Sequence[tuple[Delivery, ComposedPost]]) -> None:
    rows = [row for row, _ in changed]
    unfit = find_unfit(tx, rows[0].workspace_id, [piece for _, piece in changed])
    tx.run(
        """
        UPDATE delivery SET content = new.content, revision = revision + 1, prepared = NULL, unready_at = NULL,
            approved = CASE WHEN new.kept THEN approved ELSE false END,
            state = CASE WHEN state = 'scheduled' AND NOT new.kept THEN 'draft' ELSE state END,
            reason = CASE WHEN state = 'scheduled' AND NOT new.kept
                THEN 'its content was changed after the approval' ELSE reason END,
            lease = lease + 1, leased_until = NULL, worker = NULL, unfit = new.unfit
        FROM TABLE(:new) AS new (workspace_id text, id text, content text, kept boolean, unfit text)
        WHERE delivery.workspace_id = new.workspace_id AND delivery.id = new.id
        """,
        new=[
            (
                row.workspace_id,
                row.id,
                piece.content,
                piece.approved,
                flag(unfit.get((row.account_id, row.channel), ())),
            )
            for row, piece in changed
        ],
    )
    settle_lanes(tx, rows)
