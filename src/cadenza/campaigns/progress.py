"""How far campaigns are: read off counters, never counted from rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cadenza.campaigns.counters import read_counts
from cadenza.campaigns.model import ENDED, Campaign, CampaignState
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
    per_minute: float | None  # sent since it started
    finish_at: datetime | None  # at that pace
    bound_by: str | None  # what decides when it ends


def read_progress(tx: Tx, now: datetime, campaigns: Sequence[Campaign]) -> dict[Key, Progress]:
    """Return the progress of campaigns."""
    counts = read_counts(tx, [each.key for each in campaigns])
    return {each.key: _progress(now, each, counts[each.key]) for each in campaigns}


def _progress(now: datetime, campaign: Campaign, counts: dict[str, int]) -> Progress:
    done = sum(counts.values())
    waiting = max(0, campaign.total - done)
    pace = _pace(now, campaign, counts["sent"])
    percent = 100 * done // campaign.total if campaign.total else 0
    runs = campaign.state is CampaignState.RUNNING
    rate = float(campaign.delivery_rate) if campaign.delivery_rate else pace
    best = min(filter(None, (pace, rate)), default=None)
    return Progress(
        total=campaign.total,
        planned=campaign.planned,
        waiting=waiting,
        percent=percent if campaign.planned else min(percent, 99),
        per_minute=None if pace is None else round(pace, 1),
        finish_at=now + waiting / best * MINUTE if runs and waiting and best else None,
        bound_by=_bound_by(campaign, pace),
        **counts,
    )


def _pace(now: datetime, campaign: Campaign, sent: int) -> float | None:
    if campaign.started_at is None or not sent:
        return None
    since = (campaign.ended_at or now) - max(
        campaign.started_at, campaign.start_at or campaign.started_at
    )
    return sent / max(since / MINUTE, 1 / 60)


def _bound_by(campaign: Campaign, pace: float | None) -> str | None:
    if campaign.state in ENDED or campaign.state is CampaignState.DRAFT:
        return None
    if campaign.state is CampaignState.PAUSED:
        return "pause"
    if campaign.delivery_rate is not None and (
        pace is None or pace >= 0.8 * campaign.delivery_rate
    ):
        return "delivery_rate"
    return "accounts"


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
