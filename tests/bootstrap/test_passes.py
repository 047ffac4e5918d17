"""What an outside cron may call, and what the application's own schedule does: publish, generate."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from cadenza.bootstrap import Runtime, open_runtime
from cadenza.bootstrap.describe import warn
from cadenza.bootstrap.errors import CannotStart
from cadenza.bootstrap.generate_posts import generate_for_all, generate_for_one
from cadenza.bootstrap.publish_pass import publish_pass
from cadenza.drafts.model import Category, drafts_locks
from cadenza.drafts.save_category import CategoryForm, save_category
from cadenza.drafts.save_rule import RuleForm, RuleSaved, create_rule
from cadenza.sql.tx import Tx
from tests.bootstrap.conftest import HOME, Town
from tests.bootstrap.test_work import working


async def make_rule(runtime: Runtime) -> None:
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
        assert isinstance(kept, RuleSaved)

    await runtime.operations.run(make, locks=drafts_locks(HOME))


async def posts(runtime: Runtime) -> int:
    rows = await runtime.operations.read(lambda tx, _: tx.all("SELECT id FROM post"))
    return len(rows)


async def test_a_call_from_outside_publishes_what_is_due(town: Town, runtime: Runtime) -> None:
    await town.post(runtime, "Good morning")
    await town.post(runtime, "Good day")
    first, second = await asyncio.gather(publish_pass(runtime), publish_pass(runtime))
    assert first.ran + second.ran == 2
    assert sorted(town.visible()) == ["Good day", "Good morning"]
    assert (await publish_pass(runtime)).ran == 0


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
    async with open_runtime(replace(town.settings, copywriter=f"{module}:{name}")) as runtime:
        await town.furnish(runtime)
        await make_rule(runtime)
        assert (await generate_for_all(runtime)).posts == 3
        rows = await runtime.operations.read(lambda tx, _: tx.all("SELECT content FROM post"))
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
            async with open_runtime(settings):
                pass
        assert any(said in warning for warning in warn(settings))


async def test_a_call_from_outside_generates_once_a_night(runtime: Runtime) -> None:
    await make_rule(runtime)
    assert (await generate_for_all(runtime)).posts == 3
    assert (await generate_for_all(runtime)).workspaces == 0
    assert (await generate_for_one(runtime, HOME)).posts == 0
    assert await posts(runtime) == 3


async def test_the_installations_own_schedule_generates(runtime: Runtime) -> None:
    await make_rule(runtime)
    async with working(runtime):
        schedule = {each.name: each for each in await runtime.engine.schedules()}["generate_posts"]
        assert schedule.next_at is not None
        assert schedule.next_at - datetime.now(UTC) <= timedelta(minutes=15, seconds=5)
        await runtime.engine.enqueue("generate_posts")
        await runtime.engine.enqueue("generate_workspace", {"workspace_id": HOME})
        async with asyncio.timeout(20):
            while await posts(runtime) < 3:
                await asyncio.sleep(0.05)
    assert await posts(runtime) == 3
