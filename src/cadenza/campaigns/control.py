"""Pauses, resumes and cancels campaigns, sends again what failed, and completes what is done.

Each is one conditional move: a second click, or somebody who was faster, gets told where it stands. After a pause
or a cancel is committed no call of the campaign is permitted; calls under way finish. Run each under `locks_of`.
"""

from collections.abc import Callable
from datetime import datetime
from typing import TypeAlias

from cadenza.campaigns import guard
from cadenza.campaigns.counters import COUNTED, add_counts, read_counts
from cadenza.campaigns.model import (
    Campaign,
    CampaignState,
    NoSuchCampaign,
    NotNow,
    Unfit,
    accounts_of,
    find_campaign,
    move,
    wake_job,
)
from cadenza.campaigns.save import check_accounts
from cadenza.campaigns.start import begin
from cadenza.db.audit import record
from cadenza.db.write_outbox import OutboxEvent, write_outbox
from cadenza.deliveries import campaign_deliveries, lanes
from cadenza.deliveries.reasons import Code, Reason
from cadenza.sql.tx import Tx

Answer: TypeAlias = Campaign | NoSuchCampaign | NotNow | Unfit
BATCH = 1_000
PURGED = "What it sent was purged, so it could write to somebody twice: duplicate it instead."


def pause_campaign(
    tx: Tx, now: datetime, campaign_id: str, *, workspace_id: str, by: str, reason: str = ""
) -> Answer:
    """Let nothing more of it leave, until it is resumed."""

    def after(campaign: Campaign) -> None:
        lanes.pause(
            tx,
            workspace_id=workspace_id,
            scope=campaign.scope,
            reason=reason or "its campaign is paused",
        )

    return _do(tx, now, campaign_id, "pause", after, workspace_id, by, reason or None)


def resume_campaign(
    tx: Tx, now: datetime, campaign_id: str, *, workspace_id: str, by: str
) -> Answer:
    """Go on; what was sent or is unconfirmed is not sent again."""
    there = find_campaign(tx, workspace_id, campaign_id)
    if isinstance(there, Campaign):
        accounts = check_accounts(tx, workspace_id, accounts_of(tx, there), there.channel)
        if isinstance(accounts, Unfit):
            return accounts

    def after(campaign: Campaign) -> None:
        guard.begin_counting(tx, campaign, read_counts(tx, [campaign.key])[campaign.key])
        begin(tx, now, campaign, by=by)
        lanes.resume(tx, workspace_id=workspace_id, scope=campaign.scope)

    begun = isinstance(there, Campaign) and (there.planned or there.total > 0)
    return _do(tx, now, campaign_id, "resume" if begun else "begin", after, workspace_id, by)


def cancel_campaign(
    tx: Tx, now: datetime, campaign_id: str, *, workspace_id: str, by: str
) -> Answer:
    """End it now; what waits is canceled in the background."""

    def after(campaign: Campaign) -> None:
        lanes.pause(
            tx, workspace_id=workspace_id, scope=campaign.scope, reason="its campaign is canceled"
        )
        wake_job(tx, now, campaign)

    return _do(tx, now, campaign_id, "cancel", after, workspace_id, by)


def retry_failed(tx: Tx, now: datetime, campaign_id: str, *, workspace_id: str, by: str) -> Answer:
    """Send again what failed or was missed, with fresh tries; also while it runs."""

    def after(campaign: Campaign) -> None:
        while campaign_deliveries.retry_failed(tx, now, *campaign.key, limit=BATCH):
            continue
        lanes.resume(tx, workspace_id=workspace_id, scope=campaign.scope)

    there = find_campaign(tx, workspace_id, campaign_id)
    if isinstance(there, Campaign) and there.state is CampaignState.RUNNING:
        after(there)
        return there
    return _do(tx, now, campaign_id, "reopen", after, workspace_id, by)


def send_to_remaining(
    tx: Tx, now: datetime, campaign_id: str, *, workspace_id: str, by: str
) -> Answer:
    """Go through the audience once more: who is new in it gets the message, nobody twice."""

    def after(campaign: Campaign) -> None:
        tx.run(
            """
            UPDATE campaign SET planned = false, planned_to = '' WHERE workspace_id = :workspace_id AND id = :id
            """,
            workspace_id=workspace_id,
            id=campaign.id,
        )
        lanes.resume(tx, workspace_id=workspace_id, scope=campaign.scope)
        wake_job(tx, now, campaign)

    return _do(tx, now, campaign_id, "reopen", after, workspace_id, by)


def cancel_waiting(tx: Tx, now: datetime, *, workspace_id: str, campaign_id: str) -> int:
    """Cancel some of what waits of a canceled campaign; say how many, 0 at the end."""
    there = find_campaign(tx, workspace_id, campaign_id)
    if not isinstance(there, Campaign) or there.state is not CampaignState.CANCELED:
        return 0
    return campaign_deliveries.cancel_waiting(
        tx, now, workspace_id, campaign_id, reason=Reason.of(Code.CAMPAIGN_CANCELED), limit=BATCH
    )


def complete_campaign(
    tx: Tx, now: datetime, *, workspace_id: str, campaign_id: str
) -> Campaign | None:
    """Complete it if everybody has an end: counted row by row, once, before it is said."""
    there = find_campaign(tx, workspace_id, campaign_id)
    if not isinstance(there, Campaign) or there.state is not CampaignState.RUNNING:
        return None
    if not there.planned or sum(read_counts(tx, [there.key])[there.key].values()) < there.total:
        return None
    counts = _recount(tx, there)
    if sum(counts.values()) < there.total:
        return None
    moved = move(tx, now, there, "complete")
    if not isinstance(moved, Campaign):
        return None
    event = OutboxEvent(
        workspace_id=workspace_id,
        id=f"campaign:{there.id}:{moved.revision}",
        kind="campaign.completed",
        subject_id=there.id,
        body={"name": there.name, "total": there.total, **counts},
    )
    write_outbox(tx, now, [event])
    return moved


def _recount(tx: Tx, campaign: Campaign) -> dict[str, int]:
    """Count the deliveries themselves and write the counters again."""
    rows = tx.all(
        """
        SELECT state, count(*) AS n FROM delivery WHERE workspace_id = :workspace_id AND campaign_id = :id
        GROUP BY state
        """,
        workspace_id=campaign.workspace_id,
        id=campaign.id,
    )
    counts: dict[str, int] = dict.fromkeys(COUNTED, 0)
    counts |= {row["state"]: row["n"] for row in rows if row["state"] in counts}
    counts["skipped"] += tx.value(
        "SELECT count(*) FROM campaign_skip WHERE workspace_id = :workspace_id AND campaign_id = :id",
        workspace_id=campaign.workspace_id,
        id=campaign.id,
    )
    tx.run(
        "DELETE FROM campaign_count WHERE workspace_id = :workspace_id AND campaign_id = :id",
        workspace_id=campaign.workspace_id,
        id=campaign.id,
    )
    add_counts(tx, {campaign.key: counts})
    return counts


def _do(
    tx: Tx,
    now: datetime,
    campaign_id: str,
    verb: str,
    after: Callable[[Campaign], None],
    workspace_id: str,
    by: str,
    reason: str | None = None,
) -> Answer:
    there = find_campaign(tx, workspace_id, campaign_id)
    if isinstance(there, NoSuchCampaign):
        return there
    if verb == "reopen" and there.purged_at is not None:
        return NotNow(there.state, PURGED)
    moved = move(tx, now, there, verb, reason=reason, code="person" if reason else None)
    if isinstance(moved, NotNow):
        return moved
    after(moved)
    record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action=f"campaign.{verb}",
        subject_id=there.id,
        before={"state": there.state.value},
        after={"state": moved.state.value, "reason": reason},
    )
    return find_campaign(tx, workspace_id, campaign_id)
