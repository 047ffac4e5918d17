"""How far campaigns are: read off counters, never counted from rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cadenza.accounts.model import read_accounts
from cadenza.campaigns.counters import read_counts, read_rates
from cadenza.campaigns.model import ENDED, Campaign, CampaignState, accounts_of
from cadenza.campaigns.plan_recipients import action_of
from cadenza.campaigns.recipient_clock import zone_of
from cadenza.core.quiet import open_hours
from cadenza.core.throughput import Estimate, estimate
from cadenza.deliveries.capacity import read_senders
from cadenza.sql.tx import Row, Tx
from cadenza.sql.values import Key

MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What became of a campaign's recipients so far."""

    total: int  # planned so far; `planned`: these are all
    planned: bool
    sent: int
    failed: int
    unconfirmed: int
    missed: int
    skipped: int
    canceled: int
    waiting: int
    percent: int  # 100 only when everybody has an end
    per_second: float | None  # over the last ten seconds
    per_minute: float | None  # sent since it started
    allowed_per_minute: (
        float | None
    )  # by its rate and its accounts' limits; None: nothing known limits it
    finish_at: datetime | None  # by these, the days and hours, and the pace that is seen
    bound_by: str | None  # what decides when it ends


def read_progress(tx: Tx, now: datetime, campaigns: Sequence[Campaign]) -> dict[Key, Progress]:
    """Return the progress of campaigns."""
    keys = [each.key for each in campaigns]
    counts, rates = read_counts(tx, keys), read_rates(tx, now, keys)
    return {
        each.key: _progress(tx, now, each, counts[each.key], rates.get(each.key, 0.0))
        for each in campaigns
    }


def _progress(
    tx: Tx, now: datetime, campaign: Campaign, counts: dict[str, int], per_second: float
) -> Progress:
    done = sum(counts.values())
    waiting = max(0, campaign.total - done)
    pace = _pace(now, campaign, counts["sent"])
    percent = 100 * done // campaign.total if campaign.total else 0
    guess = Estimate(None, None, "")
    if campaign.state not in ENDED and campaign.state is not CampaignState.DRAFT:
        observed = per_second * 60 if campaign.state is CampaignState.RUNNING else None
        guess = forecast(tx, now, campaign, waiting, observed=observed or pace)
    runs = campaign.state in (CampaignState.RUNNING, CampaignState.QUEUED)
    return Progress(
        total=campaign.total,
        planned=campaign.planned,
        waiting=waiting,
        percent=percent if campaign.planned else min(percent, 99),
        per_second=per_second if runs else None,
        per_minute=None if pace is None else round(pace, 1),
        allowed_per_minute=None if guess.per_minute is None else round(guess.per_minute, 1),
        finish_at=guess.finish_at if runs and waiting else None,
        bound_by="pause" if campaign.state is CampaignState.PAUSED else guess.bound_by or None,
        **counts,
    )


def forecast(
    tx: Tx, now: datetime, campaign: Campaign, count: int, *, observed: float | None = None
) -> Estimate:
    """Say how long so many messages take it, by its rate, its accounts and its quiet hours."""
    keys = [(campaign.workspace_id, id_) for id_ in accounts_of(tx, campaign)]
    accounts = [each for each in read_accounts(tx, keys).values() if each.can_send]
    senders = read_senders(
        tx,
        now,
        [(each, action_of(each, campaign.channel)) for each in accounts],
        mode=campaign.mode,
    )
    quiet = None
    if campaign.quiet_hours is not None:
        zone = zone_of(tx, campaign.workspace_id, campaign.zone)
        quiet = open_hours(f"{campaign.quiet_hours} {zone.name}")
    return estimate(
        max(now, campaign.begins_at or now),
        count,
        senders,
        rate=campaign.delivery_rate,
        observed=observed,
        quiet=quiet,
    )


def _pace(now: datetime, campaign: Campaign, sent: int) -> float | None:
    if campaign.started_at is None or not sent:
        return None
    since = (campaign.ended_at or now) - max(
        campaign.started_at, campaign.start_at or campaign.started_at
    )
    return sent / max(since / MINUTE, 1 / 60)


def list_recipients(
    tx: Tx,
    campaign: Campaign,
    *,
    state: str | None = None,
    after: str = "",
    limit: int = 50,
) -> list[Row]:
    """Return deliveries of a campaign by recipient: what became of each, and why."""
    chosen = "AND state = :state" if state else ""
    return tx.all(
        f"""
        SELECT id, recipient, contact_id, account_id, state, reason, due_at, sent_at, failed_at, attempts, url
        FROM delivery
        WHERE workspace_id = :workspace_id AND campaign_id = :campaign_id AND recipient > :after {chosen}
        ORDER BY recipient LIMIT :limit
        """,  # noqa: S608 - put together from constants
        workspace_id=campaign.workspace_id,
        campaign_id=campaign.id,
        after=after,
        limit=limit,
        **({"state": state} if state else {}),
    )


def list_skipped(tx: Tx, campaign: Campaign, *, after: str = "", limit: int = 50) -> list[Row]:
    """Return members of the audience for whom no delivery was made, and why."""
    return tx.all(
        """
        SELECT kind, provider, member_id, recipient, code, message, skipped_at FROM campaign_skip
        WHERE workspace_id = :workspace_id AND campaign_id = :campaign_id AND member_id > :after
        ORDER BY member_id LIMIT :limit
        """,
        workspace_id=campaign.workspace_id,
        campaign_id=campaign.id,
        after=after,
        limit=limit,
    )
