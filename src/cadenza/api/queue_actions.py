"""What people do with a whole queue: pause, resume, clear and take that back, rescue what was missed."""

from datetime import datetime, timedelta

from pydantic import ConfigDict, Field

from cadenza.api.action_routes import ActionContext
from cadenza.api.queue_schemas import AnswerView, MovedView, Refused, refuse, show
from cadenza.api.queues import acts_on_queues
from cadenza.api.request_context import Writer
from cadenza.api.schemas import Id, IdField, InputModel, Instant, Line
from cadenza.people.model import Role
from cadenza.queues import missed, resume
from cadenza.queues.clear import Cleared, clear
from cadenza.queues.model import locks
from cadenza.queues.pause import Paused, pause
from cadenza.queues.undo import Undone, undo, undo_accounts
from cadenza.sql.tx import Tx

on_queue = acts_on_queues("queues")
routes = on_queue.routes


class PauseInput(InputModel):
    """Why, and until when."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"reason": "breaking news"}]})
    reason: Line
    until: Instant | None = None


class PausedView(AnswerView):
    """Nothing of the account is claimed any more."""

    reason: str
    until: datetime | None
    under_way: int
    revision: int


class ResumeInput(InputModel):
    """What becomes of what came due meanwhile."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"choice": "shift"}]})
    choice: resume.ResumeChoice = resume.ResumeChoice.SHIFT
    minutes_apart: int = Field(default=5, ge=1, le=1440, strict=True)


class ResumedView(AnswerView):
    """It runs again."""

    choice: resume.ResumeChoice
    held: list[str]
    moved: list[MovedView]
    taken_back: list[str]
    revision: int
    was_paused: bool


class ClearInput(InputModel):
    """Whether posts that were timed by hand go too."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"by_hand": False}]})
    by_hand: bool = False


class ClearedView(AnswerView):
    """What was taken off the queue; `clear_id` takes it back for ten minutes."""

    clear_id: str | None
    canceled: list[str]
    on_their_way: list[str]
    drafts: list[str]
    undo_until: datetime | None


class UndoneView(AnswerView):
    """What stands where it stood, and what could not."""

    restored: list[str]
    lost: list[tuple[str, str]]


class RescueInput(InputModel):
    """What is to become of missed posts; all of them unless some are named."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"choice": "shift"}]})
    choice: resume.ResumeChoice
    ids: list[IdField] | None = Field(default=None, max_length=500)


class RescuedView(AnswerView):
    """Where they go now."""

    moved: list[MovedView]
    drafts: list[str]
    gone: list[str]
    full: list[str]
    unfit: list[str] = Field(description="Their channel would not take them: change them first")
    revision: int
    warnings: list[str] = Field(default=[])


@on_queue.act("/pause", done=Paused, shows=PausedView)
def pause_queue(context: ActionContext, body: PauseInput) -> Paused | Refused:
    """Let nothing of the account be sent from now on; adding and reordering still work."""
    return pause(context.tx, context.now, **context.about, reason=body.reason, until=body.until)


@on_queue.act("/resume", done=resume.Resumed, shows=ResumedView)
def resume_queue(context: ActionContext, body: ResumeInput) -> resume.Resumed | Refused:
    """Let it send again; what came due meanwhile is shifted, sent spaced, or taken back as drafts."""
    spacing = timedelta(minutes=body.minutes_apart)
    return resume.resume(
        context.tx, context.now, **context.about, choice=body.choice, spacing=spacing
    )


@on_queue.act("/clear", done=Cleared, shows=ClearedView)
def clear_queue(context: ActionContext, body: ClearInput) -> Cleared | Refused:
    """Take everything off the queue; it can be undone for ten minutes."""
    return clear(context.tx, context.now, **context.about, by_hand=body.by_hand)


@on_queue.act("/missed", done=missed.Rescued, shows=RescuedView)
def rescue_missed(context: ActionContext, body: RescueInput) -> missed.Rescued | Refused:
    """Give missed posts the next slots, send them now, or take them back as drafts."""
    return missed.rescue_missed(
        context.tx,
        context.now,
        **context.about,
        choice=body.choice,
        ids=body.ids,
        files=context.act.runtime.files,
    )


@routes.post("/queue/clears/{clear_id}/undo", needs=Role.EDITOR, scope="queue:write")
async def undo_clear(act: Writer, workspace_id: Id, clear_id: Id) -> UndoneView:
    """Bring back what was cleared, where its instants are still free."""
    accounts = await act.read(
        lambda tx, now: undo_accounts(tx, now, workspace_id=workspace_id, clear_id=clear_id)
    )
    for account_id in accounts:
        act.check_account(account_id)

    def operation(tx: Tx, now: datetime) -> UndoneView:
        answer = undo(tx, now, workspace_id=workspace_id, clear_id=clear_id, by=act.by)
        if not isinstance(answer, Undone):
            refuse(answer)
        return show(UndoneView, answer)

    return await act.write(operation, locks=locks(workspace_id, *accounts))
