"""Timing a post by hand."""

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries.permit import Permitted
from cadenza.posts.model import Source
from cadenza.posts.schedule_at import NoInstant, ScheduledAt, Timed, TooLate, When, schedule_at
from tests.posts.conftest import ADA, BLUESKY, HOME, MASTODON, Desk

SUMMER = datetime(2030, 7, 1, 9, 30)  # noqa: DTZ001 - a wall time


async def time(desk: Desk, post_id: str, when: When, targets: Any = None) -> Any:
    return await desk.run(
        lambda tx, now: schedule_at(
            tx, now, workspace_id=HOME, post_id=post_id, when=when, by=ADA, targets=targets
        )
    )


async def test_wall_time_zone_and_instant_are_all_kept(desk: Desk) -> None:
    id_ = await desk.write()
    answer = await time(desk, id_, When(SUMMER, "Europe/Berlin"), [MASTODON])
    assert isinstance(answer, ScheduledAt)
    (timed,) = answer.places
    assert isinstance(timed, Timed)
    row = await desk.delivery(timed.delivery_id)
    assert row["due_at"] == datetime(2030, 7, 1, 7, 30, tzinfo=UTC)
    assert (row["wall_time"], row["zone"]) == ("2030-07-01T09:30", "Europe/Berlin")
    assert (timed.due_at, timed.wall_time) == (row["due_at"], row["wall_time"])


async def test_a_time_without_an_offset_or_a_zone_is_refused(desk: Desk) -> None:
    id_ = await desk.write()
    answer = await time(desk, id_, When(SUMMER), [MASTODON])
    assert isinstance(answer, NoInstant)
    assert "names no instant" in answer.message
    assert not await desk.rows("delivery")


async def test_an_instant_is_shown_in_the_accounts_own_zone(desk: Desk) -> None:
    await desk.sql("UPDATE account SET zone = 'Asia/Kathmandu' WHERE id = 'skies'")
    at = datetime(2030, 7, 1, 7, 30, tzinfo=UTC)
    answer = await time(desk, await desk.write(), When(at), [MASTODON, BLUESKY])
    assert [(p.wall_time, p.zone) for p in answer.places] == [
        ("2030-07-01T09:30", "Europe/Berlin"),
        ("2030-07-01T13:15", "Asia/Kathmandu"),
    ]
    assert {p.due_at for p in answer.places} == {at}


async def test_a_wall_time_in_a_gap_goes_on_to_the_next(desk: Desk) -> None:
    gap = datetime(2030, 3, 31, 2, 30)  # noqa: DTZ001 - a wall time
    answer = await time(desk, await desk.write(), When(gap, "Europe/Berlin"), [MASTODON])
    (timed,) = answer.places
    assert (timed.wall_time, timed.due_at.hour) == ("2030-03-31T03:30", 1)
    assert "does not exist" in timed.note


async def test_the_past_is_refused(desk: Desk) -> None:
    past = datetime(2020, 1, 1, tzinfo=ZoneInfo("Europe/Berlin"))
    assert isinstance(await time(desk, await desk.write(), When(past), [MASTODON]), NoInstant)


async def test_the_same_delivery_moves_and_its_slot_is_free(desk: Desk) -> None:
    id_ = await desk.write()
    (toot,) = await desk.plan(id_, [MASTODON])
    await desk.sql("UPDATE delivery SET slot_at = due_at")
    await time(desk, id_, When(SUMMER, "Europe/Berlin"))
    (row,) = await desk.rows("delivery")
    assert (row["id"], row["slot_at"], row["state"]) == (toot, None, "scheduled")
    assert row["due_at"].year == 2030


async def test_an_unapproved_post_is_timed_as_a_draft(desk: Desk) -> None:
    id_ = await desk.write(source=Source.RULE)
    await time(desk, id_, When(SUMMER, "Europe/Berlin"), [MASTODON])
    (row,) = await desk.rows("delivery")
    assert row["state"] == "draft"


async def test_what_is_being_sent_stays_and_is_reported(desk: Desk) -> None:
    id_ = await desk.write()
    toot, sky = await desk.plan(id_, [MASTODON, BLUESKY], due=timedelta())
    tickets = {ticket.id: ticket for ticket in await desk.claim()}
    assert isinstance((await desk.permit(tickets[toot]))[0], Permitted)
    answer = await time(desk, id_, When(SUMMER, "Europe/Berlin"))
    found = {place.delivery_id: place for place in answer.places}
    assert isinstance(found[toot], TooLate)
    assert found[toot].state is State.SENDING
    assert isinstance(found[sky], Timed)  # it was only claimed: the worker has lost it
    assert not isinstance((await desk.permit(tickets[sky]))[0], Permitted)


async def test_a_disconnected_account_gets_its_own_answer_and_stops_no_other(desk: Desk) -> None:
    await desk.sql("UPDATE account SET state = 'disabled' WHERE id = 'toots'")
    id_ = await desk.write()
    answer = await time(desk, id_, When(SUMMER, "Europe/Berlin"), [MASTODON, BLUESKY])
    assert isinstance(answer, ScheduledAt)
    assert [place.account_id for place in answer.places] == ["skies"]
    (refused,) = answer.refused
    assert (refused.account_id, "disconnected" in refused.message) == ("toots", True)
    alone = await time(desk, id_, When(SUMMER, "Europe/Berlin"), ["toots"])
    assert (alone.places, [each.account_id for each in alone.refused]) == ((), ["toots"])
