"""One pill an account and channel: how a delivery shows, in words, with its time, link and reason.

Pure: from rows that `read.py` joined. What holds it is told by `holds.py`. A place
that was canceled and taken up again shows what lives; only a place with nothing else shows as canceled.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from cadenza.core.rollup import DROPPED, Leg, RollUp, roll_up
from cadenza.core.rollup import DeliveryState as State
from cadenza.posts.holds import HOLDS, Held, Hold, held_by
from cadenza.sql.tx import Row

# What `pill_of` needs of a delivery's surroundings, for a query that joins them.
COLUMNS = f"""
    delivery.workspace_id, delivery.id, delivery.post_id, delivery.account_id, delivery.channel,
    delivery.state, delivery.reason, delivery.due_at, delivery.wall_time, delivery.zone, delivery.slot_at,
    delivery.approved, delivery.attempts, delivery.leased_until, delivery.url, delivery.sent_at,
    delivery.failed_at, delivery.last_attempt_at, delivery.created_at, delivery.revision, delivery.unfit,
    CASE WHEN delivery.state = 'unconfirmed' THEN (
        SELECT max(attempt.began_at) FROM attempt
        WHERE attempt.workspace_id = delivery.workspace_id AND attempt.delivery_id = delivery.id
    ) END AS doubted_at,
    account.handle, account.provider, account.zone AS account_zone, {HOLDS}
"""  # noqa: S608 - a constant
JOINS = """
    JOIN account ON account.workspace_id = delivery.workspace_id AND account.id = delivery.account_id
    JOIN lane ON lane.workspace_id = delivery.workspace_id AND lane.id = delivery.lane_id
    JOIN workspace ON workspace.id = delivery.workspace_id
"""
WORDS = {
    State.SENDING: "Publishing",
    State.SENT: "Published",
    State.FAILED: "Failed",
    State.UNCONFIRMED: "Check needed",
    State.MISSED: "Missed",
    State.CANCELED: "Canceled",
    State.SKIPPED: "Skipped",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pill:
    """How one delivery shows."""

    delivery_id: str
    post_id: str
    account_id: str
    handle: str
    provider: str
    channel: str
    state: State
    label: str  # always said, never by colour alone
    at: datetime  # of its sending or failing or of the call unconfirmed, else when it is due
    zone: str
    wall_time: str | None
    url: str | None = None
    reason: str | None = None
    held: Held | None = None
    unfit: str | None = None  # why its channel would refuse it, while it has not been sent
    attempts: int = 0
    last_attempt_at: datetime | None = None


def pill_of(row: Row, now: datetime) -> Pill:
    """Show one delivery."""
    state = State(row["state"])
    held = held_by(row, now)
    unfit = row["unfit"] if state in (State.DRAFT, State.SCHEDULED) else None
    return Pill(
        delivery_id=row["id"],
        post_id=row["post_id"],
        account_id=row["account_id"],
        handle=row["handle"],
        provider=row["provider"],
        channel=row["channel"],
        state=state,
        label=_label(row, state, held),
        # What is unconfirmed is due when we look for it again: people want to know when it was sent.
        at=row["sent_at"] or row["failed_at"] or row["doubted_at"] or row["due_at"],
        zone=row["zone"] or row["account_zone"],
        wall_time=row["wall_time"],
        url=row["url"],
        reason=held.message if held else unfit or row["reason"],
        held=held,
        unfit=unfit,
        attempts=row["attempts"],
        last_attempt_at=row["last_attempt_at"],
    )


def pills_of(rows: Iterable[Row], now: datetime) -> tuple[Pill, ...]:
    """Show the deliveries of one post: one pill an account and channel, by time."""
    best: dict[tuple[str, str], Row] = {}
    for row in sorted(rows, key=lambda row: (row["created_at"], row["id"])):
        place = (row["account_id"], row["channel"])
        if place not in best or row["state"] not in DROPPED or best[place]["state"] in DROPPED:
            best[place] = row
    pills = (pill_of(row, now) for row in best.values())
    return tuple(sorted(pills, key=lambda pill: (pill.at, pill.account_id, pill.channel)))


def roll_up_of(rows: Iterable[Row]) -> RollUp:
    """Say how the post shows as a whole."""
    return roll_up(Leg(State(row["state"]), row["due_at"], row["sent_at"]) for row in rows)


def _label(row: Row, state: State, held: Held | None) -> str:
    if state is State.DRAFT:
        return "Taken back" if row["approved"] else "Waits for approval"
    if state is State.SCHEDULED:
        if held is not None:
            return "Paused" if held.code is Hold.PAUSED else "Held"
        if row["unfit"] is not None:
            return "Can't be sent"
        return "Retrying" if row["attempts"] else "Scheduled"
    return WORDS[state]
