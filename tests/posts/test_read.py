"""Reading posts: one, a list with filters, a calendar."""

from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from cadenza.core.rollup import DeliveryState as State
from cadenza.core.rollup import PostState
from cadenza.deliveries.permit import Permitted
from cadenza.posts import read
from cadenza.posts.delete import delete
from cadenza.posts.model import NoSuchPost, Source
from cadenza.posts.read import BadCursor, Filters, Page, ShownPost, list_posts, read_post
from cadenza.posts.show_calendar import show_calendar
from cadenza.providers.outcome import Rejected, Sent
from tests.posts.conftest import ADA, BLUESKY, HOME, MASTODON, Desk


async def show(desk: Desk, id_: str) -> ShownPost:
    found = await desk.operations.read(
        lambda tx, now: read_post(tx, now, workspace_id=HOME, post_id=id_)
    )
    assert isinstance(found, ShownPost)
    return found


async def browse(desk: Desk, cursor: str | None = None, limit: int = 50, **filters: Any) -> Page:
    page = await desk.operations.read(
        lambda tx, now: list_posts(
            tx, now, workspace_id=HOME, filters=Filters(**filters), cursor=cursor, limit=limit
        )
    )
    assert isinstance(page, Page)
    return page


async def texts(desk: Desk, **filters: Any) -> list[str]:
    return [shown.post.content.text for shown in (await browse(desk, **filters)).posts]


async def send_all(desk: Desk, outcome: Any) -> None:
    for ticket in await desk.claim():
        (permitted,) = await desk.permit(ticket)
        assert isinstance(permitted, Permitted)
        await desk.settle(ticket, outcome, permitted.attempt_id)


async def test_a_post_shows_what_became_of_each_channel(desk: Desk) -> None:
    id_ = await desk.write()
    await desk.plan(id_, [MASTODON], due=timedelta())
    await send_all(desk, Sent("1", url="https://example.org/1"))
    await desk.plan(id_, [BLUESKY], due=timedelta())
    await send_all(desk, Rejected("too long"))
    shown = await show(desk, id_)
    assert shown.state is PostState.PARTIALLY_PUBLISHED
    assert shown.published_at is not None
    pills = {pill.channel: pill for pill in shown.pills}
    assert (pills["mastodon"].label, pills["mastodon"].url) == (
        "Published",
        "https://example.org/1",
    )
    assert (pills["bluesky"].label, pills["bluesky"].reason) == ("Failed", "too long")


async def test_scheduled_at_is_the_earliest_of_what_lives(desk: Desk) -> None:
    id_ = await desk.write()
    (late,) = await desk.plan(id_, [MASTODON], due=timedelta(hours=5))
    (soon,) = await desk.plan(id_, [BLUESKY], due=timedelta(hours=2))
    shown = await show(desk, id_)
    assert shown.state is PostState.SCHEDULED
    assert shown.scheduled_at == (await desk.delivery(soon))["due_at"]
    assert [pill.delivery_id for pill in shown.pills] == [soon, late]


async def test_a_cleared_place_that_is_taken_up_again_shows_once(desk: Desk) -> None:
    id_ = await desk.write()
    await desk.plan(id_, [MASTODON])
    await desk.sql("UPDATE delivery SET state = 'canceled'")
    assert [pill.label for pill in (await show(desk, id_)).pills] == ["Canceled"]
    assert (await show(desk, id_)).state is PostState.DRAFT
    await desk.plan(id_, [MASTODON])
    assert [pill.label for pill in (await show(desk, id_)).pills] == ["Scheduled"]


async def test_posts_are_filtered_by_what_they_show_as(desk: Desk) -> None:
    sent, mixed, waiting = [await desk.write(text) for text in ("sent", "mixed", "waiting")]
    await desk.plan(sent, [MASTODON], due=timedelta())
    await send_all(desk, Sent("1"))
    await desk.plan(mixed, [MASTODON], due=timedelta())
    await send_all(desk, Sent("2"))
    await desk.plan(mixed, [BLUESKY])
    await desk.plan(waiting, [MASTODON])
    await desk.write("draft")
    found = {state: await texts(desk, states=(state,)) for state in PostState}
    assert {state: names for state, names in found.items() if names} == {
        PostState.PUBLISHED: ["sent"],
        PostState.PUBLISHING_REST: ["mixed"],
        PostState.SCHEDULED: ["waiting"],
        PostState.DRAFT: ["draft"],
    }


@pytest.mark.parametrize("few", [0, read.FEW], ids=["many", "few"])
@pytest.mark.parametrize("states", [tuple(State), (State.SENT, State.FAILED, State.CANCELED)])
async def test_the_filter_agrees_with_the_roll_up(
    desk: Desk, states: tuple[State, ...], few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever way is taken to the posts: from their deliveries, or through all, newest first."""
    monkeypatch.setattr(read, "FEW", few)
    await desk.write("planned nowhere")
    for first, second in [*pairwise((*states, states[0])), *((state, state) for state in states)]:
        id_ = await desk.write(f"{first} {second}")
        for place, state in ((MASTODON, first), (BLUESKY, second)):
            (delivery,) = await desk.plan(id_, [place])
            await desk.sql(
                """
                UPDATE delivery SET state = :state, reason = 'x',
                    sent_at = CASE WHEN :sent THEN due_at ELSE NULL END,
                    failed_at = CASE WHEN :failed THEN due_at ELSE NULL END
                WHERE id = :id
                """,
                state=state.value,
                sent=state is State.SENT,
                failed=state is State.FAILED,
                id=delivery,
            )
    everything = await browse(desk)
    for state in PostState:
        expected = [each.post.id for each in everything.posts if each.state is state]
        found = [each.post.id for each in (await browse(desk, states=(state,))).posts]
        assert found == expected
        paged, cursor = list[str](), None
        while (page := await browse(desk, states=(state,), cursor=cursor, limit=2)).posts:
            paged += [each.post.id for each in page.posts]
            cursor = page.next
            if cursor is None:
                break
        assert paged == expected


async def test_posts_are_filtered_by_place_label_category_source_words_and_time(desk: Desk) -> None:
    first = await desk.write("Spring SALE 100%", labels=("spring",), title="Éclair")
    second = await desk.write("summer sale", source=Source.RULE, hashtags=("beach",))
    await desk.plan(first, [MASTODON], due=timedelta(hours=1))
    await desk.plan(second, [BLUESKY], due=timedelta(days=3))
    now = await desk.operations.read(lambda _, now: now)
    assert await texts(desk, account_id="toots") == ["Spring SALE 100%"]
    assert await texts(desk, channel="bluesky") == ["summer sale"]
    assert await texts(desk, account_id="toots", channel="bluesky") == []
    assert await texts(desk, label="spring") == ["Spring SALE 100%"]
    assert await texts(desk, source="rule") == ["summer sale"]
    assert await texts(desk, search="SALE") == ["summer sale", "Spring SALE 100%"]
    assert await texts(desk, search="sale éclair") == ["Spring SALE 100%"]
    assert await texts(desk, search="100%") == ["Spring SALE 100%"]
    assert await texts(desk, search="s_le") == []
    assert await texts(desk, search="#beach") == ["summer sale"]
    assert await texts(desk, due_until=now + timedelta(days=1)) == ["Spring SALE 100%"]
    assert await texts(desk, due_from=now + timedelta(days=1)) == ["summer sale"]


async def test_a_list_goes_on_where_it_stopped(desk: Desk) -> None:
    for n in range(5):
        await desk.write(f"post {n}", labels=("all", f"n{n}"))
    await desk.sql("UPDATE post SET created_at = (SELECT min(created_at) FROM post)")
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = await browse(desk, cursor, limit=2)
        seen += [each.post.id for each in page.posts]
        assert all("all" in each.post.labels for each in page.posts)
        if (cursor := page.next) is None:
            break
    assert len(seen) == len(set(seen)) == 5
    bad = await desk.operations.read(
        lambda tx, now: list_posts(tx, now, workspace_id=HOME, cursor="nonsense!")
    )
    assert isinstance(bad, BadCursor)


async def test_a_deleted_post_is_not_shown(desk: Desk) -> None:
    id_ = await desk.write()
    await desk.run(lambda tx, now: delete(tx, now, workspace_id=HOME, post_id=id_, by=ADA))
    assert not (await browse(desk)).posts
    gone = await desk.operations.read(
        lambda tx, now: read_post(tx, now, workspace_id=HOME, post_id=id_)
    )
    assert isinstance(gone, NoSuchPost)


async def test_a_calendar_holds_what_is_due_between_two_instants(desk: Desk) -> None:
    first, second = await desk.write("one " * 60), await desk.write("two", title="Two")
    await desk.plan(first, [MASTODON], due=timedelta(hours=1))
    await desk.plan(second, [BLUESKY, MASTODON], due=timedelta(hours=3))
    now = await desk.operations.read(lambda _, now: now)

    async def look(hours: int, *accounts: str) -> list[tuple[str, str]]:
        found = await desk.operations.read(
            lambda tx, now: show_calendar(
                tx,
                now,
                workspace_id=HOME,
                start=now,
                end=now + timedelta(hours=hours),
                account_ids=accounts,
            )
        )
        assert not found.more
        assert all(len(entry.text) <= 121 for entry in found.entries)
        return [(entry.pill.account_id, entry.title) for entry in found.entries]

    assert now is not None
    assert await look(2) == [("toots", "")]
    assert sorted((await look(4))[1:]) == [("skies", "Two"), ("toots", "Two")]
    assert await look(4, "skies") == [("skies", "Two")]
    await desk.sql("UPDATE delivery SET state = 'canceled'")
    assert await look(4) == []
