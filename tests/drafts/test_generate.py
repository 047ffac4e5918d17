"""The generator: the next 30 days are filled, each occurrence once, and nothing goes out by itself."""

import asyncio
from datetime import timedelta

import msgspec
import pytest

from cadenza.drafts.generate import Generated, NotGenerated, generate
from cadenza.drafts.model import NoSuchRule, drafts_locks
from cadenza.posts.model import PLACEHOLDER
from tests.drafts.conftest import HOME, MONDAY, Studio


async def test_the_next_30_days_are_filled(studio: Studio) -> None:
    await studio.fill((await studio.rule()).id)
    assert await studio.times() == [
        "16.11. 12:00",
        "19.11. 12:00",
        "23.11. 12:00",
        "26.11. 12:00",
        "30.11. 12:00",
        "03.12. 12:00",
        "07.12. 12:00",
        "10.12. 12:00",
        "14.12. 12:00",
    ]


async def test_a_post_has_one_draft_delivery_for_each_account_and_channel(studio: Studio) -> None:
    targets = [("ada", "mastodon"), ("ben", "instagram"), ("ben", "instagram_story")]
    (first, *_) = await studio.fill((await studio.rule(targets=targets)).id)
    found = await studio.deliveries(first)
    assert [(row["account_id"], row["channel"]) for row in found] == [
        ("ada", "mastodon"),
        ("ben", "instagram_feed"),
        ("ben", "instagram_story"),
    ]
    for row in found:
        assert (row["state"], bool(row["approved"]), row["slot_at"]) == ("draft", False, None)
        assert (row["wall_time"], row["zone"]) == ("2026-11-16T12:00", "Europe/Berlin")
        assert row["due_at"] == MONDAY + timedelta(hours=3)


async def test_no_rule_makes_approved_posts_whatever_the_workspace_says(studio: Studio) -> None:
    await studio.fill((await studio.rule()).id)
    posts = await studio.rows("SELECT * FROM post")
    assert {(post["source"], post["approved_at"]) for post in posts} == {("rule", None)}
    lanes = await studio.rows("SELECT runnable_at FROM lane")
    assert {lane["runnable_at"] for lane in lanes} == {None}, "nothing waits to be claimed"


async def test_the_copy_is_a_marked_placeholder_with_its_names_filled_in(studio: Studio) -> None:
    (first, second, *_) = await studio.fill((await studio.rule()).id)
    texts = {
        row["id"]: msgspec.json.decode(row["content"])["text"]
        for row in await studio.rows("SELECT id, content FROM post")
    }
    assert texts[first] == f"{PLACEHOLDER} Monday's tip from Bakery: rest the dough"
    assert texts[second] == f"{PLACEHOLDER} Thursday's tip from Bakery: rest the dough"


async def test_a_second_run_makes_nothing(studio: Studio) -> None:
    rule = await studio.rule()
    assert len(await studio.fill(rule.id)) == 9
    assert await studio.generate(rule.id) == Generated()


async def test_a_day_later_only_what_came_into_sight_is_made(studio: Studio) -> None:
    rule = await studio.rule(pattern={"kind": "daily", "times": ["12:00"]})
    assert len(await studio.fill(rule.id)) == 30
    studio.now += timedelta(days=1)
    assert len(await studio.fill(rule.id)) == 1


@pytest.mark.parametrize("locked", [True, False])
async def test_eight_generators_at_once_make_each_post_once(studio: Studio, locked: bool) -> None:
    await studio.fill_pool(*(f"m{n}" for n in range(9)))
    rule = await studio.rule()
    locks = drafts_locks(HOME) if locked else []

    async def run() -> list[str]:
        made = await studio.operations.run(
            lambda tx, _: generate(tx, MONDAY, workspace_id=HOME, rule_id=rule.id), locks=locks
        )
        assert isinstance(made, Generated)
        return list(made.posts)

    made = [post for posts in await asyncio.gather(*(run() for _ in range(8))) for post in posts]
    assert len(made) == len(set(made)) == 9
    laid = await studio.rows("SELECT * FROM rule_occurrence")
    assert sorted(row["post_id"] for row in laid) == sorted(made)
    assert len(await studio.rows("SELECT * FROM post")) == 9
    assert len(await studio.deliveries()) == 18
    if locked:
        assert len({row["media_id"] for row in laid}) == 9, "no file was picked twice"


async def test_a_deleted_post_never_returns(studio: Studio) -> None:
    rule = await studio.rule()
    (first, *_) = await studio.fill(rule.id)
    await studio.change("UPDATE post SET deleted_at = :now WHERE id = :id", now=MONDAY, id=first)
    assert await studio.generate(rule.id) == Generated()
    await studio.change("UPDATE rule_occurrence SET post_id = NULL WHERE post_id = :id", id=first)
    assert await studio.generate(rule.id) == Generated(), "not even when its row is forgotten"


async def test_unused_files_come_first_then_the_least_recently_used(studio: Studio) -> None:
    await studio.fill_pool("a", "b", "c")
    rule = await studio.rule()
    await studio.fill(rule.id)
    picked = [
        row["media_id"]
        for row in await studio.rows("SELECT media_id FROM rule_occurrence ORDER BY due_at")
    ]
    assert picked == ["a", "b", "c", "a", "b", "c", "a", "b", "c"]
    await studio.upload("new")
    await studio.set_pool("a", "b", "c", "new")
    studio.now += timedelta(days=8)
    await studio.fill(rule.id)
    after = await studio.rows("SELECT media_id FROM rule_occurrence ORDER BY due_at")
    assert [row["media_id"] for row in after[9:]] == ["new", "a"]
    counts = await studio.rows("SELECT media_id, use_count FROM asset ORDER BY media_id")
    assert [row["use_count"] for row in counts] == [4, 3, 3, 1]


async def test_a_picked_file_is_in_the_post_and_in_use(studio: Studio) -> None:
    await studio.fill_pool("a")
    (first, *_) = await studio.fill((await studio.rule()).id)
    (row,) = await studio.rows("SELECT * FROM post WHERE id = :id", id=first)
    assert [each["media_id"] for each in msgspec.json.decode(row["content"])["media"]] == ["a"]
    assert row["blockers"] == '["needs copy"]'
    assert await studio.rows("SELECT 1 FROM media_use WHERE post_id = :id", id=first)


async def test_without_a_file_the_post_is_made_and_says_that_it_needs_one(studio: Studio) -> None:
    made = await studio.generate((await studio.rule()).id)
    assert isinstance(made, Generated)
    assert made.without_media == 9
    posts = await studio.rows("SELECT blockers FROM post")
    assert {post["blockers"] for post in posts} == {'["needs copy","needs media"]'}


async def test_a_rule_of_words_alone_needs_no_file(studio: Studio) -> None:
    await studio.fill((await studio.rule(needs_media=False)).id)
    posts = await studio.rows("SELECT blockers FROM post")
    assert {post["blockers"] for post in posts} == {'["needs copy"]'}


async def test_a_rule_may_pick_from_another_pool(studio: Studio) -> None:
    await studio.fill_pool("logo", category=studio.brand)
    await studio.fill((await studio.rule(pool_id=studio.brand)).id)
    picked = await studio.rows("SELECT DISTINCT media_id FROM rule_occurrence")
    assert [row["media_id"] for row in picked] == ["logo"]


async def test_an_inactive_workspace_is_not_generated_for(studio: Studio) -> None:
    rule = await studio.rule()
    await studio.change("UPDATE workspace SET active = false")
    assert await studio.generate(rule.id) == NotGenerated("the workspace is not active")


async def test_an_account_that_was_switched_off_gets_nothing(studio: Studio) -> None:
    rule = await studio.rule()
    await studio.change("UPDATE account SET state = 'disabled' WHERE id = 'ben'")
    await studio.fill(rule.id)
    assert {row["account_id"] for row in await studio.deliveries()} == {"ada"}
    await studio.change("UPDATE account SET state = 'disabled'")
    assert isinstance(await studio.generate(rule.id), NotGenerated)


async def test_an_account_that_needs_a_reconnect_still_gets_its_drafts(studio: Studio) -> None:
    rule = await studio.rule()
    await studio.change("UPDATE account SET state = 'needs_reconnect' WHERE id = 'ben'")
    await studio.fill(rule.id)
    assert {row["account_id"] for row in await studio.deliveries()} == {"ada", "ben"}


async def test_the_month_is_that_of_the_local_date(studio: Studio) -> None:
    rule = await studio.rule(
        zone="Pacific/Auckland", pattern={"kind": "monthly", "days": [1], "times": ["08:00"]}
    )
    await studio.fill(rule.id)
    (row,) = await studio.rows("SELECT * FROM rule_occurrence")
    assert (row["due_at"].month, row["target_month"]) == (11, "2026-12")


async def test_many_posts_come_in_batches(studio: Studio) -> None:
    rule = await studio.rule(pattern={"kind": "interval", "hours": 12})
    made = await studio.generate(rule.id)
    assert isinstance(made, Generated)
    assert (len(made.posts), made.left) == (10, 50)
    assert len(await studio.fill(rule.id)) == 50


async def test_a_rule_that_nobody_knows_is_said_to_be_missing(studio: Studio) -> None:
    assert await studio.generate("nowhere") == NoSuchRule("nowhere")
