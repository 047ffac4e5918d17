"""The shapes of sequences over HTTP: steps, accounts, people, plans and reports."""

from datetime import date, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from cadenza.api.accounts import AccountLabel
from cadenza.api.problems import Problem, conflict, invalid, not_found
from cadenza.api.queue_schemas import AnswerView, ValueView
from cadenza.api.schemas import Answer, IdField, InputModel, Instant, Line
from cadenza.contacts.audiences import NoSuchAudience
from cadenza.contacts.model import Invalid
from cadenza.core.channels import Channel
from cadenza.outreach.model import (
    Assignment,
    NameTaken,
    NoSuchEnrolled,
    NoSuchSequence,
    NotNow,
    ReadyMessage,
    Step,
    StepVariant,
    StopCause,
    Unfit,
)
from cadenza.outreach.store import SequenceForm
from cadenza.sql.tx import Tx
from cadenza.templates.model import TemplateVersion
from cadenza.templates.store import find_version

StepChannel = Literal["email", "linkedin_message", "linkedin_invitation", "linkedin_inmail"]
StopChoice = Literal["reply", "bounce", "accepted"]
AssignmentName = Literal["round_robin", "balanced", "sticky"]
Gap = Annotated[int, Field(ge=0, le=86_400, description="Seconds")]
MOST = 5_000


class StepVariantInput(InputModel):
    """A template, and its share of the people."""

    template_id: IdField
    version: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(
        default=None, description="Left out: the newest one when it is saved"
    )
    share: Annotated[int, Field(ge=1, le=1_000)] = 1


class SequenceStepInput(InputModel):
    """One message of a sequence."""

    channel: StepChannel = "email"
    variants: list[StepVariantInput] = Field(min_length=1, max_length=10)
    wait_days: Annotated[int, Field(ge=0, le=90)] = Field(
        default=0, description="Days within the account's hours after the step before"
    )
    only_if: Literal["accepted"] | None = Field(
        default=None, description="accepted: once the connection request is accepted"
    )
    same_thread: bool = Field(default=False, description="Answer the mail before")


class SequenceSettings(InputModel):
    """What both a new and a changed sequence may say."""

    account_ids: list[IdField] | None = Field(default=None, max_length=2_000)
    account_labels: list[AccountLabel] | None = Field(
        default=None,
        max_length=20,
        description="Instead of a list: every account with one of these labels, also later ones",
    )
    assignment: AssignmentName | None = None
    shortest_gap: Gap | None = None
    longest_gap: Gap | None = None
    even: bool | None = Field(default=None, description="Spread over the day's hours")
    recipient_hours: bool | None = Field(
        default=None, description="Plan within the same hours of the recipient's zone too"
    )
    stop_on: list[StopChoice] | None = Field(
        default=None, max_length=3, description="Unsubscribes and complaints always stop"
    )


class SequenceChange(SequenceSettings):
    """What is to be different; steps only while it is a draft."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "Autumn"}]})
    name: Line | None = None
    steps: list[SequenceStepInput] | None = Field(default=None, max_length=20)


class SequenceInput(SequenceSettings):
    """A new sequence: a draft until it is started."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "Autumn", "steps": []}]})
    name: Line
    steps: list[SequenceStepInput] = Field(default=[], max_length=20)


class SequencePeopleInput(InputModel):
    """Whom to add: contacts, or an audience; of a large one the answer says where to go on."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"contact_ids": ["someone"]}]})
    contact_ids: list[IdField] = Field(default=[], max_length=MOST)
    audience_id: IdField | None = None
    after: Annotated[str, StringConstraints(max_length=200, pattern=r"^[\w.:@-]*$")] = ""


class ReadyMessageInput(InputModel):
    """A message that was written for one person."""

    contact_id: IdField
    channel: StepChannel = "email"
    subject: Annotated[str, StringConstraints(max_length=998)] = ""
    text: Annotated[str, StringConstraints(min_length=1, max_length=100_000)]
    wait_days: Annotated[int, Field(ge=0, le=90)] = 0


class ReadyMessagesInput(InputModel):
    """Ready-made messages; several for one person follow each other."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"messages": [{"contact_id": "someone", "subject": "Hi", "text": "Hello"}]}
            ]
        }
    )
    messages: list[ReadyMessageInput] = Field(min_length=1, max_length=MOST)


class SequencePauseInput(InputModel):
    """Why it is paused."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"reason": "holidays"}]})
    reason: Annotated[str, StringConstraints(max_length=200)] = ""


class SequenceSnoozeInput(InputModel):
    """Until when a person is left alone."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"until": "2099-01-04T09:00:00Z"}]})
    until: Instant


class ReplanInput(InputModel):
    """Which unsent messages are planned again."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"reassign": True}]})
    account_id: IdField | None = Field(default=None, description="Only those of this account")
    reassign: bool = Field(
        default=False,
        description="Give messages of accounts that cannot send, or of the named one, to the others",
    )


class MessageReplannedView(ValueView):
    """A message before and after; without a new time it stays as it is."""

    delivery_id: str
    contact_id: str
    step: int
    was_account_id: str
    account_id: str
    was_at: datetime
    now_at: datetime | None


class SequenceReplannedView(Answer):
    """What moved; the first 1,000 moves are listed."""

    moved: int
    without_time: int
    reassigned: int
    unassigned: int = Field(description="People without a time who get another account")
    moves: list[MessageReplannedView]


class StepVariantView(ValueView):
    """A template version, and its share of the people."""

    template_version_id: str
    share: int


class SequenceStepView(ValueView):
    """One message of a sequence."""

    channel: str
    variants: list[StepVariantView]
    wait_days: int
    only_if: str | None
    same_thread: bool


class SequenceView(AnswerView):
    """A sequence."""

    id: str
    name: str
    state: Literal["draft", "running", "paused", "ended"]
    state_reason: str | None
    steps: list[SequenceStepView]
    account_ids: list[str]
    account_labels: list[str]
    assignment: AssignmentName
    shortest_gap: int
    longest_gap: int
    even: bool
    recipient_hours: bool
    stop_on: list[str]
    created_at: datetime
    updated_at: datetime
    started_at: datetime | None
    ended_at: datetime | None


class SequenceDeleted(Answer):
    """The draft is deleted; contacts and templates stay."""

    id: str


class SequencePeopleView(Answer):
    """What became of those who were named."""

    added: int
    there_already: list[str]
    unknown: list[str]
    unreachable: list[str]
    next: str | None


class EnrolledView(AnswerView):
    """How a person stands in a sequence; `next_step` counts from 0."""

    contact_id: str
    state: Literal["waiting", "planned", "paused", "snoozed", "finished", "stopped"]
    cause: str | None
    detail: str | None
    account_id: str | None
    next_step: int
    ready_at: datetime
    last_sent_at: datetime | None
    replied_at: datetime | None
    bounced_at: datetime | None
    accepted_at: datetime | None
    added_at: datetime


class SequenceDayView(ValueView):
    """One local date of one account; `expected` are follow-ups, an estimate."""

    account_id: str
    action: str
    day: date
    planned: int
    others: int
    expected: int
    cap: int | None


class PlanWarningView(ValueView):
    """Something to know before it starts."""

    code: str
    message: str
    account_id: str | None


class PlannedTimeView(BaseModel):
    """One person's next message."""

    contact_id: str
    account_id: str
    step: int
    at: datetime
    limit: str | None


class SequencePlanView(BaseModel):
    """What the planner would do now; nothing is stored."""

    messages: int
    without_time: int
    first_at: datetime | None
    last_at: datetime | None
    finish_on: date | None
    binding: str | None
    days: list[SequenceDayView]
    warnings: list[PlanWarningView]
    times: list[PlannedTimeView]


class ReportLineView(ValueView):
    """What became of one step's messages, of one variant, by one account."""

    step: int
    template_version_id: str | None
    account_id: str
    waiting: int
    sent: int
    unconfirmed: int
    not_sent: int
    replied: int
    bounced: int
    accepted: int


class SequenceReportView(ValueView):
    """People by state and by what stopped them, and messages by step, variant and account."""

    people: dict[str, int]
    stopped: dict[str, int]
    lines: list[ReportLineView]


def read_form(tx: Tx, workspace_id: str, body: SequenceChange | SequenceInput) -> SequenceForm:
    """Return the input as the operation takes it: templates become the versions that they have now."""
    steps = None
    if body.steps is not None:
        steps = [_step(tx, workspace_id, number, each) for number, each in enumerate(body.steps)]
    return SequenceForm(
        name=body.name,
        steps=steps,
        account_ids=body.account_ids,
        account_labels=body.account_labels,
        assignment=None if body.assignment is None else Assignment(body.assignment),
        shortest_gap=body.shortest_gap,
        longest_gap=body.longest_gap,
        even=body.even,
        recipient_hours=body.recipient_hours,
        stop_on=None if body.stop_on is None else [StopCause(each) for each in body.stop_on],
    )


def read_messages(body: ReadyMessagesInput) -> dict[str, tuple[ReadyMessage, ...]]:
    """Return ready-made messages by person, in their order."""
    found: dict[str, tuple[ReadyMessage, ...]] = {}
    for each in body.messages:
        one = ReadyMessage(
            channel=Channel(each.channel),
            text=each.text,
            subject=each.subject,
            wait_days=each.wait_days,
        )
        found[each.contact_id] = (*found.get(each.contact_id, ()), one)
    return found


def refuse_sequence(answer: object) -> Problem:
    """Say over HTTP what an operation on sequences refused."""
    match answer:
        case NoSuchSequence():
            return not_found("sequence")
        case NoSuchEnrolled():
            return not_found("contact in this sequence")
        case NoSuchAudience():
            return not_found("audience")
        case NameTaken(name=name):
            return conflict("taken", f"There is a sequence called {name!r}: choose another name.")
        case NotNow(state=state, message=message):
            return conflict("not_now", message, state=state)
        case Unfit(field=field, code=code, message=message):
            return invalid(f"body.{field}", message, code)
        case Invalid():
            return invalid("body.audience_id", answer.message, answer.code)
        case _:
            raise TypeError(f"{answer!r} is no refusal")


def _step(tx: Tx, workspace_id: str, number: int, said: SequenceStepInput) -> Step:
    variants: list[StepVariant] = []
    for place, each in enumerate(said.variants):
        found: Any = find_version(tx, workspace_id, each.template_id, each.version)
        if not isinstance(found, TemplateVersion):
            path = f"body.steps.{number}.variants.{place}.template_id"
            raise invalid(path, "there is no template of that id here", "no_template")
        variants.append(StepVariant(template_version_id=found.id, share=each.share))
    return Step(
        channel=Channel(said.channel),
        variants=tuple(variants),
        wait_days=said.wait_days,
        only_if=said.only_if,
        same_thread=said.same_thread,
    )
