"""Rules are made, edited, paused and deleted; only posts that nobody touched follow."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from cadenza.drafts.generate import Generated, NotGenerated
from cadenza.drafts.model import Invalid, NoSuchRule, RuleState, Stale
from cadenza.drafts.save_category import CategoryForm
from cadenza.drafts.save_rule import (
    RuleSaved,
    create_rule,
    delete_rule,
    edit_rule,
    list_rules,
    pause_rule,
    retarget_rule,
)
from cadenza.sql.transactions import PostgresOperations
from cadenza.sql.tx import Tx
from tests.drafts.conftest import ADA, HOME, MONDAY, Studio

WAITING = """
SELECT pid FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock'
"""
MONDAYS = {"kind": "weekly", "weekdays": [1], "times": ["12:00"]}


async def approve(studio: Studio, post: str) -> None:
    await studio.change(
        """
        UPDATE post SET approved_by = 'member:ada', approved_at = :now, approved_hash = content_hash
        WHERE id = :id
        """,
        now=MONDAY,
        id=post,
    )
    await studio.change(
        "UPDATE delivery SET state = 'scheduled', approved = true WHERE post_id = :id", id=post
    )


async def edit_text(studio: Studio, post: str) -> None:
    await studio.change("UPDATE post SET revision = revision + 1 WHERE id = :id", id=post)


async def delete_post(studio: Studio, post: str) -> None:
    await studio.change("UPDATE post SET deleted_at = :now WHERE id = :id", now=MONDAY, id=post)
    await studio.change("UPDATE delivery SET state = 'canceled' WHERE post_id = :id", id=post)


async def test_a_dry_run_of_a_new_rule_lists_its_posts_and_keeps_nothing(studio: Studio) -> None:
    form = studio.form(pattern=MONDAYS)
    kept = await studio.do(
        lambda tx, now: create_rule(tx, now, form, workspace_id=HOME, by=ADA, dry_run=True)
    )
    assert isinstance(kept, RuleSaved)
    assert [each.wall_time for each in kept.plan.added] == [
        "2026-11-16T12:00",
        "2026-11-23T12:00",
        "2026-11-30T12:00",
        "2026-12-07T12:00",
        "2026-12-14T12:00",
    ]
    assert await studio.rows("SELECT * FROM rule") == []


async def test_a_rule_reads_back_as_it_was_saved(studio: Studio) -> None:
    rule = await studio.rule(
        pattern={"kind": "monthly", "days": [31], "times": ["09:00"], "short_month": "skip"},
        ends="2027-01-31",
        gap="skip",
        fold="both",
        pool_id=studio.brand,
    )
    assert await studio.do(lambda tx, _: list_rules(tx, workspace_id=HOME)) == [rule]


async def test_an_edit_of_the_time_moves_untouched_posts(studio: Studio) -> None:
    rule = await studio.rule(pattern=MONDAYS)
    posts = await studio.fill(rule.id)
    kept = await studio.edit(rule.id, pattern={**MONDAYS, "times": ["15:30"]})
    assert [move.laid.post_id for move in kept.plan.moved] == posts
    assert kept.plan.added == kept.plan.removed == kept.plan.kept == ()
    assert await studio.generate(rule.id) == Generated(), "they are the same posts"
    assert await studio.times() == [
        f"{day} 15:30" for day in ("16.11.", "23.11.", "30.11.", "07.12.", "14.12.")
    ]
    walls = {row["wall_time"][11:] for row in await studio.deliveries()}
    assert walls == {"15:30"}


async def test_a_dry_run_of_an_edit_says_the_same_and_changes_nothing(studio: Studio) -> None:
    rule = await studio.rule(pattern=MONDAYS)
    (first, second, *_) = await studio.fill(rule.id)
    await approve(studio, first)
    before = await studio.times()
    changes: dict[str, Any] = {"pattern": {**MONDAYS, "times": ["15:30", "18:00"]}}
    requested = await studio.edit(rule.id, dry_run=True, **changes)
    assert await studio.times() == before
    done = await studio.edit(rule.id, **changes)
    assert requested.plan == done.plan
    assert [each.laid.post_id for each in done.plan.kept] == [first]
    assert done.plan.moved[0].laid.post_id == second
    assert len(done.plan.added) == 5, "18:00 is new each Monday"


@pytest.mark.parametrize(
    ("touch", "because"), [(approve, "approved"), (edit_text, "edited")], ids=["approved", "edited"]
)
async def test_a_touched_post_stays_and_is_not_doubled(
    studio: Studio, touch: Any, because: str
) -> None:
    rule = await studio.rule(pattern=MONDAYS)
    (first, *_) = await studio.fill(rule.id)
    await touch(studio, first)
    kept = await studio.edit(rule.id, pattern={**MONDAYS, "times": ["15:30"]})
    assert [(each.laid.post_id, each.because) for each in kept.plan.kept] == [(first, because)]
    assert await studio.generate(rule.id) == Generated(), "it stands for 15:30"
    assert (await studio.times())[:2] == ["16.11. 12:00", "23.11. 15:30"]


async def test_a_post_moved_by_hand_stays_where_it_was_put(studio: Studio) -> None:
    rule = await studio.rule(pattern=MONDAYS)
    (first, *_) = await studio.fill(rule.id)
    await studio.change(
        "UPDATE delivery SET due_at = :at WHERE post_id = :id",
        at=MONDAY + timedelta(hours=9),
        id=first,
    )
    kept = await studio.edit(rule.id, pattern={**MONDAYS, "times": ["15:30"]})
    assert [each.because for each in kept.plan.kept] == ["moved by hand"]
    assert (await studio.times())[0] == "16.11. 18:00"


async def test_a_post_with_other_channels_than_the_rule_gave_stays(studio: Studio) -> None:
    rule = await studio.rule(pattern=MONDAYS)
    (first, *_) = await studio.fill(rule.id)
    await studio.change(
        "UPDATE delivery SET state = 'canceled' WHERE post_id = :id AND account_id = 'ben'",
        id=first,
    )
    kept = await studio.edit(rule.id, pattern={**MONDAYS, "times": ["15:30"]})
    assert [each.because for each in kept.plan.kept] == ["its channels were changed"]


async def test_a_deleted_occurrence_stays_away_when_its_time_moves(studio: Studio) -> None:
    rule = await studio.rule(pattern=MONDAYS)
    (first, *_) = await studio.fill(rule.id)
    await delete_post(studio, first)
    await studio.edit(rule.id, pattern={**MONDAYS, "times": ["15:30"]})
    assert await studio.generate(rule.id) == Generated()
    assert (await studio.times())[0] == "23.11. 15:30"


async def test_a_weekday_that_went_takes_its_untouched_posts_along(studio: Studio) -> None:
    rule = await studio.rule()
    (monday, thursday, *_) = await studio.fill(rule.id)
    await approve(studio, thursday)
    kept = await studio.edit(rule.id, pattern=MONDAYS)
    assert [each.laid.post_id for each in kept.plan.kept] == [thursday]
    assert len(kept.plan.removed) == 3
    assert kept.plan.unchanged == 5
    assert (await studio.times())[:3] == ["16.11. 12:00", "19.11. 12:00", "23.11. 12:00"]
    assert len(await studio.times()) == 6
    assert monday


async def test_what_an_edit_took_away_returns_with_the_next_edit(studio: Studio) -> None:
    rule = await studio.rule()
    await studio.fill(rule.id)
    await studio.edit(rule.id, pattern=MONDAYS)
    await studio.edit(rule.id)
    assert len(await studio.fill(rule.id)) == 4, "a rule's own removal leaves no tombstone"


async def test_removed_posts_give_their_files_back(studio: Studio) -> None:
    await studio.fill_pool("a", "b")
    rule = await studio.rule()
    await studio.fill(rule.id)
    await studio.edit(rule.id, pattern=MONDAYS)
    rows = await studio.rows(
        "SELECT media_id, use_count, last_used_at FROM asset ORDER BY media_id"
    )
    assert [row["use_count"] for row in rows] == [5, 0]
    assert rows[1]["last_used_at"] is None
    used = await studio.rows("SELECT DISTINCT media_id FROM media_use")
    assert [row["media_id"] for row in used] == ["a"]


async def test_a_change_of_zone_moves_posts_to_the_same_wall_time_there(studio: Studio) -> None:
    rule = await studio.rule(pattern=MONDAYS)
    await studio.fill(rule.id)
    kept = await studio.edit(rule.id, pattern=MONDAYS, zone="America/New_York")
    assert len(kept.plan.moved) == 5
    assert (await studio.times())[0] == "16.11. 18:00"
    assert {row["zone"] for row in await studio.deliveries()} == {"America/New_York"}


async def test_another_category_makes_untouched_posts_again(studio: Studio) -> None:
    rule = await studio.rule(pattern=MONDAYS)
    (first, *_) = await studio.fill(rule.id)
    await approve(studio, first)
    other = await studio.name_category(CategoryForm(name="News", copy="News!"))
    kept = await studio.edit(rule.id, pattern=MONDAYS, category_id=other.id)
    assert (len(kept.plan.removed), len(kept.plan.added), len(kept.plan.kept)) == (4, 4, 1)
    assert len(await studio.fill(rule.id)) == 4
    live = await studio.rows("SELECT category_id FROM post WHERE deleted_at IS NULL")
    assert sorted(row["category_id"] == other.id for row in live) == [False, *[True] * 4]


async def test_a_change_of_channels_is_listed_then_done(studio: Studio) -> None:
    rule = await studio.rule(pattern=MONDAYS)
    (first, second, *_) = await studio.fill(rule.id)
    await approve(studio, first)

    async def retarget(*, dry_run: bool) -> RuleSaved:
        kept = await studio.do(
            lambda tx, now: retarget_rule(
                tx,
                now,
                workspace_id=HOME,
                id=rule.id,
                targets=[("ada", "mastodon"), ("ada", "LinkedIn")],
                by=ADA,
                dry_run=dry_run,
            )
        )
        assert isinstance(kept, RuleSaved)
        return kept

    requested = await retarget(dry_run=True)
    assert {row["account_id"] for row in await studio.deliveries(second)} == {"ada", "ben"}
    done = await retarget(dry_run=False)
    assert requested.plan == done.plan
    assert [each.laid.post_id for each in done.plan.kept] == [first]
    assert len(done.plan.retargeted) == 4
    live = [row for row in await studio.deliveries(second) if row["state"] == "draft"]
    assert [(row["account_id"], row["channel"]) for row in live] == [
        ("ada", "linkedin_profile"),
        ("ada", "mastodon"),
    ]
    assert len({row["due_at"] for row in live}) == 1
    assert {row["state"] for row in await studio.deliveries(first)} == {"scheduled"}
    again = await studio.edit(
        rule.id, pattern=MONDAYS, targets=[("ada", "mastodon"), ("ada", "linkedin")]
    )
    assert again.plan.unchanged == 4, "what the rule changed itself is not touched by a person"


async def test_an_account_that_was_switched_off_touches_no_post(studio: Studio) -> None:
    rule = await studio.rule(pattern=MONDAYS)
    await studio.fill(rule.id)
    await studio.change("UPDATE account SET state = 'disabled' WHERE id = 'ben'")
    await studio.change("UPDATE delivery SET state = 'canceled' WHERE account_id = 'ben'")
    kept = await studio.edit(
        rule.id, pattern={**MONDAYS, "times": ["15:30"]}, targets=[("ada", "mastodon")]
    )
    assert (len(kept.plan.moved), kept.plan.kept) == (5, ())
    assert (await studio.times())[0] == "16.11. 15:30"


async def test_time_and_channels_can_change_at_once(studio: Studio) -> None:
    rule = await studio.rule(pattern=MONDAYS)
    await studio.fill(rule.id)
    await studio.edit(
        rule.id,
        pattern={**MONDAYS, "times": ["15:30"]},
        targets=[("ada", "mastodon"), ("ada", "linkedin")],
    )
    live = [row for row in await studio.deliveries() if row["state"] == "draft"]
    assert {(row["channel"], row["wall_time"][11:]) for row in live} == {
        ("mastodon", "15:30"),
        ("linkedin_profile", "15:30"),
    }
    assert len(live) == 10


async def test_a_paused_rule_makes_nothing_and_keeps_what_is_there(studio: Studio) -> None:
    rule = await studio.rule()
    await studio.fill(rule.id)
    before = await studio.times()
    for _ in range(2):
        kept = await studio.do(
            lambda tx, now: pause_rule(tx, now, workspace_id=HOME, id=rule.id, by=ADA)
        )
        assert isinstance(kept, RuleSaved)
        assert kept.rule.state is RuleState.PAUSED
    studio.now += timedelta(days=7)
    assert await studio.generate(rule.id) == NotGenerated("the rule is paused")
    assert await studio.times() == before
    await studio.do(
        lambda tx, now: pause_rule(tx, now, workspace_id=HOME, id=rule.id, by=ADA, paused=False)
    )
    assert len(await studio.fill(rule.id)) == 2


async def test_a_deleted_rule_takes_its_untouched_posts_along(studio: Studio) -> None:
    rule = await studio.rule(pattern=MONDAYS)
    (first, *_) = await studio.fill(rule.id)
    await edit_text(studio, first)
    requested = await studio.do(
        lambda tx, now: delete_rule(tx, now, workspace_id=HOME, id=rule.id, by=ADA, dry_run=True)
    )
    assert isinstance(requested, RuleSaved)
    assert (len(requested.plan.removed), len(requested.plan.kept)) == (4, 1)
    assert len(await studio.times()) == 5
    await studio.do(lambda tx, now: delete_rule(tx, now, workspace_id=HOME, id=rule.id, by=ADA))
    assert await studio.times() == ["16.11. 12:00"]
    assert await studio.generate(rule.id) == NoSuchRule(rule.id)
    assert await studio.do(lambda tx, _: list_rules(tx, workspace_id=HOME)) == []


async def test_a_post_that_moves_past_the_horizon_is_moved_not_lost(studio: Studio) -> None:
    daily = {"kind": "daily", "times": ["08:30"]}
    rule = await studio.rule(pattern=daily)
    posts = await studio.fill(rule.id)
    await approve(studio, posts[-1])
    kept = await studio.edit(rule.id, pattern={**daily, "times": ["22:00"]})
    assert (len(kept.plan.moved), len(kept.plan.kept), kept.plan.removed) == (29, 1, ())
    assert [each.wall_time for each in kept.plan.added] == ["2026-11-16T22:00"], "today's is new"
    studio.now += timedelta(days=2)
    assert len(await studio.fill(rule.id)) == 1, "the 17th; the 16th is there already"


async def test_the_past_is_never_changed(studio: Studio) -> None:
    rule = await studio.rule(pattern=MONDAYS)
    await studio.fill(rule.id)
    studio.now += timedelta(days=10)
    kept = await studio.edit(rule.id, pattern={**MONDAYS, "times": ["15:30"]})
    assert len(kept.plan.moved) == 3
    assert (await studio.times())[:3] == ["16.11. 12:00", "23.11. 12:00", "30.11. 15:30"]


async def test_an_edit_of_what_another_changed_meanwhile_is_refused(studio: Studio) -> None:
    rule = await studio.rule()
    await studio.edit(rule.id, name="Tricks")
    form = studio.form()
    late = await studio.do(
        lambda tx, now: edit_rule(tx, now, form, workspace_id=HOME, id=rule.id, by=ADA, revision=1)
    )
    assert late == Stale(2)


async def test_an_edit_that_meets_an_approval_under_way_spares_the_post(studio: Studio) -> None:
    rule = await studio.rule(pattern=MONDAYS)
    posts = await studio.fill(rule.id)

    held, free = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def approve_slowly(tx: Tx, _: object) -> None:
        tx.run(
            """
            UPDATE post SET approved_by = 'member:ben', approved_at = created_at,
                approved_hash = content_hash WHERE deleted_at IS NULL
            """
        )
        loop.call_soon_threadsafe(held.set)
        while tx.dialect == "postgresql" and not free.is_set():
            tx.value("SELECT pg_sleep(0.01)")

    approving = asyncio.create_task(studio.operations.run(approve_slowly))
    await held.wait()
    editing = asyncio.create_task(studio.edit(rule.id, pattern={**MONDAYS, "weekdays": [2]}))
    if isinstance(
        studio.operations, PostgresOperations
    ):  # on SQLite the edit comes after it anyway
        async with asyncio.timeout(60):
            while not await studio.rows(WAITING):
                await asyncio.sleep(0.01)
    free.set()
    kept = await editing
    await approving
    assert [each.laid.post_id for each in kept.plan.kept] == posts
    live = await studio.rows("SELECT id FROM post WHERE deleted_at IS NULL")
    assert len(live) == len(posts)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"zone": "Europe/Berlyn"}, "Europe/Berlin"),
        ({"pattern": {"kind": "daily", "times": []}}, "at least one time"),
        ({"name": " "}, "needs a name"),
        ({"category_id": "nowhere"}, "no category"),
        ({"pool_id": "nowhere"}, "no category"),
        ({"targets": []}, "1 to 50"),
        ({"targets": [("ada", "mastodom")]}, "mastodon"),
        ({"targets": [("zoe", "mastodon")]}, "no account"),
        ({"targets": ["zoe"]}, "no account"),
        ({"targets": [("mail", "mastodon")]}, "cannot publish on mastodon"),
        ({"targets": [("mail", "email")]}, "goes to a person"),
        ({"ends": "2026-10-01"}, "before it starts"),
        ({"gap": "jump"}, "gap is"),
    ],
)
async def test_a_rule_that_cannot_work_is_refused_with_a_reason(
    studio: Studio, changes: dict[str, Any], message: str
) -> None:
    await studio.connect("mail", provider="smtp")
    form = studio.form(**changes)
    refused = await studio.do(lambda tx, now: create_rule(tx, now, form, workspace_id=HOME, by=ADA))
    assert isinstance(refused, Invalid)
    assert message in refused.message
    assert await studio.rows("SELECT * FROM rule") == []


async def test_every_act_is_written_down(studio: Studio) -> None:
    rule = await studio.rule()
    await studio.edit(rule.id)
    await studio.do(lambda tx, now: pause_rule(tx, now, workspace_id=HOME, id=rule.id, by=ADA))
    await studio.do(lambda tx, now: delete_rule(tx, now, workspace_id=HOME, id=rule.id, by=ADA))
    rows = await studio.rows("SELECT action, actor FROM audit WHERE subject_id = :id", id=rule.id)
    assert {row["action"] for row in rows} == {
        "rule.create",
        "rule.edit",
        "rule.pause",
        "rule.delete",
    }
    assert {row["actor"] for row in rows} == {ADA}
