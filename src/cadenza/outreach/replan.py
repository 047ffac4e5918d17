"""Gives a sequence's unsent messages new times, or other accounts, and says what moves: the diff before and after.

A dry run is this code with its transaction rolled back, so what it shows is what then happens. Times are found from now
on over all that the accounts have planned, in the order that the messages had. With `reassign`, messages of accounts that
cannot send (or of a named one) go to the sequence's others, and people whose message was canceled when their account was
disconnected come back; nothing moves to another account unless somebody asks for it. Run under `replan_locks`.
"""

from collections import defaultdict
from collections.abc import Sequence as Many
from dataclasses import dataclass
from datetime import datetime

from cadenza.accounts.model import SENDING, read_accounts
from cadenza.contacts import store as contacts
from cadenza.core.rollup import DeliveryState as State
from cadenza.db import audit
from cadenza.deliveries.hold import settle_lanes
from cadenza.deliveries.model import COLUMNS, Delivery, NewDelivery, lane_of
from cadenza.deliveries.move_due import move_due, restore
from cadenza.deliveries.reasons import Code, Reason
from cadenza.deliveries.transition import end_waiting
from cadenza.outreach.enroll import wake_planner
from cadenza.outreach.model import (
    Enrolled,
    NoSuchSequence,
    NotNow,
    Sequence,
    SequenceState,
    Unfit,
    account_lock,
    enrolled_of,
    scope_of,
    sequence_lock,
)
from cadenza.outreach.plan import Placed, choose_all, lay_out, read_desk, zones_of
from cadenza.outreach.read_agenda import AccountAgenda, read_agenda
from cadenza.outreach.store import find_sequence
from cadenza.sql.tx import Tx
from cadenza.sql.values import read_values, select

MOST = 5_000  # messages in one go


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageReplanned:
    """A message before and after; `now_at` None: no time was found, and it stays as it is."""

    delivery_id: str
    contact_id: str
    step: int
    was_account_id: str
    account_id: str
    was_at: datetime
    now_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceReplanned:
    """What moved, and how many waited without a time and wait for another account now."""

    moves: tuple[MessageReplanned, ...]
    unassigned: int


Answer = SequenceReplanned | NoSuchSequence | NotNow | Unfit


def replan_locks(tx: Tx, workspace_id: str, sequence_id: str) -> list[str]:
    """Name what a re-plan holds: the sequence, its accounts, and those that left and have planned work."""
    there = find_sequence(tx, workspace_id, sequence_id)
    if isinstance(there, NoSuchSequence):
        return []
    rows = tx.all(
        """
        SELECT DISTINCT account_id FROM sequence_contact
        WHERE workspace_id = :workspace_id AND sequence_id = :id AND account_id IS NOT NULL
        """,
        workspace_id=workspace_id,
        id=sequence_id,
    )
    known = {*there.account_ids, *(row["account_id"] for row in rows)}
    own = [account_lock(workspace_id, id_) for id_ in sorted(known)]
    return [*own, sequence_lock(workspace_id, sequence_id)]


def replan(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    sequence_id: str,
    by: str,
    account_id: str | None = None,
    reassign: bool = False,
) -> Answer:
    """Plan what was not sent again: all of it, one account's, or with `reassign` what lost its account."""
    there = find_sequence(tx, workspace_id, sequence_id)
    if isinstance(there, NoSuchSequence):
        return there
    if there.state not in (SequenceState.RUNNING, SequenceState.PAUSED):
        return NotNow(there.state, f"It is {there.state}: nothing is planned.")
    from_accounts = _accounts_of(tx, there, account_id, reassign=reassign)
    unsent = _unsent(tx, there, from_accounts, gone=reassign)
    if len(unsent) > MOST:
        message = f"{len(unsent)} messages are too many at once: name an account."
        return Unfit("account_id", "too_many", message)
    placed, stay = _place(tx, now, there, unsent, from_accounts if reassign else frozenset())
    moves = _moves(placed, unsent) + [_unmoved(delivery) for delivery in stay]
    _apply(tx, now, there, placed, unsent)
    unassigned = _let_go(tx, now, there, from_accounts) if reassign else 0
    audit.record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="sequence.replan",
        subject_id=sequence_id,
        after={"moved": len(placed), "account": account_id, "reassign": reassign},
    )
    if unassigned:
        wake_planner(tx, now, workspace_id, sequence_id)
    ordered = sorted(moves, key=lambda each: (each.was_at, each.delivery_id))
    return SequenceReplanned(moves=tuple(ordered), unassigned=unassigned)


def _accounts_of(
    tx: Tx, sequence: Sequence, account_id: str | None, *, reassign: bool
) -> frozenset[str]:
    """Name the accounts whose messages are meant: one, those that cannot send, or all that wrote or will."""
    if account_id is not None:
        return frozenset({account_id})
    rows = tx.all(
        """
        SELECT DISTINCT account_id FROM sequence_contact
        WHERE workspace_id = :workspace_id AND sequence_id = :id AND account_id IS NOT NULL
        """,
        workspace_id=sequence.workspace_id,
        id=sequence.id,
    )
    used = {row["account_id"] for row in rows}
    if not reassign:
        return frozenset(used)
    found = read_accounts(tx, [(sequence.workspace_id, id_) for id_ in used])
    able = {account.id for account in found.values() if account.state in SENDING}
    return frozenset(used - (able & set(sequence.account_ids)))


def _unsent(
    tx: Tx, sequence: Sequence, accounts: frozenset[str], *, gone: bool
) -> dict[str, tuple[Enrolled, Delivery]]:
    """Read people with the message that waits for them, by contact, in the order of its time.

    With `gone`, also who was stopped because their message was canceled with its account.
    """
    rows = tx.all(
        f"""
        SELECT there.* FROM sequence_contact there JOIN TABLE(:accounts) AS asked (id text)
            ON there.account_id = asked.id
        WHERE there.workspace_id = :workspace_id AND there.sequence_id = :id
            AND (there.state = 'planned' OR (:gone AND there.state = 'stopped' AND there.cause = 'not_sent'))
        ORDER BY there.contact_id {"FOR UPDATE OF there" if tx.dialect == "postgresql" else ""}
        """,  # noqa: S608 - a constant
        accounts=[(id_,) for id_ in sorted(accounts)],
        workspace_id=sequence.workspace_id,
        id=sequence.id,
        gone=gone,
    )
    people = {one.contact_id: one for one in map(enrolled_of, rows)}
    waiting = read_values(
        Delivery,
        tx.all(
            f"""
            SELECT {COLUMNS} FROM TABLE(:people) AS asked (contact_id text, step integer)
            JOIN delivery ON delivery.workspace_id = :workspace_id AND delivery.sequence_id = :id
                AND delivery.contact_id = asked.contact_id AND delivery.step = asked.step
            WHERE (delivery.state = 'scheduled' AND delivery.leased_until IS NULL)
                OR (:gone AND delivery.state = 'canceled')
            ORDER BY delivery.id {"FOR UPDATE OF delivery" if tx.dialect == "postgresql" else ""}
            """,  # noqa: S608 - constants
            people=sorted((one.contact_id, one.next_step) for one in people.values()),
            workspace_id=sequence.workspace_id,
            id=sequence.id,
            gone=gone,
        ),
    )
    ordered = sorted(waiting, key=lambda each: (each.due_at, each.id))
    return {each.contact_id or "": (people[each.contact_id or ""], each) for each in ordered}


def _place(
    tx: Tx,
    now: datetime,
    sequence: Sequence,
    unsent: dict[str, tuple[Enrolled, Delivery]],
    closed: frozenset[str],
) -> tuple[list[Placed], list[Delivery]]:
    """Find accounts and times; return them, and the messages for which there is none."""
    people = [one for one, _ in unsent.values()]
    chosen = {id_: delivery.account_id for id_, (_, delivery) in unsent.items()}
    if closed:
        desk = read_desk(tx, now, sequence)
        desk.usable = {id_: known for id_, known in desk.usable.items() if id_ not in closed}
        chosen = choose_all(tx, sequence, desk, people)
        tx.run(
            "UPDATE sequence SET turn = :turn WHERE workspace_id = :workspace_id AND id = :id",
            turn=desk.turn,
            workspace_id=sequence.workspace_id,
            id=sequence.id,
        )
    groups: dict[str, list[Enrolled]] = defaultdict(list)
    for one in people:
        if one.contact_id in chosen:
            groups[chosen[one.contact_id]].append(one)
    zones = zones_of(sequence, contacts.load(tx, sequence.workspace_id, list(unsent)))
    accounts = read_accounts(tx, [(sequence.workspace_id, id_) for id_ in groups])
    moving = frozenset(delivery.id for _, delivery in unsent.values())
    placed: list[Placed] = []
    for id_, mine in sorted(groups.items()):
        account = accounts[sequence.workspace_id, id_]
        agendas: dict[str, AccountAgenda] = {}
        for step in {one.step(sequence) for one in mine}:
            assert step is not None, "who has a message has a step"
            if step.action not in agendas:
                agendas[step.action] = read_agenda(
                    tx, now, account, step.action, sequence, without=moving
                )
        placed += lay_out(tx, now, sequence, account, mine, zones, agendas)
    found = [each for each in placed if each.at is not None]
    timed = {each.person.contact_id for each in found}
    return found, [delivery for id_, (_, delivery) in unsent.items() if id_ not in timed]


def _moves(
    placed: Many[Placed], unsent: dict[str, tuple[Enrolled, Delivery]]
) -> list[MessageReplanned]:
    """List what is different afterwards."""
    found: list[MessageReplanned] = []
    for each in placed:
        delivery = unsent[each.person.contact_id][1]
        was = (delivery.account_id, delivery.due_at, delivery.state)
        if was != (each.account_id, each.at, State.SCHEDULED):
            found.append(
                MessageReplanned(
                    delivery_id=delivery.id,
                    contact_id=each.person.contact_id,
                    step=delivery.step,
                    was_account_id=delivery.account_id,
                    account_id=each.account_id,
                    was_at=delivery.due_at,
                    now_at=each.at,
                )
            )
    return found


def _unmoved(delivery: Delivery) -> MessageReplanned:
    return MessageReplanned(
        delivery_id=delivery.id,
        contact_id=delivery.contact_id or "",
        step=delivery.step,
        was_account_id=delivery.account_id,
        account_id=delivery.account_id,
        was_at=delivery.due_at,
        now_at=None,
    )


def _apply(
    tx: Tx,
    now: datetime,
    sequence: Sequence,
    placed: Many[Placed],
    unsent: dict[str, tuple[Enrolled, Delivery]],
) -> None:
    """Write the plan: new times in place, other accounts by ending a message and bringing it back there."""
    later: list[tuple[Delivery, datetime]] = []
    handed: list[tuple[Delivery, Placed]] = []
    for each in placed:
        delivery = unsent[each.person.contact_id][1]
        assert each.at is not None
        if delivery.account_id == each.account_id and delivery.state is State.SCHEDULED:
            later.append((delivery, each.at))
        else:
            handed.append((delivery, each))
    if later:
        move_due(tx, now, later, reason=Reason.of(Code.PLANNED_AGAIN))
    if not handed:
        return
    waiting = [delivery for delivery, _ in handed if delivery.state is State.SCHEDULED]
    end_waiting(tx, now, waiting, State.CANCELED, Reason.of(Code.OTHER_ACCOUNT))
    settle_lanes(tx, waiting)
    fresh = select(tx, Delivery, "delivery", [delivery.key for delivery, _ in handed])
    restore(
        tx,
        now,
        [(fresh[delivery.key], _planned_again(delivery, each)) for delivery, each in handed],
    )
    tx.run(
        """
        UPDATE sequence_contact SET account_id = new.account
        FROM TABLE(:new) AS new (contact_id text, account text)
        WHERE sequence_contact.workspace_id = :workspace_id AND sequence_contact.sequence_id = :id
            AND sequence_contact.contact_id = new.contact_id
        """,
        new=sorted((each.person.contact_id, each.account_id) for _, each in handed),
        workspace_id=sequence.workspace_id,
        id=sequence.id,
    )


def _planned_again(delivery: Delivery, placed: Placed) -> NewDelivery:
    """Return a message as another account sends it."""
    assert placed.at is not None
    return NewDelivery(
        id=delivery.id,
        workspace_id=delivery.workspace_id,
        account_id=placed.account_id,
        channel=delivery.channel,
        action=delivery.action,
        due_at=placed.at,
        content=delivery.content,
        lane_id=lane_of(scope_of(delivery.sequence_id or ""), placed.account_id),
        sequence_id=delivery.sequence_id,
        contact_id=delivery.contact_id,
        step=delivery.step,
        template_version_id=delivery.template_version_id,
        recipient=delivery.recipient,
    )


def _let_go(tx: Tx, now: datetime, sequence: Sequence, accounts: frozenset[str]) -> int:
    """Let people who wait without a time get another account from the planner; return how many."""
    return tx.run(
        """
        UPDATE sequence_contact SET account_id = NULL FROM TABLE(:accounts) AS asked (id text)
        WHERE sequence_contact.workspace_id = :workspace_id AND sequence_contact.sequence_id = :sequence_id
            AND sequence_contact.account_id = asked.id AND state = 'waiting'
        """,
        accounts=[(id_,) for id_ in sorted(accounts)],
        workspace_id=sequence.workspace_id,
        sequence_id=sequence.id,
    )
