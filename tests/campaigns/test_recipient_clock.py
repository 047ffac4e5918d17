"""Each recipient's own clock: when a campaign starts there, and when nobody is written to."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cadenza.campaigns.model import CampaignState, Unfit
from cadenza.campaigns.recipient_clock import first_anywhere, starts_at
from cadenza.campaigns.save import CampaignForm, create_campaign
from cadenza.campaigns.start import StartPlan, start_due
from cadenza.core.quiet import is_span, open_hours
from cadenza.core.windows import is_open
from cadenza.core.zones import get_zone
from cadenza.deliveries.permit import Permitted, Refusal
from cadenza.providers.outcome import Sent
from cadenza.sql.tx import Tx
from tests.campaigns.conftest import BY, Campaigns
from tests.deliveries.conftest import HOME

BERLIN = get_zone("Europe/Berlin")


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


@pytest.mark.parametrize(
    ("zone", "expected"),
    [
        ("Europe/Berlin", "2026-12-01T09:00+01:00"),
        ("Asia/Tokyo", "2026-12-01T09:00+09:00"),
        ("America/New_York", "2026-12-01T09:00-05:00"),
        ("Asia/Kathmandu", "2026-12-01T09:00+05:45"),
        (None, "2026-12-01T09:00+01:00"),
    ],
)
def test_nine_is_nine_on_each_clock(zone: str | None, expected: str) -> None:
    assert starts_at(at("2026-12-01T09:00+01:00"), BERLIN, zone) == at(expected)


def test_it_begins_when_the_first_clock_shows_the_hour() -> None:
    start = at("2026-12-01T09:00+01:00")
    assert first_anywhere(start, BERLIN) == at("2026-12-01T09:00+14:00")


@pytest.mark.parametrize(
    ("span", "hour", "quiet"),
    [
        ("22:00-08:00", "23:30", True),
        ("22:00-08:00", "07:59", True),
        ("22:00-08:00", "08:00", False),
        ("22:00-08:00", "22:00", True),
        ("12:00-14:00", "13:00", True),
        ("12:00-14:00", "23:00", False),
        ("12:00-14:00", "14:00", False),
    ],
)
def test_quiet_hours_are_a_span_of_the_recipients_day(span: str, hour: str, quiet: bool) -> None:
    there = open_hours(f"{span} Europe/Berlin")
    assert is_open(there, at(f"2026-07-01T{hour}+02:00")) is not quiet
    assert not is_span("22:00-22:00")
    assert not is_span("25:00-08:00")


async def set_zones(campaigns: Campaigns, zones: dict[str, str]) -> None:
    def write(tx: Tx, _: datetime) -> None:
        for guest, zone in zones.items():
            tx.run(
                "UPDATE contact SET zone = :zone WHERE first_name = :name", zone=zone, name=guest
            )

    await campaigns.run(write)


async def test_a_local_start_gives_each_recipient_its_own_instant(campaigns: Campaigns) -> None:
    await set_zones(campaigns, {"Guest 0": "Asia/Tokyo", "Guest 1": "America/New_York"})
    now = await campaigns.run(lambda _, now: now)
    start = (now + timedelta(days=3)).replace(hour=9, minute=0, second=0, microsecond=0)
    id_ = await campaigns.draft(start_at=start, local_start=True, zone="UTC")
    plan = await campaigns.start(id_)
    assert isinstance(plan, StartPlan)
    assert plan.first_at == start - timedelta(hours=14)
    (begun,) = await campaigns.run(lambda tx, now: start_due(tx, start - timedelta(hours=13)))
    assert begun.state is CampaignState.QUEUED
    await campaigns.plan(id_)
    due = {row["recipient"]: row["due_at"] for row in await campaigns.pipeline.rows("delivery")}
    assert due["guest0@example.org"] == start - timedelta(hours=9)
    assert due["guest1@example.org"] == start + timedelta(hours=5)
    assert due["guest2@example.org"] == start


async def test_who_sleeps_is_put_off_with_all_of_the_same_clock_and_the_others_go_on(
    campaigns: Campaigns,
) -> None:
    now: datetime = await campaigns.run(lambda _, now: now)
    sleeps = f"Etc/GMT{now.hour - 23:+d}" if now.hour > 11 else f"Etc/GMT{now.hour + 1:+d}"
    await set_zones(campaigns, {f"Guest {n}": sleeps for n in range(10)})
    id_ = await campaigns.draft(quiet_hours="22:30-00:30", zone=awake(now))
    await campaigns.start(id_)
    await campaigns.plan(id_)
    refused = 0
    sent = 0
    while tickets := await campaigns.pipeline.claim(1):
        (answer,) = await campaigns.pipeline.permit(tickets[0])
        if isinstance(answer, Refusal):
            assert answer.gate == "quiet hours"
            refused += 1
        else:
            assert isinstance(answer, Permitted)
            await campaigns.pipeline.settle(tickets[0], Sent("r"), answer.attempt_id)
            sent += 1
    assert (refused, sent) == (1, 50)  # one was asked for all ten
    late = [r for r in await campaigns.pipeline.rows("delivery") if r["state"] == "scheduled"]
    assert len(late) == 10
    assert {row["due_at"] > now for row in late} == {True}


def awake(now: datetime) -> str:
    """Name a zone in which it is about noon."""
    ahead = 12 - now.hour
    return f"Etc/GMT{-ahead:+d}"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"quiet_hours": "late"}, "quiet_hours"),
        ({"zone": "Moon/Base"}, "zone"),
        ({"local_start": True}, "start_at"),
    ],
)
async def test_a_clock_that_makes_no_sense_is_refused(
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
