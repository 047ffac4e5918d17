"""What would go wrong is said before: at the save, two hours and half an hour before the time."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

import pytest

from cadenza.core.channels import Channel
from cadenza.posts.edit import Change, edit
from cadenza.posts.find_duplicates import REPEATS, normalised
from cadenza.posts.model import NEEDS_MEDIA, PostMedia, Source, Variant
from cadenza.posts.preflight import check, check_due_soon, files_due_soon, warn_unapproved
from cadenza.posts.warnings import Finding
from cadenza.sql.tx import Tx
from tests.posts.conftest import ADA, BLUESKY, HOME, INSTAGRAM, MASTODON, Desk


async def preflight(desk: Desk, id_: str, targets: Any, **more: Any) -> list[Finding]:
    found = await desk.operations.read(
        lambda tx, now: check(tx, now, workspace_id=HOME, post_id=id_, targets=targets, **more)
    )
    assert isinstance(found, list)
    return found


async def look(desk: Desk, gone: Collection[str] = ()) -> list[str]:
    looked = await desk.run(lambda tx, now: check_due_soon(tx, now, gone=gone))
    assert looked.next is None
    return list(looked.told)


def codes(found: list[Finding]) -> set[tuple[str, str]]:
    return {(each.channel, each.code) for each in found}


async def test_a_sound_post_has_no_findings(desk: Desk) -> None:
    assert await preflight(desk, await desk.write("hello"), [MASTODON, BLUESKY]) == []


async def test_each_network_counts_in_its_own_way_on_the_composed_text(desk: Desk) -> None:
    await desk.sql("UPDATE workspace SET hashtags = :tags", tags='["adaandfriends"]')
    id_ = await desk.write("x" * 295)
    found = await preflight(desk, id_, [MASTODON, BLUESKY])
    assert {each.channel for each in found} == {"bluesky"}
    (only,) = found
    assert only.blocking
    assert only.field == "text"


async def test_only_the_channel_that_is_wrong_is_blocked(desk: Desk) -> None:
    id_ = await desk.write("hello")
    found = await preflight(desk, id_, [MASTODON, INSTAGRAM])
    assert {each.channel for each in found} == {"instagram_feed"}
    assert found[0].field == "media"


class Unaddressed:
    """Files that nobody can fetch."""

    async def read(self, name: str) -> bytes:
        raise FileNotFoundError(name)


class PublicFiles:
    """Files that networks can fetch."""

    async def read(self, name: str) -> bytes:
        raise FileNotFoundError(name)

    def public_url(self, name: str) -> str | None:
        return f"https://house.example/{name}"


async def test_a_picture_with_an_address_is_no_risk_for_networks_that_fetch(desk: Desk) -> None:
    await desk.file("cat")
    id_ = await desk.write("look", media=(PostMedia("cat"),))
    await desk.plan(id_, [INSTAGRAM], due=timedelta(minutes=20))
    without = codes(await preflight(desk, id_, [INSTAGRAM], files=Unaddressed()))
    assert ("instagram_feed", "media_url") in without
    unknown = codes(await preflight(desk, id_, [INSTAGRAM]))
    assert ("instagram_feed", "media_url") not in unknown
    found = codes(await preflight(desk, id_, [INSTAGRAM], files=PublicFiles()))
    assert ("instagram_feed", "media_url") not in found


async def test_media_that_are_gone_are_found_before_the_time(desk: Desk) -> None:
    """Case 29: fail early, with what to do; that the storage is asked, `bootstrap` shows."""
    await desk.file("cat")
    id_ = await desk.write("look", media=(PostMedia("cat"),))
    (toot,) = await desk.plan(id_, [MASTODON], due=timedelta(minutes=20))
    assert await desk.run(files_due_soon) == ["cat.jpg"]
    assert await look(desk, gone={"dog.jpg"}) == []
    assert await look(desk, gone={"cat.jpg"}) == [toot]
    (notice,) = await desk.rows("outbox")
    assert "not in the storage" in notice["body"]
    await desk.sql("UPDATE media SET deleted_at = created_at")
    assert ("mastodon", "media_gone") in codes(await preflight(desk, id_, [MASTODON]))


async def test_approval_blockers_and_accounts_are_checked(desk: Desk) -> None:
    await desk.sql("UPDATE account SET state = 'needs_reconnect' WHERE id = 'skies'")
    id_ = await desk.write("hello", source=Source.RULE, blockers=(NEEDS_MEDIA,))
    found = codes(await preflight(desk, id_, [MASTODON, BLUESKY]))
    assert found == {
        ("mastodon", "unapproved"),
        ("mastodon", "blocked"),
        ("bluesky", "unapproved"),
        ("bluesky", "blocked"),
        ("bluesky", "account"),
    }


async def test_a_first_comment_that_a_channel_cannot_have_is_said(desk: Desk) -> None:
    id_ = await desk.write("hello", variants={Channel.BLUESKY: Variant(first_comment="mind it")})
    (only,) = await preflight(desk, id_, [MASTODON, BLUESKY])
    assert (only.code, only.blocking) == ("first_comment", False)


async def test_saying_the_same_twice_is_warned_of(desk: Desk) -> None:
    """Case 30: same account, same channel, same words, within 30 days."""
    first = await desk.write("Hello  World")
    await desk.plan(first, [MASTODON], due=timedelta(days=29))
    second = await desk.write("hello world")
    found = await preflight(desk, second, [MASTODON, BLUESKY])
    assert codes(found) == {("mastodon", "duplicate")}
    assert not found[0].blocking
    assert await preflight(desk, first, [MASTODON]) == []  # its own delivery is no repeat
    await desk.sql("UPDATE delivery SET state = 'canceled'")
    assert await preflight(desk, second, [MASTODON]) == []


async def test_a_repeat_is_told_before_the_second_of_them(desk: Desk) -> None:
    first, second, other = [
        await desk.plan(await desk.write(text), [MASTODON], due=timedelta(minutes=minutes))
        for text, minutes in (("hello", 10), ("Hello ", 20), ("bye", 25))
    ]
    assert await look(desk) == second
    assert first != second != other
    (notice,) = await desk.rows("outbox")
    assert "the same words" in notice["body"]


async def test_a_saved_post_repeats_what_others_were_edited_to_say(desk: Desk) -> None:
    first, second = await desk.write("one"), await desk.write("two")
    await desk.plan(first, [MASTODON])
    assert await preflight(desk, second, [MASTODON]) == []
    change = Change(text="two")
    await desk.run(
        lambda tx, now: edit(
            tx, now, workspace_id=HOME, post_id=first, revision=1, change=change, by=ADA
        )
    )
    assert codes(await preflight(desk, second, [MASTODON])) == {("mastodon", "duplicate")}


async def test_many_repeats_are_one_warning(desk: Desk) -> None:
    for days in (1, 2, 3):
        await desk.plan(await desk.write("again"), [MASTODON], due=timedelta(days=days))
    (only,) = await preflight(desk, await desk.write("again"), [MASTODON])
    assert "and 2 times more" in only.message


async def test_repeats_are_looked_up_and_never_searched_for(desk: Desk) -> None:
    """However much is planned, only posts of the same words are read."""
    requested = ("number", HOME, "post", "words", "toots", "mastodon", None, None)

    def plan(tx: Tx, now: datetime) -> list[str]:
        if tx.dialect != "sqlite":
            pytest.skip("PostgreSQL plans by what the tables hold")
        rows = tx.all(f"EXPLAIN QUERY PLAN {REPEATS}", sayings=[requested], most=1)
        return [row["detail"] for row in rows]

    said = " ".join(await desk.operations.read(plan))
    assert "SEARCH same USING INDEX post_words (workspace_id=? AND words=?)" in said
    assert "SEARCH other USING INDEX delivery_once (workspace_id=? AND post_id=?" in said


async def test_a_token_that_ends_before_is_told(desk: Desk) -> None:
    (toot,) = await desk.plan(await desk.write("fine"), [MASTODON], due=timedelta(minutes=20))
    set_expiry = "UPDATE account SET state = 'expiring', token_expires_at = :at WHERE id = 'toots'"
    due = (await desk.delivery(toot))["due_at"]
    await desk.sql(set_expiry, at=due + timedelta(minutes=1))
    assert await look(desk) == []
    await desk.sql(set_expiry, at=due - timedelta(minutes=1))
    assert await look(desk) == [toot]
    found = await preflight(desk, await desk.write("other"), [MASTODON], at=due)
    assert codes(found) == {("mastodon", "token_expires")}


async def test_a_stop_a_pause_and_a_full_quota_are_said_at_once(desk: Desk) -> None:
    id_ = await desk.write("fine")
    now = await desk.operations.read(lambda tx, now: now)
    await desk.limit("toots", "post", "week", 1)
    assert await preflight(desk, id_, [MASTODON]) == []
    await desk.plan(await desk.write("before"), [MASTODON], due=timedelta())
    await desk.sql("UPDATE lane SET paused = true, paused_until = :at", at=now + timedelta(hours=1))
    await desk.sql("UPDATE workspace SET stopped_at = created_at, stop_reason = 'recall'")
    found = await preflight(desk, id_, [MASTODON])
    assert codes(found) == {
        ("mastodon", "stopped"),
        ("mastodon", "paused"),
        ("mastodon", "quota"),
    }
    assert not any(each.blocking for each in found)
    later = await preflight(desk, id_, [MASTODON], at=now + timedelta(days=9))
    assert codes(later) == {("mastodon", "stopped")}


def test_words_are_compared_as_a_reader_does() -> None:
    assert normalised(" Cafe\u0301\n now ") == normalised("CAFÉ now")


async def test_a_delivery_at_risk_is_told_once_and_again_after_an_edit(desk: Desk) -> None:
    (toot,) = await desk.plan(await desk.write("x" * 600), [MASTODON], due=timedelta(minutes=29))
    await desk.plan(await desk.write("y" * 600), [MASTODON], due=timedelta(minutes=31))
    assert await look(desk) == [toot]
    assert await look(desk) == []
    (notice,) = await desk.rows("outbox")
    assert (notice["kind"], notice["subject_id"]) == ("delivery.at_risk", toot)
    await desk.sql("UPDATE delivery SET revision = revision + 1 WHERE id = :id", id=toot)
    assert await look(desk) == [toot]


async def test_what_is_sound_is_not_told(desk: Desk) -> None:
    await desk.plan(await desk.write("fine"), [MASTODON], due=timedelta(minutes=10))
    assert await look(desk) == []


@pytest.mark.parametrize(
    ("trouble", "told"),
    [
        ("UPDATE account SET state = 'needs_reconnect'", 1),
        ("UPDATE lane SET paused = true", 0),  # a person did that: no news
        ("UPDATE workspace SET stopped_at = created_at", 0),
    ],
)
async def test_what_will_hold_it_is_told_unless_a_person_holds_it(
    desk: Desk, trouble: str, told: int
) -> None:
    await desk.plan(await desk.write("fine"), [MASTODON], due=timedelta(minutes=10))
    await desk.sql(trouble)
    assert len(await look(desk)) == told


async def test_a_spent_budget_is_told_before_the_time(desk: Desk) -> None:
    await desk.limit("toots", "post", "day", 0)
    (toot,) = await desk.plan(await desk.write("fine"), [MASTODON], due=timedelta(minutes=10))
    assert await look(desk) == [toot]


async def test_unapproved_two_hours_before_its_time_is_told_once(desk: Desk) -> None:
    """Case 28: a notice two hours before."""
    id_ = await desk.write(source=Source.RULE)
    (toot,) = await desk.plan(id_, [MASTODON], due=timedelta(minutes=119))
    await desk.plan(id_, [BLUESKY], due=timedelta(minutes=121))
    assert await desk.run(warn_unapproved) == [toot]
    assert await desk.run(warn_unapproved) == []
    (notice,) = await desk.rows("outbox")
    assert (notice["kind"], notice["subject_id"]) == ("delivery.unapproved", toot)


async def test_what_is_due_soon_is_looked_at_in_batches(desk: Desk) -> None:
    for n in range(5):
        text = f"{n}" * 600 if n % 2 else f"fine {n}"
        await desk.plan(await desk.write(text), [MASTODON], due=timedelta(minutes=n + 1))
    told: list[str] = []
    after = None
    for expected in (2, 2, 1):
        looked = await desk.run(lambda tx, now: check_due_soon(tx, now, after=after, limit=2))  # noqa: B023
        told += looked.told
        after = looked.next
        assert (after is None) == (expected == 1)
    assert len(told) == len(set(told)) == 2
