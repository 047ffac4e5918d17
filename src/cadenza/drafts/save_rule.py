"""Makes, edits, pauses and deletes rules; each can be asked as a dry run first.

The answer carries the plan: what is added, moved, removed, and kept because somebody touched it. Only
posts that nobody touched are changed, and what is added is made by the generator, which the caller runs
next. A pause leaves what is laid out; a deletion takes the untouched posts away.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

import msgspec

from cadenza.core.channels import Channel, UnknownChannelError, normalise
from cadenza.core.zones import Fold, Gap, UnknownZoneError, get_zone
from cadenza.db.audit import record
from cadenza.drafts.apply_plan import apply_plan
from cadenza.drafts.model import (
    Invalid,
    NoSuchCategory,
    NoSuchRule,
    Rule,
    RuleState,
    Stale,
    Target,
    find_category,
    find_rule,
    rule_of,
)
from cadenza.drafts.occurrences import Timing
from cadenza.drafts.pattern import PatternError, read_anchor, read_pattern, write_pattern
from cadenza.drafts.plan_change import Plan, plan_change
from cadenza.posts.targets import check_targets, resolve_targets
from cadenza.providers.registry import all_providers
from cadenza.sql.tx import Tx

MOST_TARGETS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleForm:
    """A rule as a person fills it in. A target is an account (its usual channels) or a pair with a channel."""

    name: str
    category_id: str
    pattern: Mapping[str, Any]
    zone: str
    starts: str  # a date or wall time in `zone`: where everything is counted from
    targets: Sequence[str | tuple[str, str]]
    ends: str | None = None
    pool_id: str | None = None
    needs_media: bool = True
    gap: str = Gap.SHIFT
    fold: str = Fold.FIRST


@dataclass(frozen=True, slots=True)
class RuleSaved:
    """The rule as it is now, or would be after a dry run, and what becomes of its posts."""

    rule: Rule
    plan: Plan
    dry_run: bool


def create_rule(
    tx: Tx, now: datetime, form: RuleForm, *, workspace_id: str, by: str, dry_run: bool = False
) -> RuleSaved | Invalid:
    """Make a rule; its posts are made by the generator."""
    rule = _read(tx, form, workspace_id, tx.new_id())
    if isinstance(rule, Invalid):
        return rule
    plan = plan_change(tx, now, rule, old=None, hold=False)
    if not dry_run:
        _write(tx, now, rule, by=by)
        _tell(tx, now, rule, "rule.create", by=by, plan=plan)
    return RuleSaved(rule, plan, dry_run)


def edit_rule(
    tx: Tx,
    now: datetime,
    form: RuleForm,
    *,
    workspace_id: str,
    id: str,
    by: str,
    revision: int | None = None,
    dry_run: bool = False,
) -> RuleSaved | NoSuchRule | Stale | Invalid:
    """Change a rule and what it has laid out; `revision` is what the person looked at."""
    old = find_rule(tx, workspace_id, id)
    if isinstance(old, NoSuchRule):
        return old
    if revision is not None and revision != old.revision:
        return Stale(old.revision)
    read = _read(tx, form, workspace_id, id)
    if isinstance(read, Invalid):
        return read
    new = replace(read, state=old.state, revision=old.revision + 1)
    return _change(tx, now, old, new, action="rule.edit", by=by, dry_run=dry_run)


def retarget_rule(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    id: str,
    targets: Sequence[str | tuple[str, str]],
    by: str,
    dry_run: bool = False,
) -> RuleSaved | NoSuchRule | Invalid:
    """Change where a rule goes, and nothing else."""
    old = find_rule(tx, workspace_id, id)
    if isinstance(old, NoSuchRule):
        return old
    read = _targets(tx, workspace_id, targets)
    if isinstance(read, Invalid):
        return read
    new = replace(old, targets=read, revision=old.revision + 1)
    return _change(tx, now, old, new, action="rule.retarget", by=by, dry_run=dry_run)


def pause_rule(
    tx: Tx, now: datetime, *, workspace_id: str, id: str, by: str, paused: bool = True
) -> RuleSaved | NoSuchRule:
    """Lay out no more, or go on; what is laid out stays. Asked twice, it changes nothing."""
    old = find_rule(tx, workspace_id, id)
    if isinstance(old, NoSuchRule):
        return old
    state = RuleState.PAUSED if paused else RuleState.ACTIVE
    if old.state is state:
        return RuleSaved(old, Plan(), dry_run=False)
    new = replace(old, state=state, revision=old.revision + 1)
    action = "rule.pause" if paused else "rule.resume"
    return _change(tx, now, old, new, action=action, by=by, dry_run=False)


def delete_rule(
    tx: Tx, now: datetime, *, workspace_id: str, id: str, by: str, dry_run: bool = False
) -> RuleSaved | NoSuchRule:
    """End a rule: untouched posts to come go with it, touched ones stay and are listed."""
    old = find_rule(tx, workspace_id, id)
    if isinstance(old, NoSuchRule):
        return old
    new = replace(old, state=RuleState.DELETED, revision=old.revision + 1)
    return _change(tx, now, old, new, action="rule.delete", by=by, dry_run=dry_run)


def list_rules(tx: Tx, *, workspace_id: str) -> list[Rule]:
    """Return a workspace's rules by name."""
    rows = tx.all(
        """
        SELECT * FROM rule WHERE workspace_id = :workspace_id AND state <> 'deleted'
        ORDER BY name, id
        """,
        workspace_id=workspace_id,
    )
    pairs = tx.all(
        """
        SELECT rule_id, account_id, channel FROM rule_target WHERE workspace_id = :workspace_id
        ORDER BY rule_id, account_id, channel
        """,
        workspace_id=workspace_id,
    )
    found: dict[str, list[Target]] = {}
    for pair in pairs:
        target = (pair["account_id"], normalise(pair["channel"]))
        found.setdefault(pair["rule_id"], []).append(target)
    return [rule_of(row, tuple(found.get(row["id"], ()))) for row in rows]


def _change(
    tx: Tx, now: datetime, old: Rule, new: Rule, *, action: str, by: str, dry_run: bool
) -> RuleSaved:
    plan = plan_change(tx, now, new, old=old, hold=not dry_run)
    if not dry_run:
        _write(tx, now, new, by=by)
        apply_plan(tx, now, new, plan)
        _tell(tx, now, new, action, by=by, plan=plan)
    return RuleSaved(new, plan, dry_run)


def _read(tx: Tx, form: RuleForm, workspace_id: str, id_: str) -> Rule | Invalid:
    try:
        timing = _timing(form)
    except (PatternError, UnknownZoneError) as error:
        return Invalid(str(error))
    if not form.name.strip():
        return Invalid("a rule needs a name")
    for category_id in filter(None, (form.category_id, form.pool_id)):
        if isinstance(find_category(tx, workspace_id, category_id), NoSuchCategory):
            return Invalid(f"there is no category {category_id!r}")
    targets = _targets(tx, workspace_id, form.targets)
    if isinstance(targets, Invalid):
        return targets
    return Rule(
        workspace_id=workspace_id,
        id=id_,
        name=form.name.strip(),
        category_id=form.category_id,
        timing=timing,
        targets=targets,
        pool_id=form.pool_id,
        needs_media=form.needs_media,
    )


def _timing(form: RuleForm) -> Timing:
    if form.gap not in set(Gap) or form.fold not in set(Fold):
        raise PatternError(f"gap is {', '.join(Gap)}; fold is {', '.join(Fold)}.")
    starts = read_anchor(form.starts)
    ends = None if form.ends is None else read_anchor(form.ends).date()
    if ends is not None and ends < starts.date():
        raise PatternError(f"the rule ends on {ends}, before it starts on {starts.date()}.")
    return Timing(
        pattern=read_pattern(form.pattern),
        zone=get_zone(form.zone),
        starts=starts,
        ends=ends,
        gap=Gap(form.gap),
        fold=Fold(form.fold),
    )


def _targets(
    tx: Tx, workspace_id: str, requested: Sequence[str | tuple[str, str]]
) -> tuple[Target, ...] | Invalid:
    """Normalise channels in the one place where it is done, and refuse what cannot be published to."""
    try:
        named = [(each[0], normalise(each[1])) for each in requested if not isinstance(each, str)]
    except UnknownChannelError as error:
        return Invalid(str(error))
    alone = [each for each in requested if isinstance(each, str)]
    bad = check_targets(tx, workspace_id, named) or check_targets(tx, workspace_id, alone)
    if bad is not None:
        return Invalid(bad.message)
    targets = tuple(sorted({*named, *resolve_targets(tx, workspace_id, alone)}))
    if not targets or len(targets) > MOST_TARGETS:
        return Invalid(f"a rule goes to 1 to {MOST_TARGETS} accounts and channels")
    personal = sorted({channel.value for _, channel in targets if _needs_recipient(channel)})
    if personal:
        return Invalid(f"{personal[0]} goes to a person: a rule publishes to all")
    return targets


def _needs_recipient(channel: Channel) -> bool:
    return any(
        adapter.capabilities(channel).needs_recipient
        for adapter in all_providers().values()
        if channel in adapter.channels
    )


def _write(tx: Tx, now: datetime, rule: Rule, *, by: str) -> None:
    timing = rule.timing
    key = {"workspace_id": rule.workspace_id, "id": rule.id}
    tx.run(
        """
        INSERT INTO rule (workspace_id, id, name, category_id, pool_id, needs_media, pattern, zone, starts,
            ends, gap, fold, state, revision, created_by, created_at)
        VALUES (:workspace_id, :id, :name, :category_id, :pool_id, :needs_media, :pattern, :zone, :starts,
            :ends, :gap, :fold, :state, :revision, :by, :now)
        ON CONFLICT (workspace_id, id) DO UPDATE SET name = excluded.name,
            category_id = excluded.category_id, pool_id = excluded.pool_id,
            needs_media = excluded.needs_media, pattern = excluded.pattern, zone = excluded.zone,
            starts = excluded.starts, ends = excluded.ends, gap = excluded.gap, fold = excluded.fold,
            state = excluded.state, revision = excluded.revision
        """,
        name=rule.name,
        category_id=rule.category_id,
        pool_id=rule.pool_id,
        needs_media=rule.needs_media,
        pattern=msgspec.json.encode(write_pattern(timing.pattern)).decode(),
        zone=str(timing.zone),
        starts=timing.starts.isoformat(timespec="minutes"),
        ends=_text(timing.ends),
        gap=timing.gap.value,
        fold=timing.fold.value,
        state=rule.state.value,
        revision=rule.revision,
        by=by,
        now=now,
        **key,
    )
    tx.run("DELETE FROM rule_target WHERE workspace_id = :workspace_id AND rule_id = :id", **key)
    tx.run(
        """
        INSERT INTO rule_target (workspace_id, rule_id, account_id, channel)
        SELECT :workspace_id, :id, new.account_id, new.channel
        FROM TABLE(:targets) AS new (account_id text, channel text)
        """,
        targets=[(account, channel.value) for account, channel in rule.targets],
        **key,
    )


def _text(day: date | None) -> str | None:
    return None if day is None else day.isoformat()


def _tell(tx: Tx, now: datetime, rule: Rule, action: str, *, by: str, plan: Plan) -> None:
    after = {
        "name": rule.name,
        "moved": len(plan.moved),
        "removed": len(plan.removed),
        "kept": len(plan.kept),
        "retargeted": len(plan.retargeted),
    }
    record(
        tx, now, workspace_id=rule.workspace_id, by=by, action=action, subject_id=rule.id,
        after=after,
    )  # fmt: skip
