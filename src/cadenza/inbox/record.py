"""Records what came in, once, matched to what we sent, with its effects in the same transaction.

A hard bounce suppresses the address that we wrote to, a complaint suppresses the person for good; both count against
the account (`health.py`). Words that ask us to stop are obeyed; soft bounces count. An automatic answer is no reply. What fits
nothing that we sent is kept for a person. Limit: a mail that anyone can write suppresses nobody unless it fits
something that we sent, as reports can be forged.
"""

from datetime import datetime, timedelta

import msgspec

from cadenza.contacts.addresses import EMAIL
from cadenza.contacts.mark_bounced import mark_bounced
from cadenza.contacts.model import Invalid
from cadenza.contacts.suppress import (
    ALL,
    SuppressionKind,
    SuppressionReason,
    read_suppression,
    suppress,
)
from cadenza.contacts.unsubscribe import Subscriber, unsubscribe
from cadenza.db.write_outbox import OutboxEvent, write_outbox
from cadenza.inbox.conversations import add_to_conversation
from cadenza.inbox.health import WINDOW, judge_account
from cadenza.inbox.listeners import InboundKind as Kind
from cadenza.inbox.listeners import InboundRecorded, tell_listeners
from cadenza.inbox.match import Match, find_contact_id, find_match, fold_address
from cadenza.inbox.model import LONGEST_TEXT, Inbound, InboundEvent, Recorded
from cadenza.inbox.stop_words import is_stop_word
from cadenza.notices.model import EventKind
from cadenza.sql.tx import Tx
from cadenza.sql.values import columns, read_values

SOFT_IN_A_ROW = 5
SOFT_CAMPAIGNS = 3
REMATCH = timedelta(days=1)
_BY = "inbox"
_TOLD = {
    Kind.REPLY: EventKind.REPLIED,
    Kind.HARD_BOUNCE: EventKind.BOUNCED,
    Kind.SOFT_BOUNCE: EventKind.BOUNCED,
    Kind.POLICY_BOUNCE: EventKind.BOUNCED,
    Kind.CONTENT_BOUNCE: EventKind.BOUNCED,
    Kind.COMPLAINT: EventKind.COMPLAINED,
}
_ABOUT_RECIPIENT = frozenset({*(kind for kind in Kind if kind.is_bounce), Kind.COMPLAINT})


def record_inbound(tx: Tx, now: datetime, inbound: Inbound) -> Recorded:
    """Store one item and do what follows from it; a repetition changes nothing."""
    known = tx.one(
        """
        SELECT id, kind, delivery_id, contact_id FROM inbound_event
        WHERE workspace_id = :workspace_id AND account_id = :account_id AND remote_id = :remote_id
        """,
        workspace_id=inbound.workspace_id,
        account_id=inbound.account_id,
        remote_id=inbound.remote_id,
    )
    if known is not None:
        return Recorded(
            known["id"], Kind(known["kind"]), False, known["delivery_id"], known["contact_id"]
        )
    event = _insert(tx, now, inbound)
    if event is None:  # another process was faster
        return Recorded("", inbound.kind, False)
    match = find_match(tx, inbound)
    event = _place(tx, now, event, inbound, match)
    _act(tx, now, event, match)
    return Recorded(event.id, event.kind, True, event.delivery_id, event.contact_id)


def match_again(tx: Tx, now: datetime, *, limit: int = 200) -> int:
    """Match what came in before the send that it answers to was settled; return how many now fit."""
    rows = tx.all(
        f"""
        SELECT {columns(InboundEvent, "inbound_event")} FROM inbound_event
        WHERE delivery_id IS NULL AND recorded_at > :since AND answers_to <> '[]'
        ORDER BY recorded_at DESC LIMIT :limit
        """,  # noqa: S608 - put together from constants
        since=now - REMATCH,
        limit=limit,
    )
    found = 0
    for event in read_values(InboundEvent, rows):
        inbound = _as_inbound(event)
        match = find_match(tx, inbound)
        if match is not None:
            _act(tx, now, _place(tx, now, event, inbound, match), match)
            found += 1
    return found


def _as_inbound(event: InboundEvent) -> Inbound:
    ids = msgspec.json.decode(event.answers_to, type=tuple[str, ...])
    return Inbound(
        workspace_id=event.workspace_id,
        account_id=event.account_id,
        remote_id=event.id,
        kind=event.kind,
        source=event.source,
        trusted=event.trusted,
        at=event.happened_at,
        channel=event.channel,
        answers_to=ids,
        address=event.address,
        message_id=event.message_id,
        subject=event.subject,
        text=event.text,
        code=event.code,
        diagnostic=event.diagnostic,
    )


def _insert(tx: Tx, now: datetime, inbound: Inbound) -> InboundEvent | None:
    kind = inbound.kind
    if kind is Kind.REPLY and inbound.channel != EMAIL and is_stop_word(inbound.text):
        kind = Kind.UNSUBSCRIBE
    event = InboundEvent(
        workspace_id=inbound.workspace_id,
        id=tx.new_id(),
        account_id=inbound.account_id,
        kind=kind,
        source=inbound.source,
        trusted=inbound.trusted,
        channel=inbound.channel,
        address=fold_address(inbound.channel, inbound.address),
        contact_id=None,
        delivery_id=None,
        matched_by=None,
        answers_to=msgspec.json.encode(inbound.answers_to[:50]).decode(),
        conversation_id=None,
        message_id=inbound.message_id,
        subject=_clean(inbound.subject)[:998],
        text=_clean(inbound.text)[:LONGEST_TEXT],
        code=inbound.code,
        diagnostic=_clean(inbound.diagnostic)[:2_000],
        happened_at=min(inbound.at, now),
        recorded_at=now,
    )
    names = InboundEvent.__struct_fields__
    row = tx.one(
        f"""
        INSERT INTO inbound_event (workspace_id, remote_id, {", ".join(names[1:])})
        VALUES (:workspace_id, :remote_id, {", ".join(f":{name}" for name in names[1:])})
        ON CONFLICT (workspace_id, account_id, remote_id) DO NOTHING
        RETURNING id
        """,  # noqa: S608 - put together from constants
        remote_id=inbound.remote_id[:998],
        **{**{name: getattr(event, name) for name in names}, "kind": event.kind.value},
    )
    return None if row is None else event


def _clean(text: str) -> str:
    return text.replace("\0", "")


def _place(
    tx: Tx, now: datetime, event: InboundEvent, inbound: Inbound, match: Match | None
) -> InboundEvent:
    """Say whom it is about, and put it into their conversation."""
    sent_to = fold_address(event.channel, match.recipient) if match is not None else None
    # A report is about the address that we wrote to: the one in it may be where it was forwarded.
    address = (
        (sent_to or event.address) if event.kind in _ABOUT_RECIPIENT else event.address or sent_to
    )
    home = event.workspace_id
    contact = find_contact_id(tx, home, event.channel, sent_to) or find_contact_id(
        tx, home, event.channel, address
    )
    placed = msgspec.structs.replace(
        event,
        address=address,
        contact_id=contact,
        delivery_id=None if match is None else match.delivery_id,
        matched_by=None if match is None else match.by,
    )
    conversation = add_to_conversation(tx, now, placed, inbound)
    placed = msgspec.structs.replace(placed, conversation_id=conversation)
    tx.run(
        """
        UPDATE inbound_event SET address = :address, contact_id = :contact_id, delivery_id = :delivery_id,
            matched_by = :matched_by, conversation_id = :conversation_id
        WHERE workspace_id = :workspace_id AND id = :id
        """,
        address=placed.address,
        contact_id=placed.contact_id,
        delivery_id=placed.delivery_id,
        matched_by=placed.matched_by,
        conversation_id=placed.conversation_id,
        workspace_id=home,
        id=placed.id,
    )
    return placed


def _act(tx: Tx, now: datetime, event: InboundEvent, match: Match | None) -> None:
    believed = match is not None or event.trusted or event.contact_id is not None
    if believed:
        match event.kind:
            case Kind.HARD_BOUNCE:
                _suppress_bounced(tx, now, event, event.diagnostic or event.code or "")
                judge_account(tx, now, workspace_id=event.workspace_id, account_id=event.account_id)
            case Kind.SOFT_BOUNCE:
                _count_soft(tx, now, event)
            case Kind.COMPLAINT:
                _suppress(tx, now, event, SuppressionReason.COMPLAINT, channel=ALL)
                judge_account(tx, now, workspace_id=event.workspace_id, account_id=event.account_id)
            case Kind.UNSUBSCRIBE:
                _unsubscribe(tx, now, event, match)
            case _:
                pass
    _tell(tx, now, event)
    tell_listeners(
        tx,
        now,
        InboundRecorded(
            workspace_id=event.workspace_id,
            inbound_id=event.id,
            kind=event.kind,
            account_id=event.account_id,
            contact_id=event.contact_id,
            address=event.address,
            channel=event.channel,
            delivery_id=event.delivery_id,
            at=event.happened_at,
        ),
    )


def _suppress(
    tx: Tx,
    now: datetime,
    event: InboundEvent,
    reason: SuppressionReason,
    *,
    channel: str,
    note: str = "",
) -> None:
    if event.address is None:
        return
    is_mail = event.channel == EMAIL
    new = read_suppression(
        SuppressionKind.ADDRESS if is_mail else SuppressionKind.HANDLE,
        event.address,
        channel=channel,
        reason=reason,
        note=note[:200],
    )
    if not isinstance(new, Invalid):
        suppress(tx, now, [new], workspace_id=event.workspace_id, by=_BY)


def _suppress_bounced(tx: Tx, now: datetime, event: InboundEvent, note: str) -> None:
    _suppress(
        tx, now, event, SuppressionReason.HARD_BOUNCE, channel=event.channel,
        note=" ".join(note.split()),
    )  # fmt: skip
    if event.address is not None:
        home = event.workspace_id
        mark_bounced(tx, now, workspace_id=home, channel=event.channel, address=event.address)


def _count_soft(tx: Tx, now: datetime, event: InboundEvent) -> None:
    """Suppress after five messages in a row, or three campaigns, that bounced softly within 30 days."""
    if event.address is None:
        return
    rows = tx.all(
        """
        SELECT e.kind, e.delivery_id, d.campaign_id FROM inbound_event e
        LEFT JOIN delivery d ON d.workspace_id = e.workspace_id AND d.id = e.delivery_id
        WHERE e.workspace_id = :workspace_id AND e.address = :address AND e.address IS NOT NULL
            AND e.kind IN ('soft_bounce', 'reply', 'open', 'click', 'delivered') AND e.happened_at > :since
        ORDER BY e.happened_at DESC LIMIT 100
        """,
        workspace_id=event.workspace_id,
        address=event.address,
        since=now - WINDOW,
    )
    row: list[dict[str, str | None]] = []
    for each in rows:
        if each["kind"] != Kind.SOFT_BOUNCE:
            break
        row.append(each)
    messages = {each["delivery_id"] or n for n, each in enumerate(row)}
    campaigns = {each["campaign_id"] for each in row if each["campaign_id"]}
    if len(messages) >= SOFT_IN_A_ROW or len(campaigns) >= SOFT_CAMPAIGNS:
        _suppress_bounced(tx, now, event, f"{len(messages)} soft bounces in a row")


def _unsubscribe(tx: Tx, now: datetime, event: InboundEvent, match: Match | None) -> None:
    """Write no more to the address that asks, nor to the one that we wrote to."""
    asking = {event.address, fold_address(event.channel, match.recipient) if match else None}
    for address in sorted(filter(None, asking)):
        unsubscribe(tx, now, Subscriber(event.workspace_id, event.channel, address))


def _tell(tx: Tx, now: datetime, event: InboundEvent) -> None:
    kind = _TOLD.get(event.kind)
    if kind is None:
        return
    body = {
        "inbound_id": event.id,
        "kind": event.kind.value,
        "account_id": event.account_id,
        "channel": event.channel,
        "address": event.address,
        "contact_id": event.contact_id,
        "delivery_id": event.delivery_id,
        "conversation_id": event.conversation_id,
        "code": event.code,
        "at": event.happened_at.isoformat(),
    }
    told = OutboxEvent(
        workspace_id=event.workspace_id,
        id=f"inbound:{event.id}",
        kind=kind,
        subject_id=event.id,
        body=body,
    )
    write_outbox(tx, now, [told])
