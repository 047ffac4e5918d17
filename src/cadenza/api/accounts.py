"""Accounts: how they are, when and how much they may send, pausing them, letting them go."""

from datetime import date, datetime
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from cadenza.accounts import configure
from cadenza.accounts.disconnect import disconnect
from cadenza.accounts.hours import usual_hours
from cadenza.api.problems import conflict, invalid, not_found
from cadenza.api.queue_schemas import refuse
from cadenza.api.request_context import ReadContext, Reader, WriteContext, Writer
from cadenza.api.routes import Resource
from cadenza.api.schemas import (
    Answer,
    Id,
    InputModel,
    Instant,
    Line,
    WallTime,
    ZoneName,
    loads,
    one_of,
)
from cadenza.core.holiday_calendars import UnknownCalendarError, check_calendar
from cadenza.db.audit import record
from cadenza.deliveries import lanes, resume_plan, set_limit
from cadenza.deliveries.cancel_account import cancel_account
from cadenza.deliveries.init_account import set_width
from cadenza.deliveries.lift_suspension import NotSuspended, lift_suspension
from cadenza.deliveries.model import Action, account_scope
from cadenza.people.model import Role
from cadenza.providers.mail_address import is_address
from cadenza.queues.change import ChangedSchedule, change
from cadenza.queues.model import NoQueue
from cadenza.queues.pause import PauseOver
from cadenza.queues.resume import ResumeChoice, Resumed
from cadenza.queues.resume import resume as resume_queue
from cadenza.sql.tx import Row, Tx

routes = Resource("accounts", "/workspaces/{workspace_id}/accounts")
BATCHES = 20  # of canceled deliveries in one request; the rest meets the account's closed gate


OutreachAction = Literal[Action.EMAIL, Action.MESSAGE, Action.CONNECTION_REQUEST, Action.INMAIL]


AccountLabel = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60)]


def _calendar(name: str) -> str:
    try:
        return check_calendar(name)
    except UnknownCalendarError as unknown:
        raise ValueError(str(unknown)) from None


CalendarName = Annotated[
    str,
    StringConstraints(max_length=40, pattern=r"^[A-Za-z]{2}(-[A-Za-z0-9 ]{1,30})?$"),
    AfterValidator(_calendar),
    Field(examples=["DE-BY"]),
]


def _check_address(said: str) -> str:
    said = said.strip()
    if said and not is_address(said):
        raise ValueError("it is not a mail address, like ada@example.com")
    return said


SenderName = Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")]
MailAddress = Annotated[str, StringConstraints(max_length=254), AfterValidator(_check_address)]


class Hours(BaseModel):
    """From when to when, on which days; Sunday is 0."""

    model_config = ConfigDict(extra="forbid")
    start: WallTime
    end: WallTime
    days: list[Annotated[int, Field(ge=0, le=6, strict=True)]] = Field(
        default=[1, 2, 3, 4, 5], max_length=7
    )

    @model_validator(mode="after")
    def _is_some(self) -> "Hours":
        if self.start == self.end:
            raise ValueError("start and end are the same: leave the hours out to be open always")
        if self.start.tzinfo is not None or self.end.tzinfo is not None:
            raise ValueError("hours are wall times of the account's zone: leave the offset out")
        return self


class WarmUp(BaseModel):
    """So many a day at first, `step` more after every `every` days with at least one message."""

    model_config = ConfigDict(extra="forbid")
    start: int = Field(ge=1, le=10_000, strict=True)
    step: int = Field(ge=1, le=10_000, strict=True)
    every: int = Field(default=1, ge=1, le=30, strict=True)


class AccountHealthLimits(BaseModel):
    """From what share of the mails sent in 30 days the account is suspended; 100 never does."""

    model_config = ConfigDict(extra="forbid")
    bounce_percent: float = Field(default=2.0, gt=0, le=100)
    complaint_percent: float = Field(default=0.3, gt=0, le=100)
    after: int = Field(
        default=50, ge=1, le=100_000, description="Mails sent before bounces are judged"
    )


class Lane(BaseModel):
    """Where the account's deliveries wait."""

    paused: bool
    pause_reason: str | None
    paused_until: datetime | None
    parked_until: datetime | None
    park_reason: str | None
    in_flight: int


class Account(Answer):
    """A connected identity and how it is; never its credentials."""

    id: str
    provider: str
    remote_id: str
    handle: str
    name: str | None
    kind: str | None
    zone: str
    state: str
    state_reason: str | None
    token_expires_at: datetime | None
    token_refreshed_at: datetime | None
    lost_at: datetime | None
    grace_minutes: int
    unconfirmed_policy: str
    hours: dict[str, Hours | None]
    usual_hours: dict[Action, Hours | None] = Field(
        description="What holds for an action that `hours` does not name; null: at any time"
    )
    holidays: list[date]
    holiday_calendars: list[str] = Field(description="Countries whose public holidays it keeps")
    labels: list[str] = Field(description="By which sequences choose accounts")
    warm_up: dict[str, WarmUp] = Field(
        description="Per action: a new account begins with fewer a day than its limit allows"
    )
    bulk: bool = Field(
        description="Made for many (a mail relay): campaigns by it keep no limits of mail by hand"
    )
    from_name: str = Field(default="", description="The name that its mails come from")
    reply_to: str = Field(default="", description="Where answers to its mails go")
    signature: str = Field(default="", description="Plain text below every mail")
    health: AccountHealthLimits
    lane: Lane | None
    to_resume: int = Field(
        default=0,
        description="Posts that came due while it was disconnected; `resume` says what becomes of them",
    )
    created_at: datetime


class AccountChange(InputModel):
    """What to change of an account."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "zone": "Europe/Berlin",
                    "hours": {"email": {"start": "09:00", "end": "18:00", "days": [1, 2, 3, 4, 5]}},
                    "holidays": ["2026-12-25"],
                }
            ]
        }
    )
    zone: ZoneName | None = None
    grace_minutes: int | None = Field(default=None, ge=0, le=10_080, strict=True)
    unconfirmed_policy: Literal["ask", "assume_sent"] | None = None
    hours: dict[Action, Hours | None] | None = Field(
        default=None, description="Per action; null is always open, left out is the default"
    )
    holidays: list[date] | None = Field(default=None, max_length=400)
    holiday_calendars: list[CalendarName] | None = Field(
        default=None,
        max_length=5,
        description="Countries whose public holidays it keeps, such as DE, or DE-BY for a part of one",
    )
    labels: list[AccountLabel] | None = Field(default=None, max_length=20)
    warm_up: dict[OutreachAction, WarmUp | None] | None = Field(
        default=None, description="Per action; null, or left out, ends it"
    )
    bulk: bool | None = None
    from_name: SenderName | None = Field(
        default=None, description="The name that its mails come from; empty: none"
    )
    reply_to: MailAddress | None = Field(
        default=None, description="Where answers to its mails go; empty: to its own address"
    )
    signature: Annotated[str, StringConstraints(max_length=2_000)] | None = Field(
        default=None, description="Plain text below every mail; empty: none"
    )
    health: AccountHealthLimits | None = None


class Limit(BaseModel):
    """At most `amount` of an action in a period, or seconds between two of them."""

    model_config = ConfigDict(extra="forbid")
    action: Action | Literal["*"]
    kind: Literal["hour", "day", "week", "rolling_day", "rate", "gap"]
    amount: int = Field(ge=0, le=1_000_000, strict=True)
    per_seconds: int | None = Field(default=None, ge=1, le=86_400, strict=True)

    @model_validator(mode="after")
    def _makes_sense(self) -> "Limit":
        if self.kind == "rate" and self.amount < 1:
            raise ValueError("a rate allows at least one: pause the account to send nothing")
        if self.per_seconds is not None and self.kind != "rate":
            raise ValueError("per_seconds belongs to a rate")
        return self


class Limits(Answer):
    """An account's limits."""

    limits: list[Limit]


class LimitsInput(InputModel):
    """The limits that an account shall have, all of them."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"limits": [{"action": "post", "kind": "day", "amount": 10}]}]
        }
    )
    limits: list[Limit] = Field(max_length=60)

    @model_validator(mode="after")
    def _once_each(self) -> "LimitsInput":
        if len({(each.action, each.kind) for each in self.limits}) < len(self.limits):
            raise ValueError("an action has one limit of a kind")
        return self


class Pause(InputModel):
    """Why, and until when."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"reason": "the brand is changing"}]})
    reason: Line
    until: Instant | None = None


class Resume(InputModel):
    """What becomes of what came due meanwhile."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"choice": "send"}]})
    choice: ResumeChoice | None = Field(
        default=None, description="Needed where something came due meanwhile"
    )


class DisconnectInput(InputModel):
    """Why the account goes."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"reason": "the page was closed"}]})
    reason: Line = "disconnected by a person"


class Disconnected(Account):
    """The account is let go; its deliveries are canceled."""

    canceled: int
    in_hand: int = Field(description="In a worker's hands; the closed account stops them")


@routes.get(needs=Role.VIEWER, scope="accounts:read")
async def list_accounts(ask: Reader, workspace_id: Id) -> list[Account]:
    """List the accounts with their health."""
    chosen, accounts = one_of("id", ask.caller.accounts)

    def look(tx: Tx, now: datetime) -> list[Account]:
        rows = tx.all(
            f"SELECT * FROM account WHERE workspace_id = :workspace_id AND {chosen} ORDER BY provider, handle, id",  # noqa: S608 - names of parameters
            workspace_id=workspace_id,
            **accounts,
        )
        found = tx.all(
            "SELECT * FROM lane WHERE workspace_id = :workspace_id AND id = 'account:' || account_id",
            workspace_id=workspace_id,
        )
        by_account = {lane["account_id"]: lane for lane in found}
        held = resume_plan.count_held(tx, workspace_id=workspace_id)
        return [show(row, by_account.get(row["id"]), held.get(row["id"], 0)) for row in rows]

    return await ask.read(look)


@routes.get("/{account_id}", needs=Role.VIEWER, scope="accounts:read")
async def show_account(ask: Reader, workspace_id: Id, account_id: Id) -> Account:
    """Show one account."""
    return ask.tag(await ask.read(lambda tx, now: one(ask, tx, account_id)))


@routes.patch("/{account_id}", needs=Role.ADMIN, scope="accounts:write")
async def change_account(
    act: Writer, workspace_id: Id, account_id: Id, body: AccountChange
) -> Account:
    """Change zone, hours, holidays, how late it may send, and what becomes of doubts."""
    hours = None
    if body.hours is not None:
        hours = {
            action.value: None if said is None else said.model_dump(mode="json")
            for action, said in body.hours.items()
        }
    holidays = None if body.holidays is None else [day.isoformat() for day in body.holidays]

    def operation(tx: Tx, now: datetime) -> Account:
        before = one(act, tx, account_id)
        act.check_match(before)
        if body.zone not in (None, before.zone):
            _move_clock(act, tx, now, account_id, body.zone)
        configure.configure(
            tx,
            now,
            workspace_id=workspace_id,
            account_id=account_id,
            change=configure.Change(
                zone=body.zone,
                grace_minutes=body.grace_minutes,
                unconfirmed_policy=body.unconfirmed_policy,
                hours=hours,
                holidays=holidays,
                holiday_calendars=body.holiday_calendars,
                labels=None if body.labels is None else list(dict.fromkeys(body.labels)),
                warm_up=None
                if body.warm_up is None
                else {
                    action.value: None if said is None else said.model_dump()
                    for action, said in body.warm_up.items()
                },
                bulk=body.bulk,
                from_name=body.from_name,
                reply_to=body.reply_to,
                signature=body.signature,
                health=None if body.health is None else body.health.model_dump(),
            ),
            by=act.by,
        )
        if body.zone is not None:
            set_limit.recount(tx, now, workspace_id=workspace_id, account_id=account_id)
        set_width(tx, workspace_id, account_id)
        look_again(tx, workspace_id, account_id)
        return act.tag(one(act, tx, account_id))

    return await act.write(operation, locks=[configure.lock_of(workspace_id, account_id)])


@routes.get("/{account_id}/limits", needs=Role.VIEWER, scope="accounts:read")
async def list_limits(ask: Reader, workspace_id: Id, account_id: Id) -> Limits:
    """List an account's limits."""
    return ask.tag(await ask.read(lambda tx, now: _limits(ask, tx, account_id)))


@routes.put("/{account_id}/limits", needs=Role.ADMIN, scope="accounts:write")
async def set_limits(act: Writer, workspace_id: Id, account_id: Id, body: LimitsInput) -> Limits:
    """Replace an account's limits; what was used of them stays counted."""

    def operation(tx: Tx, now: datetime) -> Limits:
        act.check_match(_limits(act, tx, account_id))
        answer = set_limit.set_limits(
            tx,
            now,
            workspace_id=workspace_id,
            account_id=account_id,
            limits=[
                set_limit.Limit(
                    scope=account_scope(account_id),
                    action=str(each.action),
                    kind=each.kind,
                    amount=each.amount,
                    per_seconds=each.per_seconds,
                )
                for each in body.limits
            ],
            by=act.by,
        )
        if isinstance(answer, set_limit.NotALimit):
            raise invalid("body.limits", answer.message)
        return act.tag(_limits(act, tx, account_id))

    return await act.write(operation, locks=[configure.lock_of(workspace_id, account_id)])


@routes.post("/{account_id}/pause", needs=Role.EDITOR, scope="accounts:write")
async def pause(act: Writer, workspace_id: Id, account_id: Id, body: Pause) -> Account:
    """Let nothing of the account be sent from now on."""

    def operation(tx: Tx, now: datetime) -> Account:
        one(act, tx, account_id)
        if body.until is not None and body.until <= now:
            refuse(PauseOver(body.until))
        scope = account_scope(account_id)
        lanes.pause(
            tx, workspace_id=workspace_id, scope=scope, reason=body.reason, until=body.until
        )
        _record(act, tx, now, account_id, "account.pause", {"reason": body.reason})
        return one(act, tx, account_id)

    return await act.write(operation, locks=[configure.lock_of(workspace_id, account_id)])


@routes.post("/{account_id}/resume", needs=Role.EDITOR, scope="accounts:write")
async def resume(act: Writer, workspace_id: Id, account_id: Id, body: Resume) -> Account:
    """Let it send again; what came due in a pause or without a connection wants a choice."""

    def go(tx: Tx, now: datetime, *, dry_run: bool) -> Resumed:
        answer = resume_queue(
            tx,
            now,
            workspace_id=workspace_id,
            account_id=account_id,
            by=act.by,
            choice=body.choice or ResumeChoice.SHIFT,
            dry_run=dry_run,
        )
        if not isinstance(answer, Resumed):
            refuse(answer)
        return answer

    def operation(tx: Tx, now: datetime) -> Account:
        one(act, tx, account_id)
        if body.choice is None and (held := go(tx, now, dry_run=True).held):
            raise conflict(
                "choice_needed",
                "Deliveries came due meanwhile: say what becomes of them.",
                held=list(held),
                choices=[choice.value for choice in ResumeChoice],
            )
        go(tx, now, dry_run=False)
        return one(act, tx, account_id)

    return await act.write(operation, locks=[configure.lock_of(workspace_id, account_id)])


@routes.post("/{account_id}/lift-suspension", needs=Role.ADMIN, scope="accounts:write")
async def lift(act: Writer, workspace_id: Id, account_id: Id) -> Account:
    """Let an account send again that was suspended because many recipients failed in a row."""

    def operation(tx: Tx, now: datetime) -> Account:
        answer = lift_suspension(
            tx, now, workspace_id=workspace_id, account_id=account_id, by=act.by
        )
        if isinstance(answer, NotSuspended):
            raise conflict("not_suspended", "The account is not suspended.")
        return one(act, tx, account_id)

    return await act.write(operation, locks=[configure.lock_of(workspace_id, account_id)])


@routes.post("/{account_id}/disconnect", needs=Role.ADMIN, scope="accounts:write")
async def disconnect_account(
    act: Writer, workspace_id: Id, account_id: Id, body: DisconnectInput
) -> Disconnected:
    """Wipe its credentials and cancel what it had still to send; its history stays."""
    key = {"workspace_id": workspace_id, "account_id": account_id}

    def operation(tx: Tx, now: datetime) -> Disconnected:
        one(act, tx, account_id)
        disconnect(tx, now, **key, reason=body.reason)
        canceled = in_hand = 0
        for _ in range(BATCHES):
            batch = cancel_account(tx, now, **key, reason=body.reason)
            canceled, in_hand = canceled + batch.now, batch.in_hand
            if not batch.left:
                break
        _record(act, tx, now, account_id, "account.disconnect", {"reason": body.reason})
        shown = one(act, tx, account_id)
        return Disconnected(**shown.model_dump(), canceled=canceled, in_hand=in_hand)

    return await act.write(operation, locks=[configure.lock_of(workspace_id, account_id)])


def show(row: Row, lane: Row | None, to_resume: int = 0) -> Account:
    """Show an account to the outside: named fields only."""
    settings: dict[str, Any] = loads(row["settings"])
    fields = {name: row[name] for name in Account.model_fields if name in row}
    shown = None
    if lane is not None:
        shown = Lane(**{name: lane[name] for name in Lane.model_fields})
    return Account(
        **fields
        | {
            "name": settings.get("name"),
            "kind": settings.get("kind"),
            "hours": settings.get("hours", {}),
            "usual_hours": {action: usual_hours(action) for action in Action},
            "holidays": settings.get("holidays", []),
            "holiday_calendars": settings.get("holiday_calendars", []),
            "labels": settings.get("labels", []),
            "warm_up": {
                action: {name: said[name] for name in WarmUp.model_fields}
                for action, said in settings.get("warm_up", {}).items()
            },
            "bulk": settings.get("bulk", False),
            **{name: settings.get(name) or "" for name in ("from_name", "reply_to", "signature")},
            "health": AccountHealthLimits(**settings.get("health") or {}),
            "lane": shown,
            "to_resume": to_resume,
        }
    )


def one(ask: ReadContext, tx: Tx, account_id: str) -> Account:
    """Show one account of the caller's workspace, or refuse."""
    ask.check_account(account_id)
    row = configure.find_account(tx, ask.workspace_id, account_id)
    if row is None:
        raise not_found("account")
    lane = tx.one(
        "SELECT * FROM lane WHERE workspace_id = :workspace_id AND id = :id",
        workspace_id=ask.workspace_id,
        id=f"account:{account_id}",
    )
    held = resume_plan.count_held(tx, workspace_id=ask.workspace_id)
    return show(row, lane, held.get(account_id, 0))


def _limits(ask: ReadContext, tx: Tx, account_id: str) -> Limits:
    one(ask, tx, account_id)
    rows = set_limit.list_limits(tx, ask.workspace_id, account_scope(account_id))
    return Limits(limits=[Limit(**row) for row in rows])


def _move_clock(act: WriteContext, tx: Tx, now: datetime, account_id: str, zone: str) -> None:
    """Let what is queued keep its wall time in the new zone, as a change of the schedule does."""
    answer = change(
        tx, now, workspace_id=act.workspace_id, account_id=account_id, by=act.by, zone=zone
    )
    if not isinstance(answer, ChangedSchedule | NoQueue):
        refuse(answer)


def look_again(tx: Tx, workspace_id: str, account_id: str) -> None:
    """What waited for hours or a budget may go now: let the pipeline look again."""
    lanes.unpark(tx, accounts=[(workspace_id, account_id)], by=("hours", "budgets"))


def _record(
    act: WriteContext, tx: Tx, now: datetime, account_id: str, action: str, after: dict[str, Any]
) -> None:
    record(
        tx,
        now,
        workspace_id=act.workspace_id,
        by=act.by,
        action=action,
        subject_id=account_id,
        after=after,
    )
