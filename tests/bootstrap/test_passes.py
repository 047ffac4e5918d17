"""What an outside cron may call, and what the house's own schedule does: publish, generate."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from cadenza.bootstrap import House
from cadenza.bootstrap.generate_posts import generate_for_all, generate_for_one
from cadenza.bootstrap.publish_pass import publish_pass
from cadenza.drafts.keep_category import CategoryForm, save_category
from cadenza.drafts.keep_rule import RuleForm, RuleKept, create_rule
from cadenza.drafts.model import Category, drafts_locks
from cadenza.sql.tx import Tx
from tests.bootstrap.conftest import HOME, Town
from tests.bootstrap.test_work import working


async def make_rule(house: House) -> None:
    def make(tx: Tx, now: datetime) -> None:
        category = save_category(
            tx, now, CategoryForm(name="Tips"), workspace_id=HOME, by="member:ada"
        )
        assert isinstance(category, Category)
        form = RuleForm(
            name="Tips",
            category_id=category.id,
            pattern={"kind": "daily", "times": ["12:00"], "step": 10},
            zone="Europe/Berlin",
            starts="2020-01-01",
            targets=["ada"],
        )
        kept = create_rule(tx, now, form, workspace_id=HOME, by="member:ada")
        assert isinstance(kept, RuleKept)

    await house.operations.run(make, locks=drafts_locks(HOME))


async def posts(house: House) -> int:
    rows = await house.operations.read(lambda tx, _: tx.all("SELECT id FROM post"))
    return len(rows)


async def test_a_call_from_outside_publishes_what_is_due(town: Town, house: House) -> None:
    await town.post(house, "Good morning")
    await town.post(house, "Good day")
    first, second = await asyncio.gather(publish_pass(house), publish_pass(house))
    assert first.ran + second.ran == 2
    assert sorted(town.visible()) == ["Good day", "Good morning"]
    assert (await publish_pass(house)).ran == 0


async def test_a_call_from_outside_generates_once_a_night(house: House) -> None:
    await make_rule(house)
    assert (await generate_for_all(house)).posts == 3
    assert (await generate_for_all(house)).workspaces == 0
    assert (await generate_for_one(house, HOME)).posts == 0
    assert await posts(house) == 3


async def test_the_houses_own_schedule_generates(house: House) -> None:
    await make_rule(house)
    async with working(house):
        schedule = {each.name: each for each in await house.engine.schedules()}["generate_posts"]
        assert schedule.next_at is not None
        assert schedule.next_at - datetime.now(UTC) <= timedelta(minutes=15, seconds=5)
        await house.engine.enqueue("generate_posts")
        await house.engine.enqueue("generate_workspace", {"workspace_id": HOME})
        async with asyncio.timeout(20):
            while await posts(house) < 3:
                await asyncio.sleep(0.05)
    assert await posts(house) == 3
