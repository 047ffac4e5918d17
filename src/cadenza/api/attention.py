"""What wants a person, in one list, and the steps that put things right, one by one or many at once.

A bulk step is one transaction: what is refused changes nothing and says why, the rest is done. Steps that
happen elsewhere (edit, write, add media, reconnect, lift a suspension) are answered with where.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from cadenza.api.post_schemas import PillView
from cadenza.api.post_schemas import refuse as refuse_post
from cadenza.api.posts import APPROVE, reached
from cadenza.api.posts import one as one_post
from cadenza.api.problems import Problem, conflict, not_found
from cadenza.api.queue_schemas import AnswerView, ValueView, show
from cadenza.api.queue_schemas import refuse as refuse_queue
from cadenza.api.request_context import ReadContext, Reader, WriteContext, Writer
from cadenza.api.routes import Resource
from cadenza.api.schemas import Id, IdField, InputModel
from cadenza.db.audit import record
from cadenza.deliveries import change
from cadenza.deliveries.cancel_post import CanceledPost
from cadenza.deliveries.check_fit import StoredPiece
from cadenza.deliveries.model import Delivery, locks_of
from cadenza.people.model import Role
from cadenza.posts import approve, cancel, delete, publish_now, retry
from cadenza.posts.attention import AttentionKind, AttentionReason, Step, needs_attention
from cadenza.posts.excerpts import excerpts
from cadenza.posts.preflight import refuse_unfit
from cadenza.queues import missed, resume, stop
from cadenza.queues.model import NoQueue
from cadenza.sql.tx import Row, Tx
from cadenza.sql.values import read_value, read_values

routes = Resource("attention", "/workspaces/{workspace_id}/attention")
ELSEWHERE = {
    Step.EDIT: "PATCH /api/v1/workspaces/{workspace_id}/posts/{post_id}",
    Step.WRITE: "PATCH /api/v1/workspaces/{workspace_id}/posts/{post_id}",
    Step.ADD_MEDIA: "PATCH /api/v1/workspaces/{workspace_id}/posts/{post_id}",
    Step.RECONNECT: "POST /api/v1/workspaces/{workspace_id}/connect",
    Step.LIFT: "POST /api/v1/workspaces/{workspace_id}/accounts/{account_id}/lift-suspension",
}
ON_POSTS = frozenset({Step.APPROVE, Step.APPROVE_AND_PUBLISH, Step.DELETE})
# What a key must hold beside the route's own scope.
NEEDS = {
    Step.APPROVE: APPROVE,
    Step.APPROVE_AND_PUBLISH: APPROVE,
    Step.DELETE: "posts:write",
    Step.START: "workspace:write",
    Step.RESUME: "queue:write",
    Step.IT_IS_THERE: "deliveries:write",
    Step.SEND_AGAIN: "deliveries:write",
}
WISHES = {
    Step.NEXT_SLOT: resume.ResumeChoice.SHIFT,
    Step.TO_DRAFT: resume.ResumeChoice.DRAFT,
}


class AttentionItemView(ValueView):
    """One thing that wants a person, with what can be done about it."""

    kind: AttentionKind
    reason: AttentionReason = Field(description="What exactly is the matter; it decides the steps")
    subject_id: str
    message: str
    steps: list[Step]
    at: datetime = Field(description="When it is due, or when it came to this")
    post_id: str | None
    pill: PillView | None
    fence: int | None = Field(description="Of a delivery: which try a decision is about")
    words: str | None = Field(default=None, description="How the post begins")


class StepInput(InputModel):
    """One step for some things: deliveries by their ids, or posts by theirs (approve, delete)."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"step": "retry", "subjects": ["0193a7"]}]}
    )
    step: Step
    subjects: list[IdField] = Field(min_length=1, max_length=100)
    fences: dict[IdField, Annotated[int, Field(strict=True, ge=0)]] = Field(
        default_factory=dict[str, int],
        max_length=100,
        description="Of `it_is_there` and `send_again`: each subject's `fence` when it was looked at",
    )
    choice: resume.ResumeChoice = Field(
        default=resume.ResumeChoice.SHIFT, description="Of `resume`: what becomes of what came due"
    )


class StepResult(BaseModel):
    """What the step came to for one thing."""

    subject_id: str
    outcome: Literal["done", "refused", "elsewhere"]
    message: str | None = None


class StepResults(AnswerView):
    """One answer a thing."""

    answers: list[StepResult]


@routes.get(needs=Role.VIEWER, scope="posts:read")
async def list_things(ask: Reader, workspace_id: Id) -> list[AttentionItemView]:
    """List what wants a person: what is about to go wrong first."""

    def look(tx: Tx, now: datetime) -> list[AttentionItemView]:
        found = needs_attention(tx, now, workspace_id=workspace_id)
        blocked = [
            each.subject_id
            for each in found
            if each.kind is AttentionKind.BLOCKED and not each.pill
        ]
        reach = reached(ask, tx, blocked)
        things = [
            show(AttentionItemView, each)
            for each in found
            if each.subject_id in reach
            or ask.caller.may_use(each.pill.account_id if each.pill else each.subject_id)
        ]
        words = excerpts(tx, workspace_id=workspace_id, post_ids=[each.post_id for each in things])
        for each in things:
            each.words = words.get(each.post_id or "")
        return things

    return await ask.read(look)


@routes.post("/steps", needs=Role.EDITOR, scope="posts:publish")
async def step(act: Writer, workspace_id: Id, body: StepInput) -> StepResults:
    """Do one step for all of these; what is refused says why and changes nothing."""
    wanted = NEEDS.get(body.step)
    if act.caller.scopes is not None and wanted is not None and wanted not in act.caller.scopes:
        raise Problem(403, "scope_needed", f"This key may not do this: it needs {wanted}.")
    if body.step in ELSEWHERE:
        message = f"this is done by {ELSEWHERE[body.step]}"
        return StepResults(
            answers=[
                StepResult(subject_id=id_, outcome="elsewhere", message=message)
                for id_ in body.subjects
            ]
        )
    subjects = list(dict.fromkeys(body.subjects))
    rows = await act.read(lambda tx, _: _rows(act, tx, subjects))
    locks = locks_of(read_values(Delivery, rows))

    def operation(tx: Tx, now: datetime) -> StepResults:
        context = _StepRunner(act, tx, now, body)
        by_id = {row["id"]: row for row in _rows(act, tx, subjects)}
        answers = [_tried(id_, lambda id_=id_: context.do(id_, by_id.get(id_))) for id_ in subjects]
        act.spend(tx, now, context.published)
        return StepResults(answers=answers)

    return await act.write(operation, locks=locks)


def _tried(id_: str, do: Callable[[], str | None]) -> StepResult:
    """Do it; a refusal of a room comes before its first change, so the others go on."""
    try:
        message = do()
    except Problem as problem:
        return StepResult(subject_id=id_, outcome="refused", message=problem.detail)
    return StepResult(subject_id=id_, outcome="done", message=message)


class _StepRunner:
    """One step, for one thing after the other."""

    def __init__(self, act: WriteContext, tx: Tx, now: datetime, body: StepInput) -> None:
        self.act, self.tx, self.now, self.body = act, tx, now, body
        self.home = act.workspace_id
        self.published = 0  # what a key's budget pays for
        self._resumed: set[str] = set()
        self._started = False

    def do(self, id_: str, row: Row | None) -> str | None:
        """Do the step for one thing; return what a person should know about it."""
        requested = self.body.step
        if requested is Step.START:
            self._start()
        elif requested in ON_POSTS:
            self._on_post(requested, id_ if row is None else row["post_id"])
        elif row is None:
            raise not_found("delivery")
        elif requested is Step.PUBLISH_NOW:
            return self._publish(row)
        elif requested in WISHES:
            self._late(requested, row)
        elif requested is Step.RETRY:
            self._retry(row)
        elif requested is Step.RESUME:
            self._resume(row["account_id"])
        else:
            self._decide(row, is_there=requested is Step.IT_IS_THERE)
        return None

    def _on_post(self, requested: Step, post_id: str) -> None:
        one_post(self.act, self.tx, self.now, post_id)
        key: dict[str, Any] = {"workspace_id": self.home, "post_id": post_id, "by": self.act.by}
        files = self.act.runtime.files
        if requested is Step.APPROVE:
            answer = approve.approve(self.tx, self.now, **key, files=files)
            if not isinstance(answer, approve.Approved):
                refuse_post(answer)
            self.published += len(answer.scheduled)
        elif requested is Step.DELETE:
            gone = delete.delete(self.tx, self.now, **key)
            if not isinstance(gone, delete.Deleted):
                refuse_post(gone)
        else:
            out = publish_now.approve_and_publish_now(self.tx, self.now, **key, files=files)
            if not isinstance(out, publish_now.PublishingNow):
                refuse_post(out)
            self.published += sum(e.click is publish_now.Click.STARTED for e in out.places)

    def _late(self, requested: Step, row: Row) -> None:
        if (
            row["state"] != "missed" and requested is Step.TO_DRAFT
        ):  # held: out of the pipeline again
            key = {"workspace_id": self.home, "post_id": row["post_id"], "by": self.act.by}
            taken = cancel.cancel(self.tx, self.now, **key, only=[row["id"]])
            if not isinstance(taken, CanceledPost):
                refuse_post(taken)
            return
        answer = missed.rescue_missed(
            self.tx,
            self.now,
            workspace_id=self.home,
            account_id=row["account_id"],
            choice=WISHES[requested],
            by=self.act.by,
            ids=[row["id"]],
            files=self.act.runtime.files,
        )
        if isinstance(answer, NoQueue):
            refuse_queue(answer)
        if answer.unfit:
            unfit = refuse_unfit(
                self.tx, self.home, [read_value(StoredPiece, row)], self.act.runtime.files
            )
            assert unfit is not None, "it was refused for that"
            refuse_post(unfit)
        if answer.gone:
            raise conflict("moved_on", "It was not missed any more.")
        if answer.full:
            raise conflict("no_room", "There is no free slot left.")
        self.published += len(answer.moved)

    def _publish(self, row: Row) -> str | None:
        """Send what was missed or is held now, past its day's number of posts."""
        if row["state"] not in ("missed", "scheduled"):
            raise conflict("moved_on", f"It is {row['state']}: look again.")
        key = {"workspace_id": self.home, "post_id": row["post_id"], "by": self.act.by}
        out = publish_now.publish_now(self.tx, self.now, **key, only=[row["id"]])
        if not isinstance(out, publish_now.PublishingNow):
            refuse_post(out)
        self.published += sum(e.click is publish_now.Click.STARTED for e in out.places)
        return " ".join(f"{w[:1].upper()}{w[1:]}." for e in out.places for w in e.warnings) or None

    def _retry(self, row: Row) -> None:
        answer = retry.retry(
            self.tx,
            self.now,
            workspace_id=self.home,
            post_id=row["post_id"],
            by=self.act.by,
            only=[row["id"]],
            files=self.act.runtime.files,
        )
        if not isinstance(answer, retry.Retrying):
            refuse_post(answer)
        if not answer.deliveries:
            raise conflict("moved_on", "It has not failed, or not any more.")
        self.published += len(answer.deliveries)

    def _resume(self, account_id: str) -> None:
        if account_id in self._resumed:
            return
        answer = resume.resume(
            self.tx,
            self.now,
            workspace_id=self.home,
            account_id=account_id,
            by=self.act.by,
            choice=self.body.choice,
        )
        if not isinstance(answer, resume.Resumed):
            refuse_queue(answer)
        self._resumed.add(account_id)

    def _start(self) -> None:
        if self._started:
            return
        if self.act.caller.role is None or not self.act.caller.role.covers(Role.ADMIN):
            raise Problem(403, "role_needed", "An admin starts a stopped workspace.")
        stop.start(
            self.tx, self.now, workspace_id=self.home, by=self.act.by, choice=self.body.choice
        )
        self._started = True

    def _decide(self, row: Row, *, is_there: bool) -> None:
        seen = self.body.fences.get(row["id"])
        if seen is None:
            raise conflict("fence_needed", "Say in `fences` which try of it you looked at.")
        answer = change.decide_unconfirmed(
            self.tx,
            self.now,
            workspace_id=self.home,
            id=row["id"],
            fence=seen,
            is_there=is_there,
        )
        match answer:
            case change.NoSuchDelivery():
                raise not_found("delivery")
            case change.NotNow(message=message):
                raise conflict("moved_on", message)
            case change.NeedsRemoteId():
                raise conflict("remote_id_needed", "A thread: decide it alone, with its id.")
            case change.ChangedDelivery(state=state):
                self.published += not is_there
                record(
                    self.tx,
                    self.now,
                    workspace_id=self.home,
                    by=self.act.by,
                    action="delivery.decide",
                    subject_id=row["id"],
                    after={"state": state.value},
                )


def _rows(ask: ReadContext, tx: Tx, ids: Sequence[str]) -> list[Row]:
    """Return the deliveries among the subjects that the caller may see; others are posts, or nothing."""
    rows = tx.all(
        """
        SELECT delivery.* FROM TABLE(:ids) AS asked (id text) CROSS JOIN delivery
        WHERE delivery.workspace_id = :workspace_id AND delivery.id = asked.id
            AND delivery.post_id IS NOT NULL
        """,
        workspace_id=ask.workspace_id,
        ids=[(id_,) for id_ in ids],
    )
    return [row for row in rows if ask.caller.may_use(row["account_id"])]
