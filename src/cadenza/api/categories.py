"""Categories and brands: their hashtags, copy and variables, and the pool of media that rules pick from."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, NoReturn

from pydantic import ConfigDict, Field, StringConstraints

from cadenza.api.problems import Problem, conflict, invalid, not_found
from cadenza.api.queue_schemas import AnswerView, ValueView, show
from cadenza.api.request_context import ReadContext, Reader, Writer
from cadenza.api.routes import Resource
from cadenza.api.schemas import Answer, Id, IdField, InputModel, Line
from cadenza.drafts import asset_pool, save_category
from cadenza.drafts.model import (
    Category,
    Invalid,
    NoSuchCategory,
    NoSuchRule,
    Stale,
    drafts_locks,
    find_category,
)
from cadenza.media.model import NoSuchMedia
from cadenza.people.model import Role
from cadenza.sql.tx import Tx

routes = Resource("categories", "/workspaces/{workspace_id}/categories")
Name = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=r"^\w+$")]
Value = Annotated[str, StringConstraints(max_length=5_000)]


class CategoryInput(InputModel):
    """A category, or, without a parent, a brand."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"name": "Openings", "hashtags": ["shop"], "copy": "We open on {{weekday}}."}
            ]
        }
    )
    name: Line
    parent_id: IdField | None = None
    hashtags: list[Annotated[str, StringConstraints(min_length=1, max_length=100)]] = Field(
        default=[], max_length=100
    )
    copy_: str = Field(default="", max_length=save_category.LONGEST_COPY, alias="copy")
    variables: dict[Name, Value] = Field(default={}, max_length=100)
    revision: int | None = Field(default=None, strict=True, ge=1, description="What you saw")


class CategoryView(AnswerView):
    """A category as it is kept."""

    model_config = ConfigDict(from_attributes=True, populate_by_name=True)
    id: str
    name: str
    parent_id: str | None
    hashtags: list[str]
    copy_: str = Field(alias="copy")
    variables: Mapping[str, str]
    revision: int


class AssetView(ValueView):
    """A file of a pool, in the order in which it will be picked."""

    media_id: str
    use_count: int
    last_used_at: datetime | None


class PoolView(AnswerView):
    """A category's pool."""

    assets: list[AssetView]


class PoolInput(InputModel):
    """The files that the pool shall hold, all of them."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"media_ids": []}]})
    media_ids: list[IdField] = Field(max_length=2_000)


class CategoryDeleted(Answer):
    """It is deleted; its media stay in the library."""

    id: str


@routes.get(needs=Role.VIEWER, scope="rules:read")
async def list_categories(ask: Reader, workspace_id: Id) -> list[CategoryView]:
    """List every category, brands first."""
    found = await ask.read(
        lambda tx, _: save_category.list_categories(tx, workspace_id=workspace_id)
    )
    return [show(CategoryView, each) for each in found]


@routes.post(needs=Role.EDITOR, scope="rules:write", status_code=201)
async def make_category(act: Writer, workspace_id: Id, body: CategoryInput) -> CategoryView:
    """Make a category, or a brand."""

    def operation(tx: Tx, now: datetime) -> CategoryView:
        answer = save_category.save_category(
            tx, now, _form(body), workspace_id=workspace_id, by=act.by
        )
        if not isinstance(answer, Category):
            refuse(answer)
        return act.tag(show(CategoryView, answer))

    return await act.write(operation, locks=drafts_locks(workspace_id))


@routes.get("/{category_id}", needs=Role.VIEWER, scope="rules:read")
async def show_category(ask: Reader, workspace_id: Id, category_id: Id) -> CategoryView:
    """Show one category."""
    return ask.tag(await ask.read(lambda tx, _: _one(ask, tx, category_id)))


@routes.put("/{category_id}", needs=Role.EDITOR, scope="rules:write")
async def change_category(
    act: Writer, workspace_id: Id, category_id: Id, body: CategoryInput
) -> CategoryView:
    """Replace what a category says; posts get changed hashtags when they are composed again."""

    def operation(tx: Tx, now: datetime) -> CategoryView:
        act.check_match(_one(act, tx, category_id))
        answer = save_category.save_category(
            tx,
            now,
            _form(body),
            workspace_id=workspace_id,
            by=act.by,
            id=category_id,
            revision=body.revision,
        )
        if not isinstance(answer, Category):
            refuse(answer)
        return act.tag(show(CategoryView, answer))

    return await act.write(operation, locks=drafts_locks(workspace_id))


@routes.delete("/{category_id}", needs=Role.EDITOR, scope="rules:write")
async def delete_category(act: Writer, workspace_id: Id, category_id: Id) -> CategoryDeleted:
    """Delete a category that nothing uses."""

    def operation(tx: Tx, now: datetime) -> CategoryDeleted:
        answer = save_category.delete_category(
            tx, now, workspace_id=workspace_id, id=category_id, by=act.by
        )
        match answer:
            case save_category.DeletedCategory(id=id_):
                return CategoryDeleted(id=id_)
            case NoSuchCategory():
                raise not_found("category")
            case save_category.InUse(rules=rules, posts=posts, children=children):
                raise conflict(
                    "in_use",
                    f"{answer.message[:1].upper()}{answer.message[1:]}.",
                    rules=rules,
                    posts=posts,
                    children=children,
                )

    return await act.write(operation, locks=drafts_locks(workspace_id))


@routes.get("/{category_id}/pool", needs=Role.VIEWER, scope="rules:read")
async def show_pool(ask: Reader, workspace_id: Id, category_id: Id) -> PoolView:
    """Show the pool in the order in which its files will be picked."""
    return ask.tag(await ask.read(lambda tx, _: _pool(ask, tx, category_id)))


@routes.put("/{category_id}/pool", needs=Role.EDITOR, scope="rules:write")
async def fill_pool(act: Writer, workspace_id: Id, category_id: Id, body: PoolInput) -> PoolView:
    """Let the pool hold exactly these; those that stay keep their counts."""

    def operation(tx: Tx, now: datetime) -> PoolView:
        act.check_match(_pool(act, tx, category_id))
        answer = asset_pool.save_pool(
            tx,
            now,
            workspace_id=workspace_id,
            category_id=category_id,
            media_ids=body.media_ids,
            by=act.by,
        )
        match answer:
            case NoSuchCategory():
                raise not_found("category")
            case NoSuchMedia(message=message):
                raise invalid("body.media_ids", message, "no_such_media")
            case list():
                return act.tag(_pool(act, tx, category_id))

    return await act.write(operation, locks=drafts_locks(workspace_id))


def refuse(answer: NoSuchCategory | NoSuchRule | Stale | Invalid) -> NoReturn:
    """Raise what an operation of categories or rules refused."""
    match answer:
        case NoSuchCategory():
            raise not_found("category")
        case NoSuchRule():
            raise not_found("rule")
        case Stale(revision=revision, message=message):
            said = f"{message[:1].upper()}{message[1:]}."
            raise conflict("changed_meanwhile", said, revision=revision)
        case Invalid(message=message):
            raise Problem(422, "invalid_input", f"{message[:1].upper()}{message[1:].rstrip('.')}.")


def _form(body: CategoryInput) -> save_category.CategoryForm:
    return save_category.CategoryForm(
        name=body.name,
        parent_id=body.parent_id,
        hashtags=body.hashtags,
        copy=body.copy_,
        variables=body.variables,
    )


def _one(ask: ReadContext, tx: Tx, category_id: str) -> CategoryView:
    found = find_category(tx, ask.workspace_id, category_id)
    if isinstance(found, NoSuchCategory):
        raise not_found("category")
    return show(CategoryView, found)


def _pool(ask: ReadContext, tx: Tx, category_id: str) -> PoolView:
    _one(ask, tx, category_id)
    found = asset_pool.pool_of(tx, workspace_id=ask.workspace_id, category_id=category_id)
    return PoolView(assets=[show(AssetView, each) for each in found])
