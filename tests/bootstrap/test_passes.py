"""What an outside cron may call, and what the house's own schedule does: publish, generate."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from cadenza.bootstrap import House, open_house
from cadenza.bootstrap.describe import warn
from cadenza.bootstrap.errors import CannotStart
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


POET = """
class Poet:
    async def write(self, brief):
        return f"Good {brief.values['weekday']}, says {brief.category}."


ready = Poet()
silent = object()
"""


@pytest.mark.parametrize("name", ["Poet", "ready"])
async def test_the_copywriter_of_the_settings_writes_what_rules_made(
    town: Town, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    module = f"words_{name.lower()}_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{module}.py").write_text(POET)
    monkeypatch.syspath_prepend(tmp_path)
    async with open_house(replace(town.settings, copywriter=f"{module}:{name}")) as house:
        await town.furnish(house)
        await make_rule(house)
        assert (await generate_for_all(house)).posts == 3
        rows = await house.operations.read(lambda tx, _: tx.all("SELECT content FROM post"))
        said = [msgspec.json.decode(row["content"])["text"] for row in rows]
        assert all(text.startswith("Good ") and text.endswith("says Tips.") for text in said), said


async def test_a_house_does_not_open_with_a_copywriter_that_is_not_there(
    town: Town, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "words_of_nobody.py").write_text(POET)
    monkeypatch.syspath_prepend(tmp_path)
    for name, said in (
        ("no_such_words:Poet", "cannot be imported"),
        ("words_of_nobody:Bard", "has no 'Bard'"),
        ("words_of_nobody:silent", "write"),
    ):
        settings = replace(town.settings, copywriter=name)
        with pytest.raises(CannotStart, match=said):
            async with open_house(settings):
                pass
        assert any(said in warning for warning in warn(settings))


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
