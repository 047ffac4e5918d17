"""The one writer of deliveries: their insert, and every change of state, due time, reason or place, a batch a statement.

Whoever changes deliveries hands over what it read and what becomes of it. A move must be in `TRANSITIONS`, is written
only where the delivery is still as it was read (the fence), and is counted for its planner in the same transaction.
Who isn't the holder raises the fence, so that a worker that has it writes nothing any more; the holder's own moves
(permit, refusal, settlement) keep it. What moved on meanwhile is left alone: the answer names what moved. Leases
themselves are in `leases.py`. The caller says again when lanes may be looked at.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple, TypedDict

from msgspec import structs

from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries import planners
from cadenza.deliveries.model import TRANSITIONS, Delivery, NewDelivery
from cadenza.deliveries.planners import Transition
from cadenza.deliveries.reasons import Reason
from cadenza.providers.outcome import Outcome
from cadenza.sql.tx import Tx
from cadenza.sql.values import Key


class Changes(TypedDict, total=False):
    """What a move writes besides the state; what isn't named stays."""

    due_at: datetime | None  # None: as it is
    put_off_until: datetime | None  # due then, and remembers when it was due
    reason: Reason | None
    slot_at: datetime | None
    wall_time: str | None
    zone: str | None
    pinned: str | None
    priority: int
    not_after_at: datetime | None
    look_at: datetime | None  # when an unconfirmed send is looked into again
    clear_id: str | None
    approved: bool
    content: str
    unfit: str | None
    parts_sent: str  # JSON
    lane_id: str
    account_id: str
    template_version_id: str | None
    recipient: str | None
    revised: bool  # the content or its approval is another: what was prepared is of no use
    fresh: bool  # all tries are before it again
    erased: bool  # nothing that tells of the recipient stays
    attempt: int  # the number of the call that begins
    unburnt: int  # attempts that were none
    failed: int  # tries that did not come to the call
    deferred: int
    crashes: int
    restart: bool  # prepare it again
    unready: bool  # the network works on it
    remote_id: str | None  # None: as it is
    url: str | None  # likewise
    moved_to: str | None  # the recipient's new address
    called_at: datetime | None  # when it was sent, if not now


class Move(NamedTuple):
    """A delivery as it was read, the state that it gets (or keeps), and what else is written."""

    delivery: Delivery
    to: State
    changes: Changes
    outcome: Outcome | None = None  # of the call that makes it so


AS_APPROVED = "approved"  # for `move_posts`: scheduled, or a draft while nobody approved it
WAITING = (State.DRAFT, State.SCHEDULED)
# Whose move counts: who read it as it still is; its holder; anybody, while it is unconfirmed.
READ = "lease = held AND state = was AND (leased_until IS NULL) = free"
BEGINS = "lease = held AND state = was AND revision = seen"
HELD = "lease = held AND leased_until IS NOT NULL AND state IN ('scheduled', 'sending')"
UNCONFIRMED = "state = 'unconfirmed'"
POSTS = "campaign_id IS NULL AND sequence_id IS NULL"  # no planner counts them
_RELEASED = {"leased_until": "NULL", "worker": "NULL"}
_TAKEN = {"lease": "lease + 1", **_RELEASED}
_STAMPS = {
    "state": "{0}",
    "failed_at": "CASE WHEN {0} = state THEN failed_at WHEN {0} = 'failed' THEN :now END",
    "ended_at": "CASE WHEN {0} = state THEN ended_at WHEN {0} IN ('missed', 'canceled', 'skipped') THEN :now END",
    "look_at": "CASE WHEN {0} = state THEN look_at END",
}
_BECOMES = "new.becomes"
_APPROVED = "(CASE WHEN approved THEN 'scheduled' ELSE 'draft' END)"


def _as_given(name: str) -> dict[str, str]:
    return {name: f"new.{name}"}


def _reset(name: str, to: str, *, when: str) -> dict[str, str]:
    return {name: f"CASE WHEN new.{when} THEN {to} ELSE delivery.{name} END"}


# Each change: the type of its value, and what it writes.
_WRITES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "due_at": ("timestamptz", {"due_at": "coalesce(new.due_at, delivery.due_at)"}),
    "put_off_until": (
        "timestamptz",
        {
            "was_due_at": "CASE WHEN new.put_off_until IS NULL THEN was_due_at ELSE delivery.due_at END",
            "due_at": "coalesce(new.put_off_until, delivery.due_at)",
        },
    ),
    **{name: ("text", _as_given(name)) for name in ("reason", "reason_code", "reason_params")},
    **{name: ("text", _as_given(name)) for name in ("wall_time", "zone", "pinned")},
    **{name: ("text", _as_given(name)) for name in ("clear_id", "content", "unfit", "parts_sent")},
    **{name: ("text", _as_given(name)) for name in ("lane_id", "account_id", "recipient")},
    "template_version_id": ("text", _as_given("template_version_id")),
    **{name: ("timestamptz", _as_given(name)) for name in ("slot_at", "not_after_at", "look_at")},
    "priority": ("integer", _as_given("priority")),
    "approved": ("boolean", _as_given("approved")),
    "revised": (
        "boolean",
        {
            "revision": "revision + CASE WHEN new.revised THEN 1 ELSE 0 END",
            **_reset("prepared", "NULL", when="revised"),
            **_reset("unready_at", "NULL", when="revised"),
        },
    ),
    "fresh": (
        "boolean",
        {
            **_reset("attempts", "0", when="fresh"),
            **_reset("failures", "0", when="fresh"),
            **_reset("crashes", "0", when="fresh"),
            **_reset("deferrals", "0", when="fresh"),
            **_reset("prepared", "NULL", when="fresh"),
            **_reset("unready_at", "NULL", when="fresh"),
        },
    ),
    "erased": (
        "boolean",
        {
            **_reset("prepared", "NULL", when="erased"),
            **_reset("parts_sent", "'[]'", when="erased"),
            **_reset("remote_id", "NULL", when="erased"),
            **_reset("url", "NULL", when="erased"),
        },
    ),
    "attempt": ("integer", {"attempts": "new.attempt", "last_attempt_at": ":now"}),
    "unburnt": ("integer", {"attempts": "attempts - new.unburnt"}),
    "failed": ("integer", {"failures": "failures + new.failed"}),
    "deferred": ("integer", {"deferrals": "deferrals + new.deferred"}),
    "crashes": ("integer", _as_given("crashes")),
    "restart": ("boolean", _reset("prepared", "NULL", when="restart")),
    "unready": (
        "boolean",
        {
            "unready_at": "CASE WHEN new.unready THEN coalesce(unready_at, :now)"
            " WHEN new.deferred > 0 THEN unready_at END"
        },
    ),
    "remote_id": ("text", {"remote_id": "coalesce(new.remote_id, delivery.remote_id)"}),
    "url": ("text", {"url": "coalesce(new.url, delivery.url)"}),
    "moved_to": ("text", {"recipient": "coalesce(new.moved_to, delivery.recipient)"}),
    "called_at": (
        "timestamptz",
        {
            "sent_at": "CASE WHEN new.becomes = 'sent' THEN coalesce(new.called_at, :now) ELSE sent_at END"
        },
    ),
}


def insert(
    tx: Tx, now: datetime, new: Sequence[NewDelivery], unfit: Mapping[str, str | None]
) -> set[Key]:
    """Add deliveries that aren't there yet, in slots that are free; return those that were added."""
    rows = tx.all(
        f"""
        INSERT INTO delivery (lane_id, state, unfit, {_GIVEN}, created_at)
        SELECT lane, becomes, unfit, {_GIVEN}, :now FROM TABLE(:new) AS new (
            workspace_id text, id text, account_id text, channel text, action text, post_id text,
            campaign_id text, sequence_id text, contact_id text, step integer, template_version_id text,
            audience_id text, recipient text, due_at timestamptz, wall_time text, zone text, slot_at timestamptz,
            not_after_at timestamptz, priority integer, content text, approved boolean, mode text,
            retry_limit integer, quiet text, lane text, becomes text, unfit text
        ) WHERE true
        ON CONFLICT DO NOTHING
        RETURNING workspace_id, id
        """,  # noqa: S608 - put together from constants
        new=[
            (*_given(each), each.lane, as_approved(each).value, unfit.get(each.id)) for each in new
        ],
        now=now,
    )
    return {(row["workspace_id"], row["id"]) for row in rows}


_GIVEN = """workspace_id, id, account_id, channel, action, post_id, campaign_id, sequence_id, contact_id, step,
    template_version_id, audience_id, recipient, due_at, wall_time, zone, slot_at, not_after_at, priority, content,
    approved, mode, retry_limit, quiet"""
_given = attrgetter(*_GIVEN.replace(",", " ").split())


def as_approved(delivery: NewDelivery | Delivery) -> State:
    """Say how it waits: scheduled, or a draft while nobody approved it."""
    return State.SCHEDULED if delivery.approved else State.DRAFT


def move(tx: Tx, now: datetime, moves: Sequence[Move]) -> list[Transition]:
    """Move deliveries that this transaction has read; a worker that holds one loses it. Return what moved."""
    return _move(tx, now, moves, fence=READ, lease=_TAKEN)


def end_waiting(
    tx: Tx, now: datetime, waiting: Iterable[Delivery], state: State, reason: Reason
) -> list[Transition]:
    """Cancel, miss or skip deliveries that this transaction has read; return those that still waited."""
    changes = Changes(reason=reason)
    if state is State.SKIPPED:  # its place is another's
        changes["slot_at"] = None
    return move(tx, now, [Move(each, state, changes) for each in waiting])


def begin_calls(tx: Tx, now: datetime, moves: Sequence[Move]) -> list[Transition]:
    """Let holders send deliveries as they were read: an edit, a cancel or a void in between wins."""
    return _move(tx, now, moves, fence=BEGINS, lease={})


def move_held(tx: Tx, now: datetime, moves: Sequence[Move]) -> list[Transition]:
    """Move what its worker still holds, as the worker knows it, out of its hands."""
    return _move(tx, now, moves, fence=HELD, lease=_RELEASED)


def move_unconfirmed(tx: Tx, now: datetime, moves: Sequence[Move]) -> list[Transition]:
    """Move what is unconfirmed by now, whoever sent it: evidence, or when to look again."""
    once = {each.delivery.key: each for each in moves}.values()
    was = [each._replace(delivery=_unconfirmed(each.delivery)) for each in once]
    return _move(tx, now, was, fence=UNCONFIRMED, lease={})


def move_posts(
    tx: Tx,
    now: datetime,
    workspace_id: str,
    changes: Mapping[str, Changes],
    *,
    was: Collection[State] = WAITING,
    to: State | str | None = None,
) -> set[str]:
    """Move posts by id that are in one of these states and nobody holds; `to` None: each keeps its state.

    Slots may be handed round among them: all are free before they are given. Return the ids of what moved. Run it
    under the lane's lock, as queues do.
    """
    _check(was, WAITING if to == AS_APPROVED else [to] if isinstance(to, State) else was)
    if not changes:
        return set()
    rows = [(workspace_id, id_, *_fence(None), _word(to), each) for id_, each in changes.items()]
    states = ", ".join(f"'{state}'" for state in sorted(was))
    fence = f"leased_until IS NULL AND {POSTS} AND state IN ({states})"
    if sum(each.get("slot_at") is not None for each in changes.values()) > 1:
        _write(tx, now, [(*row[:-1], Changes(slot_at=None)) for row in rows], fence, {}, None)
    after = None if to is None else _APPROVED if to == AS_APPROVED else _BECOMES
    return {id_ for _, id_, _ in _write(tx, now, rows, fence, _TAKEN, after)}


def restore_due(tx: Tx, *, workspace_id: str, account_id: str, since: datetime) -> list[Key]:
    """Let an account's deliveries that were put off beyond an instant be due as they were; return their lanes."""
    rows = tx.all(
        """
        UPDATE delivery SET due_at = was_due_at, was_due_at = NULL
        WHERE workspace_id = :workspace_id AND account_id = :account_id
            AND was_due_at IS NOT NULL AND due_at >= :since
            AND state = 'scheduled' AND leased_until IS NULL
        RETURNING workspace_id, lane_id
        """,
        workspace_id=workspace_id,
        account_id=account_id,
        since=since,
    )
    return [(row["workspace_id"], row["lane_id"]) for row in rows]


def remove(tx: Tx, workspace_id: str, ids: Sequence[tuple[str]]) -> None:
    """Delete deliveries that ended; whoever asks has deleted what refers to them."""
    tx.run(
        """
        DELETE FROM delivery WHERE workspace_id = :workspace_id AND id IN (SELECT id FROM TABLE(:ids) AS asked (id text))
        """,
        workspace_id=workspace_id,
        ids=ids,
    )


def put_off_quiet(tx: Tx, lane: Key, quiet: str, until: datetime, *, most: int) -> None:
    """Put off those of a lane whose recipients are left alone by the same clock: they remember when they were due."""
    tx.run(
        """
        UPDATE delivery SET was_due_at = coalesce(was_due_at, due_at), due_at = :until
        WHERE workspace_id = :workspace_id AND id IN (
            SELECT id FROM delivery
            WHERE workspace_id = :workspace_id AND lane_id = :lane_id AND state = 'scheduled'
                AND leased_until IS NULL AND due_at < :until AND quiet = :quiet
            ORDER BY due_at LIMIT :most
        )
        """,
        workspace_id=lane[0],
        lane_id=lane[1],
        quiet=quiet,
        until=until,
        most=most,
    )


def _unconfirmed(delivery: Delivery) -> Delivery:
    return structs.replace(delivery, state=State.UNCONFIRMED)


def _check(before: Iterable[State], after: Iterable[State]) -> None:
    for was in before:
        for to in after:
            assert was is to or (was, to) in TRANSITIONS, f"{was} does not become {to}"


def _move(
    tx: Tx, now: datetime, moves: Sequence[Move], *, fence: str, lease: Mapping[str, str]
) -> list[Transition]:
    if not moves:
        return []
    for each in moves:
        _check([each.delivery.state], [each.to])
    rows = [
        (*each.delivery.key, *_fence(each.delivery), each.to.value, each.changes) for each in moves
    ]
    won = _write(tx, now, rows, fence, lease, _BECOMES)
    if fence in (HELD, BEGINS):
        moved = [each for each in moves if each.delivery.fence in won]
    else:
        keys = {(workspace_id, id_) for workspace_id, id_, _ in won}
        moved = [each for each in moves if each.delivery.key in keys]
    transitions = [Transition(each.delivery, each.to, each.outcome) for each in moved]
    planners.count(tx, now, transitions)
    return transitions


def _fence(read: Delivery | None) -> tuple[object, ...]:
    if read is None:
        return None, None, None, None
    return read.lease, read.state.value, read.revision, not read.is_leased


def _word(to: State | str | None) -> str | None:
    return to.value if isinstance(to, State) else None


def _write(
    tx: Tx,
    now: datetime,
    rows: Sequence[tuple[Any, ...]],
    fence: str,
    lease: Mapping[str, str],
    after: str | None,
) -> set[tuple[str, str, int]]:
    alike: dict[tuple[str, ...], list[tuple[object, ...]]] = {}
    for *fenced, changes in rows:
        names, values = _stored(changes)
        alike.setdefault(names, []).append((*fenced, *values))
    found: set[tuple[str, str, int]] = set()
    for names, new in alike.items():
        sql = _statement(names, fence, tuple(lease.items()), after)
        for row in tx.all(sql, new=sorted(new, key=_key), now=now):
            found.add((row["workspace_id"], row["id"], row["lease"]))
    return found


def _stored(changes: Changes) -> tuple[tuple[str, ...], tuple[object, ...]]:
    """Return what changes write, by name; a reason is its sentence, its code and its parameters."""
    if "reason" not in changes:
        return tuple(changes), tuple(changes.values())
    reason = changes["reason"]
    rest = {name: value for name, value in changes.items() if name != "reason"}
    stored = (None, None, None) if reason is None else reason.stored
    return (*_REASON, *rest), (*stored, *rest.values())


_REASON = ("reason", "reason_code", "reason_params")


def _key(row: tuple[Any, ...]) -> Key:
    """Name the row: in one order two writers never wait for each other in a ring."""
    return row[:2]


@cache
def _statement(
    names: tuple[str, ...], fence: str, lease: tuple[tuple[str, str], ...], after: str | None
) -> str:
    written = {} if after is None else {name: sql.format(after) for name, sql in _STAMPS.items()}
    written |= dict(lease)
    for name in names:
        written |= _WRITES[name][1]
    typed = "".join(f", {name} {_WRITES[name][0]}" for name in names)
    return f"""
        UPDATE delivery SET {", ".join(f"{name} = {sql}" for name, sql in written.items())}
        FROM TABLE(:new) AS new (
            workspace_id text, id text, held bigint, was text, seen integer, free boolean, becomes text{typed}
        )
        WHERE delivery.workspace_id = new.workspace_id AND delivery.id = new.id AND {fence}
        RETURNING delivery.workspace_id, delivery.id, lease
    """  # noqa: S608 - put together from constants
