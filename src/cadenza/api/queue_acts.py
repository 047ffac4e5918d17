"""What people do with a whole queue: pause, resume, clear and take that back, rescue what was missed."""

from datetime import datetime, timedelta

from pydantic import ConfigDict, Field

from cadenza.api.ask import Act
from cadenza.api.perform import Deed
from cadenza.api.queue_shapes import MovedShown, Refused, ShownAnswer, refuse, show
from cadenza.api.queues import acts_on_queues
from cadenza.api.shape import Asked, Id, IdField, Instant, Line
from cadenza.people.model import Role
from cadenza.queues import late, resume
from cadenza.queues.clear import Cleared, clear
from cadenza.queues.model import locks
from cadenza.queues.pause import Paused, pause
from cadenza.queues.undo import Undone, undo, undo_accounts
from cadenza.sql.tx import Tx

on_queue = acts_on_queues("queues")
routes = on_queue.routes


class PauseAsked(Asked):
    """Why, and until when."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"reason": "breaking news"}]})
    reason: Line
    until: Instant | None = None


class PausedShown(ShownAnswer):
    """Nothing of the account is claimed any more."""

    reason: str
    until: datetime | None
    under_way: int
    revision: int


class ResumeAsked(Asked):
    """What becomes of what came due meanwhile."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"choice": "shift"}]})
    choice: resume.Choice = resume.Choice.SHIFT
    minutes_apart: int = Field(default=5, ge=1, le=1440, strict=True)


class ResumedShown(ShownAnswer):
    """It runs again."""

    choice: resume.Choice
    held: list[str]
    moved: list[MovedShown]
    taken_back: list[str]
    revision: int
    was_paused: bool


class ClearAsked(Asked):
    """Whether posts that were timed by hand go too."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"by_hand": False}]})
    by_hand: bool = False


class ClearedShown(ShownAnswer):
    """What was taken off the queue; `clear_id` takes it back for ten minutes."""

    clear_id: str | None
    canceled: list[str]
    on_their_way: list[str]
    drafts: list[str]
    undo_until: datetime | None


class UndoneShown(ShownAnswer):
    """What stands where it stood, and what could not."""

    restored: list[str]
    lost: list[tuple[str, str]]


class RescueAsked(Asked):
    """What is to become of missed posts; all of them unless some are named."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"wish": "next_slot"}]})
    wish: late.Wish
    ids: list[IdField] | None = Field(default=None, max_length=500)


class RescuedShown(ShownAnswer):
    """Where they go now."""

    moved: list[MovedShown]
    drafts: list[str]
    gone: list[str]
    full: list[str]
    unfit: list[str] = Field(description="Their channel would not take them: change them first")
    revision: int
    warnings: list[str] = Field(default=[])


@on_queue.act("/pause", done=Paused, shows=PausedShown)
def pause_queue(deed: Deed, body: PauseAsked) -> Paused | Refused:
    """Let nothing of the account be sent from now on; adding and reordering still work."""
    return pause(deed.tx, deed.now, **deed.about, reason=body.reason, until=body.until)


@on_queue.act("/resume", done=resume.Resumed, shows=ResumedShown)
def resume_queue(deed: Deed, body: ResumeAsked) -> resume.Resumed | Refused:
    """Let it send again; what came due meanwhile is shifted, sent spaced, or taken back as drafts."""
    spacing = timedelta(minutes=body.minutes_apart)
    return resume.resume(deed.tx, deed.now, **deed.about, choice=body.choice, spacing=spacing)


@on_queue.act("/clear", done=Cleared, shows=ClearedShown)
def clear_queue(deed: Deed, body: ClearAsked) -> Cleared | Refused:
    """Take everything off the queue; it can be undone for ten minutes."""
    return clear(deed.tx, deed.now, **deed.about, by_hand=body.by_hand)


@on_queue.act("/missed", done=late.Rescued, shows=RescuedShown)
def rescue_missed(deed: Deed, body: RescueAsked) -> late.Rescued | Refused:
    """Give missed posts the next slots, send them now, or take them back as drafts."""
    return late.rescue_missed(
        deed.tx,
        deed.now,
        **deed.about,
        wish=body.wish,
        ids=body.ids,
        files=deed.act.house.files,
    )


@routes.post("/queue/clears/{clear_id}/undo", needs=Role.EDITOR, scope="queue:write")
async def undo_clear(act: Act, workspace_id: Id, clear_id: Id) -> UndoneShown:
    """Bring back what was cleared, where its instants are still free."""
    accounts = await act.read(
        lambda tx, now: undo_accounts(tx, now, workspace_id=workspace_id, clear_id=clear_id)
    )
    for account_id in accounts:
        act.check_account(account_id)

    def operation(tx: Tx, now: datetime) -> UndoneShown:
        answer = undo(tx, now, workspace_id=workspace_id, clear_id=clear_id, by=act.by)
        if not isinstance(answer, Undone):
            refuse(answer)
        return show(UndoneShown, answer)

    return await act.write(operation, locks=locks(workspace_id, *accounts))
