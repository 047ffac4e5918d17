"""Lets a copywriter write what posts of rules say, new ones and those that still hold a placeholder.

The copywriter is called between transactions, never inside one: it may take minutes and a network. What
it wrote is saved only if the post is still at the revision that it was asked for; a person who saved
meanwhile wins. Approved posts are left alone. The default copywriter fills the category's template again,
marked as a placeholder, so a change of the template reaches every post that nobody wrote yet.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeAlias

from cadenza.core.channels import Channel
from cadenza.core.timebox import TimeBox
from cadenza.core.zones import local
from cadenza.drafts.fill_copy import as_placeholder, fill, is_placeholder
from cadenza.drafts.generate import brand_of, values_of
from cadenza.drafts.model import (
    Category,
    NoSuchCategory,
    NoSuchRule,
    Rule,
    find_category,
    find_rule,
)
from cadenza.posts.edit import Change, Edited, edit
from cadenza.posts.find import find
from cadenza.posts.model import NoSuchPost, content_of
from cadenza.sql.transactions import Operations
from cadenza.sql.tx import Row, Tx

log = logging.getLogger("cadenza.drafts")

Place: TypeAlias = tuple[datetime, str]  # due, then by name

PAGE = 20
LONGEST = 20_000
PATIENCE = 60.0  # seconds that one text may take


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """What a copywriter is told."""

    workspace_id: str
    post_id: str
    revision: int
    brand: str
    category: str
    template: str
    values: Mapping[str, str]  # what the names in the template stand for
    hashtags: tuple[str, ...]  # set below the text by themselves
    channels: tuple[Channel, ...]
    due_at: datetime
    wall_time: str  # the same instant as people there see it
    zone: str
    media_ids: tuple[str, ...]


class Copywriter(Protocol):
    """Writes the text of one post."""

    async def write(self, brief: Brief) -> str:
        """Return the text; raise if there is none. It may be asked again for the same post."""
        ...


class TemplateCopywriter:
    """The default: the category's copy with its names filled in, marked as a placeholder."""

    async def write(self, brief: Brief) -> str:
        """Fill the template."""
        return as_placeholder(fill(brief.template, brief.values))


@dataclass(frozen=True, slots=True)
class CopyReport:
    """What became of the briefs; `complete` is false when the time was over first."""

    written: int = 0
    same: int = 0
    passed_by: int = 0  # somebody else saved, approved or deleted the post meanwhile
    failed: int = 0
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Page:
    """Some briefs, and the place after which the next page begins (None: there is none)."""

    briefs: tuple[Brief, ...]
    after: Place | None


async def write_copy(
    operations: Operations, copywriter: Copywriter, *, workspace_id: str, box: TimeBox
) -> CopyReport:
    """Ask for a text for every post of the workspace that waits for one, soonest first."""
    counts: Counter[str] = Counter()
    after: Place | None = None
    while True:
        page = await _page(operations, workspace_id, after)
        for brief in page.briefs:
            if box.over:
                return _report(counts, complete=False)
            counts[await _one(operations, copywriter, brief, box)] += 1
        if page.after is None:
            return _report(counts, complete=True)
        after = page.after


async def _page(operations: Operations, workspace_id: str, after: Place | None) -> Page:
    return await operations.run(
        lambda tx, now: next_briefs(tx, now, workspace_id=workspace_id, after=after)
    )


def _report(counts: Counter[str], *, complete: bool) -> CopyReport:
    return CopyReport(
        counts["written"], counts["same"], counts["passed_by"], counts["failed"], complete
    )


async def _one(operations: Operations, copywriter: Copywriter, brief: Brief, box: TimeBox) -> str:
    try:
        async with asyncio.timeout(min(PATIENCE, max(box.left, 1.0))):
            text = (await copywriter.write(brief)).strip()
    except Exception as error:  # noqa: BLE001 - one bad text must not keep its neighbours waiting
        log.warning("no copy for post %s: %r", brief.post_id, error)
        return "failed"
    if not text or len(text) > LONGEST:
        log.warning("copy for post %s has %d letters: not kept", brief.post_id, len(text))
        return "failed"
    return await operations.run(lambda tx, now: save_copy(tx, now, brief, text))


def next_briefs(tx: Tx, now: datetime, *, workspace_id: str, after: Place | None) -> Page:
    """Return a page of briefs after that place; posts that somebody wrote are struck off the list."""
    _strike_off(tx, now, workspace_id)
    beyond = "AND (laid.due_at, laid.post_id) > (:after_at, :after_id)" if after else ""
    params = {"after_at": after[0], "after_id": after[1]} if after else {}
    rows = tx.all(
        f"""
        SELECT laid.rule_id, laid.post_id, laid.due_at, post.content, post.revision
        FROM rule_occurrence AS laid JOIN post
            ON post.workspace_id = laid.workspace_id AND post.id = laid.post_id
        WHERE laid.workspace_id = :workspace_id AND laid.placeholder AND laid.due_at > :now
            AND post.deleted_at IS NULL AND post.approved_at IS NULL {beyond}
        ORDER BY laid.due_at, laid.post_id LIMIT :page
        """,  # noqa: S608 - only the fixed words above are put in
        workspace_id=workspace_id,
        now=now,
        page=PAGE,
        **params,
    )
    known: dict[str, tuple[Rule, Category, Category | None] | None] = {}
    briefs: list[Brief] = []
    for row in rows:
        about = known.setdefault(row["rule_id"], _about(tx, workspace_id, row["rule_id"]))
        if about is not None:
            briefs.append(_brief(row, *about))
    last = (rows[-1]["due_at"], rows[-1]["post_id"]) if len(rows) == PAGE else None
    return Page(tuple(briefs), last)


def save_copy(tx: Tx, now: datetime, brief: Brief, text: str) -> str:
    """Save a text if the post is still as it was when it was asked for; say what became of it."""
    post = find(tx, brief.workspace_id, brief.post_id)
    if isinstance(post, NoSuchPost) or post.revision != brief.revision or post.approved:
        return "passed_by"
    if post.content.text == text:
        return "same"
    (row,) = tx.all(
        "SELECT rule_id FROM rule_occurrence WHERE workspace_id = :workspace_id AND post_id = :id",
        workspace_id=brief.workspace_id,
        id=brief.post_id,
    )
    saved = edit(
        tx,
        now,
        workspace_id=brief.workspace_id,
        post_id=brief.post_id,
        revision=brief.revision,
        change=Change(text=text),
        by=f"rule:{row['rule_id']}",
        approve=False,
    )
    if not isinstance(saved, Edited):
        return "passed_by"
    tx.run(
        """
        UPDATE rule_occurrence SET placeholder = :placeholder,
            written_revision = CASE WHEN written_revision = :before THEN :after ELSE written_revision END
        WHERE workspace_id = :workspace_id AND post_id = :id
        """,
        placeholder=is_placeholder(text),
        before=brief.revision,
        after=saved.revision,
        workspace_id=brief.workspace_id,
        id=brief.post_id,
    )
    return "written"


def _strike_off(tx: Tx, now: datetime, workspace_id: str) -> None:
    """Posts that a person wrote hold no placeholder any more: do not look at them again."""
    rows = tx.all(
        """
        SELECT laid.post_id, post.content FROM rule_occurrence AS laid JOIN post
            ON post.workspace_id = laid.workspace_id AND post.id = laid.post_id
        WHERE laid.workspace_id = :workspace_id AND laid.placeholder AND laid.due_at > :now
            AND post.revision <> laid.written_revision
        """,
        workspace_id=workspace_id,
        now=now,
    )
    written = [
        (row["post_id"],) for row in rows if not is_placeholder(content_of(row["content"]).text)
    ]
    if written:
        tx.run(
            """
            UPDATE rule_occurrence SET placeholder = false WHERE workspace_id = :workspace_id
                AND post_id IN (SELECT id FROM TABLE(:posts) AS asked (id text))
            """,
            workspace_id=workspace_id,
            posts=written,
        )


def _about(
    tx: Tx, workspace_id: str, rule_id: str
) -> tuple[Rule, Category, Category | None] | None:
    rule = find_rule(tx, workspace_id, rule_id)
    if isinstance(rule, NoSuchRule):
        return None
    category = find_category(tx, workspace_id, rule.category_id)
    if isinstance(category, NoSuchCategory):
        return None
    return rule, category, brand_of(tx, category)


def _brief(row: Row, rule: Rule, category: Category, brand: Category | None) -> Brief:
    due_at: datetime = row["due_at"]
    values = values_of(rule, category, brand, due_at)
    return Brief(
        workspace_id=rule.workspace_id,
        post_id=row["post_id"],
        revision=row["revision"],
        brand=values["brand"],
        category=category.name,
        template=category.copy,
        values=values,
        hashtags=(*(brand.hashtags if brand else ()), *category.hashtags),
        channels=tuple(sorted({channel for _, channel in rule.targets})),
        due_at=due_at,
        wall_time=local(due_at, rule.timing.zone).strftime("%Y-%m-%dT%H:%M"),
        zone=str(rule.timing.zone),
        media_ids=content_of(row["content"]).media_ids,
    )
