"""What pauses a campaign, with which reason, and who may let it go on."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from cadenza.campaigns import control, guard
from cadenza.campaigns.model import Campaign, CampaignState
from cadenza.campaigns.start import start_due
from cadenza.deliveries.permit import Permitted
from cadenza.inbox.listeners import InboundKind, InboundRecorded
from cadenza.providers.outcome import (
    Forbidden,
    Outcome,
    RecipientGone,
    Rejected,
    Sent,
    TryLater,
    WaitScope,
)
from cadenza.sql.tx import Row, Tx
from tests.campaigns.conftest import BY, Campaigns
from tests.deliveries.conftest import HOME

LONG = timedelta(minutes=6)


async def begin(campaigns: Campaigns, **changes: Any) -> str:
    id_ = await campaigns.draft(retry_limit=0, **changes)
    await campaigns.start(id_)
    await campaigns.plan(id_)
    return id_


async def waiting(campaigns: Campaigns) -> int:
    return sum(row["state"] == "scheduled" for row in await campaigns.pipeline.rows("delivery"))


async def paused_by(
    campaigns: Campaigns, outcome: Callable[[int], Outcome], **changes: Any
) -> Campaign:
    id_ = await begin(campaigns, **changes)
    await campaigns.send(outcome)
    return await campaigns.show(id_)


async def resume(campaigns: Campaigns, id_: str) -> Any:
    return await campaigns.run(
        lambda tx, now: control.resume_campaign(tx, now, id_, workspace_id=HOME, by=BY), id_
    )


async def told(campaigns: Campaigns) -> list[Row]:
    return [
        each
        for each in await campaigns.pipeline.rows("outbox")
        if each["kind"] == "campaign.paused"
    ]


async def test_twenty_failures_among_the_last_results_pause_it(campaigns: Campaigns) -> None:
    there = await paused_by(campaigns, lambda n: Forbidden(f"no {n}") if n % 2 else Sent(str(n)))
    assert (there.state, there.reason_code) == (CampaignState.PAUSED, "error_rate")
    assert there.reason == "20 of the last 40 failed"
    assert (there.auto_resume_at, await waiting(campaigns)) == (None, 20)
    assert len(await told(campaigns)) == 1


async def test_nineteen_failures_do_not(campaigns: Campaigns) -> None:
    there = await paused_by(campaigns, lambda n: Forbidden(f"no {n}") if n < 19 else Sent(str(n)))
    assert there.state is CampaignState.RUNNING


async def test_bounces_pause_it_from_fifty_mails_on(campaigns: Campaigns) -> None:
    there = await paused_by(
        campaigns, lambda n: RecipientGone("550 5.1.1") if n in (3, 55) else Sent(str(n))
    )
    assert (there.state, there.reason_code) == (CampaignState.PAUSED, "bounce_rate")
    assert there.reason == "2 of 56 mails came back"


async def test_a_mail_that_comes_back_later_counts_as_a_bounce(campaigns: Campaigns) -> None:
    id_ = await begin(campaigns)
    for _ in range(55):
        (ticket,) = await campaigns.pipeline.claim(1)
        (permit,) = await campaigns.pipeline.permit(ticket)
        assert isinstance(permit, Permitted)
        await campaigns.pipeline.settle(ticket, Sent("r"), permit.attempt_id)
    sent = [row for row in await campaigns.pipeline.rows("delivery") if row["state"] == "sent"]

    def come_back(tx: Tx, now: datetime) -> None:
        for row in sent[:2]:
            recorded = InboundRecorded(
                workspace_id=HOME,
                inbound_id=row["id"],
                kind=InboundKind.HARD_BOUNCE,
                account_id="mail",
                contact_id=None,
                address=None,
                channel="email",
                delivery_id=row["id"],
                at=now,
            )
            guard.on_inbound(tx, now, recorded)

    await campaigns.run(come_back, id_)
    assert (await campaigns.show(id_)).reason_code == "bounce_rate"
    assert await campaigns.pipeline.claim() == []


async def test_three_equal_refusals_of_the_content_pause_it_once(campaigns: Campaigns) -> None:
    id_ = await begin(campaigns, max_error_percent=100)
    refused = lambda n: Rejected("it looks like spam", "spam") if n % 4 == 0 else Sent(str(n))  # noqa: E731
    await campaigns.send(refused)
    there = await campaigns.show(id_)
    assert (there.state, there.reason_code) == (CampaignState.PAUSED, "content_refused")
    assert there.reason == "the network refused the content 3 times: it looks like spam"
    assert await waiting(campaigns) == 51
    await resume(campaigns, id_)
    await campaigns.send(refused)  # a person has seen it
    assert (await campaigns.finish(id_)).state is CampaignState.COMPLETED


async def test_different_refusals_are_no_pattern(campaigns: Campaigns) -> None:
    there = await paused_by(
        campaigns, lambda n: Rejected("no", f"code-{n}") if n < 10 else Sent(str(n))
    )
    assert there.state is CampaignState.RUNNING


async def test_a_person_who_resumes_it_begins_a_new_count(campaigns: Campaigns) -> None:
    id_ = await begin(campaigns)
    await campaigns.send(lambda n: Forbidden("no") if n < 20 else Sent(str(n)))
    assert (await campaigns.show(id_)).reason_code == "error_rate"
    await resume(campaigns, id_)
    await campaigns.send(lambda n: Forbidden("no") if n < 10 else Sent(str(n)))
    assert (await campaigns.finish(id_)).state is CampaignState.COMPLETED


async def test_a_flood_over_all_accounts_pauses_it_until_the_first_may_go_on(
    campaigns: Campaigns,
) -> None:
    id_ = await begin(campaigns)
    flood = TryLater(LONG, WaitScope.ACCOUNT, "FLOOD_WAIT_360")
    assert await campaigns.send(lambda _: flood) >= 1
    there = await campaigns.show(id_)
    assert (there.state, there.reason_code) == (CampaignState.PAUSED, "flood_wait")
    (wait,) = await campaigns.pipeline.rows("network_wait")
    assert there.auto_resume_at == wait["until_at"]
    assert await campaigns.run(guard.resume_waiting) == []
    (resumed,) = await campaigns.run(
        lambda tx, now: guard.resume_waiting(tx, now + LONG + timedelta(seconds=1))
    )
    assert (resumed.state, resumed.auto_resume_at) == (CampaignState.RUNNING, None)
    await campaigns.pipeline.wait_out()
    assert await campaigns.send() == 60
    assert (await campaigns.finish(id_)).state is CampaignState.COMPLETED


async def test_a_short_flood_or_one_of_some_accounts_pauses_nothing(campaigns: Campaigns) -> None:
    id_ = await begin(campaigns)
    (ticket,) = await campaigns.pipeline.claim(1)
    (permit,) = await campaigns.pipeline.permit(ticket)
    assert isinstance(permit, Permitted)
    short = TryLater(timedelta(minutes=4), WaitScope.ACCOUNT, "FLOOD_WAIT_240")
    await campaigns.pipeline.settle(ticket, short, permit.attempt_id)
    assert (await campaigns.show(id_)).state is CampaignState.RUNNING


async def test_without_a_connected_account_it_is_paused(campaigns: Campaigns) -> None:
    id_ = await begin(campaigns)
    await campaigns.run(
        lambda tx, _: tx.run("UPDATE account SET state = 'needs_reconnect' WHERE id = 'mail'")
    )
    assert await campaigns.run(
        lambda tx, now: guard.watch(tx, now, workspace_id=HOME, campaign_id=id_), id_
    )
    assert (await campaigns.show(id_)).reason_code == "no_account"


async def test_a_start_that_was_missed_for_hours_is_a_persons_to_resume(
    campaigns: Campaigns,
) -> None:
    now = await campaigns.run(lambda _, now: now)
    id_ = await campaigns.draft(start_at=now + timedelta(hours=1))
    await campaigns.start(id_)
    assert await campaigns.run(lambda tx, now: start_due(tx, now + timedelta(hours=5))) == []
    there = await campaigns.show(id_)
    assert (there.state, there.reason_code) == (CampaignState.PAUSED, "missed_start")
    assert (await resume(campaigns, id_)).state is CampaignState.QUEUED
    await campaigns.plan(id_)
    assert (await campaigns.show(id_)).state is CampaignState.RUNNING
