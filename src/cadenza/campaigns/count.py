"""Counts what becomes of a campaign's deliveries, in the transaction that decides it.

The counters are the progress: reading it counts no rows. A campaign that goes wrong pauses itself (`guard.py`). When
nothing is left, its job is woken to complete it.
"""

from collections.abc import Sequence
from datetime import datetime

from cadenza.campaigns import guard, split
from cadenza.campaigns.counters import add_counts, add_seconds, read_counts
from cadenza.campaigns.model import Campaign, CampaignState, find_campaign, wake_job
from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries.model import Delivery
from cadenza.deliveries.planners import Planner, Transition
from cadenza.sql.tx import Tx
from cadenza.sql.values import Key

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
        of: dict[Key, list[Transition]] = {}
        for each in transitions:
            key = (each.delivery.workspace_id, each.delivery.campaign_id or "")
            of.setdefault(key, []).append(each)
            change = changes.setdefault(key, {})
            for state, by in ((each.delivery.state, -1), (each.after, 1)):
                if state in _ENDS:
                    change[_ENDS[state]] = change.get(_ENDS[state], 0) + by
        seed = transitions[0].delivery.id
        add_counts(tx, changes, seed=seed)
        sent = {key: n for key, change in changes.items() if (n := change.get("sent", 0)) > 0}
        add_seconds(tx, now, sent, seed=seed)
        for key in sorted(changes):
            campaign = find_campaign(tx, *key)
            if isinstance(campaign, Campaign) and campaign.state is CampaignState.RUNNING:
                _look(tx, now, campaign, of[key])

    def rest(self, tx: Tx, now: datetime, deliveries: Sequence[Delivery]) -> None:
        """Pause campaigns of which every account waits."""
        for key in sorted({(each.workspace_id, each.campaign_id or "") for each in deliveries}):
            campaign = find_campaign(tx, *key)
            if isinstance(campaign, Campaign):
                guard.pause_waiting(tx, now, campaign)


def _look(tx: Tx, now: datetime, campaign: Campaign, moved: Sequence[Transition]) -> None:
    if campaign.split_state is not None:
        split.count_variants(tx, campaign, moved)
    counts = read_counts(tx, [campaign.key])[campaign.key]
    if campaign.planned and sum(counts.values()) >= campaign.total:
        wake_job(tx, now, campaign)
        return
    guard.look(tx, now, campaign, counts, moved)
