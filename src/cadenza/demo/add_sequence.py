"""Gives the demo a sequence half way through: some people written to, one who answered, one whose mail bounced.

The first messages are sent by hand, one after the other, through the pipeline; what follows has times of the planner.
"""

from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial

from cadenza.bootstrap.model import Runtime
from cadenza.bootstrap.plan_sequences import plan_sequence
from cadenza.contacts.find import walk_ids
from cadenza.core.channels import Channel
from cadenza.deliveries.change import publish_now
from cadenza.outreach import run
from cadenza.outreach.enroll import enroll
from cadenza.outreach.model import Sequence, Step, StepVariant, StopCause
from cadenza.outreach.stop import stop_for
from cadenza.outreach.store import SequenceForm, create_sequence
from cadenza.sql.tx import Tx
from cadenza.templates.store import list_templates

NAME = "Wholesale, autumn"
SENT = 4  # of the people, so far


async def add_sequence(
    runtime: Runtime,
    *,
    home: str,
    by: str,
    account_id: str,
    send: Callable[[int], Awaitable[None]],
) -> None:
    """Make it run; `send` lets some minutes pass and sends what is due."""

    def begin(tx: Tx, now: datetime) -> tuple[Sequence, list[str]]:
        (welcome,) = [
            each
            for each in list_templates(tx, workspace_id=home, limit=100)
            if each.name == "Welcome"
        ]
        variants = (StepVariant(template_version_id=welcome.version.id),)
        steps = [
            Step(channel=Channel.EMAIL, variants=variants),
            Step(channel=Channel.EMAIL, variants=variants, wait_days=3, same_thread=True),
        ]
        form = SequenceForm(name=NAME, steps=steps, account_ids=[account_id])
        made = create_sequence(tx, now, form, workspace_id=home, by=by)
        assert isinstance(made, Sequence), made
        people = walk_ids(tx, workspace_id=home, conditions=(), after="", limit=8)
        assert isinstance(people, list), people
        enroll(tx, now, workspace_id=home, sequence_id=made.id, contact_ids=people, by=by)
        run.start(tx, now, workspace_id=home, sequence_id=made.id, by=by)
        return made, people

    made, people = await runtime.operations.run(begin)
    payload = {"workspace_id": home, "sequence_id": made.id}
    await plan_sequence(runtime, payload)
    planned = await runtime.operations.read(
        lambda tx, _: tx.all(
            """
            SELECT id FROM delivery WHERE workspace_id = :home AND sequence_id = :id
            ORDER BY due_at LIMIT :sent
            """,
            home=home,
            id=made.id,
            sent=SENT,
        )
    )
    for number, row in enumerate(planned):
        hurry = partial(publish_now, workspace_id=home, id=row["id"])
        await runtime.operations.run(hurry)
        await send(number)
    await plan_sequence(runtime, payload)

    def hear(tx: Tx, now: datetime) -> None:
        for contact_id, cause in zip(people, (StopCause.REPLY, StopCause.BOUNCE), strict=False):
            stop_for(tx, now, home, contact_id, cause)

    await runtime.operations.run(hear)
