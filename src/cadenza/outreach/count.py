"""What becomes of a sequence's deliveries, and other times for those that a limit sent back.

Called by the pipeline in the transaction that decides it, under the account's lock. A step that was sent lets the next
one be planned by a job; one that cannot be sent any more stops the sequence for that person, so that nobody gets a
follow-up to a message that never came.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from cadenza.accounts.model import Account, read_accounts
from cadenza.contacts import store as contacts
from cadenza.core.channels import Channel
from cadenza.core.offset_spans import to_instant, to_second
from cadenza.core.rollup import DeliveryState as State
from cadenza.core.zones import get_zone, local_day
from cadenza.deliveries.gates import RECIPIENT_HOURS
from cadenza.deliveries.model import Delivery
from cadenza.deliveries.planners import Planner, Refused, Transition
from cadenza.deliveries.read_recipients import read_zones
from cadenza.outreach import model
from cadenza.outreach.enroll import wake_planner
from cadenza.outreach.find_time import Found, luck_of
from cadenza.outreach.model import (
    ContactState,
    Enrolled,
    SequenceState,
    StopCause,
    enrolled_of,
)
from cadenza.outreach.plan import subject_before
from cadenza.outreach.read_agenda import AccountAgenda, read_agenda
from cadenza.outreach.store import can_send, load_sequences
from cadenza.sql.tx import Row, Tx
from cadenza.sql.values import Key

NEVER = datetime(9999, 1, 1, tzinfo=UTC)  # until something happens
ACCEPTANCE = "accepted"  # what a person's next step waits for
_LOST = frozenset({State.FAILED, State.SKIPPED, State.MISSED, State.CANCELED})


class SequencePlanner(Planner):
    """Sequences, as the pipeline knows them."""

    announces = False

    def count(self, tx: Tx, now: datetime, transitions: Sequence[Transition]) -> None:
        """Move people on to their next step, or stop the sequence for them."""
        of: dict[str, list[Transition]] = defaultdict(list)
        for each in transitions:
            of[each.delivery.workspace_id].append(each)
        for workspace_id, moved in sorted(of.items()):
            _count(tx, now, workspace_id, moved)

    def replan(self, tx: Tx, now: datetime, refused: Sequence[Refused]) -> Mapping[Key, datetime]:
        """Return the next free times of other days; a gap, and an hour's cap, are waited for in place."""
        moved: dict[Key, datetime] = {}
        agendas: dict[tuple[Key, str], AccountAgenda] = {}
        accounts = read_accounts(tx, {each.delivery.account_key for each in refused})
        zones = read_zones(tx, {each.delivery.key: each.delivery for each in refused})
        for each in sorted(refused, key=lambda each: (each.delivery.due_at, each.delivery.id)):
            account = accounts[each.delivery.account_key]
            if _waits_in_place(now, account, each):
                continue
            known = (each.delivery.account_key, each.delivery.action.value)
            if known not in agendas:
                agendas[known] = read_agenda(tx, now, account, each.delivery.action)
            found = _next_time(agendas[known], each, zones.get(each.delivery.key))
            if found is not None:
                moved[each.delivery.key] = found
        return moved


def _waits_in_place(now: datetime, account: Account, each: Refused) -> bool:
    if each.gate in ("hours", RECIPIENT_HOURS):
        return False
    zone = get_zone(account.zone)
    return each.gate != "budgets" or local_day(each.until, zone) <= local_day(now, zone)


def _next_time(made: AccountAgenda, each: Refused, zone: str | None) -> datetime | None:
    row = each.delivery
    luck = luck_of(row.sequence_id, row.account_id, row.contact_id, row.step, each.until)
    begin = to_second(each.until.astimezone(UTC))
    found = made.agenda.find(begin, luck, common=made.common_with(zone))
    if not isinstance(found, Found):
        return None
    made.agenda.book(found.at, day=found.day)
    return to_instant(found.at)


def _count(tx: Tx, now: datetime, workspace_id: str, moved: Sequence[Transition]) -> None:
    people = _people(tx, workspace_id, [each.delivery for each in moved])
    sequences = load_sequences(
        tx, workspace_id, {each.delivery.sequence_id or "" for each in moved}
    )
    rows: list[tuple[object, ...]] = []
    woken: set[str] = set()
    sent = [each.delivery for each in moved if each.after is State.SENT]
    remote = _remote_ids(tx, workspace_id, sent)
    for each in moved:
        delivery = each.delivery
        sequence = sequences.get(delivery.sequence_id or "")
        one = people.get((delivery.sequence_id or "", delivery.contact_id or ""))
        if sequence is None or one is None or one.next_step != delivery.step:
            continue
        changed = _move(tx, now, sequence, one, each, remote)
        if changed is not None:
            rows.append(changed)
            woken |= {sequence.id} if changed[2] == ContactState.WAITING else set()
    _write(tx, workspace_id, rows)
    for id_ in sorted(woken):
        if sequences[id_].state is SequenceState.RUNNING:
            wake_planner(tx, now, workspace_id, id_)


def _move(
    tx: Tx,
    now: datetime,
    sequence: model.Sequence,
    one: Enrolled,
    each: Transition,
    remote: Mapping[str, Row],
) -> tuple[object, ...] | None:
    """Return a person's row as it is now; None: it does not change."""
    delivery, after = each.delivery, each.after
    if after is State.SENT:
        return _sent(tx, now, sequence, one, delivery, remote[delivery.id])
    if after in _LOST and one.state is ContactState.PLANNED:
        return _row(one, ContactState.STOPPED, StopCause.NOT_SENT, f"the message is {after}")
    if after in (State.SCHEDULED, State.DRAFT) and one.cause == StopCause.NOT_SENT:
        return _row(one, ContactState.PLANNED, None, None)  # somebody tries it again
    return None


def _sent(
    tx: Tx,
    now: datetime,
    sequence: model.Sequence,
    one: Enrolled,
    delivery: Delivery,
    known: Row,
) -> tuple[object, ...]:
    number = one.next_step + 1
    step = model.step_of(sequence, one.messages, number)
    thread = (one.thread_id, one.thread_subject)
    if delivery.channel is Channel.EMAIL:
        follows = any(each.same_thread for each in sequence.steps[number:])
        thread = (known["remote_id"], one.thread_subject)
        if follows and one.thread_subject is None:
            person = contacts.load(tx, one.workspace_id, [one.contact_id]).get(one.contact_id)
            if person is not None:
                subject = subject_before(tx, sequence, one, person, one.next_step)
                thread = (known["remote_id"], subject)
    if one.state in (ContactState.STOPPED, ContactState.FINISHED):  # a reply came while it was sent
        state, cause, detail, ready = one.state, one.cause, one.detail, one.ready_at
    elif step is None:
        state, cause, detail, ready = ContactState.FINISHED, None, None, now
    else:
        waits = step.only_if == ACCEPTANCE and one.accepted_at is None
        held = one.state in (ContactState.PAUSED, ContactState.SNOOZED)
        state = one.state if held else ContactState.WAITING
        cause, detail = (one.cause, one.detail) if held else (ACCEPTANCE if waits else None, None)
        ready = one.ready_at if held else (NEVER if waits else now)
    account_id = one.account_id
    if step is not None and not _same_account(tx, one, step.channel):
        account_id = None
    return (
        one.sequence_id,
        one.contact_id,
        state,
        cause,
        detail,
        account_id,
        number,
        ready,
        known["sent_at"] or now,
        *thread,
    )


def _same_account(tx: Tx, one: Enrolled, channel: Channel) -> bool:
    if one.account_id is None:
        return False
    key = (one.workspace_id, one.account_id)
    account = read_accounts(tx, [key]).get(key)
    return account is not None and can_send(account, channel)


def _row(
    one: Enrolled, state: ContactState, cause: str | None, detail: str | None
) -> tuple[object, ...]:
    return (
        one.sequence_id,
        one.contact_id,
        state,
        cause,
        detail,
        one.account_id,
        one.next_step,
        one.ready_at,
        one.last_sent_at,
        one.thread_id,
        one.thread_subject,
    )


def _write(tx: Tx, workspace_id: str, rows: Sequence[tuple[object, ...]]) -> None:
    if rows:
        tx.run(
            """
            UPDATE sequence_contact SET state = new.becomes, cause = new.why, detail = new.more,
                account_id = new.account, next_step = new.step, ready_at = new.from_at,
                last_sent_at = new.done_at, thread_id = new.thread, thread_subject = new.subject
            FROM TABLE(:new) AS new (
                sequence_id text, contact_id text, becomes text, why text, more text, account text, step integer,
                from_at timestamptz, done_at timestamptz, thread text, subject text
            )
            WHERE sequence_contact.workspace_id = :workspace_id
                AND sequence_contact.sequence_id = new.sequence_id
                AND sequence_contact.contact_id = new.contact_id
            """,
            new=sorted(rows, key=lambda row: (row[0], row[1])),
            workspace_id=workspace_id,
        )


def _people(
    tx: Tx, workspace_id: str, deliveries: Sequence[Delivery]
) -> dict[tuple[str, str], Enrolled]:
    """Read people, and keep their rows as they are until the end."""
    lock = "FOR UPDATE OF there" if tx.dialect == "postgresql" else ""
    rows = tx.all(
        f"""
        SELECT there.* FROM TABLE(:keys) AS asked (sequence_id text, contact_id text)
        JOIN sequence_contact there ON there.workspace_id = :workspace_id
            AND there.sequence_id = asked.sequence_id AND there.contact_id = asked.contact_id
        ORDER BY there.sequence_id, there.contact_id {lock}
        """,  # noqa: S608 - a constant
        keys=sorted({(each.sequence_id or "", each.contact_id or "") for each in deliveries}),
        workspace_id=workspace_id,
    )
    found = [enrolled_of(row) for row in rows]
    return {(one.sequence_id, one.contact_id): one for one in found}


def _remote_ids(tx: Tx, workspace_id: str, sent: Sequence[Delivery]) -> dict[str, Row]:
    rows = tx.all(
        """
        SELECT delivery.id, delivery.remote_id, delivery.sent_at FROM TABLE(:ids) AS asked (id text)
        JOIN delivery ON delivery.workspace_id = :workspace_id AND delivery.id = asked.id
        """,
        ids=[(each.id,) for each in sent],
        workspace_id=workspace_id,
    )
    return {row["id"]: row for row in rows}
