"""Opens a queue again and does what was chosen with what came due meanwhile: never a flood, never a loss.

`shift` (the default): they take the next free slots in order, and what stands behind moves on. `send`:
from now on, spaced; what is over the day's maximum takes slots of later days. `draft`: taken back. The same after a pause, after a reconnect, after an outage and
after a workspace was stopped; `dry_run` gives the same answer and changes nothing. After a reconnect the
lane is open already: only what came due before it is planned. What was timed by hand and came due joins the
line and is listed apart. An account without weekly slots has none to shift to:
there `shift` is `send`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import chain

from cadenza.core.rollup import DeliveryState as State
from cadenza.core.slots import LEAD
from cadenza.db import audit
from cadenza.deliveries import lanes
from cadenza.deliveries.history import record_moves, record_taken_back
from cadenza.deliveries.reasons import Code, Reason
from cadenza.deliveries.resume_plan import SPACING, NotConnected
from cadenza.deliveries.space_out import send_late, take_turns, together
from cadenza.deliveries.transition import Changes, move_posts
from cadenza.queues import store
from cadenza.queues.assign_slots import ALL, Move, assign_slots, entries, to_slot
from cadenza.queues.model import Entry, Moved, NoQueue, NoRoom, Queue
from cadenza.queues.occupancy import Occupancy
from cadenza.queues.shift import shift
from cadenza.queues.spread import spread
from cadenza.sql.tx import Tx

LATE = "it came due while nothing was sent"
MADE_ROOM = "it made room for late posts"


class ResumeChoice(StrEnum):
    """What becomes of what came due while nothing was sent, or was missed."""

    SHIFT = "shift"  # the next free slots
    SEND = "send"  # now, spaced
    DRAFT = "draft"

    @classmethod
    def _missing_(cls, value: object) -> "ResumeChoice | None":
        return _SAID_BEFORE.get(value) if isinstance(value, str) else None


# The words for missed posts before there was one set of choices; programs still say them.
_SAID_BEFORE: dict[str, ResumeChoice] = {
    "next_slot": ResumeChoice.SHIFT,
    "now": ResumeChoice.SEND,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """It runs again: what moved where, what was taken back; `held` came due meanwhile, in order."""

    choice: ResumeChoice
    held: tuple[str, ...]
    by_hand: tuple[str, ...]  # of those, the ones a person had timed
    moved: tuple[Moved, ...]
    taken_back: tuple[str, ...]
    revision: int
    was_paused: bool


def resume(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    account_id: str,
    by: str,
    choice: ResumeChoice = ResumeChoice.SHIFT,
    spacing: timedelta = SPACING,
    since: datetime | None = None,
    stopped: bool = False,
    dry_run: bool = False,
) -> Resumed | NotConnected | NoRoom | NoQueue:
    """Do the choice, then let the account send.

    `since` plans what is late and leaves older ones alone. `stopped`: the workspace was, until now.
    """
    queue = store.hold(tx, workspace_id=workspace_id, account_id=account_id)
    account = _account(tx, workspace_id, account_id, queue)
    if account is None:
        return NoQueue(account_id, "the workspace has no such account")
    if account.state not in ("connected", "expiring"):
        return NotConnected(account.state)
    if choice is ResumeChoice.SHIFT and (isinstance(queue, NoQueue) or queue.schedule.is_empty):
        choice = ResumeChoice.SEND
    is_open = not (account.paused or stopped) and since is None
    until = account.unresumed_until if is_open else None
    held, by_hand = _held(tx, now, account, since, until or now + _TICK)
    moves: list[Move] = []
    over: list[Move] = []
    if choice is ResumeChoice.SHIFT and held and isinstance(queue, Queue):
        laid_out = _shift(tx, now, queue, held)
        if laid_out is None:
            return NoRoom(account_id, "there is no slot left within a year: choose send or draft")
        moves = laid_out
    elif choice is ResumeChoice.SEND:
        turns = [(entry, at, None) for entry, at in take_turns(now, held, spacing)]
        over = _over_the_day(tx, now, queue, turns)
        later = {entry.id for entry, _, _ in over}
        moves = [*(turn for turn in turns if turn[0].id not in later), *over]
    answer = Resumed(
        choice=choice,
        held=tuple(entry.id for entry in held),
        by_hand=by_hand,
        moved=tuple(Moved(entry.id, entry.post_id, entry.at, at) for entry, at, _ in moves),
        taken_back=_all_ids(held) if choice is ResumeChoice.DRAFT else (),
        revision=account.revision + 1,
        was_paused=account.paused,
    )
    if not dry_run:
        _do(tx, now, account, queue, held, answer, moves, over, by=by)
        if since is None:
            lanes.release_due(tx, now, **account.key)
        _open(tx, now, account, answer, by=by)
    return answer


@dataclass(frozen=True, slots=True)
class _Account:
    """Whose lane is opened; `revision` is its queue's, if it has one."""

    workspace_id: str
    account_id: str
    state: str
    paused: bool
    revision: int
    unresumed_until: datetime | None = None

    @property
    def key(self) -> dict[str, str]:
        """Name its rows in a statement."""
        return {"workspace_id": self.workspace_id, "account_id": self.account_id}

    @property
    def lane_id(self) -> str:
        """Name its lane."""
        return f"account:{self.account_id}"


def _account(tx: Tx, workspace_id: str, account_id: str, queue: Queue | NoQueue) -> _Account | None:
    if isinstance(queue, Queue):
        return _Account(
            workspace_id,
            account_id,
            queue.account_state,
            queue.paused,
            queue.revision,
            queue.unresumed_until,
        )
    row = tx.one(
        """
        SELECT account.state, lane.paused, lane.unresumed_until FROM account JOIN lane
            ON lane.workspace_id = account.workspace_id AND lane.id = 'account:' || account.id
        WHERE account.workspace_id = :workspace_id AND account.id = :account_id
        """,
        workspace_id=workspace_id,
        account_id=account_id,
    )
    if row is None:
        return None
    paused, chosen = bool(row["paused"]), row["unresumed_until"]
    return _Account(workspace_id, account_id, row["state"], paused, 0, chosen)


def ended(tx: Tx, now: datetime) -> list[tuple[str, str]]:
    """Name the accounts (workspace, account) whose pause ended by itself: resume them."""
    rows = tx.all(
        """
        SELECT workspace_id, account_id FROM lane
        WHERE paused AND paused_until <= :now AND id = 'account:' || account_id
        ORDER BY paused_until
        """,
        now=now,
    )
    return [(row["workspace_id"], row["account_id"]) for row in rows]


def _held(
    tx: Tx, now: datetime, account: _Account, since: datetime | None, until: datetime
) -> tuple[list[Entry], tuple[str, ...]]:
    """What came due: a post's channels that were due together are one, led by who holds a slot."""
    rows = tx.all(
        """
        SELECT id, post_id, due_at, slot_at, wall_time FROM delivery
        WHERE workspace_id = :workspace_id AND account_id = :account_id AND action = 'post'
            AND state = 'scheduled' AND leased_until IS NULL AND due_at < :until AND due_at >= :since
        ORDER BY due_at, id
        """,
        until=until,
        since=since or now - timedelta(days=3660),
        **account.key,
    )
    found: list[Entry] = []
    by_hand: list[str] = []
    for group in together(rows):
        leader = next((row for row in group if row["slot_at"] is not None), group[0])
        rest = tuple(row["id"] for row in group if row is not leader)
        found.append(
            Entry(leader["id"], leader["post_id"], leader["due_at"], leader["wall_time"], rest)
        )
        if leader["slot_at"] is None:
            by_hand.append(leader["id"])
    return found, tuple(by_hand)


def _shift(tx: Tx, now: datetime, queue: Queue, held: Sequence[Entry]) -> list[Move] | None:
    start = now + LEAD
    behind: Iterator[Entry] = entries(tx, queue, since=now + timedelta(microseconds=1))
    places = shift(
        queue,
        Occupancy(
            tx,
            queue,
            moving_since=now + timedelta(microseconds=1),
            leaving=frozenset(_all_ids(held)),
        ),
        chain(held, behind),
        not_before=start,
        skipped=store.skipped(tx, queue, since=start),
    )
    return None if places.full else [to_slot(entry, slot) for entry, slot in places.moves]


def _over_the_day(
    tx: Tx, now: datetime, queue: Queue | NoQueue, turns: Sequence[Move]
) -> list[Move]:
    """Give slots of later days to what is over the day's maximum, as its gate would when it is sent.

    Where no slot is free within a year, all keep their turns, and the rest waits for the next day.
    """
    if isinstance(queue, NoQueue) or not turns:
        return []
    late = {entry.id for entry, _, _ in turns}
    behind = [
        (entry, entry.at, entry.wall_time)
        for entry in entries(tx, queue, since=now + _TICK, page=ALL)
        if entry.id not in late
    ]
    return spread(tx, now, queue, [*turns, *behind]) or []


def _do(
    tx: Tx,
    now: datetime,
    account: _Account,
    queue: Queue | NoQueue,
    held: Sequence[Entry],
    answer: Resumed,
    moves: Sequence[Move],
    over: Sequence[Move],
    *,
    by: str,
) -> None:
    match answer.choice:
        case ResumeChoice.SHIFT:
            assert isinstance(queue, Queue), "without slots it is sent instead"
            why = dict.fromkeys((move.id for move in answer.moved), MADE_ROOM)
            why |= dict.fromkeys(answer.held, LATE)
            shown = {id_: f"moved on: {words}" for id_, words in why.items()}
            assign_slots(tx, now, queue, moves, by=by, why=why, reason=shown)
        case ResumeChoice.SEND:
            turns = moves[: len(moves) - len(over)]
            late = {id_: at for entry, at, _ in turns for id_ in (entry.id, *entry.followers)}
            send_late(tx, now, account.workspace_id, late)
            record_moves(tx, now, answer.moved[: len(turns)], by=by, why=LATE, **account.key)
            if over:
                assert isinstance(queue, Queue), "without a queue there is no maximum"
                why = f"at most {queue.schedule.max_per_day} a day"
                assign_slots(tx, now, queue, over, by=by, why=why, reason=f"moved on: {why}")
        case ResumeChoice.DRAFT:
            changes = Changes(slot_at=None, reason=Reason.of(Code.TAKEN_BACK_LATE))
            ids = dict.fromkeys(answer.taken_back, changes)
            was = (State.SCHEDULED,)
            move_posts(tx, now, account.workspace_id, ids, was=was, to=State.DRAFT)
            posts = [(entry.post_id or entry.id, entry.at) for entry in held]
            record_taken_back(tx, now, posts, by=by, why=LATE, **account.key)


def _open(tx: Tx, now: datetime, account: _Account, answer: Resumed, *, by: str) -> None:
    lanes.unpark(
        tx,
        accounts=[(account.workspace_id, account.account_id)],
        by=(lanes.RECONNECT, "account", "workspace"),
    )
    lanes.resume(tx, workspace_id=account.workspace_id, scope=account.lane_id)
    tx.run(
        """
        UPDATE queue SET paused_at = NULL, paused_by = NULL
        WHERE workspace_id = :workspace_id AND account_id = :account_id
        """,
        **account.key,
    )
    audit.record(
        tx,
        now,
        workspace_id=account.workspace_id,
        by=by,
        action="queue.resume",
        subject_id=account.account_id,
        after={"choice": answer.choice.value, "held": len(answer.held)},
    )
    store.rise_all(tx, now, account.workspace_id, [account.account_id])


_TICK = timedelta(microseconds=1)


def _all_ids(held: Sequence[Entry]) -> tuple[str, ...]:
    return tuple(id_ for entry in held for id_ in (entry.id, *entry.followers))
