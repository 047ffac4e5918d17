"""Makes, changes and deletes categories: names are unique within a brand, a brand has no parent.

A category that a rule or a live post still uses is not deleted; the answer names what uses it. Limit: two
levels, brand and category, as hashtags are merged over exactly these.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import msgspec

from cadenza.db.audit import record
from cadenza.drafts.fill_copy import KNOWN, why_not
from cadenza.drafts.model import (
    Category,
    Invalid,
    NoSuchCategory,
    Stale,
    category_of,
    find_category,
)
from cadenza.posts import hashtags as tags
from cadenza.sql.tx import Tx

LONGEST_NAME = 200
LONGEST_COPY = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryForm:
    """A category as a person fills it in."""

    name: str
    parent_id: str | None = None
    hashtags: Sequence[str] = ()
    copy: str = ""
    variables: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class InUse:
    """Rules or posts still need it: nothing was deleted."""

    rules: int
    posts: int
    children: int

    @property
    def message(self) -> str:
        """Say it in one line."""
        return (
            f"{self.rules} rules, {self.posts} posts and {self.children} categories still use it: "
            "delete them first"
        )


@dataclass(frozen=True, slots=True)
class DeletedCategory:
    """It is deleted, and its pool with it; the media stay in the library."""

    id: str


def save_category(
    tx: Tx,
    now: datetime,
    form: CategoryForm,
    *,
    workspace_id: str,
    by: str,
    id: str | None = None,
    revision: int | None = None,
) -> Category | NoSuchCategory | Stale | Invalid:
    """Make a category, or change the one of that id; `revision` is what the person looked at."""
    if (wrong := _wrong(tx, form, workspace_id, id)) is not None:
        return Invalid(wrong)
    old: Category | None = None
    if id is not None:
        found = find_category(tx, workspace_id, id)
        if isinstance(found, NoSuchCategory):
            return found
        if revision is not None and found.revision != revision:
            return Stale(found.revision)
        old = found
    if old is not None and old.parent_id != form.parent_id and _children(tx, workspace_id, old.id):
        return Invalid("it is a brand with categories of its own: it cannot move under another")
    row = tx.one(
        """
        INSERT INTO category (workspace_id, id, parent_id, name, hashtags, copy, variables, created_at)
        VALUES (:workspace_id, :id, :parent_id, :name, :hashtags, :copy, :variables, :now)
        ON CONFLICT (workspace_id, id) DO UPDATE SET parent_id = excluded.parent_id, name = excluded.name,
            hashtags = excluded.hashtags, copy = excluded.copy, variables = excluded.variables,
            revision = category.revision + 1
        RETURNING *
        """,
        workspace_id=workspace_id,
        id=id or tx.new_id(),
        parent_id=form.parent_id,
        name=form.name.strip(),
        hashtags=msgspec.json.encode(tags.merge(form.hashtags)).decode(),
        copy=form.copy,
        variables=msgspec.json.encode(dict(form.variables)).decode(),
        now=now,
    )
    assert row is not None, "an upsert answers with its row"
    record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="category.create" if old is None else "category.edit",
        subject_id=row["id"],
        before=None if old is None else {"name": old.name},
        after={"name": row["name"], "parent": row["parent_id"]},
    )
    return category_of(row)


def delete_category(
    tx: Tx, now: datetime, *, workspace_id: str, id: str, by: str
) -> DeletedCategory | InUse | NoSuchCategory:
    """Delete a category that nothing uses."""
    found = find_category(tx, workspace_id, id)
    if isinstance(found, NoSuchCategory):
        return found
    used = _uses(tx, workspace_id, id)
    if used.rules or used.posts or used.children:
        return used
    key = {"workspace_id": workspace_id, "id": id}
    tx.run("DELETE FROM asset WHERE workspace_id = :workspace_id AND category_id = :id", **key)
    tx.run(
        "DELETE FROM media_keep WHERE workspace_id = :workspace_id AND keeper = :keeper",
        workspace_id=workspace_id,
        keeper=f"asset:{id}",
    )
    tx.run("DELETE FROM category WHERE workspace_id = :workspace_id AND id = :id", **key)
    record(
        tx, now, workspace_id=workspace_id, by=by, action="category.delete", subject_id=id,
        before={"name": found.name},
    )  # fmt: skip
    return DeletedCategory(id)


def list_categories(tx: Tx, *, workspace_id: str) -> list[Category]:
    """Return every category, brands first, each brand's own by name."""
    rows = tx.all(
        """
        SELECT * FROM category WHERE workspace_id = :workspace_id
        ORDER BY CASE WHEN parent_id IS NULL THEN 0 ELSE 1 END, parent_id, name, id
        """,
        workspace_id=workspace_id,
    )
    return [category_of(row) for row in rows]


def _wrong(tx: Tx, form: CategoryForm, workspace_id: str, id_: str | None) -> str | None:
    name = form.name.strip()
    if not name or len(name) > LONGEST_NAME:
        return f"a name has 1 to {LONGEST_NAME} letters"
    if len(form.copy) > LONGEST_COPY:
        return f"a copy has at most {LONGEST_COPY} letters"
    taken = sorted(set(form.variables) & set(KNOWN))
    if taken:
        return f"{taken[0]!r} is filled in by the calendar: choose another name for the variable"
    if (wrong := why_not(form.copy, form.variables)) is not None:
        return wrong
    if form.parent_id is not None:
        parent = find_category(tx, workspace_id, form.parent_id)
        if isinstance(parent, NoSuchCategory):
            return "the brand that it is to stand under does not exist"
        if parent.parent_id is not None or parent.id == id_:
            return "a category stands under a brand, not under another category or itself"
    same = tx.value(
        """
        SELECT id FROM category
        WHERE workspace_id = :workspace_id AND COALESCE(parent_id, '') = :parent AND name = :name
        """,
        workspace_id=workspace_id,
        parent=form.parent_id or "",
        name=name,
    )
    return None if same in (None, id_) else f"there is a category {name!r} already"


def _children(tx: Tx, workspace_id: str, id_: str) -> int:
    return tx.value(
        "SELECT count(*) FROM category WHERE workspace_id = :workspace_id AND parent_id = :id",
        workspace_id=workspace_id,
        id=id_,
    )


def _uses(tx: Tx, workspace_id: str, id_: str) -> InUse:
    row = tx.one(
        """
        SELECT
            (SELECT count(*) FROM rule WHERE workspace_id = :workspace_id
                AND (category_id = :id OR pool_id = :id)) AS rules,
            (SELECT count(*) FROM post WHERE workspace_id = :workspace_id AND category_id = :id
                AND deleted_at IS NULL) AS posts
        """,
        workspace_id=workspace_id,
        id=id_,
    )
    assert row is not None
    return InUse(row["rules"], row["posts"], _children(tx, workspace_id, id_))
