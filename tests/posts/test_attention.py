"""What wants a person, and the story of a post."""

from datetime import timedelta
from typing import Any

from cadenza.deliveries.permit import Permitted
from cadenza.posts import activity
from cadenza.posts.approve import approve
from cadenza.posts.attention import (
    STEPS,
    AttentionItem,
    AttentionKind,
    AttentionReason,
    Step,
    needs_attention,
)
from cadenza.posts.delete import delete
from cadenza.posts.model import NEEDS_COPY, NEEDS_MEDIA, Source
from cadenza.providers.outcome import Rejected, Sent, Transient, Unconfirmed
from tests.posts.conftest import ADA, BEN, BLUESKY, HOME, INSTAGRAM, MASTODON, Desk


async def look(desk: Desk) -> list[AttentionItem]:
    return await desk.operations.read(lambda tx, now: needs_attention(tx, now, workspace_id=HOME))


async def come_to(desk: Desk, outcome: Any) -> None:
    for ticket in await desk.claim():
        (permitted,) = await desk.permit(ticket)
        assert isinstance(permitted, Permitted)
        await desk.settle(ticket, outcome, permitted.attempt_id)


async def test_everything_that_wants_a_person_is_listed_with_its_steps(desk: Desk) -> None:
    posts = [await desk.write(f"post {n}") for n in range(3)]
    await desk.plan(posts[0], [MASTODON], due=timedelta())
    await come_to(desk, Rejected("too long"))
    await desk.plan(posts[0], [BLUESKY], due=timedelta())
    await come_to(desk, Unconfirmed("no answer"))
    called = await desk.operations.read(
        lambda tx, _: tx.one("SELECT began_at FROM attempt WHERE outcome = 'Unconfirmed'")
    )
    assert called is not None
    (missed,) = await desk.plan(posts[1], [MASTODON], due=timedelta(hours=-3))
    await desk.sql(
        "UPDATE delivery SET state = 'missed', reason = 'late' WHERE id = :id", id=missed
    )
    await desk.sql(
        "UPDATE lane SET paused = true, pause_reason = 'a recall' WHERE id = 'account:pics'"
    )
    await desk.plan(posts[1], [INSTAGRAM], due=timedelta(minutes=-1))
    rule_made = await desk.write(source=Source.RULE)
    await desk.plan(rule_made, [MASTODON], due=timedelta(hours=3))
    await desk.plan(rule_made, [BLUESKY], due=timedelta(days=30))
    blocked = await desk.write(title="Monday", blockers=(NEEDS_MEDIA,))
    found = {thing.kind: thing for thing in await look(desk)}
    assert set(found) == set(AttentionKind) - {AttentionKind.ACCOUNT}
    assert found[AttentionKind.FAILED].message == "mastodon by @toots: failed: too long"
    assert Step.RETRY in found[AttentionKind.FAILED].steps
    assert found[AttentionKind.NEEDS_CHECK].steps == (Step.IT_IS_THERE, Step.SEND_AGAIN)
    assert (
        found[AttentionKind.NEEDS_CHECK].at == called["began_at"]
    )  # not when we look for it again
    assert found[AttentionKind.MISSED].steps == (Step.NEXT_SLOT, Step.PUBLISH_NOW, Step.TO_DRAFT)
    assert found[AttentionKind.HELD].message == "instagram_feed by @pics: paused: a recall"
    assert found[AttentionKind.HELD].steps[0] is Step.RESUME
    assert found[AttentionKind.UNAPPROVED].post_id == rule_made
    assert (found[AttentionKind.BLOCKED].subject_id, found[AttentionKind.BLOCKED].message) == (
        blocked,
        "Monday needs media",
    )


async def test_an_account_that_is_lost_is_listed_and_so_is_what_it_holds(desk: Desk) -> None:
    await desk.plan(await desk.write(), [MASTODON], due=timedelta(minutes=-1))
    await desk.sql(
        "UPDATE account SET state = 'needs_reconnect', state_reason = 'revoked' WHERE id = 'toots'"
    )
    await desk.sql(
        "UPDATE account SET state = 'expiring', token_expires_at = created_at WHERE id = 'skies'"
    )
    things = await look(desk)
    assert [thing.kind for thing in things] == [
        AttentionKind.ACCOUNT,
        AttentionKind.ACCOUNT,
        AttentionKind.HELD,
    ]
    said = " / ".join(thing.message for thing in things)
    assert "@toots (mastodon) has to be connected again: revoked" in said
    assert "@skies (bluesky): its connection ends on" in said
    assert {step for thing in things for step in thing.steps} == {Step.RECONNECT}


def test_every_reason_has_its_kind_and_at_least_one_step() -> None:
    assert set(STEPS) == set(AttentionReason)
    assert all(steps for _, steps in STEPS.values())
    assert {kind for kind, _ in STEPS.values()} == set(AttentionKind)


async def test_what_lacks_its_words_is_told_of_once_by_when_it_is_due_the_soonest_first(
    desk: Desk,
) -> None:
    undated = await desk.write(title="Some day", blockers=(NEEDS_COPY,))
    later = await desk.write(title="Friday", blockers=(NEEDS_COPY,))
    sooner = await desk.write(title="Monday", blockers=(NEEDS_COPY,))
    await desk.plan(later, [MASTODON], due=timedelta(days=5))
    await desk.plan(sooner, [BLUESKY], due=timedelta(hours=4))
    await desk.plan(sooner, [MASTODON], due=timedelta(hours=3))
    whole = [await desk.write(source=Source.RULE) for _ in range(2)]
    await desk.plan(whole[0], [MASTODON], due=timedelta(hours=9))
    await desk.plan(whole[1], [MASTODON], due=timedelta(hours=8))
    things = await look(desk)
    # Who has no words yet cannot be approved: that is not offered.
    assert [(thing.kind, thing.post_id) for thing in things] == [
        (AttentionKind.UNAPPROVED, whole[1]),
        (AttentionKind.UNAPPROVED, whole[0]),
        (AttentionKind.BLOCKED, sooner),
        (AttentionKind.BLOCKED, later),
        (AttentionKind.BLOCKED, undated),
    ]
    now = await desk.operations.read(lambda tx, now: now)
    waits = [round((thing.at - now) / timedelta(hours=1)) for thing in things]
    assert waits == [8, 9, 3, 120, 0]


async def test_what_is_offered_first_follows_from_what_is_the_matter(desk: Desk) -> None:
    for blockers in ((NEEDS_COPY,), (NEEDS_MEDIA,), (NEEDS_COPY, NEEDS_MEDIA)):
        await desk.write(title="Monday", blockers=blockers)
    await desk.plan(await desk.write("said wrongly"), [MASTODON], due=timedelta())
    await come_to(desk, Rejected("too long"))
    await desk.plan(await desk.write("unlucky"), [BLUESKY], due=timedelta())
    await desk.sql("UPDATE delivery SET retry_limit = 0 WHERE account_id = 'skies'")
    await come_to(desk, Transient("no answer"))
    offered = {thing.reason: thing.steps[0] for thing in await look(desk)}
    assert offered == {
        AttentionReason.NEEDS_COPY: Step.WRITE,
        AttentionReason.NEEDS_MEDIA: Step.ADD_MEDIA,
        AttentionReason.NEEDS_COPY_AND_MEDIA: Step.WRITE,
        AttentionReason.REFUSED: Step.EDIT,
        AttentionReason.GAVE_UP: Step.RETRY,
    }


async def test_what_a_suspended_account_holds_waits_for_the_suspension_to_be_lifted(
    desk: Desk,
) -> None:
    await desk.plan(await desk.write(), [MASTODON], due=timedelta(minutes=-1))
    await desk.sql("UPDATE account SET state = 'suspended' WHERE id = 'toots'")
    things = await look(desk)
    assert [thing.reason for thing in things] == [
        AttentionReason.SUSPENDED,
        AttentionReason.HELD_BY_SUSPENSION,
    ]
    assert {thing.steps for thing in things} == {(Step.LIFT,)}


async def test_nothing_of_a_deleted_post_wants_anybody(desk: Desk) -> None:
    id_ = await desk.write(blockers=(NEEDS_MEDIA,))
    await desk.plan(id_, [MASTODON], due=timedelta(hours=1))
    assert len(await look(desk)) == 1
    await desk.run(lambda tx, now: delete(tx, now, workspace_id=HOME, post_id=id_, by=ADA))
    assert await look(desk) == []


async def test_a_post_tells_its_story_newest_first(desk: Desk) -> None:
    id_ = await desk.write("story", source=Source.RULE, by="rule:weekly")
    await desk.plan(id_, [MASTODON], due=timedelta())
    await desk.run(lambda tx, now: approve(tx, now, workspace_id=HOME, post_id=id_, by=BEN))
    await come_to(desk, Rejected("too long"))
    events = await desk.operations.read(
        lambda tx, _: activity.of_post(tx, workspace_id=HOME, post_id=id_)
    )
    assert [event.kind for event in reversed(events)][:3] == [
        "post.create",
        "post.approve",
        "attempt.began",
    ]
    assert {event.kind for event in events[:2]} == {"attempt.ended", "delivery.failed"}
    assert [event.by for event in reversed(events)][:2] == ["rule:weekly", BEN]
    older = await desk.operations.read(
        lambda tx, _: activity.of_post(tx, workspace_id=HOME, post_id=id_, before=events[2].at)
    )
    assert older == events[3:]


async def test_an_account_tells_the_calls_that_it_made(desk: Desk) -> None:
    await desk.plan(await desk.write(), [MASTODON], due=timedelta())
    await desk.plan(await desk.write(), [BLUESKY], due=timedelta())
    await come_to(desk, Sent("1", url="https://example.org/1"))
    events = await desk.operations.read(
        lambda tx, _: activity.of_account(tx, workspace_id=HOME, account_id="toots")
    )
    assert [event.kind for event in events] == ["attempt.ended", "attempt.began"]
    assert events[0].message == "mastodon, attempt 1: The network took it."
    assert events[0].details["url"] == "https://example.org/1"


async def test_a_post_that_waits_for_an_approval_is_listed_however_far_ahead(desk: Desk) -> None:
    waiting = await desk.write(source=Source.RULE)
    (far,) = await desk.plan(waiting, [MASTODON], due=timedelta(days=20))
    (thing,) = await look(desk)
    assert (thing.kind, thing.subject_id) == (AttentionKind.UNAPPROVED, far)
    assert thing.steps[0] is Step.APPROVE
