"""Sends one template to one address, now or at a time: a delivery of its own, through the pipeline, under its limits.

A transactional message passes the account's hours, as a receipt cannot wait for Monday; it never passes a pause, a
stop, a suppression or a limit. A test goes the same way, to the sender alone, marked in its subject.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from cadenza.accounts.model import Account, read_account
from cadenza.accounts.open import refer
from cadenza.core.channels import Channel
from cadenza.db.audit import record
from cadenza.deliveries.check_fit import check_content
from cadenza.deliveries.explain import Explanation, explain
from cadenza.deliveries.gates import GONE, HURRY, End
from cadenza.deliveries.model import Action, NewDelivery
from cadenza.deliveries.render import Files
from cadenza.deliveries.schedule import Scheduled, schedule
from cadenza.providers.base import Problem
from cadenza.providers.registry import all_providers
from cadenza.sql.tx import Tx
from cadenza.templates.model import CHANNELS, TemplateVersion, Variables
from cadenza.templates.render import Incomplete, RenderedMessage, render

ACTIONS = {
    Channel.EMAIL: Action.EMAIL,
    Channel.LINKEDIN_INVITATION: Action.CONNECTION_REQUEST,
    Channel.LINKEDIN_INMAIL: Action.INMAIL,
}
TEST = "[Test] "


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """One message to one recipient."""

    version: TemplateVersion
    account_id: str
    to: str
    variables: Variables
    to_name: str = ""
    channel: Channel = Channel.EMAIL
    at: datetime | None = None  # None: now
    is_test: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageScheduled:
    """It is on its way: the delivery to ask about it by, and what holds it, if something does."""

    delivery_id: str
    channel: Channel
    due_at: datetime
    subject: str
    waits: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MessageRefused:
    """It was not sent: a code, and why."""

    code: str
    message: str
    problems: tuple[Problem, ...] = ()


def send_message(
    tx: Tx,
    now: datetime,
    new: NewMessage,
    *,
    workspace_id: str,
    by: str,
    files: Files | None = None,
) -> MessageScheduled | MessageRefused | Incomplete:
    """Render for the recipient and hand it to the pipeline; run it under the account's lock."""
    account = read_account(tx, workspace_id, new.account_id)
    if (refused := _why_not(account, new)) is not None:
        return refused
    made = render(new.version, new.variables, channel=new.channel)
    if isinstance(made, Incomplete):
        return made
    delivery = _delivery(tx, now, new, made, workspace_id)
    waits = hand_over(tx, now, delivery, account, files)
    if isinstance(waits, MessageRefused):
        return waits
    record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="template.test" if new.is_test else "message.send",
        subject_id=new.version.template_id,
        after={
            "delivery": delivery.id,
            "version": new.version.number,
            "account": new.account_id,
            "channel": new.channel.value,
        },
    )
    return MessageScheduled(
        delivery_id=delivery.id,
        channel=new.channel,
        due_at=delivery.due_at,
        subject=made.subject,
        waits=waits,
    )


def hand_over(
    tx: Tx, now: datetime, delivery: NewDelivery, account: Account | None, files: Files | None
) -> tuple[str, ...] | MessageRefused:
    """Give one message to the pipeline; return what lets it wait. Roll back what is refused."""
    if wrong := check_content(delivery, account, files).blocking:
        said = " ".join(f"{each.message.rstrip('.')}." for each in wrong)
        return MessageRefused("does_not_fit", said, wrong)
    (answer,) = schedule(tx, now, [delivery], fits=True)
    assert isinstance(answer, Scheduled), "its id is new and it takes no slot"
    ends, waits = _held(tx, now, delivery.workspace_id, delivery.id)
    if ends is not None:
        return MessageRefused("not_sent", f"{ends[:1].upper()}{ends[1:]}.")
    return waits


def own_address(account: Account) -> str:
    """Return the address that an account sends mails from."""
    known = refer(account)
    return str(known.settings.get("from_address") or known.remote_id)


def _why_not(account: Account | None, new: NewMessage) -> MessageRefused | None:
    if account is None:
        return MessageRefused("no_account", "There is no account of that id here.")
    if account.state == GONE:
        return MessageRefused("no_account", "This account was disconnected: connect it again.")
    provider = all_providers().get(account.provider)
    if new.channel not in CHANNELS or provider is None or new.channel not in provider.channels:
        return MessageRefused(
            "wrong_channel",
            f"This account does not send to {new.channel.value}: choose another account.",
        )
    return None


def _delivery(
    tx: Tx, now: datetime, new: NewMessage, made: RenderedMessage, workspace_id: str
) -> NewDelivery:
    if new.is_test:
        made = replace(made, subject=f"{TEST}{made.subject}")
    return NewDelivery(
        id=tx.new_id(),
        workspace_id=workspace_id,
        account_id=new.account_id,
        channel=new.channel,
        action=ACTIONS.get(new.channel, Action.MESSAGE),
        due_at=now if new.at is None else max(now, new.at),
        content=made.content(recipient_name=new.to_name),
        recipient=new.to,
        priority=HURRY,
    )


def _held(
    tx: Tx, now: datetime, workspace_id: str, delivery_id: str
) -> tuple[str | None, tuple[str, ...]]:
    """Say what ends it for good, and what only lets it wait."""
    found = explain(tx, now, workspace_id=workspace_id, delivery_id=delivery_id, at=now)
    if not isinstance(found, Explanation):
        return None, ()
    blocked = found.blocked.values()
    ends = [each.message for each in blocked if isinstance(each, End)]
    waits = tuple(each.message for each in blocked if not isinstance(each, End))
    return (ends[0] if ends else None), waits
