"""A rule's post on its way: laid out, finished, approved by a person, and only then in the pipeline."""

from datetime import UTC, datetime, timedelta

import pytest

from cadenza.deliveries.claim import claim
from cadenza.deliveries.model import ClaimedDelivery
from cadenza.drafts.generate import Generated
from cadenza.drafts.write_copy import next_briefs, save_copy
from cadenza.posts.approve import Approved, approve
from cadenza.posts.delete import Deleted, delete
from cadenza.posts.edit import Change, Edited, edit
from cadenza.posts.model import NEEDS_COPY, NEEDS_MEDIA, Blocked, PostMedia
from cadenza.sql.tx import Tx
from tests.drafts.conftest import ADA, HOME, MONDAY, WEEKLY, Studio

NOON = datetime(2026, 11, 16, 11, tzinfo=UTC)


@pytest.fixture
async def first(studio: Studio) -> str:
    """The post of today, 12:00; Ada is an editor."""
    await studio.change(
        """
        INSERT INTO member (workspace_id, id, email, name, role, created_at)
        VALUES (:home, 'ada', 'ada@example.org', 'Ada', 'editor', :now)
        """,
        home=HOME,
        now=MONDAY,
    )
    return (await studio.fill((await studio.rule()).id))[0]


async def finish(studio: Studio, post: str) -> int:
    """Ada writes the text and picks a picture."""
    await studio.upload("cake")
    saved = await studio.do(
        lambda tx, now: edit(
            tx,
            now,
            workspace_id=HOME,
            post_id=post,
            revision=1,
            change=Change(text="Rest the dough", media=(PostMedia("cake"),)),
            by=ADA,
        )
    )
    assert isinstance(saved, Edited)
    assert not saved.approved, "a rule's post waits for an approval, not only for a save"
    return saved.revision


async def ask(studio: Studio, post: str) -> object:
    return await studio.do(
        lambda tx, now: approve(tx, now, workspace_id=HOME, post_id=post, by=ADA)
    )


async def claimed(studio: Studio) -> list[ClaimedDelivery]:
    return await studio.do(
        lambda tx, now: claim(tx, now, limit=10, worker="w", lease=timedelta(minutes=1))
    )


async def test_an_unapproved_post_is_not_claimed_when_it_is_due(studio: Studio, first: str) -> None:
    await finish(studio, first)
    studio.now = NOON + timedelta(minutes=1)
    assert await claimed(studio) == []


async def test_a_placeholder_without_media_cannot_be_approved(studio: Studio, first: str) -> None:
    assert await ask(studio, first) == Blocked((NEEDS_COPY, NEEDS_MEDIA))


async def test_a_finished_and_approved_post_goes_out_on_all_its_accounts(
    studio: Studio, first: str
) -> None:
    await finish(studio, first)
    approved = await ask(studio, first)
    assert isinstance(approved, Approved)
    assert len(approved.scheduled) == 2
    assert await claimed(studio) == [], "not before its time"
    studio.now = NOON + timedelta(seconds=1)
    tickets = await claimed(studio)
    assert sorted(ticket.delivery.account_id for ticket in tickets) == ["ada", "ben"]
    for ticket in tickets:
        assert "Rest the dough" in ticket.delivery.content
        assert "#bread #tips" in ticket.delivery.content, "brand, then category"


async def test_a_copywriter_lifts_its_own_blocker_and_no_other(studio: Studio, first: str) -> None:
    def write(tx: Tx, now: datetime) -> str:
        page = next_briefs(tx, now, workspace_id=HOME, after=None)
        return save_copy(tx, now, page.briefs[0], "Rest the dough")

    assert await studio.do(write) == "written"
    assert await ask(studio, first) == Blocked((NEEDS_MEDIA,))


async def test_a_post_approved_too_late_is_missed_not_sent(studio: Studio, first: str) -> None:
    await finish(studio, first)
    studio.now = NOON + timedelta(hours=2)
    approved = await ask(studio, first)
    assert isinstance(approved, Approved)
    assert (approved.scheduled, len(approved.missed)) == ((), 2)
    assert await claimed(studio) == []


async def test_a_post_that_ada_deletes_never_comes_back(studio: Studio, first: str) -> None:
    gone = await studio.do(
        lambda tx, now: delete(tx, now, workspace_id=HOME, post_id=first, by=ADA)
    )
    assert isinstance(gone, Deleted)
    rule = studio.rules[0]
    assert await studio.generate(rule) == Generated()
    await studio.edit(rule, pattern={**WEEKLY, "times": ["18:00"]})
    assert await studio.generate(rule) == Generated()
    assert (await studio.times())[0] == "19.11. 18:00"


async def test_generating_again_leaves_an_approved_post_alone(studio: Studio, first: str) -> None:
    await finish(studio, first)
    await ask(studio, first)
    before = await studio.deliveries(first)
    assert await studio.generate(studio.rules[0]) == Generated()
    assert await studio.deliveries(first) == before
