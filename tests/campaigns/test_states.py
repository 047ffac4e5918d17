"""Every move of a campaign, and every move that is refused; the faster of two wins."""

import asyncio
from datetime import datetime, timedelta

import pytest

from cadenza.campaigns import control
from cadenza.campaigns.model import MOVES, Campaign, CampaignState, NotNow, find_campaign, move
from cadenza.campaigns.progress import read_progress
from cadenza.campaigns.save import delete_campaign, duplicate_campaign, set_rate
from cadenza.campaigns.start import StartPlan, start_due
from cadenza.deliveries import lanes
from cadenza.providers.outcome import Rejected, Sent, Unconfirmed
from cadenza.sql.tx import Tx
from tests.campaigns.conftest import BY, Campaigns
from tests.deliveries.conftest import HOME


@pytest.mark.parametrize("verb", MOVES)
async def test_a_move_is_made_from_its_states_and_refused_from_all_others(
    campaigns: Campaigns, verb: str
) -> None:
    before, after = MOVES[verb]
    id_ = await campaigns.draft()
    for state in CampaignState:

        def stand(tx: Tx, now: datetime, state: CampaignState = state) -> Campaign | NotNow:
            tx.run("UPDATE campaign SET state = :state WHERE id = :id", state=state.value, id=id_)
            there = find_campaign(tx, HOME, id_)
            assert isinstance(there, Campaign)
            return move(tx, now, there, verb)

        answer = await campaigns.run(stand)
        if state in before:
            assert isinstance(answer, Campaign), (verb, state)
            assert answer.state is after
        else:
            assert isinstance(answer, NotNow), (verb, state)
            assert answer.state is state
            assert (await campaigns.show(id_)).state is state


async def test_of_eight_who_start_pause_and_cancel_at_once_each_move_has_one_winner(
    campaigns: Campaigns,
) -> None:
    id_ = await campaigns.draft()
    answers = await asyncio.gather(*(campaigns.start(id_) for _ in range(8)))
    assert sum(isinstance(each, StartPlan) for each in answers) == 1
    await campaigns.plan(id_)
    for act, after in (
        (control.pause_campaign, CampaignState.PAUSED),
        (control.resume_campaign, CampaignState.RUNNING),
        (control.cancel_campaign, CampaignState.CANCELED),
    ):
        answers = await asyncio.gather(
            *(
                campaigns.run(
                    lambda tx, now, act=act: act(tx, now, id_, workspace_id=HOME, by=BY), id_
                )
                for _ in range(8)
            )
        )
        assert sum(isinstance(each, Campaign) for each in answers) == 1
        assert (await campaigns.show(id_)).state is after


async def test_counters_tell_what_the_rows_tell_whatever_happens(campaigns: Campaigns) -> None:
    id_ = await campaigns.draft(retry_limit=0)
    await campaigns.start(id_)
    await campaigns.plan(id_)
    outcomes = [
        Sent("a"),
        Sent("b"),
        Sent("c"),
        Sent("d"),
        Sent("e"),
        Unconfirmed("?"),
        Rejected("no"),
    ]
    calls = await campaigns.send(
        lambda n: outcomes[min(n % 20, 6)] if n % 20 in (5, 6) else Sent(str(n))
    )
    assert calls == 60
    done = await campaigns.finish(id_)
    assert (done.state, done.total) == (CampaignState.COMPLETED, 60)
    rows = await campaigns.pipeline.rows("delivery")
    progress = (await campaigns.run(lambda tx, now: read_progress(tx, now, [done])))[done.key]
    for state in ("sent", "failed", "unconfirmed"):
        assert getattr(progress, state) == sum(row["state"] == state for row in rows)
    assert (progress.waiting, progress.percent) == (0, 100)


async def test_too_many_failures_pause_it_with_the_reason(campaigns: Campaigns) -> None:
    id_ = await campaigns.draft(retry_limit=0)
    await campaigns.start(id_)
    await campaigns.plan(id_)
    await campaigns.send(lambda n: Rejected("no such box") if n % 5 == 0 else Sent(str(n)))
    there = await campaigns.show(id_)
    assert (there.state, there.reason_code) == (CampaignState.PAUSED, "error_rate")
    assert there.reason == "10 of 50 failed, more than 10 %"
    assert (
        sum(row["state"] == "scheduled" for row in await campaigns.pipeline.rows("delivery")) == 10
    )


async def test_no_permit_after_a_pause_is_committed(campaigns: Campaigns) -> None:
    id_ = await campaigns.draft()
    await campaigns.start(id_)
    await campaigns.plan(id_)
    (ticket,) = await campaigns.pipeline.claim(1)
    await campaigns.run(
        lambda tx, now: control.pause_campaign(tx, now, id_, workspace_id=HOME, by=BY), id_
    )
    await campaigns.pipeline.permit(ticket)
    assert await campaigns.pipeline.rows("attempt") == []
    assert await campaigns.pipeline.claim() == []


async def test_the_rate_spaces_sends_and_drops_none(campaigns: Campaigns) -> None:
    id_ = await campaigns.draft(delivery_rate=20)
    await campaigns.start(id_)
    await campaigns.plan(id_)
    assert await campaigns.send() == 1  # the next may leave three seconds later
    lane = await campaigns.pipeline.row("lane", f"campaign:{id_}@mail")
    (sent,) = [row for row in await campaigns.pipeline.rows("delivery") if row["state"] == "sent"]
    assert timedelta(seconds=2) < lane["runnable_at"] - sent["sent_at"] < timedelta(seconds=4)
    await campaigns.run(
        lambda tx, now: set_rate(tx, now, id_, 600_000, workspace_id=HOME, by=BY), id_
    )
    await campaigns.pipeline.wait_out()
    sent_now = await campaigns.send()
    while sent_now < 59:
        await campaigns.pipeline.wait_out()
        sent_now += await campaigns.send()
    assert (await campaigns.finish(id_)).state is CampaignState.COMPLETED


async def test_planning_again_from_the_start_makes_no_second_delivery(campaigns: Campaigns) -> None:
    id_ = await campaigns.draft()
    await campaigns.start(id_)
    await campaigns.plan(id_)
    await campaigns.run(
        lambda tx, _: tx.run("UPDATE campaign SET planned = false, planned_to = ''"), id_
    )
    await campaigns.plan(id_)
    assert len(await campaigns.pipeline.rows("delivery")) == 60
    assert (await campaigns.show(id_)).total == 60


async def test_two_jobs_that_plan_at_once_make_one_delivery_each(campaigns: Campaigns) -> None:
    id_ = await campaigns.draft()
    await campaigns.start(id_)
    await asyncio.gather(*(campaigns.plan(id_) for _ in range(4)))
    assert len(await campaigns.pipeline.rows("delivery")) == 60
    assert (await campaigns.show(id_)).total == 60


async def test_what_failed_is_sent_again_and_nothing_else(campaigns: Campaigns) -> None:
    id_ = await campaigns.draft(retry_limit=0, max_error_percent=100)
    await campaigns.start(id_)
    await campaigns.plan(id_)
    await campaigns.send(lambda n: Rejected("full") if n < 4 else Sent(str(n)))
    await campaigns.finish(id_)
    await campaigns.run(
        lambda tx, now: control.retry_failed(tx, now, id_, workspace_id=HOME, by=BY), id_
    )
    assert await campaigns.send() == 4
    done = await campaigns.finish(id_)
    progress = (await campaigns.run(lambda tx, now: read_progress(tx, now, [done])))[done.key]
    assert (done.state, progress.sent, progress.failed) == (CampaignState.COMPLETED, 60, 0)


async def test_it_waits_for_its_time(campaigns: Campaigns) -> None:
    now = await campaigns.run(lambda _, now: now)
    id_ = await campaigns.draft(start_at=now + timedelta(hours=1))
    plan = await campaigns.start(id_)
    assert isinstance(plan, StartPlan)
    assert (plan.campaign.state, plan.first_at) == (
        CampaignState.SCHEDULED,
        now + timedelta(hours=1),
    )
    assert await campaigns.run(start_due) == []
    (begun,) = await campaigns.run(lambda tx, now: start_due(tx, now + timedelta(hours=2)))
    assert begun.state is CampaignState.QUEUED


async def test_a_running_campaign_is_not_deleted_and_a_copy_is_a_draft(
    campaigns: Campaigns,
) -> None:
    id_ = await campaigns.draft()
    await campaigns.start(id_)
    refused = await campaigns.run(
        lambda tx, now: delete_campaign(tx, now, id_, workspace_id=HOME, by=BY), id_
    )
    assert isinstance(refused, NotNow)
    copy = await campaigns.run(
        lambda tx, now: duplicate_campaign(tx, now, id_, workspace_id=HOME, by=BY)
    )
    assert (copy.state, copy.name) == (CampaignState.DRAFT, "Autumn (copy)")


async def test_a_paused_account_sends_nothing_of_a_campaign_and_the_others_go_on(
    campaigns: Campaigns,
) -> None:
    await campaigns.pipeline.connect("second")
    await campaigns.run(
        lambda tx, _: tx.run(
            """
            UPDATE account SET provider = 'smtp', settings = '{"bulk": true}' WHERE id = 'second'
            """
        )
    )
    id_ = await campaigns.draft(account_ids=["mail", "second"])
    await campaigns.start(id_)
    await campaigns.plan(id_)
    await campaigns.run(
        lambda tx, _: lanes.pause(tx, workspace_id=HOME, scope="account:mail", reason="a fair")
    )
    assert await campaigns.send() == 30
    rows = await campaigns.pipeline.rows("delivery")
    assert {row["account_id"] for row in rows if row["state"] == "sent"} == {"second"}
    waiting = [row for row in rows if row["state"] == "scheduled"]
    assert {(row["lease"], row["deferrals"]) for row in waiting} == {(0, 0)}, "none was claimed"
    await campaigns.run(lambda tx, _: lanes.resume(tx, workspace_id=HOME, scope="account:mail"))
    assert await campaigns.send() == 30
