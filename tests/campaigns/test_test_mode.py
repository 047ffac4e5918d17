"""A test takes the whole path: its faults, who really gets it, and what a person confirms before the real thing."""

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import msgspec
import pytest

from cadenza.campaigns.model import Unfit
from cadenza.campaigns.save import CampaignForm, create_campaign
from cadenza.campaigns.start import StartPlan, start_campaign
from cadenza.core.channels import Channel
from cadenza.providers.base import AttemptContext, Provider
from cadenza.providers.message import Message
from cadenza.providers.outcome import Outcome, Sent
from cadenza.providers.sink import FAULTS, OPTION, Sink
from tests.campaigns.conftest import BY, Campaigns
from tests.deliveries.conftest import HOME

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass
class Real:
    """The network behind the sink: it only counts."""

    calls: int = 0

    async def publish(self, call: AttemptContext) -> Outcome:
        self.calls += 1
        return Sent("real")


def call(test: dict[str, Any], number: int = 0) -> AttemptContext:
    nothing: Any = None
    return AttemptContext(
        account=nothing,
        tokens=nothing,
        app=nothing,
        http=nothing,
        now=NOON + timedelta(seconds=number),
        message=Message(channel=Channel.EMAIL, text="Hello", options={OPTION: test}),
        key=f"key-{number}",
    )


async def test_only_who_is_named_really_gets_a_test() -> None:
    real = Real()
    sink = Sink(cast("Provider", real))
    assert await sink.publish(call({"send": True})) == Sent("real")
    assert isinstance(await sink.publish(call({})), Sent)
    assert real.calls == 1


async def test_faults_come_as_often_as_asked_and_each_in_its_own_way() -> None:
    sink = Sink(cast("Provider", Real()))
    asked = {"flood_wait": 20, "bounce": 10, "timeout": 5}
    outcomes = [await sink.publish(call({"faults": asked}, n)) for n in range(2_000)]
    seen = Counter(
        next((name for name, fault in FAULTS.items() if fault == each), "sent") for each in outcomes
    )
    for name, percent in asked.items():
        assert abs(seen[name] / 20 - percent) < 4, (name, seen)
    assert seen["sent"] == 2_000 - sum(seen[name] for name in asked)


async def test_a_campaigns_messages_carry_what_its_test_asks_for(campaigns: Campaigns) -> None:
    id_ = await campaigns.draft(
        test_addresses=["Guest3@example.org"], test_faults={"flood_wait": 5}
    )
    await campaigns.start(id_)
    await campaigns.plan(id_)
    options = {
        row["recipient"]: msgspec.json.decode(row["content"])["options"][OPTION]
        for row in await campaigns.pipeline.rows("delivery")
    }
    assert options.pop("guest3@example.org") == {"send": True}
    assert set(map(str, options.values())) == {str({"faults": {"flood_wait": 5}})}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"mode": "live", "test_faults": {"bounce": 1}}, "mode"),
        ({"mode": "test", "test_faults": {"bounce": 60, "broken": 60}}, "test_faults"),
    ],
)
async def test_faults_are_for_tests_alone(
    campaigns: Campaigns, changes: dict[str, Any], field: str
) -> None:
    form = CampaignForm(
        name="Autumn",
        audience_id=campaigns.audience,
        template_id=campaigns.template,
        account_ids=["mail"],
        **changes,
    )
    answer = await campaigns.run(
        lambda tx, now: create_campaign(tx, now, form, workspace_id=HOME, by=BY)
    )
    assert isinstance(answer, Unfit)
    assert answer.field == field


async def test_a_start_with_other_recipients_than_were_confirmed_is_refused(
    campaigns: Campaigns,
) -> None:
    id_ = await campaigns.draft()
    for confirmed, kind in ((59, Unfit), (60, StartPlan)):
        answer = await campaigns.run(
            lambda tx, now, confirmed=confirmed: start_campaign(
                tx,
                now,
                id_,
                workspace_id=HOME,
                by=BY,
                sender=campaigns.sender,
                confirmed=confirmed,
            ),
            id_,
        )
        assert isinstance(answer, kind)
