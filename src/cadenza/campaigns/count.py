"""Counts what becomes of a campaign's deliveries, in the transaction that decides it; and stops what goes wrong.

The counters are the progress: reading it counts no rows. A campaign whose sends fail too often pauses itself. When
nothing is left, its job is woken to complete it.
"""

import zlib
from collections.abc import Mapping, Sequence
from datetime import datetime

from cadenza.campaigns.model import (
    JOB,
    QUEUE,
    Campaign,
    CampaignState,
    find_campaign,
    move,
    scope_of,
)
from cadenza.core.rollup import DeliveryState as State
from cadenza.db.write_outbox import OutboxEvent, write_outbox
from cadenza.deliveries import lanes
from cadenza.deliveries.planners import Planner, Transition
from cadenza.engine.enqueue_in import enqueue_in
from cadenza.sql.tx import Tx
from cadenza.sql.values import Key

SHARDS = 8  # on PostgreSQL
ENOUGH = 50  # results before a share of errors says something
COUNTED = ("sent", "failed", "unconfirmed", "missed", "skipped", "canceled")
_ENDS = {
    State.SENT: "sent",
    State.FAILED: "failed",
    State.UNCONFIRMED: "unconfirmed",
    State.MISSED: "missed",
    State.SKIPPED: "skipped",
    State.CANCELED: "canceled",
}


class CampaignPlanner(Planner):
    """A campaign's part in the pipeline: it counts, and single deliveries are nobody's news."""

    announces = False

    def count(self, tx: Tx, now: datetime, transitions: Sequence[Transition]) -> None:
        """Count ends, and look at what they mean for the campaigns."""
        changes: dict[Key, dict[str, int]] = {}
        for delivery, after in transitions:
            of = changes.setdefault((delivery.workspace_id, delivery.campaign_id or ""), {})
            for state, by in ((delivery.state, -1), (after, 1)):
                if state in _ENDS:
                    of[_ENDS[state]] = of.get(_ENDS[state], 0) + by
        add_counts(tx, changes, seed=transitions[0].delivery.id)
        for workspace_id, campaign_id in sorted(changes):
            campaign = find_campaign(tx, workspace_id, campaign_id)
            if isinstance(campaign, Campaign) and campaign.state is CampaignState.RUNNING:
                _look(tx, now, campaign)


def add_counts(tx: Tx, changes: Mapping[Key, Mapping[str, int]], *, seed: str = "") -> None:
    """Add to the counters of campaigns, each in one shard."""
    shard = zlib.crc32(seed.encode()) % SHARDS if tx.dialect == "postgresql" else 0
    for (workspace_id, campaign_id), of in sorted(changes.items()):
        tx.run(
            """
            INSERT INTO campaign_count (
                workspace_id, campaign_id, shard, sent, failed, unconfirmed, missed, skipped, canceled
            ) SELECT workspace_id, id, :shard, :sent, :failed, :unconfirmed, :missed, :skipped, :canceled
            FROM campaign WHERE workspace_id = :workspace_id AND id = :campaign_id
            ON CONFLICT (workspace_id, campaign_id, shard) DO UPDATE SET
                sent = campaign_count.sent + excluded.sent,
                failed = campaign_count.failed + excluded.failed,
                unconfirmed = campaign_count.unconfirmed + excluded.unconfirmed,
                missed = campaign_count.missed + excluded.missed,
                skipped = campaign_count.skipped + excluded.skipped,
                canceled = campaign_count.canceled + excluded.canceled
            """,
            workspace_id=workspace_id,
            campaign_id=campaign_id,
            shard=shard,
            **{name: of.get(name, 0) for name in COUNTED},
        )


def read_counts(tx: Tx, keys: Sequence[Key]) -> dict[Key, dict[str, int]]:
    """Return the counters of campaigns, summed over their shards."""
    rows = tx.all(
        """
        SELECT c.workspace_id, c.campaign_id, sum(sent) AS sent, sum(failed) AS failed,
            sum(unconfirmed) AS unconfirmed, sum(missed) AS missed, sum(skipped) AS skipped,
            sum(canceled) AS canceled
        FROM TABLE(:keys) AS asked (workspace_id text, id text)
        JOIN campaign_count c ON c.workspace_id = asked.workspace_id AND c.campaign_id = asked.id
        GROUP BY c.workspace_id, c.campaign_id
        """,
        keys=sorted(set(keys)),
    )
    found = {
        (row["workspace_id"], row["campaign_id"]): {name: int(row[name]) for name in COUNTED}
        for row in rows
    }
    return {key: found.get(key, dict.fromkeys(COUNTED, 0)) for key in keys}


def _look(tx: Tx, now: datetime, campaign: Campaign) -> None:
    counts = read_counts(tx, [campaign.key])[campaign.key]
    if campaign.planned and sum(counts.values()) >= campaign.total:
        payload = {"workspace_id": campaign.workspace_id, "campaign_id": campaign.id}
        enqueue_in(tx, now, JOB, payload, queue=QUEUE)
        return
    ended = counts["sent"] + counts["failed"]
    if ended >= ENOUGH and counts["failed"] * 100 > campaign.max_error_percent * ended:
        reason = f"{counts['failed']} of {ended} failed, more than {campaign.max_error_percent} %"
        lanes.pause(
            tx,
            workspace_id=campaign.workspace_id,
            scope=scope_of(campaign.id),
            reason=reason,
        )
        move(tx, now, campaign, "pause", reason=reason, code="error_rate")
        event = OutboxEvent(
            workspace_id=campaign.workspace_id,
            id=f"campaign:{campaign.id}:paused:{campaign.revision}",
            kind="campaign.paused",
            subject_id=campaign.id,
            body={"name": campaign.name, "reason": reason},
        )
        write_outbox(tx, now, [event])
