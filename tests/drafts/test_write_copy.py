"""Copy is written after generation, between transactions, and never over a person's words."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from cadenza.core.clock import SystemClock
from cadenza.core.timebox import TimeBox
from cadenza.drafts.fill_copy import as_placeholder, fill, is_placeholder, why_not
from cadenza.drafts.save_category import CategoryForm
from cadenza.drafts.write_copy import Brief, CopyReport, Copywriter, TemplateCopywriter, write_copy
from cadenza.posts.edit import Change, Edited, edit
from cadenza.posts.find import find
from cadenza.posts.model import PLACEHOLDER, NoSuchPost, Post, PostMedia
from tests.drafts.conftest import ADA, HOME, Studio

DAILY = {"kind": "daily", "times": ["12:00"], "step": 10}


@dataclass
class Poet:
    """Writes something of its own; may do something else while it thinks."""

    meanwhile: Callable[[Brief], Awaitable[None]] | None = None
    briefs: list[Brief] = field(default_factory=list[Brief])

    async def write(self, brief: Brief) -> str:
        self.briefs.append(brief)
        if self.meanwhile is not None:
            await self.meanwhile(brief)
        return f"A poem for {brief.values['weekday']}"


class Tired:
    """Gives up on its first brief."""

    tries = 0

    async def write(self, brief: Brief) -> str:
        self.tries += 1
        if self.tries == 1:
            raise ConnectionError("no inspiration")
        return "Words" if self.tries > 2 else "   "


async def lay_out(studio: Studio) -> list[str]:
    """Three posts from now on: the generator and the copywriter look at the database's clock."""
    studio.now = datetime.now(UTC)
    rule = await studio.rule(pattern=DAILY, starts="2020-01-01", needs_media=False)
    return await studio.fill(rule.id)


async def run(studio: Studio, writer: Copywriter, seconds: float = 30) -> CopyReport:
    box = TimeBox(SystemClock(), seconds)
    return await write_copy(studio.operations, writer, workspace_id=HOME, box=box)


async def text_of(studio: Studio, post: str) -> str:
    return (await post_of(studio, post)).content.text


async def post_of(studio: Studio, post: str) -> Post:
    found = await studio.operations.read(lambda tx, _: find(tx, HOME, post))
    assert not isinstance(found, NoSuchPost)
    return found


async def save(studio: Studio, post: str, change: Change) -> None:
    revision = (await post_of(studio, post)).revision
    saved = await studio.do(
        lambda tx, now: edit(
            tx,
            now,
            workspace_id=HOME,
            post_id=post,
            revision=revision,
            change=change,
            by="key:ada",
            approve=False,
        )
    )
    assert isinstance(saved, Edited)


async def test_a_copywriters_words_reach_the_post_and_its_deliveries(studio: Studio) -> None:
    posts = await lay_out(studio)
    poet = Poet()
    assert await run(studio, poet) == CopyReport(written=3)
    brief = poet.briefs[0]
    assert (brief.post_id, brief.brand, brief.category) == (posts[0], "Bakery", "Tips")
    assert brief.wall_time.endswith("T12:00")
    for post in posts:
        assert (await text_of(studio, post)).startswith("A poem for")
        for row in await studio.deliveries(post):
            assert "A poem for" in row["content"]
            assert (row["state"], bool(row["approved"])) == ("draft", False)
    assert await run(studio, poet) == CopyReport(), "nothing holds a placeholder any more"


async def test_what_a_copywriter_wrote_is_not_touched_by_a_person(studio: Studio) -> None:
    await lay_out(studio)
    await run(studio, Poet())
    kept = await studio.edit(
        studio.rules[0],
        pattern={**DAILY, "times": ["15:00"]},
        starts="2020-01-01",
        needs_media=False,
    )
    assert len(kept.plan.moved) >= 2
    assert kept.plan.kept == ()


async def test_the_default_leaves_a_placeholder_as_it_is(studio: Studio) -> None:
    (first, *_) = await lay_out(studio)
    assert await run(studio, TemplateCopywriter()) == CopyReport(same=3)
    assert (await post_of(studio, first)).revision == 1


async def test_a_new_template_reaches_posts_that_nobody_wrote(studio: Studio) -> None:
    (first, second, third) = await lay_out(studio)
    await save(studio, second, Change(text="Ada's own words"))
    form = CategoryForm(name="Tips", parent_id=studio.brand, copy="Fresh from {{brand}}")
    await studio.name_category(form, id=studio.category)
    assert await run(studio, TemplateCopywriter()) == CopyReport(written=2)
    assert await text_of(studio, first) == f"{PLACEHOLDER} Fresh from Bakery"
    assert await text_of(studio, second) == "Ada's own words"
    assert await text_of(studio, third) == f"{PLACEHOLDER} Fresh from Bakery"


async def test_a_person_who_saves_meanwhile_wins(studio: Studio) -> None:
    (first, *_) = await lay_out(studio)

    async def meanwhile(brief: Brief) -> None:  # would wait for ever inside a transaction
        if brief.post_id == first:
            await save(studio, first, Change(text="Ada was quicker"))

    assert await run(studio, Poet(meanwhile)) == CopyReport(written=2, passed_by=1)
    assert await text_of(studio, first) == "Ada was quicker"


async def test_a_post_approved_or_deleted_meanwhile_is_left_alone(studio: Studio) -> None:
    (first, second, _) = await lay_out(studio)

    async def meanwhile(brief: Brief) -> None:
        if brief.post_id == first:
            await studio.change(
                """
                UPDATE post SET approved_by = :ada, approved_at = :now, approved_hash = content_hash
                WHERE id = :id
                """,
                ada=ADA,
                now=studio.now,
                id=first,
            )
        if brief.post_id == second:
            await studio.change(
                "UPDATE post SET deleted_at = :now WHERE id = :id", now=studio.now, id=second
            )

    poet = Poet(meanwhile)
    assert await run(studio, poet) == CopyReport(written=1, passed_by=2)
    assert is_placeholder(await text_of(studio, first))
    assert await run(studio, poet) == CopyReport(), "an approved post is not asked about again"


async def test_a_post_with_new_media_but_the_old_placeholder_is_still_written(
    studio: Studio,
) -> None:
    (first, *_) = await lay_out(studio)
    await studio.upload("cake")
    await save(studio, first, Change(media=(PostMedia("cake"),)))
    assert (await run(studio, Poet())).written == 3
    assert (await text_of(studio, first)).startswith("A poem")
    kept = await studio.edit(
        studio.rules[0],
        pattern={**DAILY, "times": ["15:00"]},
        starts="2020-01-01",
        needs_media=False,
    )
    assert [each.laid.post_id for each in kept.plan.kept] == [first], "it stays Ada's"


async def test_one_failure_keeps_nobody_waiting(studio: Studio) -> None:
    await lay_out(studio)
    assert await run(studio, Tired()) == CopyReport(written=1, failed=2)
    assert (await run(studio, Poet())).written == 2, "what failed is tried again"


async def test_a_pass_ends_when_its_time_is_over(studio: Studio) -> None:
    await lay_out(studio)

    class Late(SystemClock):
        calls = 0

        def monotonic(self) -> float:
            self.calls += 1
            return self.calls * 10.0

    report = await write_copy(
        studio.operations, Poet(), workspace_id=HOME, box=TimeBox(Late(), 25.0)
    )
    assert (report.written, report.complete) == (1, False)


@pytest.mark.parametrize(
    ("copy", "message"),
    [
        ("Hello {{brand}} in {{ month }}", None),
        ("Hello {{thing}}", None),
        ("Hello {{brnad}}", "brand"),
        ("Hello {{x}}", "variables"),
    ],
)
def test_a_copy_with_unknown_names_is_refused(copy: str, message: str | None) -> None:
    found = why_not(copy, {"thing": "bread"})
    assert found is None if message is None else message in (found or "")


def test_a_value_cannot_smuggle_another_name_in() -> None:
    assert fill("{{a}} {{gone}}", {"a": "{{b}}", "b": "secret"}) == "{{b}} {{gone}}"
    assert is_placeholder(as_placeholder(""))
