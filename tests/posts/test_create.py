"""Making a post, and whether the save is its approval."""

import pytest

from cadenza.media.model import NoSuchMedia
from cadenza.posts.model import NEEDS_MEDIA, PostMedia, Source
from tests.posts.conftest import ADA, BEN, CY, HOME, Desk


@pytest.mark.parametrize("by", [ADA, BEN])
async def test_the_save_of_an_editor_or_above_is_the_approval(desk: Desk, by: str) -> None:
    made = await desk.save(by=by)
    post = await desk.post(made.id)
    assert made.approved
    assert post.approved
    assert post.approval is not None
    assert (post.approval.by, post.approval.hash) == (by, post.content_hash)


async def test_where_approval_is_required_a_save_approves_nothing(desk: Desk) -> None:
    await desk.sql("UPDATE workspace SET approval = 'required' WHERE id = :id", id=HOME)
    made = await desk.save()
    assert not made.approved
    assert made.why_not_approved == "the workspace wants each post approved"
    assert (await desk.save(approve=True)).approved


async def test_a_viewer_approves_nothing_even_when_asked_to(desk: Desk) -> None:
    for requested in (None, True):
        made = await desk.save(by=CY, approve=requested)
        assert not made.approved
        assert "a viewer cannot approve" in made.why_not_approved


async def test_a_rule_made_post_waits_for_a_person_whoever_runs_the_rule(desk: Desk) -> None:
    for by in (ADA, "rule:weekly"):
        made = await desk.save(by=by, approve=True, source=Source.RULE)
        assert not made.approved
        assert "a rule made it" in made.why_not_approved


async def test_a_program_approves_only_when_its_edge_asks_for_it(desk: Desk) -> None:
    assert not (await desk.save(by="key:robot")).approved
    assert (await desk.save(by="key:robot", approve=True)).approved


async def test_a_post_that_needs_media_is_not_approved(desk: Desk) -> None:
    made = await desk.save(approve=True, blockers=(NEEDS_MEDIA,))
    assert not made.approved
    assert (await desk.post(made.id)).blockers == ("needs media",)


async def test_a_post_shows_only_files_that_are_there(desk: Desk) -> None:
    refused = await desk.save(media=(PostMedia("gone"),))
    assert isinstance(refused, NoSuchMedia)
    assert not await desk.rows("post")
    await desk.file("cat")
    made = await desk.save(media=(PostMedia("cat"),))
    (use,) = await desk.rows("media_use")
    assert (use["post_id"], use["media_id"]) == (made.id, "cat")


async def test_a_new_post_leaves_an_audit_row_a_revision_and_its_labels(desk: Desk) -> None:
    made = await desk.save(labels=("spring", " spring ", "", "sale"))
    post = await desk.post(made.id)
    assert post.labels == ("sale", "spring")
    assert [row["revision"] for row in await desk.rows("post_revision")] == [1]
    (act,) = await desk.rows("audit")
    assert (act["actor"], act["action"], act["subject_id"]) == (ADA, "post.create", made.id)
