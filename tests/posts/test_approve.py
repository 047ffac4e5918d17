"""Approving, and what an approval lets into the pipeline."""

from datetime import timedelta
from typing import Any

import pytest

from cadenza.core.channels import Channel
from cadenza.deliveries.approve import sweep_unapproved
from cadenza.deliveries.permit import Permitted
from cadenza.posts.approve import Approved, Unapproved, approve, unapprove
from cadenza.posts.edit import Change, Conflict, Edited, edit
from cadenza.posts.model import NEEDS_MEDIA, Blocked, NotAllowed, Source, Variant
from tests.posts.conftest import ADA, BEN, BLUESKY, CY, HOME, MASTODON, Desk


async def say_yes(desk: Desk, id_: str, *, by: str = BEN, revision: int | None = None) -> object:
    return await desk.run(
        lambda tx, now: approve(tx, now, workspace_id=HOME, post_id=id_, by=by, revision=revision)
    )


async def take_back(desk: Desk, id_: str, *, by: str = ADA) -> object:
    return await desk.run(
        lambda tx, now: unapprove(tx, now, workspace_id=HOME, post_id=id_, by=by, reason="a recall")
    )


async def test_unapproved_content_is_never_claimable(desk: Desk) -> None:
    id_ = await desk.write(source=Source.RULE)
    await desk.plan(id_, [MASTODON, BLUESKY], due=timedelta(minutes=-5))
    assert await desk.claim() == []
    answer = await say_yes(desk, id_)
    assert isinstance(answer, Approved)
    assert len(answer.scheduled) == 2
    assert len(await desk.claim()) == 2


async def test_a_second_approval_names_the_first_and_changes_nothing(desk: Desk) -> None:
    id_ = await desk.write(source=Source.RULE)
    await say_yes(desk, id_, by=BEN)
    again = await say_yes(desk, id_, by=ADA)
    assert isinstance(again, Approved)
    assert (again.before, again.approval.by) == (True, BEN)
    acts = [row["action"] for row in await desk.rows("audit")]
    assert acts.count("post.approve") == 1


async def test_an_approval_of_what_was_changed_meanwhile_is_refused(desk: Desk) -> None:
    id_ = await desk.write(source=Source.RULE)
    await desk.sql("UPDATE post SET revision = 2")
    assert isinstance(await say_yes(desk, id_, revision=1), Conflict)
    assert isinstance(await say_yes(desk, id_, revision=2), Approved)


async def test_a_viewer_cannot_approve_nor_take_back(desk: Desk) -> None:
    id_ = await desk.write()
    assert isinstance(await take_back(desk, id_, by=CY), NotAllowed)
    assert isinstance(await take_back(desk, id_), Unapproved)
    assert isinstance(await say_yes(desk, id_, by=CY), NotAllowed)


async def test_a_blocked_post_cannot_be_approved(desk: Desk) -> None:
    id_ = await desk.write(blockers=(NEEDS_MEDIA,))
    answer = await say_yes(desk, id_)
    assert isinstance(answer, Blocked)
    assert answer.message == "it needs media: edit the post first"


@pytest.mark.parametrize("text", ["", " \n", "\u200b\u2060"])
async def test_an_empty_post_cannot_be_approved_until_it_says_something(
    desk: Desk, text: str
) -> None:
    made = await desk.save(text)
    assert (made.approved, made.why_not_approved) == (False, "it has no text and no media")
    answer = await say_yes(desk, made.id)
    assert isinstance(answer, Blocked)
    assert answer.message == "it has no text and no media: edit the post first"
    assert not [row for row in await desk.rows("audit") if row["action"] == "post.approve"]
    still = await desk.run(
        lambda tx, now: edit(
            tx,
            now,
            workspace_id=HOME,
            post_id=made.id,
            revision=1,
            change=Change(title="Opening"),
            by=ADA,
        )
    )
    assert isinstance(still, Edited)
    assert (still.approved, still.why_not_approved) == (False, "it has no text and no media")
    written = await desk.run(
        lambda tx, now: edit(
            tx,
            now,
            workspace_id=HOME,
            post_id=made.id,
            revision=2,
            change=Change(text="We open"),
            by=ADA,
        )
    )
    assert isinstance(written, Edited)
    assert written.approved


@pytest.mark.parametrize(
    "more",
    [
        {"link": "https://example.org"},
        {"parts": ("and a second part",)},
        {"hashtags": ("#open",)},
        {"variants": {Channel.MASTODON: Variant(text="Only here")}},
    ],
)
async def test_a_post_that_shows_anything_anywhere_is_not_empty(
    desk: Desk, more: dict[str, Any]
) -> None:
    made = await desk.save("", **more)
    assert made.approved, made.why_not_approved


async def test_an_approval_past_the_grace_comes_too_late(desk: Desk) -> None:
    id_ = await desk.write(source=Source.RULE)
    (late,) = await desk.plan(id_, [MASTODON], due=timedelta(minutes=-61))
    (just,) = await desk.plan(id_, [BLUESKY], due=timedelta(minutes=-59))
    answer = await say_yes(desk, id_)
    assert isinstance(answer, Approved)
    assert (answer.scheduled, answer.missed) == ((just,), (late,))
    row = await desk.delivery(late)
    assert (row["state"], row["reason"]) == ("missed", "not approved in time")
    assert [row["kind"] for row in await desk.rows("outbox")] == ["delivery.missed"]


async def test_unapproved_at_its_time_is_missed(desk: Desk) -> None:
    """Case 28: never sent, never forgotten; one notice."""
    id_ = await desk.write(source=Source.RULE)
    (due,) = await desk.plan(id_, [MASTODON], due=timedelta(seconds=-1))
    (later,) = await desk.plan(id_, [BLUESKY])
    for expected in (1, 0):
        assert await desk.run(sweep_unapproved) == expected
    row = await desk.delivery(due)
    assert (row["state"], row["reason"]) == ("missed", "not approved in time")
    assert (await desk.delivery(later))["state"] == "draft"
    assert [row["kind"] for row in await desk.rows("outbox")] == ["delivery.missed"]


async def test_what_is_taken_back_is_a_draft_even_out_of_a_workers_hands(desk: Desk) -> None:
    id_ = await desk.write()
    toot, sky = await desk.plan(id_, [MASTODON, BLUESKY], due=timedelta())
    tickets = {ticket.id: ticket for ticket in await desk.claim()}
    (permitted,) = await desk.permit(tickets[sky])
    assert isinstance(permitted, Permitted)
    answer = await take_back(desk, id_)
    assert isinstance(answer, Unapproved)
    assert answer.drafts == (toot,)
    assert [each.id for each in answer.too_late] == [sky]
    row = await desk.delivery(toot)
    assert (row["state"], row["reason"]) == ("draft", "the approval was taken back: a recall")
    assert not isinstance((await desk.permit(tickets[toot]))[0], Permitted)
    assert (await desk.row("lane", "account:toots"))["in_flight"] == 0


async def test_an_approval_schedules_with_the_brands_newest_hashtags(desk: Desk) -> None:
    id_ = await desk.write("hello", source=Source.RULE)
    (toot,) = await desk.plan(id_, [MASTODON])
    await desk.sql("UPDATE workspace SET hashtags = :tags", tags='["Ada"]')
    await say_yes(desk, id_)
    row = await desk.delivery(toot)
    assert (row["state"], row["content"]) == ("scheduled", '{"text":"hello\\n\\n#Ada"}')


async def test_an_editor_cannot_approve_their_own_post_where_approval_is_required(
    desk: Desk,
) -> None:
    own = await desk.write(by=BEN, author_id="ben", approve=False)
    assert isinstance(await say_yes(desk, own), Approved)  # the workspace leaves it to the author
    await desk.sql("UPDATE workspace SET approval = 'required'")
    own = await desk.write("mine", by=BEN, author_id="ben")
    refused = await say_yes(desk, own, by=BEN)
    assert isinstance(refused, NotAllowed)
    assert refused.message == "an editor cannot approve their own post here: somebody else has to"
    assert isinstance(await say_yes(desk, own, by=ADA), Approved)
    owners = await desk.write("the owner's", by=ADA, author_id="ada")
    assert isinstance(await say_yes(desk, owners, by=ADA), Approved)


async def test_an_editor_cannot_approve_what_they_rewrote_or_save_as_approved(desk: Desk) -> None:
    await desk.sql("UPDATE workspace SET approval = 'required'")
    saved = await desk.save("at once", by=BEN, author_id="ben", approve=True)
    assert (saved.approved, saved.why_not_approved) == (
        False,
        "an editor cannot approve their own post here: somebody else has to",
    )
    adas = await desk.write("hers", by=ADA, author_id="ada")
    await desk.run(
        lambda tx, now: edit(
            tx, now, workspace_id=HOME, post_id=adas, revision=1, change=Change(text="his"), by=BEN
        )
    )
    assert isinstance(await say_yes(desk, adas, by=BEN), NotAllowed)
    assert isinstance(await say_yes(desk, adas, by=ADA), Approved)
