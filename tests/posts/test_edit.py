"""Changing a post, and what becomes of what was planned with the words of before."""

from datetime import timedelta
from typing import Any

import msgspec

from cadenza.core.channels import Channel
from cadenza.deliveries.permit import Permitted, Stale
from cadenza.deliveries.save_prepared import save_prepared
from cadenza.media.model import NoSuchMedia
from cadenza.posts.edit import Answer, Change, Conflict, Edited, edit
from cadenza.posts.model import NEEDS_MEDIA, NoSuchPost, PostMedia, Source, Variant
from cadenza.providers.outcome import Rejected, Sent
from tests.posts.conftest import ADA, BEN, BLUESKY, CY, HOME, MASTODON, Desk


async def save(
    desk: Desk, post_id: str, revision: int = 1, *, by: str = ADA, **changes: Any
) -> Answer:
    approve = changes.pop("approve", None)
    return await desk.run(
        lambda tx, now: edit(
            tx,
            now,
            workspace_id=HOME,
            post_id=post_id,
            revision=revision,
            change=Change(**changes),
            by=by,
            approve=approve,
        )
    )


async def text_of(desk: Desk, delivery: str) -> str:
    return msgspec.json.decode((await desk.delivery(delivery))["content"])["text"]


async def test_an_edit_reaches_every_delivery_that_waits(desk: Desk) -> None:
    id_ = await desk.write("old", variants={Channel.BLUESKY: Variant(text="old sky")})
    toot, sky = await desk.plan(id_, [MASTODON, BLUESKY])
    edited = await save(desk, id_, text="new")
    assert isinstance(edited, Edited)
    assert edited.rewritten == (toot,)
    assert await text_of(desk, toot) == "new"
    assert await text_of(desk, sky) == "old sky"
    assert (await desk.delivery(toot))["revision"] == 2
    assert (await desk.delivery(toot))["state"] == "scheduled"


async def test_a_stale_save_changes_nothing_and_brings_the_post_as_it_stands(desk: Desk) -> None:
    id_ = await desk.write("old")
    assert isinstance(await save(desk, id_, text="Ada's"), Edited)
    refused = await save(desk, id_, by=BEN, text="Ben's")
    assert isinstance(refused, Conflict)
    assert refused.current.content.text == "Ada's"
    assert refused.current.etag == '"2"'
    assert (await desk.post(id_)).content.text == "Ada's"


async def test_what_is_not_named_stays(desk: Desk) -> None:
    id_ = await desk.write("text", title="title", first_comment="comment", labels=("a",))
    await save(desk, id_, first_comment=None)
    post = await desk.post(id_)
    assert (post.content.text, post.title, post.labels) == ("text", "title", ("a",))
    assert post.content.first_comment is None


async def test_an_edit_of_approved_content_voids_the_approval(desk: Desk) -> None:
    await desk.sql("UPDATE workspace SET approval = 'required'")
    id_ = await desk.write(approve=True)
    (toot,) = await desk.plan(id_, [MASTODON])
    edited = await save(desk, id_, text="new")
    assert isinstance(edited, Edited)
    assert edited.voided
    assert not (await desk.post(id_)).approved
    row = await desk.delivery(toot)
    assert (row["state"], bool(row["approved"])) == ("draft", False)
    assert await desk.claim() == []


async def test_a_viewers_save_voids_what_an_editor_approved(desk: Desk) -> None:
    id_ = await desk.write()
    edited = await save(desk, id_, by=CY, text="new")
    assert isinstance(edited, Edited)
    assert edited.voided


async def test_labels_void_nothing(desk: Desk) -> None:
    await desk.sql("UPDATE workspace SET approval = 'required'")
    id_ = await desk.write(approve=True)
    edited = await save(desk, id_, labels=("spring",))
    assert isinstance(edited, Edited)
    assert (edited.approved, edited.voided, edited.revision) == (True, False, 2)


async def test_with_author_approval_a_save_puts_drafts_on_the_road(desk: Desk) -> None:
    id_ = await desk.write(approve=False)
    (toot,) = await desk.plan(id_, [MASTODON])
    assert (await desk.delivery(toot))["state"] == "draft"
    await save(desk, id_, text="new")
    assert (await desk.delivery(toot))["state"] == "scheduled"


async def test_a_touch_is_no_approval_of_a_rule_made_post(desk: Desk) -> None:
    id_ = await desk.write(source=Source.RULE)
    touched = await save(desk, id_, text="better")
    assert isinstance(touched, Edited)
    assert not touched.approved
    approved = await save(desk, id_, 2, text="best", approve=True)
    assert isinstance(approved, Edited)
    assert approved.approved


async def test_a_claim_from_before_the_edit_is_stale(desk: Desk) -> None:
    id_ = await desk.write("old")
    (toot,) = await desk.plan(id_, [MASTODON], due=timedelta())
    (ticket,) = await desk.claim()
    await save(desk, id_, text="new")
    (answer,) = await desk.permit(ticket)
    assert isinstance(answer, Stale)
    (again,) = await desk.claim()  # the lane has room again
    assert msgspec.json.decode(again.delivery.content)["text"] == "new"
    assert again.id == toot


async def test_an_edit_at_the_last_second_is_told_that_it_is_too_late(desk: Desk) -> None:
    """Case 18: content is frozen by the permit; a later save says so and is kept as a revision."""
    id_ = await desk.write("old")
    toot, sky = await desk.plan(id_, [MASTODON, BLUESKY], due=timedelta())
    tickets = {ticket.id: ticket for ticket in await desk.claim()}
    (permitted,) = await desk.permit(tickets[toot])
    assert isinstance(permitted, Permitted)
    edited = await save(desk, id_, text="new")
    assert isinstance(edited, Edited)
    assert [each.id for each in edited.too_late] == [toot]
    assert "mastodon is getting it just now" in (edited.message or "")
    assert await text_of(desk, toot) == "old"
    assert await text_of(desk, sky) == "new"
    attempt = await desk.row("attempt", permitted.attempt_id)
    notes = {row["revision"]: row["note"] for row in await desk.rows("post_revision")}
    assert notes[1] is None
    assert "kept as a new revision" in notes[2]
    assert attempt["content_hash"]  # of the words that left


async def test_what_is_out_keeps_its_words_and_is_not_sent_again(desk: Desk) -> None:
    id_ = await desk.write("old")
    (toot,) = await desk.plan(id_, [MASTODON], due=timedelta())
    (ticket,) = await desk.claim()
    (permitted,) = await desk.permit(ticket)
    assert isinstance(permitted, Permitted)
    assert await desk.settle(ticket, Sent("1"), permitted.attempt_id)
    edited = await save(desk, id_, text="new")
    assert isinstance(edited, Edited)
    assert "mastodon has the version before" in (edited.message or "")
    assert (await desk.delivery(toot))["state"] == "sent"
    assert await desk.claim() == []


async def test_what_failed_gets_the_new_words_for_its_retry(desk: Desk) -> None:
    id_ = await desk.write("far too long")
    (toot,) = await desk.plan(id_, [MASTODON], due=timedelta())
    (ticket,) = await desk.claim()
    (permitted,) = await desk.permit(ticket)
    assert isinstance(permitted, Permitted)
    await desk.settle(ticket, Rejected("too long"), permitted.attempt_id)
    await save(desk, id_, text="short")
    row = await desk.delivery(toot)
    assert (row["state"], row["reason"]) == ("failed", "too long")
    assert await text_of(desk, toot) == "short"


async def test_media_answer_a_needs_media_blocker(desk: Desk) -> None:
    await desk.file("cat")
    id_ = await desk.write(blockers=(NEEDS_MEDIA, "needs a look"))
    await save(desk, id_, media=(PostMedia("cat"),))
    assert (await desk.post(id_)).blockers == ("needs a look",)
    assert isinstance(await save(desk, id_, 2, media=(PostMedia("gone"),)), NoSuchMedia)
    await save(desk, id_, 2, media=(), blockers=())
    assert not await desk.rows("media_use")


async def test_an_unknown_post_is_said_to_be_unknown(desk: Desk) -> None:
    assert isinstance(await save(desk, "nothing", text="x"), NoSuchPost)


async def test_what_was_prepared_for_the_old_words_is_not_used_for_the_new(desk: Desk) -> None:
    id_ = await desk.write("old")
    (toot,) = await desk.plan(id_, [MASTODON], due=timedelta())
    (ticket,) = await desk.claim()
    assert await desk.run(lambda tx, _: save_prepared(tx, ticket, '{"container":"old"}'))
    await save(desk, id_, text="new")
    assert (await desk.delivery(toot))["prepared"] is None
    assert not await desk.run(lambda tx, _: save_prepared(tx, ticket, '{"container":"old"}'))
    assert (await desk.delivery(toot))["prepared"] is None
