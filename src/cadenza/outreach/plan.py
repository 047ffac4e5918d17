"""Gives people in a sequence their times: first who writes to them, then when, a chunk at a time.

The cursor is the rows themselves: who has an account was assigned, who is planned has a delivery. So a run that is cut
short goes on where it stopped, and two at once cannot plan a person twice. A preview goes through the same two steps
and stores nothing. Times are found under the account's lock, over all that the account has planned.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Sequence as Many
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from cadenza.accounts.model import SENDING, Account, read_accounts
from cadenza.contacts import store as contacts
from cadenza.contacts.model import Contact
from cadenza.contacts.variables import address_for, variables_of
from cadenza.core.offset_spans import to_instant
from cadenza.deliveries.init_account import DEFAULTS
from cadenza.deliveries.model import Action, Delivery, NewDelivery, lane_of
from cadenza.deliveries.move_due import restore
from cadenza.deliveries.schedule import AlreadyThere, schedule
from cadenza.outreach.assign import Desk, choose
from cadenza.outreach.find_time import Found, Limit, luck_of
from cadenza.outreach.model import (
    ACTIONS,
    Assignment,
    ContactState,
    Enrolled,
    NoSuchSequence,
    Sequence,
    SequenceState,
    Step,
    StepVariant,
    StopCause,
    enrolled_of,
    scope_of,
    step_of,
)
from cadenza.outreach.read_agenda import AccountAgenda, expect, read_agenda, read_caps, waits_of
from cadenza.outreach.store import can_send, find_sequence
from cadenza.sql.tx import Tx
from cadenza.sql.values import select
from cadenza.templates.fill_in import Reference
from cadenza.templates.render import Incomplete, RenderedMessage, render
from cadenza.templates.store import load_versions

ASSIGNED = 5_000  # people in one transaction
PLANNED = 1_000
MOST_SHOWN = 200_000  # people in a preview
NO_TIME = "no_time"
AGAIN = timedelta(days=1)  # who found no time is looked at again
Unsubscribe = Callable[[str, str], str | None]  # workspace and address to a link


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A person's next message with its time, or why there is none."""

    person: Enrolled
    step: Step
    account_id: str
    at: datetime | None
    day: date | None
    limit: Limit | None


@dataclass(frozen=True, slots=True)
class ChunkDone:
    """What one chunk did; `left`: there is more to do for this account."""

    planned: int
    stopped: int
    left: bool


def list_waiting(
    tx: Tx, now: datetime, workspace_id: str, sequence_id: str, *, limit: int = MOST_SHOWN
) -> list[Enrolled]:
    """List who waits for a time, in the order of planning."""
    rows = tx.all(
        f"""
        SELECT * FROM sequence_contact
        WHERE workspace_id = :workspace_id AND sequence_id = :sequence_id AND state = 'waiting'
            AND ready_at <= :now
        ORDER BY {_ORDER} LIMIT :limit
        """,  # noqa: S608 - a constant
        workspace_id=workspace_id,
        sequence_id=sequence_id,
        now=now,
        limit=limit,
    )
    return [enrolled_of(row) for row in rows]


# Follow-ups come first: their people wait already.
_ORDER = "CASE WHEN next_step = 0 THEN 1 ELSE 0 END, position"


def assign_chunk(tx: Tx, now: datetime, *, workspace_id: str, sequence_id: str) -> int:
    """Give the next people an account; return how many got one. Run under `sequence_lock`."""
    there = find_sequence(tx, workspace_id, sequence_id)
    if isinstance(there, NoSuchSequence) or there.state is not SequenceState.RUNNING:
        return 0
    rows = tx.all(
        """
        SELECT * FROM sequence_contact
        WHERE workspace_id = :workspace_id AND sequence_id = :sequence_id AND state = 'waiting'
            AND account_id IS NULL AND ready_at <= :now
        ORDER BY position LIMIT :limit
        """,
        workspace_id=workspace_id,
        sequence_id=sequence_id,
        now=now,
        limit=ASSIGNED,
    )
    people = [enrolled_of(row) for row in rows]
    if not people:
        return 0
    desk = read_desk(tx, now, there)
    chosen = choose_all(tx, there, desk, people)
    tx.run(
        """
        UPDATE sequence_contact SET account_id = new.account_id
        FROM TABLE(:new) AS new (contact_id text, account_id text)
        WHERE sequence_contact.workspace_id = :workspace_id AND sequence_contact.sequence_id = :sequence_id
            AND sequence_contact.contact_id = new.contact_id
        """,
        new=sorted(chosen.items()),
        workspace_id=workspace_id,
        sequence_id=sequence_id,
    )
    _leave(
        tx,
        there,
        [(one.contact_id, "no_account") for one in people if one.contact_id not in chosen],
        now + AGAIN,
    )
    tx.run(
        "UPDATE sequence SET turn = :turn WHERE workspace_id = :workspace_id AND id = :id",
        turn=desk.turn,
        workspace_id=workspace_id,
        id=sequence_id,
    )
    return len(people)


def read_desk(tx: Tx, now: datetime, sequence: Sequence) -> Desk:
    """Read how the accounts of a sequence stand."""
    found = read_accounts(tx, [(sequence.workspace_id, id_) for id_ in sequence.account_ids])
    accounts = {account.id: account for account in found.values()}
    usable = {
        id_: frozenset(channel for channel in ACTIONS if can_send(account, channel))
        for id_, account in accounts.items()
        if account.state in SENDING
    }
    desk = Desk(sequence.account_ids, usable, turn=sequence.turn)
    if sequence.assignment is Assignment.BALANCED:
        desk.load = _loads(tx, sequence)
        channel = sequence.steps[0].channel if sequence.steps else None
        action = Action.EMAIL if channel is None else ACTIONS[channel]
        desk.caps = {
            id_: read_caps(tx, now, account, action)[0].day or DEFAULTS[action][0]
            for id_, account in accounts.items()
        }
    return desk


def choose_all(
    tx: Tx, sequence: Sequence, desk: Desk, people: Iterable[Enrolled]
) -> dict[str, str]:
    """Choose accounts for people in their order, by contact; who gets none is left out."""
    everybody = list(people)
    sticky = sequence.assignment is Assignment.STICKY
    asked = [one for one in everybody if sticky or one.next_step > 0]
    before = _wrote_before(tx, sequence, asked, everywhere=sticky)
    chosen: dict[str, str] = {}
    for one in sorted(everybody, key=lambda one: one.position):
        step = one.step(sequence)
        if step is None:
            continue
        account = choose(
            desk, sequence.assignment, step.channel, before=before.get(one.contact_id, ())
        )
        if account is not None:
            chosen[one.contact_id] = account
    return chosen


def plan_account(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    sequence_id: str,
    account_id: str,
    unsubscribe: Unsubscribe | None = None,
    limit: int = PLANNED,
) -> ChunkDone:
    """Plan the next people of one account. Run under the account's and the sequence's lock."""
    there = find_sequence(tx, workspace_id, sequence_id)
    account = read_accounts(tx, [(workspace_id, account_id)]).get((workspace_id, account_id))
    if (
        isinstance(there, NoSuchSequence)
        or there.state is not SequenceState.RUNNING
        or account is None
    ):
        return ChunkDone(0, 0, left=False)
    people = _waiting_of(tx, now, there, account_id, limit)
    if not people:
        return ChunkDone(0, 0, left=False)
    known = contacts.load(tx, workspace_id, [one.contact_id for one in people])
    gone, ready = _sort_out(there, people, known)
    placed = lay_out(tx, now, there, account, ready, zones_of(there, known))
    _stop(tx, there, gone)
    taken = _take(tx, there, [each for each in placed if each.at is not None])
    new = [
        _delivery(tx, there, each, known[each.person.contact_id], unsubscribe)
        for each in placed
        if each.person.contact_id in taken
    ]
    _store(tx, now, new)
    _leave(
        tx,
        there,
        [(each.person.contact_id, each.limit or NO_TIME) for each in placed if each.at is None],
        now + AGAIN,
    )
    return ChunkDone(len(new), len(gone), left=len(people) == limit)


def lay_out(
    tx: Tx,
    now: datetime,
    sequence: Sequence,
    account: Account,
    people: Iterable[Enrolled],
    zones: Mapping[str, str | None],
    agendas: dict[str, AccountAgenda] | None = None,
) -> list[Placed]:
    """Find a time for each person's next message, in order; nothing is stored."""
    agendas = {} if agendas is None else agendas
    found: list[Placed] = []
    cursors: dict[str, int] = {}
    for one in people:
        step = one.step(sequence)
        assert step is not None, "who has no step left is not planned"
        action = step.action
        made = agendas.get(action)
        if made is None:
            made = agendas[action] = read_agenda(tx, now, account, action, sequence)
        is_first = one.next_step == 0
        earliest = made.earliest(one.last_sent_at, step.wait_days, max(now, one.ready_at))
        if is_first:  # in their order, behind those who were planned before
            earliest = max(earliest, cursors.get(action, made.last_first.get(sequence.id, 0)))
        place = made.agenda.find(
            earliest,
            luck_of(sequence.id, account.id, one.contact_id, one.next_step),
            common=made.common_with(zones.get(one.contact_id)),
        )
        if isinstance(place, Found):
            made.agenda.book(place.at, day=place.day)
            if not one.messages:
                expect(made, place.day, waits_of(sequence, action)[one.next_step + 1 :])
            if is_first:
                cursors[action] = place.at
        found.append(
            Placed(
                person=one,
                step=step,
                account_id=account.id,
                at=to_instant(place.at) if isinstance(place, Found) else None,
                day=date.fromordinal(place.day) if isinstance(place, Found) else None,
                limit=place.limit,
            )
        )
    return found


def zones_of(sequence: Sequence, known: Mapping[str, Contact]) -> dict[str, str | None]:
    """Return the zones whose hours hold as well, by contact."""
    if not sequence.recipient_hours:
        return {}
    return {id_: contact.zone for id_, contact in known.items()}


def pick_variant(sequence_id: str, contact_id: str, number: int, step: Step) -> StepVariant:
    """Return the variant that a person gets: by shares, the same one however often it is asked."""
    total = sum(each.share for each in step.variants)
    left = luck_of("variant", sequence_id, contact_id, number).gap * total
    for each in step.variants:
        left -= each.share
        if left < 0:
            return each
    return step.variants[-1]


def subject_before(tx: Tx, sequence: Sequence, one: Enrolled, contact: Contact, number: int) -> str:
    """Return the subject of a person's step, as it was sent."""
    step = step_of(sequence, one.messages, number)
    if one.messages:
        return one.messages[number].subject
    if step is None or not step.variants:
        return ""
    chosen = pick_variant(sequence.id, one.contact_id, number, step)
    version = load_versions(tx, sequence.workspace_id, [chosen.template_version_id]).get(
        chosen.template_version_id
    )
    if version is None:
        return ""
    made = render(version, variables_of(contact), channel=step.channel)
    return "" if isinstance(made, Incomplete) else made.subject


def _delivery(
    tx: Tx,
    sequence: Sequence,
    placed: Placed,
    contact: Contact,
    unsubscribe: Unsubscribe | None,
) -> NewDelivery:
    one, step = placed.person, placed.step
    address = address_for(contact, step.channel) or ""
    link = None
    if unsubscribe is not None and step.channel == "email":
        link = unsubscribe(sequence.workspace_id, address)
    version_id = None
    if one.messages:
        ready = one.messages[one.next_step]
        made = RenderedMessage(channel=step.channel, text=ready.text, subject=ready.subject)
        content = made.content(recipient_name=contact.name, unsubscribe_url=link)
    else:
        version_id = pick_variant(
            sequence.id, one.contact_id, one.next_step, step
        ).template_version_id
        content = Reference(
            variables=variables_of(contact),
            recipient_name=contact.name,
            unsubscribe_url=link,
            **_thread(step, one),
        ).content()
    assert placed.at is not None
    return NewDelivery(
        id=tx.new_id(),
        workspace_id=sequence.workspace_id,
        account_id=placed.account_id,
        channel=step.channel,
        action=step.action,
        due_at=placed.at,
        content=content,
        lane_id=lane_of(scope_of(sequence.id), placed.account_id),
        sequence_id=sequence.id,
        contact_id=one.contact_id,
        step=one.next_step,
        template_version_id=version_id,
        recipient=address,
    )


def _thread(step: Step, one: Enrolled) -> dict[str, Any]:
    """Answer the mail before, where there is a real one: its id and its subject."""
    if not step.same_thread or one.thread_id is None:
        return {}
    said: dict[str, Any] = {"options": {"in_reply_to": one.thread_id}}
    if one.thread_subject:
        before = one.thread_subject
        said["subject"] = before if before[:3].lower() == "re:" else f"Re: {before}"
    return said


def _store(tx: Tx, now: datetime, new: Many[NewDelivery]) -> None:
    """Add deliveries; what was canceled when somebody was paused comes back with its new time."""
    answers = zip(new, schedule(tx, now, new, fits=True), strict=True)
    there = {answer.id: one for one, answer in answers if isinstance(answer, AlreadyThere)}
    if there:
        known = select(
            tx, Delivery, "delivery", [(one.workspace_id, id_) for id_, one in there.items()]
        )
        restore(tx, now, [(each, there[each.id]) for each in known.values()])


def _waiting_of(
    tx: Tx, now: datetime, sequence: Sequence, account_id: str, limit: int
) -> list[Enrolled]:
    rows = tx.all(
        f"""
        SELECT * FROM sequence_contact
        WHERE workspace_id = :workspace_id AND sequence_id = :sequence_id AND state = 'waiting'
            AND account_id = :account_id AND ready_at <= :now
        ORDER BY {_ORDER} LIMIT :limit
        """,  # noqa: S608 - a constant
        workspace_id=sequence.workspace_id,
        sequence_id=sequence.id,
        account_id=account_id,
        now=now,
        limit=limit,
    )
    return [enrolled_of(row) for row in rows]


def _sort_out(
    sequence: Sequence, people: Many[Enrolled], known: Mapping[str, Contact]
) -> tuple[list[tuple[str, str]], list[Enrolled]]:
    """Part those who cannot be written to (with the reason) from the others."""
    gone: list[tuple[str, str]] = []
    ready: list[Enrolled] = []
    for one in people:
        step, contact = one.step(sequence), known.get(one.contact_id)
        if contact is None:
            gone.append((one.contact_id, "the contact was deleted"))
        elif step is None:
            gone.append((one.contact_id, "there is no step left"))
        elif address_for(contact, step.channel) is None:
            gone.append((one.contact_id, f"the contact has no address for {step.channel}"))
        else:
            ready.append(one)
    return gone, ready


def _take(tx: Tx, sequence: Sequence, placed: Many[Placed]) -> set[str]:
    """Mark people as planned who still wait; return them."""
    rows = tx.all(
        """
        UPDATE sequence_contact SET state = 'planned', cause = NULL, detail = NULL
        FROM TABLE(:new) AS new (contact_id text, step integer)
        WHERE sequence_contact.workspace_id = :workspace_id AND sequence_contact.sequence_id = :sequence_id
            AND sequence_contact.contact_id = new.contact_id AND state = 'waiting' AND next_step = new.step
        RETURNING sequence_contact.contact_id
        """,
        new=sorted((each.person.contact_id, each.person.next_step) for each in placed),
        workspace_id=sequence.workspace_id,
        sequence_id=sequence.id,
    )
    return {row["contact_id"] for row in rows}


def _stop(tx: Tx, sequence: Sequence, gone: Many[tuple[str, str]]) -> None:
    _set_state(
        tx,
        sequence,
        [(id_, ContactState.STOPPED, StopCause.NOT_SENT, detail) for id_, detail in gone],
    )


def _set_state(tx: Tx, sequence: Sequence, rows: Many[tuple[str, str, str, str]]) -> None:
    if rows:
        tx.run(
            """
            UPDATE sequence_contact SET state = new.becomes, cause = new.why, detail = new.more
            FROM TABLE(:new) AS new (contact_id text, becomes text, why text, more text)
            WHERE sequence_contact.workspace_id = :workspace_id AND sequence_contact.sequence_id = :sequence_id
                AND sequence_contact.contact_id = new.contact_id AND state = 'waiting'
            """,
            new=sorted(rows),
            workspace_id=sequence.workspace_id,
            sequence_id=sequence.id,
        )


def _leave(tx: Tx, sequence: Sequence, people: Many[tuple[str, str]], until: datetime) -> None:
    """Let people without a time wait, with the reason, and look again later."""
    if people:
        tx.run(
            """
            UPDATE sequence_contact SET cause = :cause, detail = new.why, ready_at = :later_at
            FROM TABLE(:new) AS new (contact_id text, why text)
            WHERE sequence_contact.workspace_id = :workspace_id AND sequence_contact.sequence_id = :sequence_id
                AND sequence_contact.contact_id = new.contact_id AND state = 'waiting'
            """,
            new=sorted(people),
            cause=NO_TIME,
            later_at=until,
            workspace_id=sequence.workspace_id,
            sequence_id=sequence.id,
        )


def _loads(tx: Tx, sequence: Sequence) -> dict[str, float]:
    """Count what accounts have ahead: planned by anybody, and assigned here."""
    load: Counter[str] = Counter()
    for row in tx.all(
        """
        SELECT delivery.account_id, count(*) AS ahead FROM TABLE(:ids) AS asked (id text)
        JOIN delivery ON delivery.workspace_id = :workspace_id AND delivery.account_id = asked.id
            AND state IN ('draft', 'scheduled') AND action IN ('email', 'message', 'connection_request', 'inmail')
        GROUP BY delivery.account_id
        """,
        ids=[(id_,) for id_ in sequence.account_ids],
        workspace_id=sequence.workspace_id,
    ):
        load[row["account_id"]] += row["ahead"]
    for row in tx.all(
        """
        SELECT account_id, count(*) AS ahead FROM sequence_contact
        WHERE workspace_id = :workspace_id AND sequence_id = :sequence_id AND state = 'waiting'
            AND account_id IS NOT NULL
        GROUP BY account_id
        """,
        workspace_id=sequence.workspace_id,
        sequence_id=sequence.id,
    ):
        load[row["account_id"]] += row["ahead"]
    return dict(load)


def _wrote_before(
    tx: Tx, sequence: Sequence, people: Many[Enrolled], *, everywhere: bool
) -> dict[str, list[str]]:
    """Return who wrote to people before, the last one first: in this sequence, or in any."""
    if not people:
        return {}
    here = "" if everywhere else "AND delivery.sequence_id = :sequence_id"
    rows = tx.all(
        f"""
        SELECT delivery.contact_id, delivery.account_id FROM TABLE(:ids) AS asked (id text)
        JOIN delivery ON delivery.workspace_id = :workspace_id AND delivery.contact_id = asked.id
        WHERE delivery.state = 'sent' {here}
        ORDER BY delivery.contact_id, delivery.sent_at DESC, delivery.id
        """,  # noqa: S608 - a constant
        ids=[(one.contact_id,) for one in people],
        workspace_id=sequence.workspace_id,
        **({} if everywhere else {"sequence_id": sequence.id}),
    )
    found: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        if row["account_id"] not in found[row["contact_id"]]:
            found[row["contact_id"]].append(row["account_id"])
    return found
