"""A campaign's background work, as a job: check its recipients, plan them in chunks, complete it, cancel what waits.

It may be cut short and repeated at any point: each chunk moves the campaign's cursor in its own transaction.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from cadenza.bootstrap.model import Runtime
from cadenza.campaigns import control, guard, plan_recipients, split, start
from cadenza.campaigns.model import JOB, Campaign, CampaignState, find_campaign, locks_of, move
from cadenza.inbox.bulk_mail import BulkSender, open_bulk_sender

NAME = JOB
EVERY = "* * * * *"


async def run_campaign(runtime: Runtime, payload: Mapping[str, Any]) -> None:
    """Do what is to be done for one campaign, wherever it stands."""
    workspace_id, campaign_id = str(payload["workspace_id"]), str(payload["campaign_id"])
    about = {"workspace_id": workspace_id, "campaign_id": campaign_id}
    locks = locks_of(workspace_id, campaign_id)
    campaign = await runtime.operations.read(
        lambda tx, _: find_campaign(tx, workspace_id, campaign_id)
    )
    if not isinstance(campaign, Campaign):
        return
    if campaign.state is CampaignState.CANCELED:
        while await runtime.operations.run(partial(control.cancel_waiting, **about), locks=locks):
            continue
        return
    sender = await _sender(runtime, workspace_id)
    if campaign.state is CampaignState.QUEUED and not await _check(runtime, campaign, sender):
        return
    chunk = partial(plan_recipients.plan_chunk, sender=sender, **about)
    while True:
        planned = await runtime.operations.run(chunk, locks=locks)
        if planned is None or not planned.more:
            break
    await runtime.operations.run(partial(control.complete_campaign, **about), locks=locks)
    await runtime.operations.run(partial(guard.watch, **about), locks=locks)


async def watch_campaigns(runtime: Runtime, payload: Mapping[str, Any]) -> None:
    """Start what waited for its time; wake jobs of what should be done and is not."""
    await runtime.operations.run(start.start_due)
    await runtime.operations.run(guard.resume_waiting)
    await runtime.operations.run(split.decide_due)
    for workspace_id, campaign_id in await runtime.operations.read(start.list_open):
        await run_campaign(runtime, {"workspace_id": workspace_id, "campaign_id": campaign_id})


async def _check(runtime: Runtime, campaign: Campaign, sender: BulkSender) -> bool:
    """Refuse a start that missing values would hit, before the first recipient is planned."""
    if campaign.planned_to or not await runtime.operations.read(
        lambda tx, _: plan_recipients.needs_check(tx, campaign)
    ):
        return True
    after: str | None = ""
    while after is not None:
        found, after = await runtime.operations.read(
            lambda tx, _, after=after: plan_recipients.check_recipients(
                tx, campaign, sender, after=after or ""
            )
        )
        if found.count:
            who = ", ".join(f"{id_} ({why.message})" for id_, why in found.listed[:20])
            reason = f"Values are missing for {found.count} or more recipients: {who}."
            await runtime.operations.run(
                lambda tx, now, reason=reason: move(
                    tx, now, campaign, "refuse", reason=reason, code="incomplete"
                ),
                locks=locks_of(*campaign.key),
            )
            return False
    return True


async def _sender(runtime: Runtime, workspace_id: str) -> BulkSender:
    return await runtime.operations.read(
        lambda tx, _: open_bulk_sender(
            tx,
            workspace_id=workspace_id,
            keyring=runtime.keyring,
            public_url=runtime.settings.home,
        )
    )
