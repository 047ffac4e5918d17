"""What a change of a rule does to what is laid out already: the list, before anything is done.

Only posts that nobody touched move or go. Within a date, times that went and times that came are paired
in order, so that 09:00 -> 10:00 moves the post, and a post that was touched, or deleted, still stands for
its occurrence and is not made a second time. Limit: pairs are found within one date; a rule that goes
from Mondays to Tuesdays takes Monday's posts away and makes Tuesday's.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter

import msgspec

from cadenza.core.channels import Channel
from cadenza.core.zones import local_day
from cadenza.drafts.generate import AHEAD, usable_targets
from cadenza.drafts.model import Rule, RuleState, Target
from cadenza.drafts.occurrences import Occurrence, occurrences
from cadenza.sql.tx import Row, Tx

_REACH = timedelta(days=2)


@dataclass(frozen=True, slots=True)
class GeneratedPost:
    """One occurrence that is there: its post, and why it must stay as it is (None: it need not)."""

    day: str
    slot: str
    due_at: datetime
    post_id: str | None
    media_id: str | None
    pool_id: str | None
    targets: frozenset[Target]
    touched: str | None
    gone: bool  # its post was deleted: a tombstone

    @property
    def key(self) -> tuple[str, str]:
        """The natural key within its rule."""
        return self.day, self.slot


@dataclass(frozen=True, slots=True)
class Move:
    """A post that goes to another instant, or stays and only stands for another occurrence."""

    laid: GeneratedPost
    to: Occurrence


@dataclass(frozen=True, slots=True)
class KeptPost:
    """A post that stays where it is although the rule says otherwise, and why."""

    laid: GeneratedPost
    because: str


@dataclass(frozen=True, slots=True)
class Retarget:
    """A post that goes to other places."""

    laid: GeneratedPost
    at: Occurrence
    add: frozenset[Target]
    drop: frozenset[Target]


@dataclass(frozen=True, slots=True)
class Plan:
    """What becomes of everything in the next 30 days. `renamed` is bookkeeping: nothing to see."""

    added: tuple[Occurrence, ...] = ()
    moved: tuple[Move, ...] = ()
    removed: tuple[GeneratedPost, ...] = ()
    kept: tuple[KeptPost, ...] = ()
    retargeted: tuple[Retarget, ...] = ()
    unchanged: int = 0
    renamed: tuple[Move, ...] = ()


def plan_change(
    tx: Tx, now: datetime, new: Rule, *, old: Rule | None, hold: bool, ahead: timedelta = AHEAD
) -> Plan:
    """Compare what is laid out with what the rule will say; `hold` keeps the posts from being touched."""
    laid = [] if old is None else _generated_posts(tx, now, old, hold=hold)
    if new.state is RuleState.PAUSED:
        return Plan(unchanged=sum(not each.gone for each in laid))
    horizon = now + ahead
    # Beyond the horizon too: a post on its last day may move past it, and must not be made again there.
    farthest = max([horizon, *(each.due_at + _REACH for each in laid)])
    wanted = (
        occurrences(new.timing, after=now, until=farthest) if new.state is RuleState.ACTIVE else []
    )
    remade = old is not None and _makes_other_posts(old, new)
    targets = frozenset(usable_targets(tx, new))
    plan = _compare(now, laid, wanted, targets=targets, remade=remade)
    return replace(plan, added=tuple(each for each in plan.added if each.instant <= horizon))


def _compare(
    now: datetime,
    laid: Sequence[GeneratedPost],
    wanted: Sequence[Occurrence],
    *,
    targets: frozenset[Target],
    remade: bool,
) -> Plan:
    by_key = {each.key: each for each in wanted}
    here = {each.key for each in laid}
    future = [each for each in laid if each.due_at > now]
    to: dict[tuple[str, str], Occurrence] = {
        each.key: by_key[each.key] for each in future if each.key in by_key
    }
    spare = [each for each in wanted if each.key not in here]
    to.update(_pair([each for each in future if each.key not in to], spare))
    added = [each for each in spare if each not in set(to.values())]
    moved: list[Move] = []
    renamed: list[Move] = []
    removed: list[GeneratedPost] = []
    kept: list[KeptPost] = []
    retargeted: list[Retarget] = []
    unchanged = 0
    for each in future:
        goal = to.get(each.key)
        if each.gone:  # stands for its occurrence, wherever that went
            if goal is not None and goal.key != each.key:
                renamed.append(Move(each, goal))
        elif each.touched is not None:
            if goal is None or goal.instant != each.due_at or remade or each.targets != targets:
                kept.append(KeptPost(each, each.touched))
            else:
                unchanged += 1
            if goal is not None and goal.key != each.key:
                renamed.append(Move(each, goal))
        elif goal is None or remade:
            removed.append(each)
            if goal is not None:
                added.append(goal)
        else:
            if goal.instant != each.due_at or goal.key != each.key:
                moved.append(Move(each, goal))
            if each.targets != targets:
                more, less = targets - each.targets, each.targets - targets
                retargeted.append(Retarget(each, goal, more, less))
            elif goal.instant == each.due_at and goal.key == each.key:
                unchanged += 1
    return Plan(
        tuple(sorted(added, key=attrgetter("instant"))),
        tuple(moved),
        tuple(removed),
        tuple(kept),
        tuple(retargeted),
        unchanged,
        tuple(renamed),
    )


def _pair(
    homeless: Sequence[GeneratedPost], spare: Sequence[Occurrence]
) -> dict[tuple[str, str], Occurrence]:
    """Within each date, let the first that lost its time take the first time that came."""
    free: Mapping[str, list[Occurrence]] = {
        day: list(each) for day, each in groupby(spare, key=lambda one: one.key[0])
    }
    pairs: dict[tuple[str, str], Occurrence] = {}
    for each in sorted(homeless, key=attrgetter("day", "slot")):
        waiting = free.get(each.day)
        if waiting:
            pairs[each.key] = waiting.pop(0)
    return pairs


def _makes_other_posts(old: Rule, new: Rule) -> bool:
    return (old.category_id, old.pool, old.needs_media) != (
        new.category_id,
        new.pool,
        new.needs_media,
    )


def _generated_posts(tx: Tx, now: datetime, rule: Rule, *, hold: bool) -> list[GeneratedPost]:
    key = {
        "workspace_id": rule.workspace_id,
        "rule_id": rule.id,
        "since": (local_day(now, rule.timing.zone) - timedelta(days=2)).isoformat(),
    }
    if hold and tx.dialect == "postgresql":
        tx.all(
            """
            SELECT id FROM post WHERE workspace_id = :workspace_id AND id IN (
                SELECT post_id FROM rule_occurrence
                WHERE workspace_id = :workspace_id AND rule_id = :rule_id AND day >= :since
            ) ORDER BY id FOR UPDATE
            """,
            **key,
        )
    rows = tx.all(
        """
        SELECT laid.*, post.id AS found_id, post.revision, post.approved_at
        FROM rule_occurrence AS laid LEFT JOIN post
            ON post.workspace_id = laid.workspace_id AND post.id = laid.post_id
                AND post.deleted_at IS NULL
        WHERE laid.workspace_id = :workspace_id AND laid.rule_id = :rule_id AND laid.day >= :since
        ORDER BY laid.day, laid.slot
        """,
        **key,
    )
    deliveries_by_post, off = _deliveries_by_post(tx, key), _switched_off(tx, rule.workspace_id)
    return [_read(row, deliveries_by_post.get(row["post_id"] or "", []), off) for row in rows]


def _deliveries_by_post(tx: Tx, key: Mapping[str, str]) -> dict[str, list[Row]]:
    """Return the live deliveries of a rule's posts, by post."""
    rows = tx.all(
        """
        SELECT delivery.post_id, account_id, channel, state, delivery.due_at
        FROM rule_occurrence AS laid JOIN delivery
            ON delivery.workspace_id = laid.workspace_id AND delivery.post_id = laid.post_id
        WHERE laid.workspace_id = :workspace_id AND laid.rule_id = :rule_id AND laid.day >= :since
            AND state NOT IN ('canceled', 'skipped')
        ORDER BY delivery.post_id
        """,
        **key,
    )
    return {id_: list(each) for id_, each in groupby(rows, key=lambda row: row["post_id"])}


def _switched_off(tx: Tx, workspace_id: str) -> frozenset[str]:
    """Return the accounts whose deliveries went when they did: that is no touch of a person."""
    rows = tx.all(
        "SELECT id FROM account WHERE workspace_id = :workspace_id AND state = 'disabled'",
        workspace_id=workspace_id,
    )
    return frozenset(row["id"] for row in rows)


def _read(row: Row, deliveries: Sequence[Row], off: frozenset[str]) -> GeneratedPost:
    made_for = frozenset(each for each in _read_targets(row["targets"]) if each[0] not in off)
    deliveries = [each for each in deliveries if each["account_id"] not in off]
    return GeneratedPost(
        day=row["day"],
        slot=row["slot"],
        due_at=row["due_at"],
        post_id=row["post_id"],
        media_id=row["media_id"],
        pool_id=row["pool_id"],
        targets=made_for,
        touched=_touched(row, deliveries, made_for),
        gone=row["found_id"] is None,
    )


def _read_targets(text: str) -> frozenset[Target]:
    pairs: Iterable[tuple[str, str]] = msgspec.json.decode(text, type=list[tuple[str, str]])
    return frozenset((account, Channel(channel)) for account, channel in pairs)


def _touched(row: Row, deliveries: Sequence[Row], made_for: frozenset[Target]) -> str | None:
    if row["found_id"] is None:
        return "deleted"
    if row["approved_at"] is not None:
        return "approved"
    if row["revision"] != row["written_revision"]:
        return "edited"
    if any(each["state"] != "draft" for each in deliveries):
        return "on its way"
    if any(each["due_at"] != row["due_at"] for each in deliveries):
        return "moved by hand"
    if frozenset((each["account_id"], Channel(each["channel"])) for each in deliveries) != made_for:
        return "its channels were changed"
    return None
