"""Versions of a message are tried on a part of the audience; the rest gets the winner, nobody gets two."""

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from cadenza.campaigns import split
from cadenza.campaigns.model import CampaignState, NotNow, Unfit
from cadenza.campaigns.split import choose_winner, decide_due, list_variants
from cadenza.inbox.listeners import InboundKind, InboundRecorded
from cadenza.sql.tx import Tx
from cadenza.templates.model import Template, TemplateContent
from cadenza.templates.store import create_template
from tests.campaigns.conftest import BY, Campaigns
from tests.deliveries.conftest import HOME


async def begin(campaigns: Campaigns, **changes: Any) -> str:
    def other(tx: Tx, now: datetime) -> str:
        words = TemplateContent(subject="Fresh bread", body="Hello {{first_name}}")
        made = create_template(tx, now, words, workspace_id=HOME, name="Other", by=BY)
        assert isinstance(made, Template)
        return made.id

    template = await campaigns.run(other)
    id_ = await campaigns.draft(variants=[(template, None)], **changes)
    await campaigns.start(id_)
    await campaigns.plan(id_)
    await campaigns.send()
    return id_


async def versions(campaigns: Campaigns) -> Counter[str]:
    rows = await campaigns.pipeline.rows("delivery")
    return Counter(row["template_version_id"] for row in rows)


async def choose(campaigns: Campaigns, id_: str, position: int) -> Any:
    return await campaigns.run(
        lambda tx, now: choose_winner(tx, now, id_, position, workspace_id=HOME, by=BY), id_
    )


async def test_the_rest_waits_for_the_winner_and_nobody_gets_two(campaigns: Campaigns) -> None:
    id_ = await begin(campaigns, split_percent=40)
    tried = await versions(campaigns)
    assert len(tried) == 2
    assert 10 < sum(tried.values()) < 40
    there = await campaigns.finish(id_)
    assert (there.state, there.split_state) == (CampaignState.RUNNING, "waiting")
    variants = await campaigns.run(lambda tx, _: list_variants(tx, there))
    assert {each.template_version_id: each.sent for each in variants} == dict(tried)
    assert isinstance(await choose(campaigns, id_, 5), Unfit)
    await choose(campaigns, id_, 1)
    await campaigns.plan(id_)
    await campaigns.send()
    done = await campaigns.finish(id_)
    assert (done.state, done.total, done.winner) == (CampaignState.COMPLETED, 60, 1)
    after = await versions(campaigns)
    assert sum(after.values()) == 60
    first, second = (each.template_version_id for each in variants)
    assert (after[first], after[second]) == (tried[first], 60 - tried[first])
    assert isinstance(await choose(campaigns, id_, 0), NotNow)


async def test_at_a_hundred_percent_everybody_gets_one_of_them(campaigns: Campaigns) -> None:
    id_ = await begin(campaigns)
    assert min((await versions(campaigns)).values()) > 15
    assert (await campaigns.finish(id_)).state is CampaignState.COMPLETED


async def test_replies_choose_after_their_time_and_without_one_a_person_does(
    campaigns: Campaigns,
) -> None:
    id_ = await begin(campaigns, split_percent=50, winner_by="replies", winner_after_minutes=60)
    later = (await campaigns.run(lambda _, now: now)) + timedelta(hours=2)
    assert await campaigns.run(decide_due) == []
    there = await campaigns.show(id_)
    second = (await campaigns.run(lambda tx, _: list_variants(tx, there)))[1]
    rows = await campaigns.pipeline.rows("delivery")
    answered = next(
        row["id"] for row in rows if row["template_version_id"] == second.template_version_id
    )

    def reply(tx: Tx, now: datetime) -> None:
        recorded = InboundRecorded(
            workspace_id=HOME,
            inbound_id="i",
            kind=InboundKind.REPLY,
            account_id="mail",
            contact_id=None,
            address=None,
            channel="email",
            delivery_id=answered,
            at=now,
        )
        split.on_inbound(tx, now, recorded)

    await campaigns.run(reply)
    (decided,) = await campaigns.run(lambda tx, _: decide_due(tx, later))
    assert (decided.id, decided.winner, decided.split_state) == (id_, 1, "decided")


async def test_without_a_reply_nothing_is_chosen(campaigns: Campaigns) -> None:
    id_ = await begin(campaigns, split_percent=50, winner_by="replies", winner_after_minutes=60)
    later = (await campaigns.run(lambda _, now: now)) + timedelta(hours=2)
    assert await campaigns.run(lambda tx, _: decide_due(tx, later)) == []
    there = await campaigns.show(id_)
    assert (there.split_state, there.winner_by, there.winner_at) == ("waiting", "hand", None)
