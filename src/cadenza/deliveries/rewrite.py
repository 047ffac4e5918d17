"""Gives a post's deliveries new content, as long as none of it has left.

What waits gets the new content and a higher revision; what a worker had claimed is taken back, so that
it is claimed again with the new words. What is being sent, unconfirmed or sent keeps what it was permitted
with and is reported as frozen. What failed or was missed is rewritten too: a retry sends the new words.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries.check_fit import find_unfit, flag
from cadenza.deliveries.hold import settle_lanes
from cadenza.deliveries.model import ComposedPost, Delivery
from cadenza.deliveries.reasons import Code, Reason
from cadenza.deliveries.transition import Changes, Move, move
from cadenza.sql.tx import Tx

FROZEN = frozenset({State.SENDING, State.UNCONFIRMED, State.SENT})
CHANGED = Reason.of(Code.CONTENT_CHANGED)


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


def rewrite(
    tx: Tx, now: datetime, held: Sequence[Delivery], pieces: Sequence[ComposedPost]
) -> Rewritten:
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
        _write(tx, now, changed)
    return Rewritten(tuple(row.id for row, _ in changed), frozen)


def _write(tx: Tx, now: datetime, changed: Sequence[tuple[Delivery, ComposedPost]]) -> None:
    rows = [row for row, _ in changed]
    unfit = find_unfit(tx, rows[0].workspace_id, [piece for _, piece in changed])
    moves: list[Move] = []
    for row, piece in changed:
        changes = Changes(
            approved=row.approved and piece.approved,
            revised=True,
            content=piece.content,
            unfit=flag(unfit.get((row.account_id, row.channel), ())),
        )
        kept = Move(row, row.state, changes)
        moves.append(kept if piece.approved else withdraw(row, changes, CHANGED))
    move(tx, now, moves)
    settle_lanes(tx, rows)


def withdraw(row: Delivery, changes: Changes, reason: Reason) -> Move:
    """Make a draft of what is scheduled, for the reason given; anything else keeps its state and its reason."""
    if row.state is State.SCHEDULED:
        return Move(row, State.DRAFT, changes | {"reason": reason})
    return Move(row, row.state, changes)
