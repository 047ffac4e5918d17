"""What wants a person, in one list: each thing with what is wrong and the steps that put it right.

Failed, check needed, missed, held, unapproved soon, accounts that cannot send or soon cannot, posts that
something is missing from. Every step names an operation that exists. Limit: the newest 30 days of what
ended badly, 200 things of each kind; what is due later than a day is not yet anybody's worry.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

import msgspec

from cadenza.core.rollup import DeliveryState as State
from cadenza.posts.pills import COLUMNS, JOINS, Pill, pill_of
from cadenza.sql.tx import Row, Tx

MOST = 200
LOOK_BACK = timedelta(days=30)
LOOK_AHEAD = timedelta(days=1)


class Kind(StrEnum):
    """Why it is in the list."""

    FAILED = "failed"
    NEEDS_CHECK = "needs_check"
    MISSED = "missed"
    HELD = "held"
    UNAPPROVED = "unapproved"
    ACCOUNT = "account"
    BLOCKED = "blocked"


class Step(StrEnum):
    """One thing that a person can do about it."""

    RETRY = "retry"
    EDIT = "edit"
    IT_IS_THERE = "it_is_there"
    SEND_AGAIN = "send_again"
    NEXT_SLOT = "next_slot"
    PUBLISH_NOW = "publish_now"
    TO_DRAFT = "to_draft"
    RESUME = "resume"
    START = "start_workspace"
    RECONNECT = "reconnect"
    APPROVE = "approve"
    APPROVE_AND_PUBLISH = "approve_and_publish_now"
    ADD_MEDIA = "add_media"
    DELETE = "delete"


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """One thing that wants a person."""

    kind: Kind
    subject_id: str  # a delivery, an account or a post
    says: str
    steps: tuple[Step, ...]
    at: datetime
    post_id: str | None = None
    pill: Pill | None = None


STEPS = {
    State.FAILED: (Kind.FAILED, (Step.RETRY, Step.EDIT, Step.DELETE)),
    State.UNCONFIRMED: (Kind.NEEDS_CHECK, (Step.IT_IS_THERE, Step.SEND_AGAIN)),
    State.MISSED: (Kind.MISSED, (Step.NEXT_SLOT, Step.PUBLISH_NOW, Step.TO_DRAFT)),
    State.SCHEDULED: (Kind.HELD, (Step.RESUME,)),
    State.DRAFT: (Kind.UNAPPROVED, (Step.APPROVE, Step.APPROVE_AND_PUBLISH, Step.EDIT)),
}


def needs_attention(tx: Tx, now: datetime, *, workspace_id: str) -> list[Thing]:
    """Return all of it: what is under way to going wrong first, then by time, newest first."""
    found = [
        *_accounts(tx, now, workspace_id),
        *_deliveries(tx, now, workspace_id, _ENDED, lambda _: True),
        *_deliveries(tx, now, workspace_id, _WAITING, _is_held),
        *_deliveries(tx, now, workspace_id, _UNAPPROVED, lambda _: True),
        *_blocked(tx, workspace_id),
    ]
    return sorted(found, key=lambda thing: (_ORDER[thing.kind], -thing.at.timestamp()))


_ORDER = {
    kind: place
    for place, kind in enumerate(
        (
            Kind.ACCOUNT,
            Kind.NEEDS_CHECK,
            Kind.HELD,
            Kind.UNAPPROVED,
            Kind.BLOCKED,
            Kind.FAILED,
            Kind.MISSED,
        )
    )
}
_ENDED = "delivery.state IN ('failed', 'missed', 'unconfirmed') AND delivery.due_at > :back"
_WAITING = "delivery.state = 'scheduled' AND delivery.due_at > :back AND delivery.due_at <= :now"
_UNAPPROVED = (
    "delivery.state = 'draft' AND NOT delivery.approved AND delivery.due_at > :back "
    "AND delivery.due_at <= :ahead"
)


def _deliveries(
    tx: Tx, now: datetime, workspace_id: str, where: str, fits: Callable[[Pill], bool]
) -> list[Thing]:
    instants = {"back": now - LOOK_BACK, "now": now, "ahead": now + LOOK_AHEAD}
    rows = tx.all(
        f"""
        SELECT {COLUMNS} FROM delivery {JOINS}
        JOIN post ON post.workspace_id = delivery.workspace_id AND post.id = delivery.post_id
        WHERE delivery.workspace_id = :workspace_id AND delivery.post_id IS NOT NULL
            AND post.deleted_at IS NULL AND {where}
        ORDER BY delivery.due_at DESC LIMIT :most
        """,  # noqa: S608 - put together from constants
        workspace_id=workspace_id,
        most=MOST,
        **{name: at for name, at in instants.items() if f":{name}" in where},
    )
    pills = ((row, pill_of(row, now)) for row in rows)
    return [_thing(row, pill) for row, pill in pills if fits(pill)]


def _is_held(pill: Pill) -> bool:
    return pill.held is not None


def _thing(row: Row, pill: Pill) -> Thing:
    kind, steps = STEPS[pill.state]
    if kind is Kind.HELD:
        steps = _steps_of_held(row)
    return Thing(
        kind=kind,
        subject_id=pill.delivery_id,
        says=f"{pill.channel} by {pill.handle or pill.account_id}: {_words(pill)}",
        steps=steps,
        at=pill.at,
        post_id=pill.post_id,
        pill=pill,
    )


def _words(pill: Pill) -> str:
    reason = f": {pill.reason}" if pill.reason else ""
    return f"{pill.label.lower()}{reason}"


def _steps_of_held(row: Row) -> tuple[Step, ...]:
    if row["account_state"] not in ("connected", "expiring"):
        return (Step.RECONNECT,)
    if row["stopped_at"] is not None:
        return (Step.START,)
    return (Step.RESUME, Step.TO_DRAFT) if row["paused"] else (Step.TO_DRAFT,)


def _accounts(tx: Tx, now: datetime, workspace_id: str) -> list[Thing]:
    rows = tx.all(
        """
        SELECT id, handle, provider, state, state_reason, token_expires_at, lost_at, created_at FROM account
        WHERE workspace_id = :workspace_id AND state IN ('expiring', 'needs_reconnect', 'suspended')
        ORDER BY id LIMIT :most
        """,
        workspace_id=workspace_id,
        most=MOST,
    )
    return [
        Thing(
            kind=Kind.ACCOUNT,
            subject_id=row["id"],
            says=_account_words(row),
            steps=(Step.RECONNECT,),
            at=row["lost_at"] or row["token_expires_at"] or row["created_at"],
        )
        for row in rows
    ]


def _account_words(row: Row) -> str:
    name = f"{row['handle'] or row['id']} ({row['provider']})"
    if row["state"] == "expiring":
        until = (
            f" on {row['token_expires_at']:%Y-%m-%d %H:%M} UTC" if row["token_expires_at"] else ""
        )
        return f"{name}: its connection ends{until} and could not be renewed"
    reason = f": {row['state_reason']}" if row["state_reason"] else ""
    return f"{name} {row['state'].replace('_', ' ')}{reason}"


def _blocked(tx: Tx, workspace_id: str) -> list[Thing]:
    rows = tx.all(
        """
        SELECT id, title, blockers, updated_at FROM post
        WHERE workspace_id = :workspace_id AND deleted_at IS NULL AND blockers <> '[]'
        ORDER BY created_at DESC LIMIT :most
        """,
        workspace_id=workspace_id,
        most=MOST,
    )
    return [
        Thing(
            kind=Kind.BLOCKED,
            subject_id=row["id"],
            says=f"{row['title'] or 'a post'} {' and '.join(msgspec.json.decode(row['blockers']))}",
            steps=(Step.ADD_MEDIA, Step.EDIT, Step.DELETE),
            at=row["updated_at"],
            post_id=row["id"],
        )
        for row in rows
    ]
