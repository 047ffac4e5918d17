"""Creates, changes, duplicates and deletes campaigns. What was started keeps its audience, template and accounts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from cadenza.accounts.model import Account, read_accounts
from cadenza.campaigns.model import (
    Campaign,
    CampaignState,
    NoSuchCampaign,
    NotNow,
    Unfit,
    accounts_of,
    find_campaign,
    locks_of,
)
from cadenza.campaigns.recipient_clock import first_anywhere, zone_of
from cadenza.campaigns.split import list_variants, set_variants
from cadenza.contacts.audiences import NoSuchAudience, find_audience
from cadenza.core.channels import Channel
from cadenza.core.quiet import is_span
from cadenza.core.zones import zone_names
from cadenza.db.audit import record
from cadenza.deliveries.gates import GONE
from cadenza.deliveries.read_recipients import fold_recipient
from cadenza.deliveries.set_limit import Limit, set_limit
from cadenza.providers.registry import all_providers
from cadenza.sql.tx import Tx
from cadenza.templates.model import CHANNELS, TemplateVersion
from cadenza.templates.store import find_version

__all__ = ["CampaignForm", "change_campaign", "create_campaign", "locks_of"]
EDITABLE = frozenset({CampaignState.DRAFT, CampaignState.SCHEDULED})
MOST_ACCOUNTS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignForm:
    """A campaign as a person fills it in."""

    name: str
    audience_id: str
    template_id: str
    account_ids: Sequence[str]
    channel: Channel = Channel.EMAIL
    template_version: int | None = None  # None: the newest
    description: str = ""
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])
    mode: str = "live"
    delivery_rate: int | None = None
    retry_limit: int = 3
    skip_incomplete: bool = False
    max_error_percent: int = 10
    max_bounce_percent: int = 2
    start_at: datetime | None = None
    not_after_at: datetime | None = None
    quiet_hours: str | None = None  # 22:00-08:00, on each recipient's clock
    local_start: bool = False  # at the hour of `start_at` on each recipient's clock
    zone: str | None = None  # for who has none; None: the workspace's
    variants: Sequence[tuple[str, int | None]] = ()  # other templates that are tried against it
    split_percent: int = 100  # of the audience try them; the rest gets the winner
    winner_by: str = "hand"
    winner_after_minutes: int = 240
    test_addresses: Sequence[str] = ()  # who really gets a test
    test_faults: Mapping[str, int] = field(default_factory=dict[str, int])  # of a hundred


def create_campaign(
    tx: Tx, now: datetime, form: CampaignForm, *, workspace_id: str, by: str
) -> Campaign | Unfit:
    """Make a draft."""
    version = _check(tx, now, workspace_id, form)
    if isinstance(version, Unfit):
        return version
    id_ = tx.new_id()
    tx.run(
        """
        INSERT INTO campaign (
            workspace_id, id, name, description, audience_id, template_id, template_version_id, channel, params,
            mode, delivery_rate, retry_limit, skip_incomplete, max_error_percent, max_bounce_percent, start_at, not_after_at,
            begins_at, local_start, quiet_hours, zone, test_addresses, test_faults,
            split_percent, winner_by, winner_after_minutes, created_by,
            created_at, updated_at
        ) VALUES (
            :workspace_id, :id, :name, :description, :audience_id, :template_id, :version_id, :channel, :params,
            :mode, :delivery_rate, :retry_limit, :skip_incomplete, :max_error_percent, :max_bounce_percent, :start_at, :not_after_at,
            :begins_at, :local_start, :quiet_hours, :zone, :test_addresses, :test_faults,
            :split_percent, :winner_by, :winner_after_minutes, :by,
            :now, :now
        )
        """,
        workspace_id=workspace_id,
        id=id_,
        by=by,
        now=now,
        **_columns(tx, workspace_id, form, version),
    )
    _set_accounts(tx, workspace_id, id_, form.account_ids)
    _set_variants(tx, workspace_id, id_, form, version)
    record(tx, now, workspace_id=workspace_id, by=by, action="campaign.create", subject_id=id_)
    made = find_campaign(tx, workspace_id, id_)
    assert isinstance(made, Campaign), "it was written right now"
    return made


def change_campaign(
    tx: Tx, now: datetime, campaign_id: str, form: CampaignForm, *, workspace_id: str, by: str
) -> Campaign | NoSuchCampaign | NotNow | Unfit:
    """Change a campaign that has not begun; run under `locks_of`."""
    there = find_campaign(tx, workspace_id, campaign_id)
    if isinstance(there, NoSuchCampaign):
        return there
    if there.state not in EDITABLE:
        return NotNow(
            there.state,
            f"It is {there.state.value}: only its rate can be changed now. Duplicate it to change the rest.",
        )
    version = _check(tx, now, workspace_id, form)
    if isinstance(version, Unfit):
        return version
    tx.run(
        """
        UPDATE campaign SET name = :name, description = :description, audience_id = :audience_id,
            template_id = :template_id, template_version_id = :version_id, channel = :channel, params = :params,
            mode = :mode, delivery_rate = :delivery_rate, retry_limit = :retry_limit,
            skip_incomplete = :skip_incomplete, max_error_percent = :max_error_percent,
            max_bounce_percent = :max_bounce_percent, start_at = :start_at,
            not_after_at = :not_after_at, begins_at = :begins_at, local_start = :local_start,
            quiet_hours = :quiet_hours, zone = :zone,
            test_addresses = :test_addresses, test_faults = :test_faults,
            split_percent = :split_percent, winner_by = :winner_by,
            winner_after_minutes = :winner_after_minutes, updated_at = :now, revision = revision + 1
        WHERE workspace_id = :workspace_id AND id = :id
        """,
        workspace_id=workspace_id,
        id=there.id,
        now=now,
        **_columns(tx, workspace_id, form, version),
    )
    _set_accounts(tx, workspace_id, there.id, form.account_ids)
    _set_variants(tx, workspace_id, there.id, form, version)
    record(tx, now, workspace_id=workspace_id, by=by, action="campaign.change", subject_id=there.id)
    return _found(tx, there)


def set_rate(
    tx: Tx, now: datetime, campaign_id: str, rate: int, *, workspace_id: str, by: str
) -> Campaign | NoSuchCampaign | NotNow:
    """Change how many leave in a minute, from the next one on; run under `locks_of`."""
    there = find_campaign(tx, workspace_id, campaign_id)
    if isinstance(there, NoSuchCampaign):
        return there
    if there.ended_at is not None:
        return NotNow(there.state, f"It is {there.state.value}: its rate is of no use any more.")
    tx.run(
        """
        UPDATE campaign SET delivery_rate = :rate, updated_at = :now, revision = revision + 1
        WHERE workspace_id = :workspace_id AND id = :id
        """,
        rate=rate,
        now=now,
        workspace_id=workspace_id,
        id=there.id,
    )
    changed = _found(tx, there)
    write_rate(tx, now, changed, by=by)
    return changed


def write_rate(tx: Tx, now: datetime, campaign: Campaign, *, by: str) -> None:
    """Let its lane keep the rate."""
    if campaign.delivery_rate is not None:
        limit = Limit(
            scope=campaign.scope,
            action="*",
            kind="rate",
            amount=campaign.delivery_rate,
            per_seconds=60,
        )
        set_limit(tx, now, workspace_id=campaign.workspace_id, limit=limit, by=by)


def duplicate_campaign(
    tx: Tx, now: datetime, campaign_id: str, *, workspace_id: str, by: str
) -> Campaign | NoSuchCampaign | Unfit:
    """Make a draft like it, without a start time."""
    there = find_campaign(tx, workspace_id, campaign_id)
    if isinstance(there, NoSuchCampaign):
        return there
    form = CampaignForm(
        name=f"{there.name} (copy)",
        audience_id=there.audience_id,
        template_id=there.template_id,
        account_ids=accounts_of(tx, there),
        channel=there.channel,
        description=there.description,
        params=there.values,
        mode=there.mode,
        delivery_rate=there.delivery_rate,
        retry_limit=there.retry_limit,
        skip_incomplete=there.skip_incomplete,
        max_error_percent=there.max_error_percent,
        max_bounce_percent=there.max_bounce_percent,
        quiet_hours=there.quiet_hours,
        zone=there.zone,
        variants=[(each.template_id, None) for each in list_variants(tx, there)[1:]],
        split_percent=there.split_percent,
        winner_by=there.winner_by,
        winner_after_minutes=there.winner_after_minutes,
        test_addresses=there.real_addresses,
        test_faults=there.faults,
    )
    return create_campaign(tx, now, form, workspace_id=workspace_id, by=by)


def delete_campaign(
    tx: Tx, now: datetime, campaign_id: str, *, workspace_id: str, by: str
) -> Campaign | NoSuchCampaign | NotNow:
    """Delete a draft, or one that has ended; what it sent stays in the ledger."""
    there = find_campaign(tx, workspace_id, campaign_id)
    if isinstance(there, NoSuchCampaign):
        return there
    if there.state is not CampaignState.DRAFT and there.ended_at is None:
        return NotNow(there.state, f"It is {there.state.value}: cancel it before you delete it.")
    tx.run(
        "UPDATE campaign SET deleted_at = :now WHERE workspace_id = :workspace_id AND id = :id",
        now=now,
        workspace_id=workspace_id,
        id=there.id,
    )
    record(tx, now, workspace_id=workspace_id, by=by, action="campaign.delete", subject_id=there.id)
    return there


def check_accounts(
    tx: Tx, workspace_id: str, ids: Sequence[str], channel: Channel
) -> dict[str, Account] | Unfit:
    """Return the accounts, all able to send to the channel, or say which is not."""
    found = read_accounts(tx, [(workspace_id, id_) for id_ in ids])
    for id_ in ids:
        account = found.get((workspace_id, id_))
        if account is None or account.state == GONE:
            return Unfit("account_ids", "no_account", f"There is no connected account {id_}.")
        provider = all_providers().get(account.provider)
        if provider is None or channel not in provider.channels:
            message = f"{account.handle or id_} does not send to {channel.value}."
            return Unfit("account_ids", "wrong_channel", message)
    return {id_: found[workspace_id, id_] for id_ in ids}


def _check(tx: Tx, now: datetime, workspace_id: str, form: CampaignForm) -> TemplateVersion | Unfit:
    if form.channel not in CHANNELS:
        return Unfit("channel", "wrong_channel", "Campaigns go to channels of messages.")
    if isinstance(find_audience(tx, workspace_id, form.audience_id), NoSuchAudience):
        return Unfit("audience_id", "no_audience", "There is no such audience: choose another.")
    if not form.account_ids or len(form.account_ids) > MOST_ACCOUNTS:
        return Unfit("account_ids", "no_account", f"Choose 1 to {MOST_ACCOUNTS} accounts.")
    if len(set(form.account_ids)) < len(form.account_ids):
        return Unfit("account_ids", "twice", "An account is named twice.")
    if form.quiet_hours is not None and not is_span(form.quiet_hours):
        return Unfit("quiet_hours", "no_span", "Write two times, such as 22:00-08:00.")
    if form.zone is not None and form.zone not in zone_names():
        return Unfit("zone", "no_zone", f"There is no time zone {form.zone}: try Europe/Berlin.")
    if form.mode == "live" and (form.test_addresses or form.test_faults):
        return Unfit("mode", "no_test", "Addresses and faults of a test are for a test alone.")
    if sum(form.test_faults.values()) > 100:
        return Unfit("test_faults", "too_many", "Of a hundred messages no more can fail.")
    for template_id, number in form.variants:
        if not isinstance(find_version(tx, workspace_id, template_id, number), TemplateVersion):
            return Unfit("variants", "no_template", "There is no such template or version.")
    if form.split_percent < 100 and not form.variants:
        return Unfit(
            "split_percent", "no_variant", "A part of the audience needs something to try."
        )
    if form.local_start and form.start_at is None:
        return Unfit("start_at", "missing", "A start on each recipient's clock needs a time.")
    if form.start_at and form.not_after_at and form.not_after_at <= form.start_at:
        return Unfit("not_after_at", "too_early", "It would end before it starts.")
    if form.not_after_at and form.not_after_at <= now:
        return Unfit("not_after_at", "past", "That time is over.")
    accounts = check_accounts(tx, workspace_id, form.account_ids, form.channel)
    if isinstance(accounts, Unfit):
        return accounts
    version = find_version(tx, workspace_id, form.template_id, form.template_version)
    if not isinstance(version, TemplateVersion):
        return Unfit("template_id", "no_template", "There is no such template or version.")
    return version


def _columns(
    tx: Tx, workspace_id: str, form: CampaignForm, version: TemplateVersion
) -> dict[str, Any]:
    begins_at = form.start_at
    if form.local_start and form.start_at is not None:
        begins_at = first_anywhere(form.start_at, zone_of(tx, workspace_id, form.zone))
    return {
        "begins_at": begins_at,
        "local_start": form.local_start,
        "quiet_hours": form.quiet_hours,
        "zone": form.zone,
        "split_percent": form.split_percent,
        "winner_by": form.winner_by,
        "winner_after_minutes": form.winner_after_minutes,
        "test_addresses": msgspec.json.encode(
            sorted({fold_recipient(each) for each in form.test_addresses})
        ).decode(),
        "test_faults": msgspec.json.encode(dict(form.test_faults), order="sorted").decode(),
        "name": form.name,
        "description": form.description,
        "audience_id": form.audience_id,
        "template_id": form.template_id,
        "version_id": version.id,
        "channel": form.channel.value,
        "params": msgspec.json.encode(dict(form.params), order="sorted").decode(),
        "mode": form.mode,
        "delivery_rate": form.delivery_rate,
        "retry_limit": form.retry_limit,
        "skip_incomplete": form.skip_incomplete,
        "max_error_percent": form.max_error_percent,
        "max_bounce_percent": form.max_bounce_percent,
        "start_at": form.start_at,
        "not_after_at": form.not_after_at,
    }


def _set_variants(
    tx: Tx, workspace_id: str, campaign_id: str, form: CampaignForm, own: TemplateVersion
) -> None:
    found = [(each, find_version(tx, workspace_id, each, number)) for each, number in form.variants]
    others = [(each, version.id) for each, version in found if isinstance(version, TemplateVersion)]
    set_variants(tx, (workspace_id, campaign_id), [(form.template_id, own.id), *others])


def _set_accounts(tx: Tx, workspace_id: str, campaign_id: str, ids: Sequence[str]) -> None:
    about = {"workspace_id": workspace_id, "id": campaign_id}
    tx.run(
        "DELETE FROM campaign_account WHERE workspace_id = :workspace_id AND campaign_id = :id",
        **about,
    )
    tx.run(
        """
        INSERT INTO campaign_account (workspace_id, campaign_id, account_id, position)
        SELECT :workspace_id, :id, account_id, position
        FROM TABLE(:accounts) AS new (account_id text, position integer)
        """,
        accounts=[(id_, n) for n, id_ in enumerate(ids)],
        **about,
    )


def _found(tx: Tx, there: Campaign) -> Campaign:
    found = find_campaign(tx, *there.key)
    assert isinstance(found, Campaign), "it was there right now"
    return found
