"""Publish now, and approve and publish now."""

import inspect
from datetime import timedelta
from typing import Any

from cadenza.core.channels import Channel
from cadenza.deliveries.permit import Permitted, Refusal
from cadenza.posts import approve, publish_now, put_deliveries
from cadenza.posts.model import NEEDS_MEDIA, Blocked, NotAllowed, Source
from cadenza.posts.publish_now import (
    Click,
    NotApproved,
    NoTarget,
    PublishingNow,
    approve_and_publish_now,
)
from cadenza.posts.targets import BadTarget
from cadenza.providers.outcome import Rejected, Sent, Unconfirmed
from tests.posts.conftest import ADA, BLUESKY, CY, HOME, MASTODON, Desk


async def click(desk: Desk, post_id: str, targets: Any = None) -> Any:
    return await desk.run(
        lambda tx, now: publish_now.publish_now(
            tx, now, workspace_id=HOME, post_id=post_id, by=ADA, targets=targets
        )
    )


async def approve_and_click(desk: Desk, post_id: str, targets: Any = None, by: str = ADA) -> Any:
    return await desk.run(
        lambda tx, now: approve_and_publish_now(
            tx, now, workspace_id=HOME, post_id=post_id, by=by, targets=targets
        )
    )


async def send(desk: Desk, outcome: Any) -> str:
    """Let a worker take the next delivery and come to this outcome."""
    (ticket,) = await desk.claim(limit=1)
    (permitted,) = await desk.permit(ticket)
    assert isinstance(permitted, Permitted)
    await desk.settle(ticket, outcome, permitted.attempt_id)
    return ticket.id


async def test_publish_now_makes_the_same_delivery_due_and_frees_its_slot(desk: Desk) -> None:
    id_ = await desk.write()
    (toot,) = await desk.plan(id_, [MASTODON], due=timedelta(days=2))
    await desk.sql("UPDATE delivery SET slot_at = due_at")
    answer = await click(desk, id_)
    assert isinstance(answer, PublishingNow)
    assert [(place.delivery_id, place.click) for place in answer.places] == [(toot, Click.STARTED)]
    row = await desk.delivery(toot)
    assert (row["slot_at"], row["state"]) == (None, "scheduled")
    assert [ticket.id for ticket in await desk.claim()] == [toot]


async def test_missing_channels_get_deliveries_and_chosen_ones_alone_go(desk: Desk) -> None:
    id_ = await desk.write()
    (toot,) = await desk.plan(id_, [MASTODON], due=timedelta(days=2))
    answer = await click(desk, id_, [BLUESKY])
    assert [place.channel for place in answer.places] == [Channel.BLUESKY]
    assert len(await desk.rows("delivery")) == 2
    assert [ticket.id for ticket in await desk.claim()] == [answer.places[0].delivery_id]
    assert (await desk.delivery(toot))["state"] == "scheduled"


async def test_a_second_click_returns_the_running_attempt(desk: Desk) -> None:
    id_ = await desk.write()
    await click(desk, id_, [MASTODON])
    waiting = await click(desk, id_, [MASTODON])
    assert waiting.places[0].click is Click.RUNNING
    (ticket,) = await desk.claim()
    assert (await click(desk, id_)).places[0].click is Click.RUNNING
    (permitted,) = await desk.permit(ticket)
    assert isinstance(permitted, Permitted)
    running = await click(desk, id_)
    assert running.places[0].attempt_id == permitted.attempt_id
    assert len(await desk.rows("delivery")) == 1
    acts = [row["action"] for row in await desk.rows("audit")]
    assert acts.count("post.publish_now") == 1


async def test_what_is_out_is_not_sent_again(desk: Desk) -> None:
    id_ = await desk.write()
    await click(desk, id_, [MASTODON])
    await send(desk, Sent("1", url="https://example.org/1"))
    answer = await click(desk, id_, [MASTODON, BLUESKY])
    found = {place.channel: place for place in answer.places}
    assert found[Channel.MASTODON].click is Click.SENT
    assert found[Channel.MASTODON].url == "https://example.org/1"
    assert [ticket.delivery.channel for ticket in await desk.claim()] == ["bluesky"]


async def test_an_unconfirmed_send_is_for_a_person_and_never_sent_blindly(desk: Desk) -> None:
    id_ = await desk.write()
    await click(desk, id_, [MASTODON])
    await send(desk, Unconfirmed("no answer"))
    assert (await click(desk, id_)).places[0].click is Click.UNCONFIRMED
    assert await desk.claim() == []


async def test_what_failed_goes_again_with_fresh_attempts(desk: Desk) -> None:
    id_ = await desk.write()
    await click(desk, id_, [MASTODON])
    toot = await send(desk, Rejected("no"))
    assert (await click(desk, id_)).places[0].click is Click.STARTED
    row = await desk.delivery(toot)
    assert (row["state"], row["attempts"], row["failed_at"]) == ("scheduled", 0, None)


async def test_publish_now_passes_hours(desk: Desk) -> None:
    closed = '{"hours": {"post": {"start": "00:00", "end": "00:01", "days": []}}}'
    await desk.sql("UPDATE account SET settings = :closed", closed=closed)
    id_ = await desk.write()
    await desk.plan(id_, [MASTODON], due=timedelta())
    (ticket,) = await desk.claim()
    (refusal,) = await desk.permit(ticket)
    assert isinstance(refusal, Refusal)
    assert refusal.gate == "hours"
    assert await desk.claim() == []
    await click(desk, id_)
    (again,) = await desk.claim()
    assert isinstance((await desk.permit(again))[0], Permitted)


async def test_publish_now_passes_a_full_day_with_a_warning(desk: Desk) -> None:
    await desk.sql("UPDATE workspace SET max_per_day = 1")
    first, second = await desk.write("one"), await desk.write("two")
    await desk.plan(first, [MASTODON], due=timedelta())
    answer = await click(desk, second, [MASTODON])
    assert answer.places[0].warnings == (
        "the account's day has 2 posts with this one, more than its 1",
    )


async def test_publish_now_never_passes_a_pause_a_stop_or_an_account(desk: Desk) -> None:
    id_ = await desk.write()
    await desk.sql("UPDATE workspace SET stopped_at = created_at, stop_reason = 'a recall'")
    await desk.sql(
        "UPDATE lane SET paused = true, pause_reason = 'holiday' WHERE id = 'account:toots'"
    )
    await desk.sql("UPDATE account SET state = 'needs_reconnect'")
    answer = await click(desk, id_, [MASTODON])
    said = " ".join(answer.places[0].warnings)
    assert "a recall" in said
    assert "holiday" in said
    assert "needs_reconnect" in said
    assert await desk.claim() == []


async def test_unapproved_content_is_not_published_now(desk: Desk) -> None:
    id_ = await desk.write(source=Source.RULE)
    await desk.plan(id_, [MASTODON])
    assert isinstance(await click(desk, id_), NotApproved)
    assert await desk.claim() == []


async def test_a_post_that_goes_nowhere_asks_where(desk: Desk) -> None:
    assert isinstance(await click(desk, await desk.write()), NoTarget)
    rule_made = await desk.write(source=Source.RULE)
    assert isinstance(await approve_and_click(desk, rule_made), NoTarget)
    assert not (await desk.post(rule_made)).approved


async def test_a_deleted_channel_is_refused_at_this_door(desk: Desk) -> None:
    """Case 27: nothing new goes to an account that was let go, or to a channel that it has not."""
    await desk.sql("UPDATE account SET state = 'disabled' WHERE id = 'toots'")
    id_ = await desk.write()
    for targets in (["nobody"], [("skies", Channel.X)], [MASTODON, ("skies", Channel.X)]):
        assert isinstance(await click(desk, id_, targets), BadTarget)
    for targets in ([MASTODON], ["toots"]):
        answer = await click(desk, id_, targets)
        assert (answer.places, [each.account_id for each in answer.refused]) == ((), ["toots"])
    assert not await desk.rows("delivery")


async def test_a_disconnected_account_gets_its_own_answer_and_stops_no_other(desk: Desk) -> None:
    await desk.sql("UPDATE account SET state = 'disabled' WHERE id = 'toots'")
    for act, post in (
        (click, await desk.write()),
        (approve_and_click, await desk.write(source=Source.RULE)),
    ):
        answer = await act(desk, post, [MASTODON, BLUESKY])
        assert isinstance(answer, PublishingNow)
        (place,) = answer.places
        assert (place.account_id, place.click) == ("skies", Click.STARTED)
        (refused,) = answer.refused
        assert (refused.account_id, "disconnected" in refused.message) == ("toots", True)


async def test_a_post_that_no_account_can_send_is_not_approved_by_the_click(desk: Desk) -> None:
    await desk.sql("UPDATE account SET state = 'disabled' WHERE id = 'toots'")
    id_ = await desk.write(source=Source.RULE)
    answer = await approve_and_click(desk, id_, [MASTODON])
    assert (answer.places, len(answer.refused)) == ((), 1)
    assert not (await desk.post(id_)).approved


async def test_approve_and_publish_now_updates_the_post_that_is_there(desk: Desk) -> None:
    id_ = await desk.write(source=Source.RULE)
    (toot,) = await desk.plan(id_, [MASTODON], due=timedelta(days=1))
    answer = await approve_and_click(desk, id_, [MASTODON, BLUESKY])
    assert [place.click for place in answer.places] == [Click.STARTED, Click.STARTED]
    assert (await desk.post(id_)).approved
    assert len(await desk.rows("post")) == 1
    assert {ticket.id for ticket in await desk.claim()} == {p.delivery_id for p in answer.places}
    assert toot in {place.delivery_id for place in answer.places}


async def test_approve_and_publish_now_asks_for_the_right_to_approve(desk: Desk) -> None:
    id_ = await desk.write(source=Source.RULE)
    assert isinstance(await approve_and_click(desk, id_, [MASTODON], by=CY), NotAllowed)
    blocked = await desk.write(blockers=(NEEDS_MEDIA,))
    assert isinstance(await approve_and_click(desk, blocked, [MASTODON]), Blocked)
    assert not await desk.rows("delivery")


async def test_a_time_that_was_missed_for_want_of_approval_does_not_stop_it(desk: Desk) -> None:
    id_ = await desk.write(source=Source.RULE)
    await desk.plan(id_, [MASTODON], due=timedelta(hours=-5))
    assert (await approve_and_click(desk, id_)).places[0].click is Click.STARTED
    assert len(await desk.claim()) == 1


def test_no_post_can_be_inserted_on_that_path() -> None:
    for module in (publish_now, approve, put_deliveries):
        source = inspect.getsource(module)
        assert "INSERT INTO post" not in source
        assert "posts.create" not in source
