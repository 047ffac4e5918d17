"""What campaigns sent long ago can be removed; the ledger and the totals stay, and nobody is written to again."""

from datetime import datetime, timedelta
from typing import Any

from cadenza.campaigns import control
from cadenza.campaigns.model import CampaignState, NotNow
from cadenza.campaigns.progress import read_progress
from cadenza.campaigns.purge import Purge, purge_campaigns, purge_some
from cadenza.providers.outcome import Forbidden, Sent
from tests.campaigns.conftest import BY, Campaigns
from tests.deliveries.conftest import HOME

TOMORROW = timedelta(days=1)


async def send_all(campaigns: Campaigns) -> str:
    id_ = await campaigns.draft(retry_limit=0)
    await campaigns.start(id_)
    await campaigns.plan(id_)
    await campaigns.send(lambda n: Forbidden("no") if n == 7 else Sent(str(n)))
    assert (await campaigns.finish(id_)).state is CampaignState.COMPLETED
    return id_


async def purge(campaigns: Campaigns, before: datetime) -> Purge:
    return await campaigns.run(
        lambda tx, now: purge_campaigns(tx, now, workspace_id=HOME, sent_before=before, by=BY)
    )


async def remove(campaigns: Campaigns, before: datetime) -> int:
    removed = 0
    while some := await campaigns.run(
        lambda tx, now: purge_some(tx, now, workspace_id=HOME, sent_before=before)
    ):
        removed += some
    return removed


async def test_a_purge_removes_old_sent_messages_and_keeps_the_ledger_and_totals(
    campaigns: Campaigns,
) -> None:
    id_ = await send_all(campaigns)
    now = await campaigns.run(lambda _, now: now)
    assert await purge(campaigns, now - TOMORROW) == Purge(now - TOMORROW, 0, 0)
    assert (await campaigns.show(id_)).purged_at is None
    found = await purge(campaigns, now + TOMORROW)
    assert (found.campaigns, found.deliveries) == (1, 59)
    assert await remove(campaigns, now + TOMORROW) == 59
    left = await campaigns.pipeline.rows("delivery")
    assert [each["state"] for each in left] == ["failed"]
    assert len(await campaigns.pipeline.rows("attempt")) == 1
    assert len(await campaigns.pipeline.rows("activity")) == 60
    there = await campaigns.show(id_)
    progress = (await campaigns.run(lambda tx, now: read_progress(tx, now, [there])))[there.key]
    assert (progress.sent, progress.failed, progress.percent) == (59, 1, 100)


async def test_a_purged_campaign_is_not_reopened(campaigns: Campaigns) -> None:
    id_ = await send_all(campaigns)
    now = await campaigns.run(lambda _, now: now)
    await purge(campaigns, now + TOMORROW)
    for act in (control.retry_failed, control.send_to_remaining, control.resume_campaign):
        answer: Any = await campaigns.run(
            lambda tx, now, act=act: act(tx, now, id_, workspace_id=HOME, by=BY), id_
        )
        assert isinstance(answer, NotNow), act
    assert (await campaigns.show(id_)).state is CampaignState.COMPLETED


async def test_what_has_not_ended_is_left_alone(campaigns: Campaigns) -> None:
    id_ = await campaigns.draft()
    await campaigns.start(id_)
    await campaigns.plan(id_)
    await campaigns.send()
    now = await campaigns.run(lambda _, now: now)
    assert (await purge(campaigns, now + TOMORROW)).deliveries == 0
    assert await remove(campaigns, now + TOMORROW) == 0
