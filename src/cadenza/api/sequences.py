"""Sequences: outreach in steps, planned under the limits of the accounts that send it."""

from datetime import datetime
from typing import Literal

from cadenza.api.contact_schemas import EPOCH
from cadenza.api.problems import not_found
from cadenza.api.queue_schemas import show
from cadenza.api.request_context import ReadContext, Reader, WriteContext, Writer
from cadenza.api.routes import Resource
from cadenza.api.schemas import Id, Page, Paged, cursor_at
from cadenza.api.sequence_schemas import (
    EnrolledView,
    MessageReplannedView,
    PlannedTimeView,
    ReadyMessagesInput,
    ReplanInput,
    SequenceChange,
    SequenceDeleted,
    SequenceInput,
    SequencePauseInput,
    SequencePeopleInput,
    SequencePeopleView,
    SequencePlanView,
    SequenceReplannedView,
    SequenceReportView,
    SequenceSnoozeInput,
    SequenceView,
    read_form,
    read_messages,
    refuse_sequence,
)
from cadenza.outreach import change_contact, enroll, replan, run, store
from cadenza.outreach.enroll import PeopleEnrolled
from cadenza.outreach.model import Enrolled, Sequence, SequenceState, sequence_lock
from cadenza.outreach.preview import PlanPreview, preview
from cadenza.outreach.replan import SequenceReplanned
from cadenza.outreach.report import report
from cadenza.people.model import Role
from cadenza.sql.tx import Tx

routes = Resource("sequences", "/workspaces/{workspace_id}/sequences")
SHOWN = 1_000  # times in one answer
StateName = Literal["waiting", "planned", "paused", "snoozed", "finished", "stopped"]


@routes.get(needs=Role.VIEWER, scope="sequences:read")
async def list_sequences(ask: Reader, workspace_id: Id) -> list[SequenceView]:
    """List sequences."""
    found = await ask.read(lambda tx, _: store.list_sequences(tx, workspace_id=workspace_id))
    return [show(SequenceView, each) for each in found if _may(ask, each)]


@routes.post(needs=Role.EDITOR, scope="sequences:write", status_code=201)
async def create_sequence(act: Writer, workspace_id: Id, body: SequenceInput) -> SequenceView:
    """Create a sequence as a draft."""
    for account_id in body.account_ids or ():
        act.check_account(account_id)

    def operation(tx: Tx, now: datetime) -> SequenceView:
        form = read_form(tx, workspace_id, body)
        made = store.create_sequence(tx, now, form, workspace_id=workspace_id, by=act.by)
        if not isinstance(made, Sequence):
            raise refuse_sequence(made)
        for account_id in made.account_ids:
            act.check_account(account_id)  # those that a label chose as well
        return act.tag(show(SequenceView, made))

    return await act.write(operation)


@routes.get("/{sequence_id}", needs=Role.VIEWER, scope="sequences:read")
async def show_sequence(ask: Reader, workspace_id: Id, sequence_id: Id) -> SequenceView:
    """Show a sequence."""
    found = await ask.read(lambda tx, _: _one(ask, tx, sequence_id))
    return ask.tag(show(SequenceView, found))


@routes.patch("/{sequence_id}", needs=Role.EDITOR, scope="sequences:write")
async def change_sequence(
    act: Writer, workspace_id: Id, sequence_id: Id, body: SequenceChange
) -> SequenceView:
    """Change a sequence; its steps only while it is a draft."""
    for account_id in body.account_ids or ():
        act.check_account(account_id)

    def operation(tx: Tx, now: datetime) -> SequenceView:
        act.check_match(show(SequenceView, _one(act, tx, sequence_id)))
        form = read_form(tx, workspace_id, body)
        made = store.change_sequence(
            tx, now, form, workspace_id=workspace_id, sequence_id=sequence_id, by=act.by
        )
        if not isinstance(made, Sequence):
            raise refuse_sequence(made)
        for account_id in made.account_ids:
            act.check_account(account_id)  # those that a label chose as well
        return act.tag(show(SequenceView, made))

    return await act.write(operation, locks=[sequence_lock(workspace_id, sequence_id)])


@routes.delete("/{sequence_id}", needs=Role.EDITOR, scope="sequences:write")
async def delete_sequence(act: Writer, workspace_id: Id, sequence_id: Id) -> SequenceDeleted:
    """Delete a draft; one that has run is ended instead."""

    def operation(tx: Tx, now: datetime) -> SequenceDeleted:
        _one(act, tx, sequence_id)
        made = store.delete_sequence(
            tx, now, workspace_id=workspace_id, sequence_id=sequence_id, by=act.by
        )
        if not isinstance(made, Sequence):
            raise refuse_sequence(made)
        return SequenceDeleted(id=made.id)

    return await act.write(operation, locks=[sequence_lock(workspace_id, sequence_id)])


@routes.post("/{sequence_id}/start", needs=Role.EDITOR, scope="sequences:write")
async def start_sequence(act: Writer, workspace_id: Id, sequence_id: Id) -> SequenceView:
    """Start a draft: from now on people get their times and messages are sent."""

    def operation(tx: Tx, now: datetime) -> SequenceView:
        _one(act, tx, sequence_id)
        people = report(tx, workspace_id=workspace_id, sequence_id=sequence_id).people
        act.spend(tx, now, sum(people.values()))
        made = run.start(tx, now, workspace_id=workspace_id, sequence_id=sequence_id, by=act.by)
        return _shown(act, made)

    return await act.write(operation, locks=await _locks(act, sequence_id))


@routes.post("/{sequence_id}/pause", needs=Role.EDITOR, scope="sequences:write")
async def pause_sequence(
    act: Writer, workspace_id: Id, sequence_id: Id, body: SequencePauseInput
) -> SequenceView:
    """Pause a sequence: nothing of it is sent from here on."""

    def operation(tx: Tx, now: datetime) -> SequenceView:
        _one(act, tx, sequence_id)
        made = run.pause(
            tx,
            now,
            workspace_id=workspace_id,
            sequence_id=sequence_id,
            by=act.by,
            reason=body.reason,
        )
        return _shown(act, made)

    return await act.write(operation, locks=await _locks(act, sequence_id))


@routes.post("/{sequence_id}/resume", needs=Role.EDITOR, scope="sequences:write")
async def resume_sequence(act: Writer, workspace_id: Id, sequence_id: Id) -> SequenceView:
    """Go on: what came due during the pause gets new times."""

    def operation(tx: Tx, now: datetime) -> SequenceView:
        _one(act, tx, sequence_id)
        made = run.resume(tx, now, workspace_id=workspace_id, sequence_id=sequence_id, by=act.by)
        return _shown(act, made)

    return await act.write(operation, locks=await _locks(act, sequence_id))


@routes.post("/{sequence_id}/end", needs=Role.EDITOR, scope="sequences:write")
async def end_sequence(act: Writer, workspace_id: Id, sequence_id: Id) -> SequenceView:
    """End a sequence for good: what is planned is canceled, the history stays."""

    def operation(tx: Tx, now: datetime) -> SequenceView:
        _one(act, tx, sequence_id)
        made = run.end(tx, now, workspace_id=workspace_id, sequence_id=sequence_id, by=act.by)
        return _shown(act, made)

    return await act.write(operation, locks=await _locks(act, sequence_id))


@routes.get("/{sequence_id}/plan", needs=Role.VIEWER, scope="sequences:read")
async def show_plan(ask: Reader, workspace_id: Id, sequence_id: Id) -> SequencePlanView:
    """Show what the planner would do with who waits: times, days, finish and warnings; nothing is stored."""

    def look(tx: Tx, now: datetime) -> PlanPreview:
        _one(ask, tx, sequence_id)
        found = preview(tx, now, workspace_id=workspace_id, sequence_id=sequence_id)
        if not isinstance(found, PlanPreview):
            raise refuse_sequence(found)
        return found

    return _plan(await ask.read(look))


@routes.post("/{sequence_id}/replan", needs=Role.EDITOR, scope="sequences:write")
async def replan_sequence(
    act: Writer, workspace_id: Id, sequence_id: Id, body: ReplanInput
) -> SequenceReplannedView:
    """Give unsent messages new times, or other accounts, and list what moves; a dry run shows it first."""
    if body.account_id is not None:
        act.check_account(body.account_id)

    def operation(tx: Tx, now: datetime) -> SequenceReplannedView:
        _one(act, tx, sequence_id)
        made = replan.replan(
            tx,
            now,
            workspace_id=workspace_id,
            sequence_id=sequence_id,
            account_id=body.account_id,
            reassign=body.reassign,
            by=act.by,
        )
        if not isinstance(made, SequenceReplanned):
            raise refuse_sequence(made)
        timed = [each for each in made.moves if each.now_at is not None]
        return SequenceReplannedView(
            moved=len(timed),
            without_time=len(made.moves) - len(timed),
            reassigned=sum(each.account_id != each.was_account_id for each in timed),
            unassigned=made.unassigned,
            moves=[show(MessageReplannedView, each) for each in made.moves[:SHOWN]],
        )

    locks = await act.read(lambda tx, _: replan.replan_locks(tx, workspace_id, sequence_id))
    return await act.write(operation, locks=locks)


@routes.get("/{sequence_id}/report", needs=Role.VIEWER, scope="sequences:read")
async def show_report(ask: Reader, workspace_id: Id, sequence_id: Id) -> SequenceReportView:
    """Count people by state, and messages by step, variant and account."""

    def look(tx: Tx, _now: datetime) -> SequenceReportView:
        _one(ask, tx, sequence_id)
        found = report(tx, workspace_id=workspace_id, sequence_id=sequence_id)
        return show(SequenceReportView, found)

    return await ask.read(look)


@routes.get("/{sequence_id}/contacts", needs=Role.VIEWER, scope="sequences:read")
async def list_contacts(
    ask: Reader, workspace_id: Id, sequence_id: Id, page: Paged, state: StateName | None = None
) -> Page[EnrolledView]:
    """List the people of a sequence in their order."""
    after = -1
    if page.after is not None:
        after = int(page.after[1]) if page.after[1].isdecimal() else -1

    def look(tx: Tx, _now: datetime) -> list[Enrolled]:
        _one(ask, tx, sequence_id)
        return enroll.list_enrolled(
            tx,
            workspace_id=workspace_id,
            sequence_id=sequence_id,
            state=state,
            after=after,
            limit=page.limit + 1,
        )

    found = await ask.read(look)
    last = found[page.limit - 1] if len(found) > page.limit else None
    return Page(
        items=[show(EnrolledView, each) for each in found[: page.limit]],
        next=None if last is None else cursor_at(EPOCH, str(last.position)),
    )


@routes.post("/{sequence_id}/contacts", needs=Role.EDITOR, scope="sequences:write")
async def add_contacts(
    act: Writer, workspace_id: Id, sequence_id: Id, body: SequencePeopleInput
) -> SequencePeopleView:
    """Put contacts or an audience into a sequence; who is there already stays as they are."""

    def operation(tx: Tx, now: datetime) -> SequencePeopleView:
        there = _one(act, tx, sequence_id)
        if body.audience_id is not None:
            made = enroll.enroll_audience(
                tx,
                now,
                workspace_id=workspace_id,
                sequence_id=sequence_id,
                audience_id=body.audience_id,
                after=body.after,
                by=act.by,
            )
        else:
            made = enroll.enroll(
                tx,
                now,
                workspace_id=workspace_id,
                sequence_id=sequence_id,
                contact_ids=body.contact_ids,
                by=act.by,
            )
        return _people(act, tx, now, there, made)

    return await act.write(operation, locks=[sequence_lock(workspace_id, sequence_id)])


@routes.post("/{sequence_id}/messages", needs=Role.EDITOR, scope="sequences:write")
async def add_messages(
    act: Writer, workspace_id: Id, sequence_id: Id, body: ReadyMessagesInput
) -> SequencePeopleView:
    """Put people with messages that were written for them into a sequence."""

    def operation(tx: Tx, now: datetime) -> SequencePeopleView:
        there = _one(act, tx, sequence_id)
        messages = read_messages(body)
        made = enroll.enroll(
            tx,
            now,
            workspace_id=workspace_id,
            sequence_id=sequence_id,
            contact_ids=list(messages),
            by=act.by,
            messages=messages,
        )
        return _people(act, tx, now, there, made)

    return await act.write(operation, locks=[sequence_lock(workspace_id, sequence_id)])


@routes.get("/{sequence_id}/contacts/{contact_id}", needs=Role.VIEWER, scope="sequences:read")
async def show_contact(
    ask: Reader, workspace_id: Id, sequence_id: Id, contact_id: Id
) -> EnrolledView:
    """Show how a person stands in a sequence."""

    def look(tx: Tx, _now: datetime) -> EnrolledView:
        _one(ask, tx, sequence_id)
        found = enroll.find_enrolled(tx, workspace_id, sequence_id, contact_id)
        if not isinstance(found, Enrolled):
            raise refuse_sequence(found)
        return show(EnrolledView, found)

    return await ask.read(look)


@routes.post(
    "/{sequence_id}/contacts/{contact_id}/pause", needs=Role.EDITOR, scope="sequences:write"
)
async def pause_contact(
    act: Writer, workspace_id: Id, sequence_id: Id, contact_id: Id
) -> EnrolledView:
    """Let a person wait until somebody resumes them."""

    def operation(tx: Tx, now: datetime) -> EnrolledView:
        _one(act, tx, sequence_id)
        about = {"workspace_id": workspace_id, "sequence_id": sequence_id, "by": act.by}
        return _person(change_contact.pause_contact(tx, now, contact_id=contact_id, **about))

    return await act.write(operation, locks=[sequence_lock(workspace_id, sequence_id)])


@routes.post(
    "/{sequence_id}/contacts/{contact_id}/resume", needs=Role.EDITOR, scope="sequences:write"
)
async def resume_contact(
    act: Writer, workspace_id: Id, sequence_id: Id, contact_id: Id
) -> EnrolledView:
    """Go on with a person who was paused, snoozed or stopped by hand."""

    def operation(tx: Tx, now: datetime) -> EnrolledView:
        _one(act, tx, sequence_id)
        about = {"workspace_id": workspace_id, "sequence_id": sequence_id, "by": act.by}
        return _person(change_contact.resume_contact(tx, now, contact_id=contact_id, **about))

    return await act.write(operation, locks=[sequence_lock(workspace_id, sequence_id)])


@routes.post(
    "/{sequence_id}/contacts/{contact_id}/snooze", needs=Role.EDITOR, scope="sequences:write"
)
async def snooze_contact(
    act: Writer, workspace_id: Id, sequence_id: Id, contact_id: Id, body: SequenceSnoozeInput
) -> EnrolledView:
    """Leave a person alone until a time; then the sequence goes on."""

    def operation(tx: Tx, now: datetime) -> EnrolledView:
        _one(act, tx, sequence_id)
        about = {"workspace_id": workspace_id, "sequence_id": sequence_id, "by": act.by}
        return _person(
            change_contact.snooze_contact(tx, now, contact_id=contact_id, until=body.until, **about)
        )

    return await act.write(operation, locks=[sequence_lock(workspace_id, sequence_id)])


@routes.post(
    "/{sequence_id}/contacts/{contact_id}/stop", needs=Role.EDITOR, scope="sequences:write"
)
async def stop_contact(
    act: Writer, workspace_id: Id, sequence_id: Id, contact_id: Id
) -> EnrolledView:
    """Stop the sequence for a person."""

    def operation(tx: Tx, now: datetime) -> EnrolledView:
        _one(act, tx, sequence_id)
        about = {"workspace_id": workspace_id, "sequence_id": sequence_id, "by": act.by}
        return _person(change_contact.stop_contact(tx, now, contact_id=contact_id, **about))

    return await act.write(operation, locks=[sequence_lock(workspace_id, sequence_id)])


def _one(ask: ReadContext, tx: Tx, sequence_id: str) -> Sequence:
    found = store.find_sequence(tx, ask.workspace_id, sequence_id)
    if not isinstance(found, Sequence) or not _may(ask, found):
        raise not_found("sequence")
    return found


def _may(ask: ReadContext, sequence: Sequence) -> bool:
    """Say whether a key with a list of accounts may use all that the sequence has."""
    return all(ask.caller.may_use(id_) for id_ in sequence.account_ids)


async def _locks(act: WriteContext, sequence_id: str) -> list[str]:
    return run.locks_of(await act.read(lambda tx, _: _one(act, tx, sequence_id)))


def _shown(act: WriteContext, made: object) -> SequenceView:
    if not isinstance(made, Sequence):
        raise refuse_sequence(made)
    return act.tag(show(SequenceView, made))


def _person(made: object) -> EnrolledView:
    if not isinstance(made, Enrolled):
        raise refuse_sequence(made)
    return show(EnrolledView, made)


def _people(
    act: WriteContext, tx: Tx, now: datetime, there: Sequence, made: object
) -> SequencePeopleView:
    if not isinstance(made, PeopleEnrolled):
        raise refuse_sequence(made)
    if there.state is not SequenceState.DRAFT:
        act.spend(tx, now, made.added)
    return SequencePeopleView(
        added=made.added,
        there_already=list(made.there_already),
        unknown=list(made.unknown),
        unreachable=list(made.unreachable),
        next=made.next,
    )


def _plan(found: PlanPreview) -> SequencePlanView:
    shown = SequencePlanView.model_validate(
        {
            "messages": found.messages,
            "without_time": found.without_time,
            "first_at": found.first_at,
            "last_at": found.last_at,
            "finish_on": found.finish_on,
            "binding": found.binding,
            "days": list(found.days),
            "warnings": list(found.warnings),
            "times": [],
        }
    )
    shown.times = [
        PlannedTimeView(
            contact_id=each.person.contact_id,
            account_id=each.account_id,
            step=each.person.next_step,
            at=each.at,
            limit=each.limit,
        )
        for each in found.times[:SHOWN]
        if each.at is not None
    ]
    return shown
