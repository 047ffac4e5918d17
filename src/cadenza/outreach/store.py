"""Creates, changes, lists and deletes sequences. Run changes under `sequence_lock`.

Steps are fixed once a sequence has started: what was planned and what follows belong together. Accounts may join and
leave at any time; what one that left had planned stays where it is. Chosen by label, they join and leave with it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from cadenza.accounts.model import Account, labels_in, read_accounts
from cadenza.core.channels import Channel
from cadenza.db import audit
from cadenza.deliveries import lanes
from cadenza.deliveries.init_account import init_account
from cadenza.outreach import model
from cadenza.outreach.model import (
    ACTIONS,
    CHOICES,
    USUAL_STOPS,
    Assignment,
    NameTaken,
    NoSuchSequence,
    NotNow,
    SequenceState,
    Step,
    StopCause,
    Unfit,
    scope_of,
    sequence_of,
    to_json,
)
from cadenza.providers.registry import all_providers
from cadenza.sql.tx import Row, Tx
from cadenza.templates.store import load_versions

MOST_STEPS = 20
MOST_ACCOUNTS = 2_000
LONGEST_WAIT = 90  # days
LONGEST_GAP = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceForm:
    """What a person says of a sequence; None: as it is, or as usual."""

    name: str | None = None
    steps: Sequence[Step] | None = None
    account_ids: Sequence[str] | None = None
    account_labels: Sequence[str] | None = None
    assignment: Assignment | None = None
    shortest_gap: int | None = None
    longest_gap: int | None = None
    even: bool | None = None
    recipient_hours: bool | None = None
    stop_on: Sequence[StopCause] | None = None


Refused = NameTaken | NoSuchSequence | NotNow | Unfit


def create_sequence(
    tx: Tx, now: datetime, form: SequenceForm, *, workspace_id: str, by: str
) -> model.Sequence | Refused:
    """Create a sequence as a draft: nothing is planned before it is started."""
    fresh = model.Sequence(
        workspace_id=workspace_id,
        id=tx.new_id(),
        name=form.name or "",
        state=SequenceState.DRAFT,
        state_reason=None,
        assignment=Assignment.ROUND_ROBIN,
        turn=0,
        shortest_gap=300,
        longest_gap=1_200,
        even=False,
        recipient_hours=False,
        stop_on=USUAL_STOPS,
        steps=(),
        account_labels=(),
        account_ids=(),
        created_at=now,
        updated_at=now,
        started_at=None,
        ended_at=None,
    )
    made = _labelled(tx, _apply(fresh, form), form)
    if (wrong := _wrong(tx, made, form)) is not None:
        return wrong
    tx.run(
        """
        INSERT INTO sequence (
            workspace_id, id, name, assignment, shortest_gap, longest_gap, even, recipient_hours, stop_on,
            account_labels, created_by, created_at, updated_at
        ) VALUES (
            :workspace_id, :id, :name, :assignment, :shortest_gap, :longest_gap, :even, :recipient_hours, :stop_on,
            :account_labels, :by, :now, :now
        )
        """,
        **_columns(made),
        by=by,
        now=now,
    )
    _write_steps(tx, made)
    _write_accounts(tx, now, made, before=())
    audit.record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="sequence.create",
        subject_id=made.id,
        after={"name": made.name, "steps": len(made.steps), "accounts": len(made.account_ids)},
    )
    return made


def change_sequence(
    tx: Tx, now: datetime, form: SequenceForm, *, workspace_id: str, sequence_id: str, by: str
) -> model.Sequence | Refused:
    """Change a sequence; its steps only while it is a draft."""
    there = find_sequence(tx, workspace_id, sequence_id)
    if isinstance(there, NoSuchSequence):
        return there
    if there.state is SequenceState.ENDED:
        return NotNow(there.state, "It has ended: create another sequence.")
    made = _labelled(tx, _apply(replace(there, updated_at=now), form), form)
    if made.steps != there.steps and there.state is not SequenceState.DRAFT:
        return NotNow(there.state, "Steps can be changed while it is a draft.")
    if (wrong := _wrong(tx, made, form)) is not None:
        return wrong
    tx.run(
        """
        UPDATE sequence SET name = :name, assignment = :assignment, shortest_gap = :shortest_gap,
            longest_gap = :longest_gap, even = :even, recipient_hours = :recipient_hours, stop_on = :stop_on,
            account_labels = :account_labels, updated_at = :now
        WHERE workspace_id = :workspace_id AND id = :id
        """,
        **_columns(made),
        now=now,
    )
    if made.steps != there.steps:
        _write_steps(tx, made)
    if made.account_ids != there.account_ids:
        _write_accounts(tx, now, made, before=there.account_ids)
    audit.record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="sequence.change",
        subject_id=made.id,
        before={"name": there.name, "steps": len(there.steps), "accounts": len(there.account_ids)},
        after={"name": made.name, "steps": len(made.steps), "accounts": len(made.account_ids)},
    )
    return made


def delete_sequence(
    tx: Tx, now: datetime, *, workspace_id: str, sequence_id: str, by: str
) -> model.Sequence | NoSuchSequence | NotNow:
    """Delete a draft; one that has run is kept for its history, and ended instead."""
    there = find_sequence(tx, workspace_id, sequence_id)
    if isinstance(there, NoSuchSequence):
        return there
    if there.state is not SequenceState.DRAFT:
        return NotNow(there.state, "Only a draft can be deleted: end the sequence instead.")
    key = {"workspace_id": workspace_id, "id": sequence_id}
    tx.run(
        "DELETE FROM sequence_contact WHERE workspace_id = :workspace_id AND sequence_id = :id",
        **key,
    )
    tx.run(
        "DELETE FROM sequence_account WHERE workspace_id = :workspace_id AND sequence_id = :id",
        **key,
    )
    tx.run(
        "DELETE FROM sequence_step WHERE workspace_id = :workspace_id AND sequence_id = :id", **key
    )
    tx.run("DELETE FROM sequence WHERE workspace_id = :workspace_id AND id = :id", **key)
    audit.record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="sequence.delete",
        subject_id=sequence_id,
        before={"name": there.name},
    )
    return there


def find_sequence(tx: Tx, workspace_id: str, sequence_id: str) -> model.Sequence | NoSuchSequence:
    """Return a sequence with its steps and accounts."""
    row = tx.one(
        "SELECT * FROM sequence WHERE workspace_id = :workspace_id AND id = :id",
        workspace_id=workspace_id,
        id=sequence_id,
    )
    return NoSuchSequence(sequence_id) if row is None else _complete(tx, workspace_id, [row])[0]


def list_sequences(tx: Tx, *, workspace_id: str) -> list[model.Sequence]:
    """List sequences by name."""
    rows = tx.all(
        "SELECT * FROM sequence WHERE workspace_id = :workspace_id ORDER BY name, id",
        workspace_id=workspace_id,
    )
    return _complete(tx, workspace_id, rows)


def load_sequences(tx: Tx, workspace_id: str, ids: Iterable[str]) -> dict[str, model.Sequence]:
    """Return sequences by their ids."""
    rows = tx.all(
        """
        SELECT sequence.* FROM TABLE(:ids) AS asked (id text)
        JOIN sequence ON sequence.workspace_id = :workspace_id AND sequence.id = asked.id
        """,
        ids=[(id_,) for id_ in sorted(set(ids))],
        workspace_id=workspace_id,
    )
    return {each.id: each for each in _complete(tx, workspace_id, rows)}


def join_by_label(tx: Tx, now: datetime, *, workspace_id: str, sequence_id: str) -> int:
    """Let accounts with a sequence's labels join, and others leave; return how many there are."""
    there = find_sequence(tx, workspace_id, sequence_id)
    if isinstance(there, NoSuchSequence) or not there.account_labels:
        return 0
    made = _labelled(tx, there, SequenceForm(account_labels=there.account_labels))
    if made.account_ids != there.account_ids:
        _write_accounts(tx, now, made, before=there.account_ids)
    return len(made.account_ids)


def can_send(account: Account, channel: Channel) -> bool:
    """Say whether an account's network has this channel."""
    provider = all_providers().get(account.provider)
    return provider is not None and channel in provider.channels


def _complete(tx: Tx, workspace_id: str, rows: Sequence[Row]) -> list[model.Sequence]:
    if not rows:
        return []
    ids = [(row["id"],) for row in rows]
    steps = tx.all(
        """
        SELECT step.* FROM TABLE(:ids) AS asked (id text)
        JOIN sequence_step step ON step.workspace_id = :workspace_id AND step.sequence_id = asked.id
        ORDER BY step.sequence_id, step.number
        """,
        ids=ids,
        workspace_id=workspace_id,
    )
    accounts = tx.all(
        """
        SELECT a.* FROM TABLE(:ids) AS asked (id text)
        JOIN sequence_account a ON a.workspace_id = :workspace_id AND a.sequence_id = asked.id
        ORDER BY a.sequence_id, a.position
        """,
        ids=ids,
        workspace_id=workspace_id,
    )
    return [
        sequence_of(
            row,
            [each for each in steps if each["sequence_id"] == row["id"]],
            [each for each in accounts if each["sequence_id"] == row["id"]],
        )
        for row in rows
    ]


def _labelled(tx: Tx, made: model.Sequence, form: SequenceForm) -> model.Sequence:
    """Give a sequence the accounts that have one of its labels: those it had in their order, then new ones."""
    if not made.account_labels or form.account_labels is None:
        return made
    wanted = {label.casefold() for label in made.account_labels}
    rows = tx.all(
        """
        SELECT id, provider, settings FROM account
        WHERE workspace_id = :workspace_id AND state <> 'disabled' ORDER BY created_at, id
        """,
        workspace_id=made.workspace_id,
    )
    found = [
        row["id"]
        for row in rows
        if wanted & {label.casefold() for label in labels_in(row["settings"])}
        and _sends_outreach(row["provider"])
    ]
    kept = [id_ for id_ in made.account_ids if id_ in set(found)]
    return replace(made, account_ids=tuple(dict.fromkeys([*kept, *found])))


def _sends_outreach(provider: str) -> bool:
    known = all_providers().get(provider)
    return known is not None and any(channel in known.channels for channel in ACTIONS)


def _apply(there: model.Sequence, form: SequenceForm) -> model.Sequence:
    said = {
        "name": form.name,
        "steps": None if form.steps is None else tuple(form.steps),
        "account_ids": None if form.account_ids is None else tuple(dict.fromkeys(form.account_ids)),
        "account_labels": None
        if form.account_labels is None
        else tuple(dict.fromkeys(form.account_labels)),
        "assignment": form.assignment,
        "shortest_gap": form.shortest_gap,
        "longest_gap": form.longest_gap,
        "even": form.even,
        "recipient_hours": form.recipient_hours,
        "stop_on": None if form.stop_on is None else tuple(dict.fromkeys(form.stop_on)),
    }
    return replace(there, **{name: value for name, value in said.items() if value is not None})


def _wrong(tx: Tx, made: model.Sequence, form: SequenceForm) -> Unfit | NameTaken | None:
    taken = tx.value(
        "SELECT id FROM sequence WHERE workspace_id = :workspace_id AND name = :name AND id <> :id",
        workspace_id=made.workspace_id,
        name=made.name,
        id=made.id,
    )
    if taken is not None:
        return NameTaken(made.name)
    if not 0 <= made.shortest_gap <= made.longest_gap <= LONGEST_GAP:
        return Unfit("longest_gap", "gap", "The longest gap must not be below the shortest.")
    if any(each not in CHOICES for each in made.stop_on):
        said = ", ".join(CHOICES)
        return Unfit("stop_on", "stop_on", f"Choose from {said}; the others always stop.")
    if made.account_labels and form.account_ids:
        message = "Choose accounts by list or by label, not both."
        return Unfit("account_labels", "both", message)
    if form.steps is not None and (wrong := _wrong_steps(tx, made)) is not None:
        return wrong
    if form.account_ids is not None or form.account_labels is not None:
        return _wrong_accounts(tx, made)
    return None


def _wrong_steps(tx: Tx, made: model.Sequence) -> Unfit | None:
    if len(made.steps) > MOST_STEPS:
        return Unfit("steps", "too_many", f"A sequence has at most {MOST_STEPS} steps.")
    wanted = {each.template_version_id for step in made.steps for each in step.variants}
    known = load_versions(tx, made.workspace_id, sorted(wanted))
    for number, step in enumerate(made.steps):
        field = f"steps.{number}"
        if step.channel not in ACTIONS:
            said = ", ".join(ACTIONS)
            return Unfit(f"{field}.channel", "channel", f"Outreach is written by {said}.")
        if not step.variants or any(each.share < 1 for each in step.variants):
            return Unfit(
                f"{field}.variants", "variants", "Name a template, with a share of 1 or more."
            )
        for each in step.variants:
            if each.template_version_id not in known:
                return Unfit(
                    f"{field}.variants", "no_template", "There is no template of that id here."
                )
        if not 0 <= step.wait_days <= LONGEST_WAIT:
            return Unfit(f"{field}.wait_days", "wait", f"Wait 0 to {LONGEST_WAIT} days.")
        if step.only_if is not None and step.only_if != "accepted":
            return Unfit(f"{field}.only_if", "condition", "The condition is accepted, or none.")
        if step.only_if is not None and not any(
            before.channel is Channel.LINKEDIN_INVITATION for before in made.steps[:number]
        ):
            message = "A connection request must come before a step that waits for its acceptance."
            return Unfit(f"{field}.only_if", "condition", message)
        if step.same_thread and not any(
            before.channel is Channel.EMAIL for before in made.steps[:number]
        ):
            message = "A mail must come before a step that answers in its thread."
            return Unfit(f"{field}.same_thread", "thread", message)
    return None


def _wrong_accounts(tx: Tx, made: model.Sequence) -> Unfit | None:
    if len(made.account_ids) > MOST_ACCOUNTS:
        return Unfit("account_ids", "too_many", f"A sequence has at most {MOST_ACCOUNTS} accounts.")
    found = read_accounts(tx, [(made.workspace_id, id_) for id_ in made.account_ids])
    for id_ in made.account_ids:
        account = found.get((made.workspace_id, id_))
        if account is None:
            return Unfit("account_ids", "no_account", "There is no account of that id here.")
        if not any(can_send(account, channel) for channel in ACTIONS):
            message = (
                f"{account.handle or account.remote_id} sends neither mail nor LinkedIn messages."
            )
            return Unfit("account_ids", "wrong_account", message)
    return None


def _columns(made: model.Sequence) -> dict[str, object]:
    return {
        "workspace_id": made.workspace_id,
        "id": made.id,
        "name": made.name,
        "assignment": made.assignment.value,
        "shortest_gap": made.shortest_gap,
        "longest_gap": made.longest_gap,
        "even": made.even,
        "recipient_hours": made.recipient_hours,
        "stop_on": to_json(made.stop_on),
        "account_labels": to_json(made.account_labels),
    }


def _write_steps(tx: Tx, made: model.Sequence) -> None:
    key = {"workspace_id": made.workspace_id, "id": made.id}
    tx.run(
        "DELETE FROM sequence_step WHERE workspace_id = :workspace_id AND sequence_id = :id", **key
    )
    tx.run(
        """
        INSERT INTO sequence_step (
            workspace_id, sequence_id, number, channel, wait_days, only_if, same_thread, variants
        ) SELECT :workspace_id, :id, number, channel, wait_days, only_if, same_thread, variants
        FROM TABLE(:new) AS new (
            number integer, channel text, wait_days integer, only_if text, same_thread boolean, variants text
        ) WHERE true
        """,
        new=[
            (
                number,
                step.channel.value,
                step.wait_days,
                step.only_if,
                step.same_thread,
                to_json(step.variants),
            )
            for number, step in enumerate(made.steps)
        ],
        **key,
    )


def _write_accounts(tx: Tx, now: datetime, made: model.Sequence, *, before: Sequence[str]) -> None:
    """Let accounts join: each gets the usual limits of actions that it has none for, and a lane of the sequence."""
    key = {"workspace_id": made.workspace_id, "id": made.id}
    tx.run(
        "DELETE FROM sequence_account WHERE workspace_id = :workspace_id AND sequence_id = :id",
        **key,
    )
    tx.run(
        """
        INSERT INTO sequence_account (workspace_id, sequence_id, account_id, position)
        SELECT :workspace_id, :id, account_id, position
        FROM TABLE(:new) AS new (account_id text, position integer) WHERE true
        """,
        new=[(account_id, position) for position, account_id in enumerate(made.account_ids)],
        **key,
    )
    for account_id in set(made.account_ids) - set(before):
        init_account(tx, now, workspace_id=made.workspace_id, account_id=account_id)
        lanes.open_lane(
            tx,
            workspace_id=made.workspace_id,
            scope=scope_of(made.id),
            account_id=account_id,
        )
    if made.state is SequenceState.PAUSED:
        scope = scope_of(made.id)
        reason = "the sequence is paused"
        lanes.pause(tx, workspace_id=made.workspace_id, scope=scope, reason=reason)
