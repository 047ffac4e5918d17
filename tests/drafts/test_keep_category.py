"""Categories under brands, with pools of media."""

from collections.abc import Mapping

import pytest

from cadenza.drafts.asset_pool import Asset, pool_of, save_pool
from cadenza.drafts.model import Category, Invalid, NoSuchCategory, Stale
from cadenza.drafts.save_category import (
    CategoryForm,
    DeletedCategory,
    InUse,
    delete_category,
    list_categories,
    save_category,
)
from cadenza.media.delete import delete as delete_media
from cadenza.media.model import NoSuchMedia
from tests.drafts.conftest import ADA, HOME, Studio


async def save(
    studio: Studio, form: CategoryForm, id: str | None = None, revision: int | None = None
) -> object:
    return await studio.do(
        lambda tx, now: save_category(
            tx, now, form, workspace_id=HOME, by=ADA, id=id, revision=revision
        )
    )


async def drop(studio: Studio, id: str) -> object:
    return await studio.do(
        lambda tx, now: delete_category(tx, now, workspace_id=HOME, id=id, by=ADA)
    )


async def test_a_category_reads_back_as_it_was_saved(studio: Studio) -> None:
    form = CategoryForm(
        name="  News ",
        hashtags=["#Fresh bread", "freshBread", "new"],
        copy="{{x}}",
        variables={"x": "1"},
    )
    saved = await save(studio, form)
    assert isinstance(saved, Category)
    assert (saved.name, saved.hashtags) == ("News", ("Freshbread", "new"))
    found = await studio.do(lambda tx, _: list_categories(tx, workspace_id=HOME))
    assert [each.name for each in found] == ["Bakery", "News", "Tips"]
    assert saved in found


@pytest.mark.parametrize(
    ("name", "copy", "variables", "message"),
    [
        (" ", "", {}, "1 to 200"),
        ("x" * 201, "", {}, "1 to 200"),
        ("A", "{{thing}}", {}, "stands for nothing"),
        ("A", "x" * 20_001, {}, "at most"),
        ("A", "", {"month": "May"}, "calendar"),
        ("Bakery", "", {}, "already"),
    ],
)
async def test_what_cannot_work_is_refused(
    studio: Studio, name: str, copy: str, variables: Mapping[str, str], message: str
) -> None:
    refused = await save(studio, CategoryForm(name=name, copy=copy, variables=variables))
    assert isinstance(refused, Invalid)
    assert message in refused.message


async def test_there_are_brands_and_categories_and_no_third_level(studio: Studio) -> None:
    for id_, parent in [(None, studio.category), (None, "x"), (studio.brand, studio.brand)]:
        refused = await save(studio, CategoryForm(name="A", parent_id=parent), id_)
        assert isinstance(refused, Invalid)
    other = await studio.name_category(CategoryForm(name="Cafe"))
    refused = await save(studio, CategoryForm(name="Bakery", parent_id=other.id), studio.brand)
    assert isinstance(refused, Invalid), "a brand with categories stays a brand"


async def test_two_brands_may_have_a_category_of_the_same_name(studio: Studio) -> None:
    other = await studio.name_category(CategoryForm(name="Cafe"))
    assert isinstance(await save(studio, CategoryForm(name="Tips", parent_id=other.id)), Category)


async def test_a_stale_save_changes_nothing(studio: Studio) -> None:
    form = CategoryForm(name="Bakery", copy="Bread")
    assert isinstance(await save(studio, form, studio.brand, 1), Category)
    assert await save(studio, form, studio.brand, 1) == Stale(2)
    assert await save(studio, CategoryForm(name="New"), "nowhere") == NoSuchCategory("nowhere")


async def test_a_category_in_use_is_not_deleted(studio: Studio) -> None:
    assert await drop(studio, studio.brand) == InUse(0, 0, 1)
    rule = await studio.rule()
    await studio.fill(rule.id)
    assert await drop(studio, studio.category) == InUse(1, 9, 0)


async def test_an_unused_category_is_deleted_with_its_pool(studio: Studio) -> None:
    await studio.fill_pool("a")
    assert await drop(studio, studio.category) == DeletedCategory(studio.category)
    assert await studio.rows("SELECT * FROM asset") == []
    assert await studio.rows("SELECT * FROM media_keep") == []
    assert await drop(studio, studio.category) == NoSuchCategory(studio.category)


async def test_a_pool_holds_exactly_what_was_last_said(studio: Studio) -> None:
    await studio.fill_pool("a", "b")
    await studio.upload("c")
    await studio.set_pool("b", "c", "c")
    found = await studio.do(
        lambda tx, _: pool_of(tx, workspace_id=HOME, category_id=studio.category)
    )
    assert found == [Asset("b", 0, None), Asset("c", 0, None)]


async def test_a_file_that_comes_back_remembers_its_uses(studio: Studio) -> None:
    await studio.fill_pool("a")
    await studio.fill((await studio.rule()).id)
    await studio.set_pool()
    await studio.set_pool("a")
    (asset,) = await studio.do(
        lambda tx, _: pool_of(tx, workspace_id=HOME, category_id=studio.category)
    )
    assert asset.use_count == 9


async def test_a_pool_refuses_files_that_are_not_there(studio: Studio) -> None:
    refused = await studio.do(
        lambda tx, now: save_pool(
            tx, now, workspace_id=HOME, category_id=studio.category, media_ids=["x"], by=ADA
        )
    )
    assert isinstance(refused, NoSuchMedia)


async def test_a_file_in_a_pool_cannot_be_deleted(studio: Studio) -> None:
    await studio.fill_pool("a")
    refused = await studio.do(
        lambda tx, now: delete_media(tx, now, workspace_id=HOME, id="a", by=ADA)
    )
    assert f"asset:{studio.category}" in str(refused)
