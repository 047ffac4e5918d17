"""Lays out a rule's posts for the next 30 days: each occurrence once, whoever runs it and how often.

An occurrence is won by inserting its key (rule, local date, slot); only the winner makes the post, its
draft deliveries and the pick of a file. A key that is there already, with a post or without one (deleted:
a tombstone), is never made again. A post of a rule always waits for a person. Limit: `BATCH` posts an
operation; the answer says how many are left for the next.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec

from cadenza.core.zones import local_day
from cadenza.deliveries.model import Action, NewDelivery
from cadenza.deliveries.schedule import schedule
from cadenza.drafts.asset_pool import take
from cadenza.drafts.fill_copy import as_placeholder, fill, moment_values
from cadenza.drafts.model import (
    Category,
    NoSuchCategory,
    NoSuchRule,
    Rule,
    RuleState,
    Target,
    find_category,
    find_rule,
)
from cadenza.drafts.occurrences import Occurrence, occurrences, target_month
from cadenza.media.model import NoSuchMedia
from cadenza.posts.compose import compose
from cadenza.posts.create import create
from cadenza.posts.model import NEEDS_COPY, NEEDS_MEDIA, NewPost, PostMedia, Source
from cadenza.sql.tx import Tx

AHEAD = timedelta(days=30)
BATCH = 10  # a post takes many statements, and the workspace waits for its lock meanwhile


@dataclass(frozen=True, slots=True)
class Generated:
    """What one operation made: posts in order of time; `left` occurrences wait for the next."""

    posts: tuple[str, ...] = ()
    without_media: int = 0
    left: int = 0


@dataclass(frozen=True, slots=True)
class NotGenerated:
    """Nothing was made, and why."""

    message: str


def generate(
    tx: Tx, now: datetime, *, workspace_id: str, rule_id: str, ahead: timedelta = AHEAD
) -> Generated | NotGenerated | NoSuchRule:
    """Make what is missing of one rule, `BATCH` posts at the most. Run it under `drafts_locks`."""
    rule = find_rule(tx, workspace_id, rule_id)
    if isinstance(rule, NoSuchRule):
        return rule
    if (why_not := _why_not(tx, rule)) is not None:
        return NotGenerated(why_not)
    targets = usable_targets(tx, rule)
    if not targets:
        return NotGenerated("none of its accounts can be used: connect one, or edit the rule")
    missing = _missing(tx, now, rule, ahead)
    won = _insert_keys(tx, now, rule, missing[:BATCH])
    made = _make(tx, now, rule, won, targets)
    return Generated(
        tuple(post_id for post_id, _ in made),
        sum(media_id is None for _, media_id in made) if rule.needs_media else 0,
        len(missing) - len(missing[:BATCH]),
    )


def brand_of(tx: Tx, category: Category) -> Category | None:
    """Return the brand that a category stands under."""
    if category.parent_id is None:
        return None
    parent = find_category(tx, category.workspace_id, category.parent_id)
    return None if isinstance(parent, NoSuchCategory) else parent


def values_of(
    rule: Rule, category: Category, brand: Category | None, at: datetime
) -> dict[str, str]:
    """Return what the names in a category's copy stand for at that instant."""
    return {
        **({} if brand is None else brand.variables),
        **category.variables,
        "category": category.name,
        "brand": category.name if brand is None else brand.name,
        **moment_values(at, rule.timing.zone),
    }


def usable_targets(tx: Tx, rule: Rule) -> list[Target]:
    """Leave out accounts that were switched off; one that needs a reconnect still gets its drafts."""
    rows = tx.all(
        """
        SELECT account.id FROM TABLE(:ids) AS asked (id text) JOIN account
            ON account.workspace_id = :workspace_id AND account.id = asked.id
        WHERE account.state <> 'disabled'
        """,
        workspace_id=rule.workspace_id,
        ids=[(account,) for account in sorted({account for account, _ in rule.targets})],
    )
    usable = {row["id"] for row in rows}
    return [target for target in rule.targets if target[0] in usable]


def write_targets(targets: Sequence[Target]) -> str:
    """Write targets as an occurrence keeps them."""
    return msgspec.json.encode([[a, channel.value] for a, channel in targets]).decode()


def _why_not(tx: Tx, rule: Rule) -> str | None:
    if rule.state is not RuleState.ACTIVE:
        return "the rule is paused"
    active = tx.value("SELECT active FROM workspace WHERE id = :id", id=rule.workspace_id)
    return None if active else "the workspace is not active"


def _missing(tx: Tx, now: datetime, rule: Rule, ahead: timedelta) -> list[Occurrence]:
    wanted = occurrences(rule.timing, after=now, until=now + ahead)
    if not wanted:
        return []
    known = known_keys(tx, now, rule)
    return [each for each in wanted if each.key not in known]


def known_keys(tx: Tx, now: datetime, rule: Rule) -> set[tuple[str, str]]:
    """Return the keys that are there already, from two days back: a gap may carry one that far."""
    rows = tx.all(
        """
        SELECT day, slot FROM rule_occurrence
        WHERE workspace_id = :workspace_id AND rule_id = :rule_id AND day >= :since
        """,
        workspace_id=rule.workspace_id,
        rule_id=rule.id,
        since=(local_day(now, rule.timing.zone) - timedelta(days=2)).isoformat(),
    )
    return {(row["day"], row["slot"]) for row in rows}


def _insert_keys(
    tx: Tx, now: datetime, rule: Rule, wanted: Sequence[Occurrence]
) -> list[Occurrence]:
    """Insert the keys; what another generator inserted first is its own."""
    if not wanted:
        return []
    zone = rule.timing.zone
    rows = tx.all(
        """
        INSERT INTO rule_occurrence (workspace_id, rule_id, day, slot, due_at, target_month, created_at)
        SELECT :workspace_id, :rule_id, new.day, new.slot, new.due_at, new.target_month, :now
        FROM TABLE(:new) AS new (day text, slot text, due_at timestamptz, target_month text)
        WHERE true
        ON CONFLICT DO NOTHING
        RETURNING day, slot
        """,
        workspace_id=rule.workspace_id,
        rule_id=rule.id,
        now=now,
        new=[(*each.key, each.instant, target_month(each, zone)) for each in wanted],
    )
    won = {(row["day"], row["slot"]) for row in rows}
    return [each for each in wanted if each.key in won]


def _make(
    tx: Tx, now: datetime, rule: Rule, won: Sequence[Occurrence], targets: Sequence[Target]
) -> list[tuple[str, str | None]]:
    """Make the posts of occurrences that are ours, and put their deliveries in the pipeline as drafts."""
    if not won:
        return []
    category = find_category(tx, rule.workspace_id, rule.category_id)
    assert not isinstance(category, NoSuchCategory), "a rule's category cannot be deleted"
    brand = brand_of(tx, category)
    picked = take(
        tx,
        workspace_id=rule.workspace_id,
        category_id=rule.pool,
        due=[each.instant for each in won],
    )
    made: list[tuple[str, str | None]] = []
    deliveries: list[NewDelivery] = []
    for each, media_id in zip(won, picked, strict=True):
        text = fill(category.copy, values_of(rule, category, brand, each.instant))
        post_id = _post(tx, now, rule, text=as_placeholder(text), media_id=media_id)
        made.append((post_id, media_id))
        deliveries.extend(deliveries_of(tx, rule, post_id, each, targets))
    schedule(tx, now, deliveries)
    _note(tx, rule, won, made, targets)
    return made


def _post(tx: Tx, now: datetime, rule: Rule, *, text: str, media_id: str | None) -> str:
    created = create(
        tx,
        now,
        NewPost(
            workspace_id=rule.workspace_id,
            text=text,
            media=() if media_id is None else (PostMedia(media_id),),
            category_id=rule.category_id,
            source=Source.RULE,
            blockers=(NEEDS_COPY, NEEDS_MEDIA)
            if media_id is None and rule.needs_media
            else (NEEDS_COPY,),
        ),
        by=f"rule:{rule.id}",
        approve=False,
    )
    assert not isinstance(created, NoSuchMedia), "a pool keeps its files: none can be deleted"
    return created.id


def deliveries_of(
    tx: Tx, rule: Rule, post_id: str, occurrence: Occurrence, targets: Sequence[Target]
) -> list[NewDelivery]:
    """Return a post's drafts at an occurrence: hand-timed, with wall time and zone."""
    return [
        NewDelivery(
            id=tx.new_id(),
            workspace_id=rule.workspace_id,
            account_id=piece.account_id,
            channel=piece.channel,
            action=Action.POST,
            due_at=occurrence.instant,
            content=piece.content,
            post_id=piece.post_id,
            approved=False,
            wall_time=occurrence.wall_time,
            zone=str(rule.timing.zone),
        )
        for piece in compose(tx, rule.workspace_id, post_id, targets)
    ]


def _note(
    tx: Tx,
    rule: Rule,
    won: Sequence[Occurrence],
    made: Sequence[tuple[str, str | None]],
    targets: Sequence[Target],
) -> None:
    tx.run(
        """
        UPDATE rule_occurrence SET post_id = new.post_id, media_id = new.media_id,
            pool_id = :pool, targets = :targets
        FROM TABLE(:new) AS new (day text, slot text, post_id text, media_id text)
        WHERE rule_occurrence.workspace_id = :workspace_id AND rule_occurrence.rule_id = :rule_id
            AND rule_occurrence.day = new.day AND rule_occurrence.slot = new.slot
        """,
        workspace_id=rule.workspace_id,
        rule_id=rule.id,
        pool=rule.pool,
        targets=write_targets(targets),
        new=[(*each.key, *post) for each, post in zip(won, made, strict=True)],
    )
