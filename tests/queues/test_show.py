"""The queue on a screen: every slot of a day, what stands there, and why it is not free."""

from datetime import date, timedelta

from cadenza.core.channels import Channel
from cadenza.queues.change import How, change
from cadenza.queues.pause import pause
from cadenza.queues.show import Kind, View, show
from cadenza.queues.skip import skip_next
from tests.queues.conftest import ADA, DAILY, MONDAY, Desk, only


async def view(desk: Desk, **words: object) -> View:
    answer = await desk.run(show, account_id="ada", **words)
    assert isinstance(answer, View)
    return answer


def kinds(seen: View, index: int = 0) -> list[tuple[str, Kind]]:
    return [(line.wall_time[11:], line.kind) for line in seen.days[index].lines]


async def test_a_day_shows_past_filled_skipped_and_empty_slots(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    await desk.fill(1)
    await desk.run(skip_next, account_id="ada", by=ADA, reason="holiday")
    seen = await view(desk)
    assert kinds(seen) == [
        ("09:00", Kind.PAST),
        ("12:00", Kind.FILLED),
        ("15:00", Kind.SKIPPED),
    ]
    assert kinds(seen, 1) == [("09:00", Kind.EMPTY), ("12:00", Kind.EMPTY), ("15:00", Kind.EMPTY)]
    assert seen.days[0].lines[2].note == "holiday"
    assert (seen.zone, seen.now_there) == ("Europe/Berlin", "2026-05-04T10:00")
    assert seen.next_send == seen.days[0].lines[1].at
    assert len(seen.days) == 14


async def test_a_full_day_shows_its_free_slots_as_capped(desk: Desk) -> None:
    await desk.week(slots=DAILY, max_per_day=1)
    await desk.fill(1)
    seen = await view(desk)
    assert kinds(seen) == [("09:00", Kind.PAST), ("12:00", Kind.FILLED), ("15:00", Kind.CAPPED)]
    assert (seen.days[0].posts, seen.days[0].max_per_day) == (1, 1)


async def test_hand_timed_and_pinned_posts_stand_between_the_slots(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    await desk.fill(2)
    await desk.by_hand(MONDAY + timedelta(hours=3))
    fewer = {day: ["09:00", "12:00"] for day in DAILY}
    await desk.run(change, account_id="ada", by=ADA, slots=fewer)
    assert kinds(await view(desk)) == [
        ("09:00", Kind.PAST),
        ("12:00", Kind.FILLED),
        ("13:00", Kind.BY_HAND),
        ("15:00", Kind.PINNED),
    ]


async def test_what_is_due_in_a_paused_queue_is_held_with_the_reason(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    await desk.fill(1)
    await desk.run(pause, account_id="ada", reason="recall", by=ADA)
    desk.now = MONDAY + timedelta(hours=3)
    seen = await view(desk)
    assert (seen.days[0].lines[1].kind, seen.days[0].lines[1].note) == (Kind.HELD, "recall")
    assert (seen.paused, seen.next_send) == (True, None)


async def test_what_is_sending_and_sent_is_shown_as_such(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    posts = await desk.fill(2)
    desk.now = posts[0].at
    await desk.send()
    desk.now = posts[1].at
    await desk.claim()
    assert kinds(await view(desk)) == [
        ("09:00", Kind.PAST),
        ("12:00", Kind.SENT),
        ("15:00", Kind.SENDING),
    ]


async def test_a_posts_channels_are_one_line(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    two = only(await desk.add(channels=(Channel.INSTAGRAM_FEED, Channel.INSTAGRAM_STORY)))
    line = (await view(desk)).days[0].lines[1]
    assert set(line.ids) == set(two.ids)


async def test_pages_of_days_meet(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    first = await view(desk, days=3)
    second = await view(desk, days=3, from_day=first.next_day)
    assert [day.day for day in (*first.days, *second.days)] == [
        date(2026, 5, 4) + timedelta(days=n) for n in range(6)
    ]


async def test_every_line_tells_the_clock_of_the_zone_that_is_shown(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    await desk.fill(2)
    await desk.by_hand(MONDAY + timedelta(hours=3), wall_time="2026-05-04T20:00", zone="Asia/Tokyo")
    week = {day: ["13:00"] for day in DAILY}
    await desk.run(change, account_id="ada", by=ADA, slots=week, zone="Africa/Cairo", how=How.KEEP)
    seen = await view(desk)
    assert seen.zone == "Africa/Cairo"
    assert kinds(seen) == [
        ("13:00", Kind.FILLED),
        ("14:00", Kind.BY_HAND),
        ("16:00", Kind.PINNED),
    ]
