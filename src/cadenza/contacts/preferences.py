"""What recipients choose for themselves, by the link in a message: single lists, or nothing at all on the channel.

They see lists that they are on and that have a public name. Who leaves a list stays a member and gets nothing of it:
the delivery pipeline reads these rows in each permit, so an import that adds the person again changes nothing.
Joining again and undoing an unsubscribe take the same link, which only the address's owner was sent.
"""

from dataclasses import dataclass
from datetime import datetime

from cadenza.contacts.addresses import EMAIL, read_address
from cadenza.contacts.model import Invalid
from cadenza.contacts.suppress import (
    NewSuppression,
    SuppressionKind,
    SuppressionReason,
    exclude_permits,
    read_suppression,
    remove_suppression,
)
from cadenza.contacts.unsubscribe import EVENT, Subscriber
from cadenza.db.audit import record
from cadenza.db.write_outbox import OutboxEvent, write_outbox
from cadenza.sql.tx import Tx

BY = "recipient"
MOST_LISTS = 100


@dataclass(frozen=True, slots=True)
class ListChoice:
    """A list as its recipient sees it, and whether they get it."""

    audience_id: str
    name: str
    subscribed: bool


@dataclass(frozen=True, slots=True)
class Preferences:
    """What a recipient gets on a channel: nothing at all, or all lists but those that they left."""

    subscribed: bool
    lists: tuple[ListChoice, ...]


def read_preferences(tx: Tx, who: Subscriber) -> Preferences:
    """Return what the recipient gets, and which lists they may choose from."""
    about = _about(who)
    if about is None:
        return Preferences(True, ())
    rows = tx.all(
        """
        SELECT a.id, a.public_name, gone.address AS gone FROM contact_address c
        JOIN audience_member m ON m.workspace_id = c.workspace_id AND m.kind = 'contact' AND m.provider = ''
            AND m.member_id = c.contact_id
        JOIN audience a ON a.workspace_id = m.workspace_id AND a.id = m.audience_id
        LEFT JOIN audience_unsubscribe gone ON gone.workspace_id = c.workspace_id
            AND gone.channel = c.channel AND gone.address = c.address AND gone.audience_id = a.id
        WHERE c.workspace_id = :workspace_id AND c.channel = :channel AND c.address = :address
            AND a.public_name IS NOT NULL
        ORDER BY a.public_name, a.id LIMIT :most
        """,
        most=MOST_LISTS,
        **about,
    )
    choices = (ListChoice(row["id"], row["public_name"], row["gone"] is None) for row in rows)
    return Preferences(not _is_stopped(tx, who), tuple(choices))


def leave_list(tx: Tx, now: datetime, who: Subscriber, audience_id: str) -> bool:
    """Send nothing more of a list; return whether that is new. From the commit on there is no permit for it."""
    about = _about(who)
    known = {each.audience_id for each in read_preferences(tx, who).lists}
    if about is None or audience_id not in known:
        return False
    exclude_permits(tx, who.workspace_id)
    added = tx.run(
        """
        INSERT INTO audience_unsubscribe (workspace_id, channel, address, audience_id, created_at)
        VALUES (:workspace_id, :channel, :address, :audience_id, :now) ON CONFLICT DO NOTHING
        """,
        audience_id=audience_id,
        now=now,
        **about,
    )
    if added:
        _record(tx, now, about, "list.leave", audience_id)
        event = OutboxEvent(
            workspace_id=who.workspace_id,
            id=f"unsubscribed:{tx.new_id()}",
            kind=EVENT,
            subject_id=about["address"],
            body={
                "channel": who.channel,
                "address": about["address"],
                "audience_id": audience_id,
            },
        )
        write_outbox(tx, now, [event])
    return bool(added)


def join_list(tx: Tx, now: datetime, who: Subscriber, audience_id: str) -> bool:
    """Send a list again that the recipient left; return whether that is new."""
    about = _about(who)
    if about is None:
        return False
    gone = tx.run(
        """
        DELETE FROM audience_unsubscribe WHERE workspace_id = :workspace_id AND channel = :channel
            AND address = :address AND audience_id = :audience_id
        """,
        audience_id=audience_id,
        **about,
    )
    if gone:
        _record(tx, now, about, "list.join", audience_id)
    return bool(gone)


def subscribe_again(tx: Tx, now: datetime, who: Subscriber) -> bool:
    """Undo what the recipient asked for, and nothing else: a bounce or a complaint stays."""
    stopped = _suppression(who)
    if isinstance(stopped, Invalid):
        return False
    gone = remove_suppression(
        tx,
        now,
        workspace_id=who.workspace_id,
        new=stopped,
        by=BY,
        why="by the link in a message",
        reason=stopped.reason,
    )
    return bool(gone)


def _is_stopped(tx: Tx, who: Subscriber) -> bool:
    stopped = _suppression(who)
    if isinstance(stopped, Invalid):
        return False
    found = tx.value(
        """
        SELECT reason FROM suppression WHERE workspace_id = :workspace_id AND kind = :kind AND value = :value
            AND channel = :channel AND reason = :reason
        """,
        workspace_id=who.workspace_id,
        kind=stopped.kind.value,
        value=stopped.value,
        channel=stopped.channel,
        reason=stopped.reason.value,
    )
    return found is not None


def _suppression(who: Subscriber) -> NewSuppression | Invalid:
    """Name the row that unsubscribing by the link writes."""
    return read_suppression(
        SuppressionKind.ADDRESS if who.channel == EMAIL else SuppressionKind.HANDLE,
        who.address,
        channel=who.channel,
        reason=SuppressionReason.UNSUBSCRIBE,
    )


def _about(who: Subscriber) -> dict[str, str] | None:
    """Name the recipient in the one spelling of addresses."""
    found = read_address(who.channel, who.address)
    if isinstance(found, Invalid):
        return None
    return {"workspace_id": who.workspace_id, "channel": who.channel, "address": found.address}


def _record(tx: Tx, now: datetime, about: dict[str, str], action: str, audience_id: str) -> None:
    record(
        tx,
        now,
        workspace_id=about["workspace_id"],
        by=BY,
        action=action,
        subject_id=about["address"],
        after={"channel": about["channel"], "audience": audience_id},
    )
