"""Every move of a campaign, and every move that is refused; the faster of two wins."""

import asyncio
import itertools
import random
from datetime import datetime, timedelta

import pytest

from cadenza.campaigns import control, guard
from cadenza.campaigns.model import (
    ENDED,
    MOVES,
    Campaign,
    CampaignState,
    NotNow,
    find_campaign,
    move,
)
from cadenza.campaigns.progress import read_progress
from cadenza.campaigns.save import delete_campaign, duplicate_campaign, set_rate
from cadenza.campaigns.start import StartPlan, start_due
from cadenza.deliveries import lanes
from cadenza.deliveries.model import NetworkWait
from cadenza.deliveries.rate_limit_waits import save_waits
from cadenza.providers.outcome import Forbidden, Rejected, Sent, Unconfirmed
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


# Document 004's moves, and those that it implies, by what people and the campaign's job do. Missing here: refused.
_S = CampaignState
ACTS: dict[str, dict[CampaignState, CampaignState]] = {
    "start": {_S.DRAFT: _S.QUEUED, _S.SCHEDULED: _S.QUEUED},  # QUEUED -> RUNNING, in its words
    "plan": {_S.QUEUED: _S.RUNNING},
    "pause": {_S.QUEUED: _S.PAUSED, _S.RUNNING: _S.PAUSED},
    "flood": {_S.RUNNING: _S.PAUSED},
    "resume": {_S.PAUSED: _S.QUEUED},  # nobody was planned; RUNNING once somebody was
    "cancel": dict.fromkeys(
        (_S.DRAFT, _S.SCHEDULED, _S.QUEUED, _S.RUNNING, _S.PAUSED), _S.CANCELED
    ),
    "complete": {_S.RUNNING: _S.COMPLETED},
    "lose its audience": {_S.QUEUED: _S.FAILED, _S.RUNNING: _S.FAILED},
    "retry failed": {_S.RUNNING: _S.RUNNING, _S.COMPLETED: _S.RUNNING, _S.FAILED: _S.RUNNING},
    "send to remaining": {_S.COMPLETED: _S.RUNNING, _S.FAILED: _S.RUNNING},
    "delete": {each: each for each in (_S.DRAFT, _S.COMPLETED, _S.FAILED, _S.CANCELED)},
}
ASKED = {
    "pause": control.pause_campaign,
    "resume": control.resume_campaign,
    "cancel": control.cancel_campaign,
    "retry failed": control.retry_failed,
    "send to remaining": control.send_to_remaining,
    "delete": delete_campaign,
}


async def act(campaigns: Campaigns, name: str, id_: str) -> object:
    """Do it as its edge does; return what it answers."""
    about = {"workspace_id": HOME, "campaign_id": id_}
    match name:
        case "start":
            return await campaigns.start(id_)
        case "plan":
            return await campaigns.plan(id_)
        case "lose its audience":
            await campaigns.run(lambda tx, _: tx.run("UPDATE campaign SET audience_id = 'gone'"))
            return await campaigns.plan(id_)
        case "complete":
            return await campaigns.run(
                lambda tx, now: control.complete_campaign(tx, now, **about), id_
            )
        case "flood":
            campaign = await campaigns.show(id_)
            until = (await campaigns.run(lambda _, now: now)) + timedelta(hours=1)

            def flood(tx: Tx, now: datetime) -> bool:
                wait = NetworkWait(scope=(HOME, "test:account:mail"), until=until, reason="slow")
                save_waits(tx, now, [wait])
                return guard.pause_waiting(tx, now, campaign)

            return await campaigns.run(flood, id_)
        case _:
            return await campaigns.run(
                lambda tx, now: ASKED[name](tx, now, id_, workspace_id=HOME, by=BY), id_
            )


@pytest.mark.parametrize("name", ACTS)
async def test_what_people_and_jobs_do_moves_it_where_the_table_says_and_nowhere_else(
    campaigns: Campaigns, name: str
) -> None:
    for state in CampaignState:
        id_ = await campaigns.draft(start_at=None)

        def stand(tx: Tx, now: datetime, id_: str = id_, state: CampaignState = state) -> None:
            lanes.open_lane(tx, workspace_id=HOME, scope=f"campaign:{id_}", account_id="mail")
            tx.run(
                "UPDATE campaign SET state = :state, planned = :planned, ended_at = :ended WHERE id = :id",
                state=state.value,
                planned=name == "complete",
                ended=now if state in ENDED else None,
                id=id_,
            )

        await campaigns.run(stand)
        answer = await act(campaigns, name, id_)
        expected = ACTS[name].get(state)
        if name == "delete" and expected is not None:
            assert isinstance(answer, Campaign)
            continue
        after = await campaigns.show(id_)
        assert after.state is (expected or state), (name, state)
        if expected is None and name in {*ASKED, "start"}:
            assert isinstance(answer, NotNow), (name, state, answer)
            assert answer.state is state


async def test_of_eight_clients_who_race_each_saw_what_was_so_at_some_instant_of_its_call(
    campaigns: Campaigns,
) -> None:
    """Linearizable: who won wrote the next revision; who lost was told a state that held while it asked."""
    id_ = await campaigns.draft()
    rng = random.Random(7)
    calls = ["start", *(rng.choice(["start", "pause", "resume"]) for _ in range(38)), "cancel"]
    history: list[tuple[int, int, str, object]] = []
    clock = itertools.count()

    async def client(own: list[str]) -> None:
        for name in own:
            began = next(clock)
            answer = await act(campaigns, name, id_)
            history.append((began, next(clock), name, answer))

    await asyncio.gather(*(client(calls[n::8]) for n in range(8)))
    won = [
        (began, ended, name, answer.campaign if isinstance(answer, StartPlan) else answer)
        for began, ended, name, answer in history
        if not isinstance(answer, NotNow)
    ]
    by_revision = sorted(won, key=lambda each: each[3].revision)  # pyright: ignore[reportAttributeAccessIssue]
    states = [CampaignState.DRAFT]
    for _, _, name, campaign in by_revision:
        assert isinstance(campaign, Campaign)
        expected = ACTS[name][states[-1]]
        assert campaign.state is expected, "each winner moved on from the one before"
        states.append(campaign.state)
    revisions = [each[3].revision for each in by_revision]  # pyright: ignore[reportAttributeAccessIssue]
    assert len(set(revisions)) == len(revisions)
    assert (await campaigns.show(id_)).state is states[-1]
    # A winner's instant lies in its call; so a state held from then until the next one's call ended.
    for began, ended, name, answer in history:
        if isinstance(answer, NotNow):
            held = [
                state
                for n, state in enumerate(states)
                if (n == 0 or by_revision[n - 1][0] <= ended)
                and (n == len(by_revision) or by_revision[n][1] >= began)
            ]
            assert answer.state in held, (name, answer, held)


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
        Forbidden("no"),
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


async def test_a_pause_that_met_claimed_messages_is_over_when_it_is_resumed(
    campaigns: Campaigns,
) -> None:
    id_ = await campaigns.draft()
    await campaigns.start(id_)
    await campaigns.plan(id_)
    (ticket,) = await campaigns.pipeline.claim(1)
    for act in (control.pause_campaign, control.resume_campaign):
        await campaigns.run(
            lambda tx, now, act=act: act(tx, now, id_, workspace_id=HOME, by=BY), id_
        )
        if act is control.pause_campaign:
            await campaigns.pipeline.permit(ticket)  # refused: the lane rests
    assert await campaigns.send() == 60


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
    await campaigns.send(lambda n: Rejected(f"{n} is full") if n < 4 else Sent(str(n)))
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
