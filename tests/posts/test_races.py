"""Two people, or a person and a worker, at the same post at the same time, on PostgreSQL."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import asyncpg
import msgspec
import pytest

from cadenza.deliveries.permit import Permitted, Stale
from cadenza.posts.approve import Approved, approve
from cadenza.posts.edit import Change, Conflict, Edited, edit
from cadenza.posts.model import Source
from cadenza.posts.publish_now import Click, publish_now
from tests.posts.conftest import ADA, BEN, HOME, MASTODON, Desk
from tests.races.hold import Holder

HELD_DELIVERY = "SELECT id FROM delivery WHERE id = $1"
HELD_POST = "SELECT id FROM post WHERE id = $1"


@pytest.fixture
async def holder(postgres_database: str) -> AsyncIterator[Holder]:
    holding = await asyncpg.connect(postgres_database)
    watching = await asyncpg.connect(postgres_database)
    yield Holder(holding, watching)
    await holding.close()
    await watching.close()


def save(desk: Desk, post_id: str, text: str, *, by: str = ADA) -> asyncio.Task[Any]:
    return asyncio.create_task(
        desk.run(
            lambda tx, now: edit(
                tx,
                now,
                workspace_id=HOME,
                post_id=post_id,
                revision=1,
                change=Change(text=text),
                by=by,
            )
        )
    )


async def test_an_edit_before_the_permit_wins_and_the_old_words_stay_here(
    crowded: Desk, holder: Holder
) -> None:
    id_ = await crowded.write("old")
    (toot,) = await crowded.plan(id_, [MASTODON], due=timedelta())
    (ticket,) = await crowded.claim()
    async with holder.hold(HELD_DELIVERY, toot):
        edited = save(crowded, id_, "new")
        await holder.prove_waiting(1)
        permitted = asyncio.create_task(crowded.permit(ticket))  # it has read the old words
        await holder.prove_waiting(2)
    assert isinstance(await edited, Edited)
    (answer,) = await permitted
    assert isinstance(answer, Stale)
    row = await crowded.delivery(toot)
    assert (row["state"], msgspec.json.decode(row["content"])) == ("scheduled", {"text": "new"})
    assert not await crowded.rows("attempt")
    assert (await crowded.row("lane", "account:toots"))["in_flight"] == 0


async def test_an_edit_after_the_permit_is_told_that_it_is_too_late(
    crowded: Desk, holder: Holder
) -> None:
    id_ = await crowded.write("old")
    (toot,) = await crowded.plan(id_, [MASTODON], due=timedelta())
    (ticket,) = await crowded.claim()
    async with holder.hold(HELD_DELIVERY, toot):
        permitted = asyncio.create_task(crowded.permit(ticket))
        await holder.prove_waiting(1)
        edited = save(crowded, id_, "new")
        await holder.prove_waiting(2)
    (answer,) = await permitted
    assert isinstance(answer, Permitted)
    told = await edited
    assert isinstance(told, Edited)
    assert [each.id for each in told.too_late] == [toot]
    row = await crowded.delivery(toot)
    assert (row["state"], msgspec.json.decode(row["content"])) == ("sending", {"text": "old"})


async def test_of_two_saves_at_once_one_is_told_of_the_other(crowded: Desk, holder: Holder) -> None:
    id_ = await crowded.write("old")
    async with holder.hold(HELD_POST, id_):
        both = [save(crowded, id_, "Ada's"), save(crowded, id_, "Ben's", by=BEN)]
        await holder.prove_waiting(2)
    answers = await asyncio.gather(*both)
    assert {type(answer) for answer in answers} == {Edited, Conflict}
    assert (await crowded.post(id_)).revision == 2
    assert len(await crowded.rows("post_revision")) == 2


async def test_a_double_click_makes_one_delivery(crowded: Desk, holder: Holder) -> None:
    id_ = await crowded.write()

    def click() -> asyncio.Task[Any]:
        return asyncio.create_task(
            crowded.run(
                lambda tx, now: publish_now(
                    tx, now, workspace_id=HOME, post_id=id_, by=ADA, targets=[MASTODON]
                )
            )
        )

    async with holder.hold(HELD_POST, id_):
        both = [click(), click()]
        await holder.prove_waiting(2)
    places = [answer.places[0] for answer in await asyncio.gather(*both)]
    assert {place.click for place in places} == {Click.STARTED, Click.RUNNING}
    assert len({place.delivery_id for place in places}) == 1
    assert len(await crowded.rows("delivery")) == 1


async def test_of_two_approvals_at_once_one_counts(crowded: Desk, holder: Holder) -> None:
    id_ = await crowded.write(source=Source.RULE)
    (toot,) = await crowded.plan(id_, [MASTODON])

    def say_yes(by: str) -> asyncio.Task[Any]:
        return asyncio.create_task(
            crowded.run(lambda tx, now: approve(tx, now, workspace_id=HOME, post_id=id_, by=by))
        )

    async with holder.hold(HELD_POST, id_):
        both = [say_yes(ADA), say_yes(BEN)]
        await holder.prove_waiting(2)
    answers = await asyncio.gather(*both)
    assert all(isinstance(answer, Approved) for answer in answers)
    assert sorted(answer.before for answer in answers) == [False, True]
    assert len({answer.approval.by for answer in answers}) == 1
    assert (await crowded.delivery(toot))["revision"] == 1
    acts = [row["action"] for row in await crowded.rows("audit")]
    assert acts.count("post.approve") == 1


async def test_what_is_planned_during_an_edit_carries_no_voided_approval(
    crowded: Desk, holder: Holder
) -> None:
    await crowded.sql("UPDATE workspace SET approval = 'required'")
    id_ = await crowded.write("old", approve=True)
    async with holder.hold(HELD_POST, id_):
        edited = save(crowded, id_, "new")
        await holder.prove_waiting(1)
        planned = asyncio.create_task(crowded.plan(id_, [MASTODON]))
        await holder.prove_waiting(2)
    assert isinstance(await edited, Edited)
    (toot,) = await planned
    row = await crowded.delivery(toot)
    assert (row["state"], msgspec.json.decode(row["content"])) == ("draft", {"text": "new"})
