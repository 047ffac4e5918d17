"""What rules and categories are, and the refusals that their operations share.

A category belongs to a brand, which is a category without a parent. A rule says when (`Timing`),
where (targets) and from what (category, pool). Posts are made by `generate.py`, never here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import TypeAlias

import msgspec

from cadenza.core.channels import Channel
from cadenza.core.zones import Fold, Gap, get_zone
from cadenza.drafts.occurrences import Timing
from cadenza.drafts.pattern import read_anchor, read_pattern
from cadenza.sql.tx import Row, Tx

Target: TypeAlias = tuple[str, Channel]  # an account and one of its channels


class RuleState(StrEnum):
    """Whether a rule lays out posts."""

    ACTIVE = "active"
    PAUSED = "paused"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Category:
    """Content of one kind: its hashtags, its default copy, and what the names in it stand for."""

    workspace_id: str
    id: str
    name: str
    parent_id: str | None = None
    hashtags: tuple[str, ...] = ()
    copy: str = ""
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    revision: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule as it is kept."""

    workspace_id: str
    id: str
    name: str
    category_id: str
    timing: Timing
    targets: tuple[Target, ...]
    pool_id: str | None = None  # whose media it picks; None: its own category's
    needs_media: bool = True
    state: RuleState = RuleState.ACTIVE
    revision: int = 1

    @property
    def pool(self) -> str:
        """The category whose media it picks."""
        return self.pool_id or self.category_id


@dataclass(frozen=True, slots=True)
class NoSuchCategory:
    """The workspace has no category of that id."""

    id: str
    message: str = "there is no such category"


@dataclass(frozen=True, slots=True)
class NoSuchRule:
    """The workspace has no rule of that id (any more)."""

    id: str
    message: str = "there is no such rule: it may have been deleted"


@dataclass(frozen=True, slots=True)
class Stale:
    """Somebody saved it meanwhile: nothing was changed."""

    revision: int
    message: str = "it was changed by somebody else meanwhile: look again, then save"


@dataclass(frozen=True, slots=True)
class Invalid:
    """It cannot be kept like this: nothing was changed."""

    message: str


def drafts_locks(workspace_id: str) -> list[str]:
    """Name what rules, pools and generation of a workspace lock: each other."""
    return [f"drafts:{workspace_id}"]


def category_of(row: Row) -> Category:
    """Read a row."""
    return Category(
        workspace_id=row["workspace_id"],
        id=row["id"],
        name=row["name"],
        parent_id=row["parent_id"],
        hashtags=tuple(msgspec.json.decode(row["hashtags"], type=list[str])),
        copy=row["copy"],
        variables=msgspec.json.decode(row["variables"], type=dict[str, str]),
        revision=row["revision"],
    )


def find_category(tx: Tx, workspace_id: str, id: str) -> Category | NoSuchCategory:
    """Return one category."""
    row = tx.one(
        "SELECT * FROM category WHERE workspace_id = :workspace_id AND id = :id",
        workspace_id=workspace_id,
        id=id,
    )
    return NoSuchCategory(id) if row is None else category_of(row)


def find_rule(tx: Tx, workspace_id: str, id: str) -> Rule | NoSuchRule:
    """Return one rule that is not deleted."""
    row = tx.one(
        """
        SELECT * FROM rule WHERE workspace_id = :workspace_id AND id = :id AND state <> 'deleted'
        """,
        workspace_id=workspace_id,
        id=id,
    )
    return NoSuchRule(id) if row is None else rule_of(row, targets_of(tx, workspace_id, id))


def targets_of(tx: Tx, workspace_id: str, rule_id: str) -> tuple[Target, ...]:
    """Return where a rule goes, in a fixed order."""
    rows = tx.all(
        """
        SELECT account_id, channel FROM rule_target
        WHERE workspace_id = :workspace_id AND rule_id = :rule_id ORDER BY account_id, channel
        """,
        workspace_id=workspace_id,
        rule_id=rule_id,
    )
    return tuple((row["account_id"], Channel(row["channel"])) for row in rows)


def rule_of(row: Row, targets: tuple[Target, ...]) -> Rule:
    """Read a row."""
    timing = Timing(
        pattern=read_pattern(msgspec.json.decode(row["pattern"])),
        zone=get_zone(row["zone"]),
        starts=read_anchor(row["starts"]),
        ends=None if row["ends"] is None else date.fromisoformat(row["ends"]),
        gap=Gap(row["gap"]),
        fold=Fold(row["fold"]),
    )
    return Rule(
        workspace_id=row["workspace_id"],
        id=row["id"],
        name=row["name"],
        category_id=row["category_id"],
        timing=timing,
        targets=targets,
        pool_id=row["pool_id"],
        needs_media=bool(row["needs_media"]),
        state=RuleState(row["state"]),
        revision=row["revision"],
    )
