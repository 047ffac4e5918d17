"""Tries versions of a message on a part of the audience, and sends the one that does best to the rest.

Who gets which is drawn from the recipient's address, so that going through the audience again changes nothing. The
rest waits without a delivery; once a winner is chosen, by a person or by replies or clicks after some time, the
audience is gone through once more. Without a single reply or click nothing is chosen: a person decides. Limit: clicks
are those that the mail provider reports.
"""

import zlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial

from msgspec import Struct

from cadenza.campaigns.model import (
    Campaign,
    CampaignState,
    NoSuchCampaign,
    NotNow,
    Unfit,
    find_campaign,
    wake_job,
)
from cadenza.core.rollup import DeliveryState as State
from cadenza.db.audit import record
from cadenza.deliveries.planners import Transition
from cadenza.inbox.listeners import InboundKind, InboundRecorded
from cadenza.sql.tx import Tx
from cadenza.sql.values import Key, columns, read_values

TESTING, WAITING, DECIDED = "testing", "waiting", "decided"
COUNTED = {InboundKind.REPLY: "replies", InboundKind.CLICK: "clicks"}


class Variant(Struct, frozen=True):
    """A row of `campaign_variant`."""

    workspace_id: str
    campaign_id: str
    position: int
    template_id: str
    template_version_id: str
    sent: int
    failed: int
    replies: int
    clicks: int


COLUMNS = columns(Variant, "campaign_variant")


def list_variants(tx: Tx, campaign: Campaign) -> list[Variant]:
    """Return the versions that are tried, the campaign's own first; none: it has only that one."""
    rows = tx.all(
        f"""
        SELECT {COLUMNS} FROM campaign_variant
        WHERE workspace_id = :workspace_id AND campaign_id = :id ORDER BY position
        """,  # noqa: S608 - constants
        workspace_id=campaign.workspace_id,
        id=campaign.id,
    )
    return read_values(Variant, rows)


def set_variants(tx: Tx, key: Key, versions: Sequence[tuple[str, str]]) -> None:
    """Write the versions of a campaign that has not begun, as templates and their versions."""
    about = {"workspace_id": key[0], "id": key[1]}
    tx.run(
        "DELETE FROM campaign_variant WHERE workspace_id = :workspace_id AND campaign_id = :id",
        **about,
    )
    split = len(versions) > 1
    if split:
        tx.run(
            """
            INSERT INTO campaign_variant (workspace_id, campaign_id, position, template_id, template_version_id)
            SELECT :workspace_id, :id, position, template_id, version_id
            FROM TABLE(:new) AS new (position integer, template_id text, version_id text)
            """,
            new=[(n, *each) for n, each in enumerate(versions)],
            **about,
        )
    tx.run(
        "UPDATE campaign SET split_state = :state WHERE workspace_id = :workspace_id AND id = :id",
        state=TESTING if split else None,
        **about,
    )


def version_for(campaign: Campaign, variants: Sequence[Variant], recipient: str) -> str | None:
    """Return the version that a recipient gets; None: not before a winner is chosen."""
    if not variants:
        return campaign.template_version_id
    if campaign.winner is not None:
        return variants[campaign.winner].template_version_id
    drawn = zlib.crc32(f"{campaign.id}/{recipient}".encode())
    if drawn % 100 >= campaign.split_percent:
        return None
    return variants[drawn // 100 % len(variants)].template_version_id


def end_walk(tx: Tx, now: datetime, campaign: Campaign) -> bool:
    """Say whether the end of the audience is the end of planning: with a rest to come it is not."""
    if campaign.split_state != TESTING or campaign.split_percent == 100:
        return True
    at = None
    if campaign.winner_by != "hand":
        at = now + timedelta(minutes=campaign.winner_after_minutes)
    tx.run(
        """
        UPDATE campaign SET split_state = 'waiting', winner_at = :at WHERE workspace_id = :workspace_id AND id = :id
        """,
        at=at,
        workspace_id=campaign.workspace_id,
        id=campaign.id,
    )
    return False


def choose_winner(
    tx: Tx, now: datetime, campaign_id: str, position: int, *, workspace_id: str, by: str
) -> Campaign | NoSuchCampaign | NotNow | Unfit:
    """Send a version to the rest; run under `locks_of`."""
    there = find_campaign(tx, workspace_id, campaign_id)
    if isinstance(there, NoSuchCampaign):
        return there
    variants = list_variants(tx, there)
    if not 0 <= position < len(variants):
        return Unfit("variant", "no_variant", f"Choose one of its {len(variants)} versions.")
    open_ = there.state in (CampaignState.RUNNING, CampaignState.PAUSED)
    if there.split_state != WAITING or not open_:
        return NotNow(there.state, "It has no rest that waits for a winner.")
    tx.run(
        """
        UPDATE campaign SET split_state = 'decided', winner = :position, winner_at = NULL, planned = false,
            planned_to = '', updated_at = :now, revision = revision + 1
        WHERE workspace_id = :workspace_id AND id = :id AND split_state = 'waiting'
        """,
        position=position,
        now=now,
        workspace_id=workspace_id,
        id=there.id,
    )
    wake_job(tx, now, there)
    record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="campaign.winner",
        subject_id=there.id,
        after={"variant": position},
    )
    return find_campaign(tx, workspace_id, campaign_id)


def decide_due(tx: Tx, now: datetime, *, limit: int = 100) -> list[Campaign]:
    """Choose the winners whose time has come, by what was counted."""
    rows = tx.all(
        """
        SELECT workspace_id, id FROM campaign
        WHERE split_state = 'waiting' AND winner_at <= :now AND state = 'running' LIMIT :limit
        """,
        now=now,
        limit=limit,
    )
    decided: list[Campaign] = []
    for row in rows:
        there = find_campaign(tx, row["workspace_id"], row["id"])
        if not isinstance(there, Campaign):
            continue
        best = max(list_variants(tx, there), key=partial(_share, there))
        if _share(there, best) == 0:
            tx.run(
                """
                UPDATE campaign SET winner_by = 'hand', winner_at = NULL
                WHERE workspace_id = :workspace_id AND id = :id
                """,
                workspace_id=there.workspace_id,
                id=there.id,
            )
            continue
        chosen = choose_winner(
            tx, now, there.id, best.position, workspace_id=there.workspace_id, by="campaign"
        )
        if isinstance(chosen, Campaign):
            decided.append(chosen)
    return decided


def count_variants(tx: Tx, campaign: Campaign, moved: Sequence[Transition]) -> None:
    """Count what became of each version's messages."""
    changes: dict[str, list[int]] = {}
    for each in moved:
        of = changes.setdefault(each.delivery.template_version_id or "", [0, 0])
        for n, state in enumerate((State.SENT, State.FAILED)):
            of[n] += (each.after is state) - (each.delivery.state is state)
    tx.run(
        """
        UPDATE campaign_variant SET sent = campaign_variant.sent + new.sent_more,
            failed = campaign_variant.failed + new.failed_more
        FROM TABLE(:new) AS new (version_id text, sent_more bigint, failed_more bigint)
        WHERE campaign_variant.workspace_id = :workspace_id AND campaign_variant.campaign_id = :id
            AND campaign_variant.template_version_id = new.version_id
        """,
        new=[(version, *counts) for version, counts in sorted(changes.items())],
        workspace_id=campaign.workspace_id,
        id=campaign.id,
    )


def on_inbound(tx: Tx, now: datetime, recorded: InboundRecorded) -> None:
    """Count replies and clicks by version."""
    name = COUNTED.get(recorded.kind)
    if name is None or recorded.delivery_id is None:
        return
    tx.run(
        f"""
        UPDATE campaign_variant SET {name} = {name} + 1
        WHERE workspace_id = :workspace_id AND (campaign_id, template_version_id) IN (
            SELECT campaign_id, template_version_id FROM delivery
            WHERE workspace_id = :workspace_id AND id = :delivery_id
        )
        """,  # noqa: S608 - one of two constants
        workspace_id=recorded.workspace_id,
        delivery_id=recorded.delivery_id,
    )


def _share(campaign: Campaign, variant: Variant) -> float:
    counted = variant.clicks if campaign.winner_by == "clicks" else variant.replies
    return counted / variant.sent if variant.sent else 0.0
