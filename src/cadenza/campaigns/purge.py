"""Removes what campaigns sent long ago: the messages and what was said with networks about them, in batches.

Only of campaigns that have ended. The ledger, the totals and what failed stay. Who got a message is not known any more
afterwards, so such a campaign is never reopened: it could write to them again.
"""

from dataclasses import dataclass
from datetime import datetime

from cadenza.campaigns.model import QUEUE
from cadenza.db.audit import record
from cadenza.deliveries import campaign_deliveries
from cadenza.engine.enqueue_in import enqueue_in
from cadenza.sql.tx import Tx

JOB = "purge_campaigns"
BATCH = 1_000


@dataclass(frozen=True, slots=True)
class Purge:
    """What would be removed, or is being removed."""

    sent_before: datetime
    campaigns: int
    deliveries: int


def purge_campaigns(
    tx: Tx, now: datetime, *, workspace_id: str, sent_before: datetime, by: str
) -> Purge:
    """Say what is removed, refuse to reopen those campaigns from now on, and let a job remove it."""
    about = {"workspace_id": workspace_id, "sent_before": sent_before}
    row = tx.one(
        """
        SELECT count(*) AS n, count(DISTINCT campaign_id) AS campaigns FROM delivery
        WHERE workspace_id = :workspace_id AND state = 'sent' AND sent_at < :sent_before AND campaign_id IN (
            SELECT id FROM campaign WHERE workspace_id = :workspace_id AND ended_at IS NOT NULL
        )
        """,
        **about,
    )
    assert row is not None, "a count has a row"
    found = Purge(sent_before, row["campaigns"], row["n"])
    if found.deliveries:
        tx.run(
            """
            UPDATE campaign SET purged_at = :now, revision = revision + 1
            WHERE workspace_id = :workspace_id AND ended_at IS NOT NULL AND id IN (
                SELECT campaign_id FROM delivery
                WHERE workspace_id = :workspace_id AND state = 'sent' AND sent_at < :sent_before
                    AND campaign_id IS NOT NULL
            )
            """,
            now=now,
            **about,
        )
        payload = {"workspace_id": workspace_id, "sent_before": sent_before.isoformat()}
        enqueue_in(tx, now, JOB, payload, queue=QUEUE)
        after = {"sent_before": sent_before, "deliveries": found.deliveries}
        record(
            tx,
            now,
            workspace_id=workspace_id,
            by=by,
            action="campaign.purge",
            subject_id=workspace_id,
            after=after,
        )
    return found


def purge_some(tx: Tx, now: datetime, *, workspace_id: str, sent_before: datetime) -> int:
    """Remove some; say how many, 0 at the end."""
    rows = tx.all(
        """
        SELECT id FROM campaign WHERE workspace_id = :workspace_id AND purged_at IS NOT NULL
            AND ended_at IS NOT NULL
        """,
        workspace_id=workspace_id,
    )
    return campaign_deliveries.remove_sent(
        tx, workspace_id, [row["id"] for row in rows], sent_before=sent_before, limit=BATCH
    )
