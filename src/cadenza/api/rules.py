"""Rules that lay out posts: made, changed, paused and deleted, each with its plan, and generated on demand.

With `dry_run` the plan alone comes back and nothing is changed. What a rule adds is made by the generator:
nightly, or by `generate`. A rule reaches accounts, so a key that is bound to accounts changes rules of those.
"""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from cadenza.api.categories import refuse
from cadenza.api.post_schemas import TargetInput
from cadenza.api.problems import not_found
from cadenza.api.queue_schemas import AnswerView
from cadenza.api.request_context import ReadContext, Reader, WriteContext, Writer
from cadenza.api.routes import Resource
from cadenza.api.schemas import Answer, Id, IdField, InputModel, Line, ZoneName
from cadenza.bootstrap.generate_posts import generate_for_one
from cadenza.core.zones import Fold, Gap, Mark
from cadenza.drafts import save_rule
from cadenza.drafts.model import NoSuchRule, Rule, RuleState, drafts_locks, find_rule
from cadenza.drafts.occurrences import Occurrence
from cadenza.drafts.pattern import write_pattern
from cadenza.drafts.plan_change import GeneratedPost, Plan
from cadenza.people.model import Role
from cadenza.sql.tx import Tx

routes = Resource("rules", "/workspaces/{workspace_id}")
SECONDS = 20.0  # of a call from a screen
EXAMPLE = {
    "name": "Mondays",
    "category_id": "0193a7",
    "pattern": {"kind": "weekly", "weekdays": [1], "times": ["09:00"]},
    "zone": "Europe/Berlin",
    "starts": "2031-01-06",
    "targets": [{"account_id": "0193a8"}],
}


class RuleInput(InputModel):
    """When, where and from what posts are laid out."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})
    name: Line
    category_id: IdField
    pattern: dict[str, Any] = Field(
        max_length=10,
        description="kind weekly, daily, monthly or interval, with its weekdays, days, times, step",
    )
    zone: ZoneName
    starts: str = Field(max_length=30, description="A date or wall time in the zone")
    ends: str | None = Field(default=None, max_length=30)
    targets: list[TargetInput] = Field(min_length=1, max_length=save_rule.MOST_TARGETS)
    pool_id: IdField | None = None
    needs_media: bool = True
    gap: Gap = Gap.SHIFT
    fold: Fold = Fold.FIRST


class RuleChange(RuleInput):
    """The rule as it shall be, all of it."""

    revision: int | None = Field(default=None, strict=True, ge=1, description="What you saw")


class Retargeted(InputModel):
    """Where a rule shall go from now on."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"targets": [{"account_id": "0193a8"}]}]}
    )
    targets: list[TargetInput] = Field(min_length=1, max_length=save_rule.MOST_TARGETS)


class TargetView(BaseModel):
    """An account and one of its channels."""

    account_id: str
    channel: str


class RuleView(AnswerView):
    """A rule as it is kept."""

    id: str
    name: str
    category_id: str
    pool_id: str | None
    needs_media: bool
    pattern: dict[str, Any]
    zone: str
    starts: str
    ends: str | None
    gap: Gap
    fold: Fold
    targets: list[TargetView]
    state: RuleState
    revision: int


class OccurrenceView(BaseModel):
    """A time that the rule says."""

    day: str
    slot: str
    at: datetime
    mark: Mark


class GeneratedPostView(BaseModel):
    """A post that is laid out; `because`: why it stays as it is."""

    post_id: str | None
    day: str
    slot: str
    at: datetime
    because: str | None = None


class MoveView(BaseModel):
    """A post that goes to another instant."""

    post: GeneratedPostView
    to: OccurrenceView


class RetargetView(BaseModel):
    """A post that goes to other places."""

    post: GeneratedPostView
    add: list[TargetView]
    drop: list[TargetView]


class PlanView(BaseModel):
    """What becomes of everything in the next 30 days."""

    added: list[OccurrenceView]
    moved: list[MoveView]
    removed: list[GeneratedPostView]
    kept: list[GeneratedPostView]
    retargeted: list[RetargetView]
    unchanged: int


class RuleSaved(Answer):
    """The rule as it is now, or would be, and what becomes of its posts."""

    rule: RuleView
    plan: PlanView


class Generated(Answer):
    """What was made; not complete: ask again for the rest."""

    posts: int
    without_media: int
    copy_written: int
    complete: bool


@routes.get("/rules", needs=Role.VIEWER, scope="rules:read")
async def list_rules(ask: Reader, workspace_id: Id) -> list[RuleView]:
    """List the rules by name."""
    found = await ask.read(lambda tx, _: save_rule.list_rules(tx, workspace_id=workspace_id))
    return [show_rule(each) for each in found if _reaches(ask, each)]


@routes.post("/rules", needs=Role.EDITOR, scope="rules:write", status_code=201)
async def make_rule(act: Writer, workspace_id: Id, body: RuleInput) -> RuleSaved:
    """Make a rule; with `dry_run`, see what it would lay out."""
    form = _form(act, body)

    def operation(tx: Tx, now: datetime) -> RuleSaved:
        answer = save_rule.create_rule(tx, now, form, workspace_id=workspace_id, by=act.by)
        return _kept(answer)

    return await act.write(operation, locks=drafts_locks(workspace_id))


@routes.get("/rules/{rule_id}", needs=Role.VIEWER, scope="rules:read")
async def show_one(ask: Reader, workspace_id: Id, rule_id: Id) -> RuleView:
    """Show one rule."""
    return ask.tag(await ask.read(lambda tx, _: _one(ask, tx, rule_id)))


@routes.put("/rules/{rule_id}", needs=Role.EDITOR, scope="rules:write")
async def change_rule(act: Writer, workspace_id: Id, rule_id: Id, body: RuleChange) -> RuleSaved:
    """Change a rule and the posts of it that nobody touched; with `dry_run`, see the plan first."""

    def operation(tx: Tx, now: datetime) -> RuleSaved:
        act.check_match(_one(act, tx, rule_id))
        answer = save_rule.edit_rule(
            tx,
            now,
            _form(act, body),
            workspace_id=workspace_id,
            id=rule_id,
            by=act.by,
            revision=body.revision,
        )
        return _kept(answer)

    return await act.write(operation, locks=drafts_locks(workspace_id))


@routes.put("/rules/{rule_id}/targets", needs=Role.EDITOR, scope="rules:write")
async def retarget_rule(act: Writer, workspace_id: Id, rule_id: Id, body: Retargeted) -> RuleSaved:
    """Change where a rule goes, and nothing else."""

    def operation(tx: Tx, now: datetime) -> RuleSaved:
        act.check_match(_one(act, tx, rule_id))
        answer = save_rule.retarget_rule(
            tx,
            now,
            workspace_id=workspace_id,
            id=rule_id,
            targets=_targets(act, body.targets),
            by=act.by,
        )
        return _kept(answer)

    return await act.write(operation, locks=drafts_locks(workspace_id))


@routes.post("/rules/{rule_id}/pause", needs=Role.EDITOR, scope="rules:write")
async def pause_rule(act: Writer, workspace_id: Id, rule_id: Id) -> RuleSaved:
    """Lay out no more; what is laid out stays."""
    return await _pause(act, rule_id, paused=True)


@routes.post("/rules/{rule_id}/resume", needs=Role.EDITOR, scope="rules:write")
async def resume_rule(act: Writer, workspace_id: Id, rule_id: Id) -> RuleSaved:
    """Go on laying out."""
    return await _pause(act, rule_id, paused=False)


@routes.delete("/rules/{rule_id}", needs=Role.EDITOR, scope="rules:write")
async def delete_rule(act: Writer, workspace_id: Id, rule_id: Id) -> RuleSaved:
    """End a rule: posts that nobody touched go with it, the others stay and are listed."""

    def operation(tx: Tx, now: datetime) -> RuleSaved:
        act.check_match(_one(act, tx, rule_id))
        answer = save_rule.delete_rule(tx, now, workspace_id=workspace_id, id=rule_id, by=act.by)
        return _kept(answer)

    return await act.write(operation, locks=drafts_locks(workspace_id))


@routes.post("/drafts/generate", needs=Role.EDITOR, scope="rules:write")
async def generate(ask: Reader, workspace_id: Id) -> Generated:
    """Lay out what is missing of all active rules now; the same again makes nothing twice."""
    report = await generate_for_one(ask.runtime, workspace_id, SECONDS)
    return Generated(
        posts=report.posts,
        without_media=report.without_media,
        copy_written=report.copy.written,
        complete=report.complete and report.copy.complete,
    )


async def _pause(act: WriteContext, rule_id: str, *, paused: bool) -> RuleSaved:
    def operation(tx: Tx, now: datetime) -> RuleSaved:
        act.check_match(_one(act, tx, rule_id))
        answer = save_rule.pause_rule(
            tx, now, workspace_id=act.workspace_id, id=rule_id, by=act.by, paused=paused
        )
        return _kept(answer)

    return await act.write(operation, locks=drafts_locks(act.workspace_id))


def show_rule(rule: Rule) -> RuleView:
    """Show a rule."""
    timing = rule.timing
    return RuleView(
        id=rule.id,
        name=rule.name,
        category_id=rule.category_id,
        pool_id=rule.pool_id,
        needs_media=rule.needs_media,
        pattern=write_pattern(timing.pattern),
        zone=timing.zone.name,
        starts=timing.starts.isoformat(timespec="minutes"),
        ends=None if timing.ends is None else timing.ends.isoformat(),
        gap=timing.gap,
        fold=timing.fold,
        targets=_pairs(rule.targets),
        state=rule.state,
        revision=rule.revision,
    )


def _kept(answer: Any) -> RuleSaved:
    if not isinstance(answer, save_rule.RuleSaved):
        refuse(answer)
    return RuleSaved(rule=show_rule(answer.rule), plan=_plan(answer.plan))


def _plan(plan: Plan) -> PlanView:
    return PlanView(
        added=[_occurrence(each) for each in plan.added],
        moved=[MoveView(post=_laid(each.laid), to=_occurrence(each.to)) for each in plan.moved],
        removed=[_laid(each) for each in plan.removed],
        kept=[_laid(each.laid, each.because) for each in plan.kept],
        retargeted=[
            RetargetView(post=_laid(each.laid), add=_pairs(each.add), drop=_pairs(each.drop))
            for each in plan.retargeted
        ],
        unchanged=plan.unchanged,
    )


def _occurrence(each: Occurrence) -> OccurrenceView:
    day, slot = each.key
    return OccurrenceView(day=day, slot=slot, at=each.instant, mark=each.mark)


def _laid(each: GeneratedPost, because: str | None = None) -> GeneratedPostView:
    return GeneratedPostView(
        post_id=each.post_id, day=each.day, slot=each.slot, at=each.due_at, because=because
    )


def _pairs(targets: Any) -> list[TargetView]:
    return [
        TargetView(account_id=account, channel=channel.value)
        for account, channel in sorted(targets)
    ]


def _form(ask: ReadContext, body: RuleInput) -> save_rule.RuleForm:
    return save_rule.RuleForm(
        name=body.name,
        category_id=body.category_id,
        pattern=body.pattern,
        zone=body.zone,
        starts=body.starts,
        targets=_targets(ask, body.targets),
        ends=body.ends,
        pool_id=body.pool_id,
        needs_media=body.needs_media,
        gap=body.gap,
        fold=body.fold,
    )


def _targets(ask: ReadContext, places: list[TargetInput]) -> list[str | tuple[str, str]]:
    for place in places:
        ask.check_account(place.account_id)
    return [
        each.account_id if each.channel is None else (each.account_id, each.channel.value)
        for each in places
    ]


def _one(ask: ReadContext, tx: Tx, rule_id: str) -> RuleView:
    found = find_rule(tx, ask.workspace_id, rule_id)
    if isinstance(found, NoSuchRule) or not _reaches(ask, found):
        raise not_found("rule")
    return show_rule(found)


def _reaches(ask: ReadContext, rule: Rule) -> bool:
    return all(ask.caller.may_use(account) for account, _ in rule.targets)
