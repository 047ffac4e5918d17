"""Goes through a campaign's audience in chunks and makes a delivery for each recipient, by its accounts in turn.

The cursor moves in the transaction that writes a chunk, so a run that is cut short goes on without a double; and
nobody is planned twice, as a recipient is unique in a campaign. Who cannot be written to is skipped with a reason.
The words are made when they are sent: a delivery keeps the frozen version and its variables.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cadenza.accounts.model import Account, read_accounts
from cadenza.campaigns.counters import add_counts
from cadenza.campaigns.model import Campaign, CampaignState, accounts_of, find_campaign, move
from cadenza.campaigns.recipient_clock import starts_at, zone_of
from cadenza.campaigns.split import WAITING, Variant, end_walk, list_variants, version_for
from cadenza.contacts import audiences, store
from cadenza.contacts.audiences import Member
from cadenza.contacts.model import Consent, Contact, Invalid
from cadenza.contacts.variables import CHANNELS, variables_of
from cadenza.core.channels import Channel
from cadenza.core.zones import Zone, zone_names
from cadenza.deliveries import lanes
from cadenza.deliveries.model import Action, NewDelivery, lane_of
from cadenza.deliveries.read_recipients import fold_recipient
from cadenza.deliveries.schedule import schedule
from cadenza.inbox.bulk_mail import POSTAL_ADDRESS, UNSUBSCRIBE_URL, BulkSender, bulk_values
from cadenza.providers.sink import OPTION
from cadenza.sql.tx import Tx
from cadenza.templates.check import IncompleteRecipients, find_incomplete
from cadenza.templates.fill_in import Reference
from cadenza.templates.model import TemplateVersion
from cadenza.templates.render import Incomplete, render
from cadenza.templates.send import ACTIONS
from cadenza.templates.store import load_versions

CHUNK = 2_000


@dataclass(frozen=True, slots=True)
class Planned:
    """How many of a chunk got a delivery and were skipped; whether more members follow."""

    made: int
    skipped: int
    more: bool


@dataclass(frozen=True, slots=True)
class _Reached:
    """A member of the audience who can be written to."""

    member: Member
    recipient: str
    name: str
    variables: Mapping[str, Any]
    contact_id: str | None = None
    zone: str | None = None


@dataclass(frozen=True, slots=True)
class _Skipped:
    member: Member
    code: str
    message: str
    recipient: str | None = None


def check_recipients(
    tx: Tx, campaign: Campaign, sender: BulkSender, *, after: str = "", limit: int = CHUNK
) -> tuple[IncompleteRecipients, str | None]:
    """Say whom of the next members missing values would hit; and where to go on."""
    versions = _versions(tx, campaign, list_variants(tx, campaign))
    found = audiences.walk_members(
        tx,
        workspace_id=campaign.workspace_id,
        audience_id=campaign.audience_id,
        after=after,
        limit=limit,
    )
    if not isinstance(found, tuple):
        return IncompleteRecipients(checked=0, count=0, listed=()), None
    members, onward = found
    reached = [each for each in _look_up(tx, campaign, members) if isinstance(each, _Reached)]
    values = {**campaign.values, **shown(sender, campaign, "ada@example.org")}
    wrong = IncompleteRecipients(checked=len(reached), count=0, listed=())
    for version in versions.values():
        wrong = find_incomplete(
            version,
            ((each.member.id, {**each.variables, **values}) for each in reached),
            channel=campaign.channel,
        )
        if wrong.count:
            break
    return wrong, onward


def needs_check(tx: Tx, campaign: Campaign) -> bool:
    """Say whether a recipient could lack a value at all."""
    given = {*campaign.values, UNSUBSCRIBE_URL, POSTAL_ADDRESS}
    versions = _versions(tx, campaign, list_variants(tx, campaign))
    return not campaign.skip_incomplete and any(
        each.required and each.name not in given
        for version in versions.values()
        for each in version.variables
    )


def plan_chunk(
    tx: Tx, now: datetime, *, workspace_id: str, campaign_id: str, sender: BulkSender
) -> Planned | None:
    """Plan the next members; None: nothing is to be planned now. Run under the campaign's lock."""
    campaign = find_campaign(tx, workspace_id, campaign_id)
    if not isinstance(campaign, Campaign) or campaign.planned or campaign.split_state == WAITING:
        return None
    if campaign.state not in (CampaignState.QUEUED, CampaignState.RUNNING):
        return None
    found = audiences.walk_members(
        tx,
        workspace_id=workspace_id,
        audience_id=campaign.audience_id,
        after=campaign.planned_to,
        limit=CHUNK,
    )
    if not isinstance(found, tuple):
        message = found.message if isinstance(found, Invalid) else "Its audience was deleted."
        move(tx, now, campaign, "fail", reason=message, code="audience")
        return None
    members, onward = found
    made, skipped = _plan(tx, now, campaign, members, sender)
    planned = onward is None and end_walk(tx, now, campaign)
    if campaign.state is CampaignState.QUEUED:
        move(tx, now, campaign, "run")
    tx.run(
        """
        UPDATE campaign SET planned_to = :onward, planned = :planned, total = total + :found, turn = turn + :made
        WHERE workspace_id = :workspace_id AND id = :id
        """,
        onward=campaign.planned_to if onward is None else onward,
        planned=planned,
        found=made + skipped,
        made=made,
        workspace_id=workspace_id,
        id=campaign.id,
    )
    return Planned(made, skipped, onward is not None)


def _plan(
    tx: Tx, now: datetime, campaign: Campaign, members: Sequence[Member], sender: BulkSender
) -> tuple[int, int]:
    accounts = _accounts(tx, campaign)
    for account in accounts:
        lanes.open_lane(
            tx,
            workspace_id=campaign.workspace_id,
            scope=campaign.scope,
            account_id=account.id,
            in_flight_limit=lanes.WIDTH,
        )
    variants = list_variants(tx, campaign)
    versions = _versions(tx, campaign, variants)
    zone = zone_of(tx, campaign.workspace_id, campaign.zone)
    known = _known_members(tx, campaign, members)
    looked = _look_up(tx, campaign, [each for each in members if each not in known])
    skipped = [each for each in looked if isinstance(each, _Skipped)]
    reached = [each for each in looked if isinstance(each, _Reached)]
    taken = _taken(tx, campaign, [each.recipient for each in reached])
    new: list[NewDelivery] = []
    for each in reached:
        if each.recipient in taken:
            if taken[each.recipient] != _owner(each):
                message = "Another member of the audience has this address."
                skipped.append(_Skipped(each.member, "duplicate_address", message, each.recipient))
            continue
        version_id = version_for(campaign, variants, each.recipient)
        if version_id is None:
            continue  # it gets the winner
        taken[each.recipient] = _owner(each)
        variables = {**each.variables, **campaign.values, **shown(sender, campaign, each.recipient)}
        if campaign.skip_incomplete and (
            why := _incomplete(versions[version_id], variables, campaign)
        ):
            skipped.append(_Skipped(each.member, "incomplete", why, each.recipient))
            continue
        account = accounts[(campaign.turn + len(new)) % len(accounts)]
        new.append(_delivery(tx, now, campaign, account, each, variables, zone, version_id))
    schedule(tx, now, new, fits=True)
    _write_skipped(tx, now, campaign, skipped)
    return len(new), len(skipped)


def _owner(each: _Reached) -> str:
    return each.contact_id or each.member.id


def shown(sender: BulkSender, campaign: Campaign, recipient: str) -> dict[str, str]:
    """Return what mails to many have to show; other channels show nothing of it."""
    return bulk_values(sender, recipient) if campaign.channel is Channel.EMAIL else {}


def _incomplete(
    version: TemplateVersion, variables: Mapping[str, Any], campaign: Campaign
) -> str | None:
    made = render(version, variables, channel=campaign.channel)
    return made.message if isinstance(made, Incomplete) else None


def _delivery(
    tx: Tx,
    now: datetime,
    campaign: Campaign,
    account: Account,
    each: _Reached,
    variables: Mapping[str, Any],
    zone: Zone,
    version_id: str,
) -> NewDelivery:
    reference = Reference(
        variables=dict(variables),
        recipient_name=each.name,
        unsubscribe_url=variables.get(UNSUBSCRIBE_URL),
        options=_test_options(campaign, each.recipient),
    )
    return NewDelivery(
        id=tx.new_id(),
        workspace_id=campaign.workspace_id,
        account_id=account.id,
        lane_id=lane_of(campaign.scope, account.id),
        campaign_id=campaign.id,
        contact_id=each.contact_id,
        channel=campaign.channel,
        action=action_of(account, campaign.channel),
        due_at=max(now, _due_at(campaign, zone, each) or now),
        quiet=None
        if campaign.quiet_hours is None
        else f"{campaign.quiet_hours} {each.zone or zone.name}",
        not_after_at=campaign.not_after_at,
        content=reference.content(),
        template_version_id=version_id,
        audience_id=campaign.audience_id,
        recipient=each.recipient,
        retry_limit=campaign.retry_limit,
        mode=campaign.mode,
    )


def _test_options(campaign: Campaign, recipient: str) -> dict[str, Any]:
    """Say what a test asks for: that this one is really sent, or which faults it may meet."""
    if campaign.mode != "test":
        return {}
    if fold_recipient(recipient) in campaign.real_addresses:
        return {OPTION: {"send": True}}
    return {OPTION: {"faults": campaign.faults}} if campaign.faults else {}


def _due_at(campaign: Campaign, zone: Zone, each: _Reached) -> datetime | None:
    if campaign.start_at is None or not campaign.local_start:
        return campaign.start_at
    return starts_at(campaign.start_at, zone, each.zone)


def action_of(account: Account, channel: Channel) -> Action:
    """Say what limits count a message by: only what is made for many broadcasts."""
    if account.is_bulk:
        return Action.BROADCAST
    return ACTIONS.get(channel, Action.MESSAGE)


def _accounts(tx: Tx, campaign: Campaign) -> list[Account]:
    ids = accounts_of(tx, campaign)
    found = read_accounts(tx, [(campaign.workspace_id, id_) for id_ in ids])
    return [
        found[campaign.workspace_id, id_] for id_ in ids if (campaign.workspace_id, id_) in found
    ]


def _versions(
    tx: Tx, campaign: Campaign, variants: Sequence[Variant]
) -> Mapping[str, TemplateVersion]:
    ids = [each.template_version_id for each in variants] or [campaign.template_version_id]
    return load_versions(tx, campaign.workspace_id, ids)


def _look_up(tx: Tx, campaign: Campaign, members: Sequence[Member]) -> list[_Reached | _Skipped]:
    """Find where each member is written to, in the audience's order."""
    people = store.load(
        tx, campaign.workspace_id, [each.id for each in members if each.kind == "contact"]
    )
    return [
        _of_channel(campaign, each)
        if each.kind == "channel"
        else _of_contact(campaign, each, people)
        for each in members
    ]


def _of_channel(campaign: Campaign, member: Member) -> _Reached | _Skipped:
    if member.provider != campaign.channel.value:
        message = f"It is on {member.provider}, and this campaign goes to {campaign.channel.value}."
        return _Skipped(member, "other_channel", message, member.id)
    return _Reached(member, member.id, "", {})


def _of_contact(
    campaign: Campaign, member: Member, people: Mapping[str, Contact]
) -> _Reached | _Skipped:
    contact = people.get(member.id)
    if contact is None:
        return _Skipped(member, "gone", "The contact was deleted.")
    if contact.consent is Consent.REFUSED:
        return _Skipped(member, "consent_refused", "The person refused consent.")
    wanted = CHANNELS.get(campaign.channel.value, campaign.channel.value)
    address = next((each for each in contact.addresses if each.channel == wanted), None)
    if address is None:
        message = f"The contact has no address for {campaign.channel.value}."
        return _Skipped(member, "no_address", message)
    return _Reached(
        member,
        address.address,
        contact.name,
        variables_of(contact),
        contact.id,
        contact.zone if contact.zone in zone_names() else None,
    )


def _known_members(tx: Tx, campaign: Campaign, members: Sequence[Member]) -> set[Member]:
    """Find members who were skipped before: a second walk says nothing new of them."""
    rows = tx.all(
        """
        SELECT s.kind, s.provider, s.member_id
        FROM TABLE(:members) AS asked (kind text, provider text, member_id text)
        JOIN campaign_skip s ON s.workspace_id = :workspace_id AND s.campaign_id = :campaign_id
            AND s.kind = asked.kind AND s.provider = asked.provider AND s.member_id = asked.member_id
        """,
        workspace_id=campaign.workspace_id,
        campaign_id=campaign.id,
        members=[(each.kind, each.provider, each.id) for each in members],
    )
    return {Member(row["kind"], row["member_id"], row["provider"]) for row in rows}


def _taken(tx: Tx, campaign: Campaign, recipients: Sequence[str]) -> dict[str, str]:
    """Find who has a delivery of the campaign already, and whose it is."""
    rows = tx.all(
        """
        SELECT delivery.recipient, delivery.contact_id FROM TABLE(:recipients) AS asked (recipient text)
        JOIN delivery ON delivery.workspace_id = :workspace_id AND delivery.campaign_id = :campaign_id
            AND delivery.recipient = asked.recipient AND delivery.step = 0
        """,
        workspace_id=campaign.workspace_id,
        campaign_id=campaign.id,
        recipients=[(each,) for each in sorted(set(recipients))],
    )
    return {row["recipient"]: row["contact_id"] or row["recipient"] for row in rows}


def _write_skipped(tx: Tx, now: datetime, campaign: Campaign, skipped: Sequence[_Skipped]) -> None:
    if not skipped:
        return
    tx.run(
        """
        INSERT INTO campaign_skip (
            workspace_id, campaign_id, kind, provider, member_id, recipient, code, message, skipped_at
        ) SELECT :workspace_id, :campaign_id, kind, provider, member_id, recipient, code, message, :now
        FROM TABLE(:new) AS new (
            kind text, provider text, member_id text, recipient text, code text, message text
        )
        """,
        workspace_id=campaign.workspace_id,
        campaign_id=campaign.id,
        now=now,
        new=[
            (
                each.member.kind,
                each.member.provider,
                each.member.id,
                each.recipient,
                each.code,
                each.message,
            )
            for each in skipped
        ],
    )
    add_counts(tx, {campaign.key: {"skipped": len(skipped)}})
