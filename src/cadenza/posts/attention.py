"""What wants a person, in one list: each thing with what is wrong and the steps that put it right.

Failed, check needed, missed, held, waiting for an approval, accounts that cannot send or soon cannot, posts that
something is missing from. Every step names an operation that exists. Limit: the newest 30 days of what
ended badly, 200 things of each kind.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

import msgspec

from cadenza.core.rollup import DeliveryState as State
from cadenza.posts.holds import Hold, account_state
from cadenza.posts.model import NEEDS_COPY, NEEDS_MEDIA
from cadenza.posts.pills import COLUMNS, JOINS, Pill, pill_of
from cadenza.sql.tx import Row, Tx

MOST = 200
LOOK_BACK = timedelta(days=30)


class AttentionKind(StrEnum):
    """Why it is in the list."""

    FAILED = "failed"
    NEEDS_CHECK = "needs_check"
    MISSED = "missed"
    HELD = "held"
    UNAPPROVED = "unapproved"
    ACCOUNT = "account"
    BLOCKED = "blocked"


class AttentionReason(StrEnum):
    """What exactly is the matter: it decides what is offered, and the word on the button."""

    REFUSED = "refused"
    GAVE_UP = "gave_up"
    UNCONFIRMED = "unconfirmed"
    MISSED = "missed"
    PAUSED = "paused"
    CAME_DUE = "came_due"  # while the account was disconnected; it can send again
    STOPPED = "workspace_stopped"
    HELD_BY_ACCOUNT = "held_by_account"
    HELD_BY_SUSPENSION = "held_by_suspension"
    NETWORK_WAITS = "network_waits"
    NOT_APPROVED = "not_approved"
    CONNECTION_ENDS = "connection_ends"
    CONNECTION_LOST = "connection_lost"
    SUSPENDED = "suspended"
    NEEDS_COPY = "needs_copy"
    NEEDS_MEDIA = "needs_media"
    NEEDS_COPY_AND_MEDIA = "needs_copy_and_media"
    DOES_NOT_FIT = "does_not_fit"


class Step(StrEnum):
    """One thing that a person can do about it."""

    RETRY = "retry"
    EDIT = "edit"
    WRITE = "write"
    IT_IS_THERE = "it_is_there"
    SEND_AGAIN = "send_again"
    NEXT_SLOT = "next_slot"
    PUBLISH_NOW = "publish_now"
    TO_DRAFT = "to_draft"
    RESUME = "resume"
    START = "start_workspace"
    RECONNECT = "reconnect"
    LIFT = "lift_suspension"
    APPROVE = "approve"
    APPROVE_AND_PUBLISH = "approve_and_publish_now"
    ADD_MEDIA = "add_media"
    DELETE = "delete"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionItem:
    """One thing that wants a person."""

    kind: AttentionKind
    reason: AttentionReason
    subject_id: str  # a delivery, an account or a post
    message: str
    steps: tuple[Step, ...]
    at: datetime  # when it is due, if that is still to come; else when it came to this
    post_id: str | None = None
    pill: Pill | None = None
    fence: int | None = None  # of a delivery: which try a decision is about


# The first step is the one that is offered; the others stand beside it.
STEPS: Mapping[AttentionReason, tuple[AttentionKind, tuple[Step, ...]]] = {
    AttentionReason.REFUSED: (AttentionKind.FAILED, (Step.EDIT, Step.RETRY, Step.DELETE)),
    AttentionReason.GAVE_UP: (AttentionKind.FAILED, (Step.RETRY, Step.EDIT, Step.DELETE)),
    AttentionReason.UNCONFIRMED: (AttentionKind.NEEDS_CHECK, (Step.IT_IS_THERE, Step.SEND_AGAIN)),
    AttentionReason.MISSED: (
        AttentionKind.MISSED,
        (Step.NEXT_SLOT, Step.PUBLISH_NOW, Step.TO_DRAFT),
    ),
    AttentionReason.PAUSED: (AttentionKind.HELD, (Step.RESUME, Step.TO_DRAFT)),
    AttentionReason.CAME_DUE: (AttentionKind.HELD, (Step.RESUME, Step.PUBLISH_NOW, Step.TO_DRAFT)),
    AttentionReason.STOPPED: (AttentionKind.HELD, (Step.START,)),
    AttentionReason.HELD_BY_ACCOUNT: (AttentionKind.HELD, (Step.RECONNECT,)),
    AttentionReason.HELD_BY_SUSPENSION: (AttentionKind.HELD, (Step.LIFT,)),
    AttentionReason.NETWORK_WAITS: (AttentionKind.HELD, (Step.TO_DRAFT,)),
    AttentionReason.NOT_APPROVED: (
        AttentionKind.UNAPPROVED,
        (Step.APPROVE, Step.APPROVE_AND_PUBLISH, Step.EDIT),
    ),
    AttentionReason.CONNECTION_ENDS: (AttentionKind.ACCOUNT, (Step.RECONNECT,)),
    AttentionReason.CONNECTION_LOST: (AttentionKind.ACCOUNT, (Step.RECONNECT,)),
    AttentionReason.SUSPENDED: (AttentionKind.ACCOUNT, (Step.LIFT,)),
    AttentionReason.DOES_NOT_FIT: (AttentionKind.BLOCKED, (Step.EDIT, Step.TO_DRAFT, Step.DELETE)),
    AttentionReason.NEEDS_COPY: (AttentionKind.BLOCKED, (Step.WRITE, Step.DELETE)),
    AttentionReason.NEEDS_MEDIA: (AttentionKind.BLOCKED, (Step.ADD_MEDIA, Step.EDIT, Step.DELETE)),
    AttentionReason.NEEDS_COPY_AND_MEDIA: (AttentionKind.BLOCKED, (Step.WRITE, Step.DELETE)),
}
_ACCOUNTS = {
    "expiring": AttentionReason.CONNECTION_ENDS,
    "needs_reconnect": AttentionReason.CONNECTION_LOST,
    "suspended": AttentionReason.SUSPENDED,
}
_SAME_AGAIN = ("Transient", "TryLater", "NotReady")  # outcomes that another try may mend


def needs_attention(tx: Tx, now: datetime, *, workspace_id: str) -> list[AttentionItem]:
    """Return all of it by kind; what is still ahead the soonest first, what happened the newest first."""
    found = [
        *_accounts(tx, now, workspace_id),
        *(
            thing
            for ended in _ENDED
            for thing in _deliveries(tx, now, workspace_id, ended, lambda _: True)
        ),
        *_deliveries(tx, now, workspace_id, _WAITING, _is_held),
        *_deliveries(tx, now, workspace_id, _UNAPPROVED, lambda _: True, order="ASC"),
        *_deliveries(tx, now, workspace_id, _UNFIT, lambda pill: not _is_held(pill), order="ASC"),
        *_blocked(tx, workspace_id),
    ]
    return sorted(found, key=_place)


def _place(thing: AttentionItem) -> tuple[int, float]:
    ahead = thing.kind in (
        AttentionKind.UNAPPROVED,
        AttentionKind.BLOCKED,
    )  # they come in their order
    return _ORDER[thing.kind], 0.0 if ahead else -thing.at.timestamp()


_ORDER = {
    kind: place
    for place, kind in enumerate(
        (
            AttentionKind.ACCOUNT,
            AttentionKind.NEEDS_CHECK,
            AttentionKind.HELD,
            AttentionKind.UNAPPROVED,
            AttentionKind.BLOCKED,
            AttentionKind.FAILED,
            AttentionKind.MISSED,
        )
    )
}
_CAME_TO = """(
    SELECT attempt.outcome FROM attempt
    WHERE attempt.workspace_id = delivery.workspace_id AND attempt.delivery_id = delivery.id
    ORDER BY attempt.lease DESC, attempt.part DESC LIMIT 1
)"""
# One state at a time, and not `sent`: so SQLite takes the index by state, not a walk through all of a month.
_ENDED = [
    f"delivery.state = '{state}' AND delivery.state <> 'sent' AND delivery.due_at > :back"
    for state in ("failed", "missed", "unconfirmed")
]
_WAITING = (
    "delivery.state = 'scheduled' AND delivery.state <> 'sent' "
    "AND delivery.due_at > :back AND delivery.due_at <= :now"
)
# However far ahead: somebody wrote it and waits. One that lacks something cannot be approved: it is told of as that.
_UNAPPROVED = (
    "delivery.state = 'draft' AND delivery.state <> 'sent' AND NOT delivery.approved AND delivery.due_at > :back "
    "AND post.blockers = '[]' AND delivery.unfit IS NULL"
)
# However far ahead: somebody planned it and thinks that it goes out.
_UNFIT = (
    "delivery.unfit IS NOT NULL AND delivery.state IN ('draft', 'scheduled') "
    "AND post.blockers = '[]'"
)


def _deliveries(
    tx: Tx,
    now: datetime,
    workspace_id: str,
    where: str,
    fits: Callable[[Pill], bool],
    *,
    order: str = "DESC",
) -> list[AttentionItem]:
    instants = {"back": now - LOOK_BACK, "now": now}
    rows = tx.all(
        f"""
        SELECT {COLUMNS}, delivery.lease, delivery.crashes, {_CAME_TO} AS came_to FROM delivery {JOINS}
        JOIN post ON post.workspace_id = delivery.workspace_id AND post.id = delivery.post_id
        WHERE delivery.workspace_id = :workspace_id AND delivery.post_id IS NOT NULL
            AND post.deleted_at IS NULL AND {where}
        ORDER BY delivery.due_at {order} LIMIT :most
        """,  # noqa: S608 - put together from constants
        workspace_id=workspace_id,
        most=MOST,
        **{name: at for name, at in instants.items() if f":{name}" in where},
    )
    pills = ((row, pill_of(row, now)) for row in rows)
    return [_thing(row, pill) for row, pill in pills if fits(pill)]


def _is_held(pill: Pill) -> bool:
    return pill.held is not None


def _thing(row: Row, pill: Pill) -> AttentionItem:
    reason = _reason(row, pill)
    kind, steps = STEPS[reason]
    return AttentionItem(
        kind=kind,
        reason=reason,
        subject_id=pill.delivery_id,
        message=f"{pill.channel} by {pill.handle or pill.account_id}: {_words(pill)}",
        steps=steps,
        at=pill.at,
        post_id=pill.post_id,
        pill=pill,
        fence=row["lease"],
    )


def _reason(row: Row, pill: Pill) -> AttentionReason:
    if pill.unfit is not None and pill.held is None:
        return AttentionReason.DOES_NOT_FIT
    match pill.state:
        case State.FAILED:
            return _why_failed(row)
        case State.UNCONFIRMED:
            return AttentionReason.UNCONFIRMED
        case State.MISSED:
            return AttentionReason.MISSED
        case State.DRAFT:
            return AttentionReason.NOT_APPROVED
        case _:
            return _why_held(row, pill)


def _why_failed(row: Row) -> AttentionReason:
    """Tell what the same words again may mend from what wants other words."""
    crashed = row["came_to"] is None and row["crashes"] > 0
    return (
        AttentionReason.GAVE_UP
        if crashed or row["came_to"] in _SAME_AGAIN
        else AttentionReason.REFUSED
    )


def _words(pill: Pill) -> str:
    reason = f": {pill.reason}" if pill.reason else ""
    return f"{pill.label.lower()}{reason}"


def _why_held(row: Row, pill: Pill) -> AttentionReason:
    code = pill.held.code if pill.held is not None else Hold.WAIT
    if code is Hold.ACCOUNT and row["account_state"] == "suspended":
        return AttentionReason.HELD_BY_SUSPENSION
    return _HELD[code]


_HELD = {
    Hold.ACCOUNT: AttentionReason.HELD_BY_ACCOUNT,
    Hold.STOPPED: AttentionReason.STOPPED,
    Hold.PAUSED: AttentionReason.PAUSED,
    Hold.CAME_DUE: AttentionReason.CAME_DUE,
    Hold.WAIT: AttentionReason.NETWORK_WAITS,
}


def _accounts(tx: Tx, now: datetime, workspace_id: str) -> list[AttentionItem]:
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
        AttentionItem(
            kind=AttentionKind.ACCOUNT,
            reason=_ACCOUNTS[row["state"]],
            subject_id=row["id"],
            message=_account_words(row),
            steps=STEPS[_ACCOUNTS[row["state"]]][1],
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
    return f"{name} {account_state(row['state'])}{reason}"


def _blocked(tx: Tx, workspace_id: str) -> list[AttentionItem]:
    rows = tx.all(
        """
        SELECT post.id, post.title, post.blockers, post.created_at, (
            SELECT min(delivery.due_at) FROM delivery
            WHERE delivery.workspace_id = post.workspace_id AND delivery.post_id = post.id
                AND delivery.state IN ('draft', 'scheduled')
        ) AS due_at FROM post
        WHERE post.workspace_id = :workspace_id AND post.deleted_at IS NULL AND post.blockers <> '[]'
        ORDER BY due_at NULLS LAST, post.created_at DESC LIMIT :most
        """,
        workspace_id=workspace_id,
        most=MOST,
    )
    return [_lacking(row, set(msgspec.json.decode(row["blockers"]))) for row in rows]


def _lacking(row: Row, blockers: set[str]) -> AttentionItem:
    if blockers >= {NEEDS_COPY, NEEDS_MEDIA}:
        reason = AttentionReason.NEEDS_COPY_AND_MEDIA
    else:
        reason = (
            AttentionReason.NEEDS_MEDIA if NEEDS_MEDIA in blockers else AttentionReason.NEEDS_COPY
        )
    kind, steps = STEPS[reason]
    return AttentionItem(
        kind=kind,
        reason=reason,
        subject_id=row["id"],
        message=f"{row['title'] or 'a post'} {' and '.join(sorted(blockers))}",
        steps=steps,
        at=row["due_at"] or row["created_at"],
        post_id=row["id"],
    )
