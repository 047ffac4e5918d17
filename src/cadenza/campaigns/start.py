"""Starts a campaign: checks all that can be known before, shows what would happen, then lets its job plan recipients.

The preview and the start are the same code: a dry run answers with the plan and changes nothing.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from cadenza.campaigns.model import (
    Campaign,
    NoSuchCampaign,
    NotNow,
    Unfit,
    accounts_of,
    find_campaign,
    move,
    wake_job,
)
from cadenza.campaigns.progress import forecast
from cadenza.campaigns.save import check_accounts, write_rate
from cadenza.campaigns.split import list_variants
from cadenza.contacts.audiences import Audience, NoSuchAudience, find_audience
from cadenza.core.channels import Channel
from cadenza.db.audit import record
from cadenza.inbox.bulk_mail import BulkSender, check_bulk_template
from cadenza.sql.tx import Tx
from cadenza.sql.values import Key
from cadenza.templates.store import load_versions

GRACE = timedelta(hours=3)  # after its time; later a person decides
MISSED = "nothing ran when it was to start: resume it to start it now"


@dataclass(frozen=True, slots=True, kw_only=True)
class StartPlan:
    """What starting comes to."""

    campaign: Campaign
    recipients: int  # members of the audience now; who has no address or a missing value is skipped or refused
    accounts: tuple[str, ...]
    first_at: datetime
    finish_at: datetime | None  # None: as fast as the accounts may
    bound_by: str  # what decides when it ends
    warnings: tuple[str, ...] = ()


def start_campaign(
    tx: Tx,
    now: datetime,
    campaign_id: str,
    *,
    workspace_id: str,
    by: str,
    sender: BulkSender,
    confirmed: int | None = None,
) -> StartPlan | NoSuchCampaign | NotNow | Unfit:
    """Start it now, or let it wait for its time; run under `locks_of`. `confirmed`: what a person was shown."""
    there = find_campaign(tx, workspace_id, campaign_id)
    if isinstance(there, NoSuchCampaign):
        return there
    audience = find_audience(tx, workspace_id, there.audience_id)
    if isinstance(audience, NoSuchAudience):
        return Unfit("audience_id", "no_audience", "Its audience is gone: choose another.")
    if confirmed is not None and confirmed != audience.size:
        message = (
            f"It has {audience.size} recipients now, not {confirmed}: look again, then start it."
        )
        return Unfit("recipients", "changed", message)
    wrong = _why_not(tx, now, there, audience, sender)
    if wrong is not None:
        return wrong
    waits = there.begins_at is not None and there.begins_at > now
    moved = move(tx, now, there, "schedule" if waits else "start")
    if isinstance(moved, NotNow):
        return moved
    if not waits:
        begin(tx, now, moved, by=by)
    record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="campaign.schedule" if waits else "campaign.start",
        subject_id=moved.id,
        after={"recipients": audience.size, "mode": moved.mode},
    )
    return _plan(tx, now, moved, audience)


def start_due(tx: Tx, now: datetime, *, limit: int = 20) -> list[Campaign]:
    """Start what waited for its time; what could not be started for long is a person's to resume."""
    rows = tx.all(
        """
        SELECT workspace_id, id FROM campaign
        WHERE state = 'scheduled' AND begins_at <= :now AND deleted_at IS NULL LIMIT :limit
        """,
        now=now,
        limit=limit,
    )
    started: list[Campaign] = []
    for row in rows:
        there = find_campaign(tx, row["workspace_id"], row["id"])
        if not isinstance(there, Campaign):
            continue
        if there.start_at is not None and now > there.start_at + GRACE:
            move(tx, now, there, "miss", reason=MISSED, code="missed_start")
            continue
        moved = move(tx, now, there, "start")
        if isinstance(moved, Campaign):
            begin(tx, now, moved, by="campaign")
            started.append(moved)
    return started


def list_open(tx: Tx, now: datetime) -> list[Key]:
    """Return what is under way, of all workspaces."""
    rows = tx.all(
        "SELECT workspace_id, id FROM campaign WHERE state IN ('queued', 'running') LIMIT 1000"
    )
    return [(row["workspace_id"], row["id"]) for row in rows]


def begin(tx: Tx, now: datetime, campaign: Campaign, *, by: str) -> None:
    """Write its rate, and let its job plan the recipients."""
    write_rate(tx, now, campaign, by=by)
    wake_job(tx, now, campaign)


def _why_not(
    tx: Tx, now: datetime, there: Campaign, audience: Audience, sender: BulkSender
) -> Unfit | None:
    if audience.size == 0:
        return Unfit("audience_id", "empty", f"{audience.name} has no members: add some first.")
    accounts = check_accounts(tx, there.workspace_id, accounts_of(tx, there), there.channel)
    if isinstance(accounts, Unfit):
        return accounts
    for account in accounts.values():
        if not account.can_send:
            message = f"{account.handle} is not connected: connect it again first."
            return Unfit("account_ids", "not_connected", message)
    if there.not_after_at is not None and there.not_after_at <= max(now, there.start_at or now):
        return Unfit("not_after_at", "past", "Its last time to send is over: change it.")
    return _bulk_mail(tx, there, sender)


def _bulk_mail(tx: Tx, there: Campaign, sender: BulkSender) -> Unfit | None:
    """Refuse mail to many without a way to unsubscribe."""
    if there.channel is not Channel.EMAIL or there.mode == "test":
        return None
    ids = [each.template_version_id for each in list_variants(tx, there)]
    versions = load_versions(tx, there.workspace_id, ids or [there.template_version_id])
    checked = (check_bulk_template(sender, each) for each in versions.values())
    wrong = next((each for each in checked if each), None)
    if not wrong:
        return None
    said = " ".join(f"{each.message[:1].upper()}{each.message[1:]}." for each in wrong)
    return Unfit("template_id", wrong[0].code, said)


def _plan(tx: Tx, now: datetime, moved: Campaign, audience: Audience) -> StartPlan:
    first = max(now, moved.begins_at or now)
    warnings: list[str] = []
    if moved.local_start and (moved.begins_at or now) < now:
        warnings.append("In some time zones its hour is over: recipients there get it at once.")
    guess = forecast(tx, now, moved, audience.size)
    finish, bound_by = guess.finish_at, guess.bound_by
    last = moved.not_after_at
    if last is not None and (finish is None or finish > last) and bound_by != "accounts":
        finish, bound_by = last, "not_after_at"
        warnings.append("At this rate not everybody is reached before its last time to send.")
    elif finish is None and bound_by in ("hours", "day_limit"):
        warnings.append("It would take longer than a year: add accounts or raise their limits.")
    return StartPlan(
        campaign=moved,
        recipients=audience.size,
        accounts=tuple(accounts_of(tx, moved)),
        first_at=first,
        finish_at=finish,
        bound_by=bound_by,
        warnings=tuple(warnings),
    )
