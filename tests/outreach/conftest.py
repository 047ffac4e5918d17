"""A workspace with mailboxes, a template and people, on both databases, and a runtime whose jobs run when asked."""

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest

from cadenza.bootstrap import Runtime, open_runtime
from cadenza.bootstrap.plan_sequences import plan_sequence
from cadenza.config.model import Settings
from cadenza.contacts.model import Contact, ContactForm
from cadenza.contacts.save import create_contact
from cadenza.core.channels import Channel
from cadenza.deliveries import lanes
from cadenza.deliveries.claim import claim
from cadenza.deliveries.init_account import init_account
from cadenza.deliveries.model import ClaimedDelivery
from cadenza.deliveries.permit import PermitRequest, Permitted, permit
from cadenza.deliveries.permit import locks_of as permit_locks
from cadenza.deliveries.settle import Result, settle
from cadenza.deliveries.settle import locks_of as settle_locks
from cadenza.outreach import model, run
from cadenza.outreach.enroll import PeopleEnrolled, enroll
from cadenza.outreach.model import Enrolled, Step, StepVariant, enrolled_of, sequence_lock
from cadenza.outreach.plan import assign_chunk, plan_account
from cadenza.outreach.preview import PlanPreview, preview
from cadenza.outreach.store import SequenceForm, create_sequence, find_sequence
from cadenza.people.workspaces import NewWorkspace, create_workspace
from cadenza.providers.outcome import Outcome, Sent
from cadenza.sql.tx import Row, Tx
from cadenza.templates.model import Template, TemplateContent
from cadenza.templates.store import create_template

HOME = "home-of-ada"
ADA = "member:ada"
NEW_YORK = "America/New_York"
MONDAY = datetime(2026, 6, 1, 12, tzinfo=UTC)  # 08:00 in New York
ALWAYS = {"start": "00:00", "end": "00:00", "days": [0, 1, 2, 3, 4, 5, 6]}


class Office:
    """What people and the planner do with sequences; `now` is the test's own where one is given."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.operations = runtime.operations
        self._numbers = count(1)

    async def run(
        self, operation: Any, *, now: datetime | None = None, locks: Sequence[str] = ()
    ) -> Any:
        return await self.operations.run(
            lambda tx, clock: operation(tx, now or clock), locks=list(locks)
        )

    async def account(
        self,
        id_: str,
        *,
        zone: str = NEW_YORK,
        always: bool = False,
        provider: str = "smtp",
        **settings: Any,
    ) -> str:
        said = dict(settings)
        if always:
            said["hours"] = dict.fromkeys(
                ("email", "message", "connection_request", "inmail"), ALWAYS
            )

        def add(tx: Tx, now: datetime) -> None:
            tx.run(
                """
                INSERT INTO account (workspace_id, id, provider, remote_id, zone, settings, created_at)
                VALUES (:home, :id, :provider, :id, :zone, :settings, :now)
                """,
                home=HOME,
                id=id_,
                provider=provider,
                zone=zone,
                settings=msgspec.json.encode(said).decode(),
                now=now,
            )
            init_account(tx, now, workspace_id=HOME, account_id=id_)

        await self.run(add)
        return id_

    async def template(
        self, subject: str = "Hi {{first_name}}", body: str = "Hello {{first_name}}"
    ) -> str:
        words = TemplateContent(subject=subject, body=body)

        def add(tx: Tx, now: datetime) -> str:
            name = f"template {next(self._numbers)}"
            made = create_template(tx, now, words, workspace_id=HOME, name=name, by=ADA)
            assert isinstance(made, Template)
            found = tx.value("SELECT id FROM template_version WHERE template_id = :id", id=made.id)
            return str(found)

        return await self.run(add)

    async def people(self, number: int, **said: Any) -> list[str]:
        def add(tx: Tx, now: datetime) -> list[str]:
            ids: list[str] = []
            for _ in range(number):
                n = next(self._numbers)
                form = ContactForm(
                    **{"first_name": f"Person {n}", **said},
                    addresses=[
                        ("email", f"person{n}@example.org"),
                        ("linkedin", f"https://www.linkedin.com/in/person{n}"),
                    ],
                )
                made = create_contact(tx, now, form, workspace_id=HOME, by=ADA)
                assert isinstance(made, Contact), made
                ids.append(made.id)
            return ids

        return await self.run(add)

    async def sequence(
        self, *accounts: str, steps: Sequence[Step] | None = None, **said: Any
    ) -> model.Sequence:
        if steps is None:
            steps = [mail(await self.template())]
        form = SequenceForm(
            name=said.pop("name", f"sequence {next(self._numbers)}"),
            steps=steps,
            account_ids=accounts,
            **said,
        )
        made = await self.run(partial(create_sequence, form=form, workspace_id=HOME, by=ADA))
        assert isinstance(made, model.Sequence), made
        return made

    async def enroll(
        self, sequence: model.Sequence, people: Sequence[str], **said: Any
    ) -> PeopleEnrolled:
        made = await self.run(
            partial(
                enroll,
                workspace_id=HOME,
                sequence_id=sequence.id,
                contact_ids=people,
                by=ADA,
                **said,
            ),
            now=said.pop("now", MONDAY - timedelta(days=1))
            if "now" in said
            else MONDAY - timedelta(days=1),
            locks=[sequence_lock(HOME, sequence.id)],
        )
        assert isinstance(made, PeopleEnrolled), made
        return made

    async def change(
        self, what: Any, sequence: model.Sequence, *, now: datetime | None = None, **said: Any
    ) -> Any:
        return await self.run(
            partial(what, workspace_id=HOME, sequence_id=sequence.id, by=ADA, **said),
            now=now,
            locks=run.locks_of(sequence),
        )

    async def start(self, sequence: model.Sequence, *, now: datetime | None = None) -> None:
        made = await self.change(run.start, sequence, now=now)
        assert isinstance(made, model.Sequence), made

    async def plan(
        self, sequence: model.Sequence, *, now: datetime = MONDAY, limit: int = 1_000
    ) -> int:
        """Assign and plan everybody who waits, as the job does, at a time of the test's own."""
        about = {"workspace_id": HOME, "sequence_id": sequence.id}
        while await self.run(partial(assign_chunk, **about), now=now):
            continue
        planned = 0
        for account_id in sequence.account_ids:
            while True:
                done = await self.run(
                    partial(plan_account, account_id=account_id, limit=limit, **about), now=now
                )
                planned += done.planned
                if not done.left:
                    break
        return planned

    async def work(self, sequence: model.Sequence) -> None:
        """Run the background job."""
        await plan_sequence(self.runtime, {"workspace_id": HOME, "sequence_id": sequence.id})

    async def ready(
        self, *accounts: str, people: int, now: datetime = MONDAY, **said: Any
    ) -> model.Sequence:
        """A sequence of one step that runs and is planned."""
        made = await self.sequence(*accounts, **said)
        await self.enroll(made, await self.people(people))
        await self.start(made, now=now)
        await self.plan(made, now=now)
        return made

    async def preview(self, sequence: model.Sequence, *, now: datetime = MONDAY) -> PlanPreview:
        found = await self.operations.read(
            lambda tx, _: preview(tx, now, workspace_id=HOME, sequence_id=sequence.id)
        )
        assert isinstance(found, PlanPreview)
        return found

    async def found(self, sequence: model.Sequence) -> model.Sequence:
        there = await self.operations.read(lambda tx, _: find_sequence(tx, HOME, sequence.id))
        assert isinstance(there, model.Sequence)
        return there

    async def by_id(self, id_: str) -> model.Sequence:
        there = await self.operations.read(lambda tx, _: find_sequence(tx, HOME, id_))
        assert isinstance(there, model.Sequence)
        return there

    async def person(self, sequence: model.Sequence, contact_id: str) -> Enrolled:
        (row,) = await self.rows(
            "SELECT * FROM sequence_contact WHERE sequence_id = :id AND contact_id = :contact",
            id=sequence.id,
            contact=contact_id,
        )
        return enrolled_of(row)

    async def deliveries(self, sequence: model.Sequence | None = None, **where: Any) -> list[Row]:
        rows = await self.rows(
            "SELECT * FROM delivery WHERE sequence_id IS NOT NULL ORDER BY due_at, id"
        )
        if sequence is not None:
            where["sequence_id"] = sequence.id
        return [row for row in rows if all(row[name] == value for name, value in where.items())]

    async def rows(self, sql: str, **params: Any) -> list[Row]:
        return await self.operations.read(lambda tx, _: tx.all(sql, **params))

    async def make_due(self) -> None:
        """Let everything that waits be due, and every park and gap be over."""

        def pass_time(tx: Tx, now: datetime) -> None:
            tx.run(
                """
                UPDATE delivery SET due_at = :now WHERE state = 'scheduled' AND sequence_id IS NOT NULL
                """,
                now=now,
            )
            tx.run("UPDATE lane SET parked_until = NULL, park_reason = NULL, parked_by = NULL")
            tx.run("UPDATE bucket SET free_at = NULL WHERE kind = 'gap'")
            rows = tx.all("SELECT workspace_id, id FROM lane")
            lanes.refresh(tx, [(row["workspace_id"], row["id"]) for row in rows])

        await self.run(pass_time)

    async def claim(self, limit: int = 100) -> list[ClaimedDelivery]:
        lease = timedelta(seconds=60)
        return await self.run(partial(claim, limit=limit, worker="w", lease=lease))

    async def permit(self, ticket: ClaimedDelivery) -> Any:
        request = PermitRequest(ticket, f"attempt-{next(self._numbers)}")
        (answer,) = await self.run(
            partial(permit, requests=[request]), locks=permit_locks([request])
        )
        return answer

    async def settle(self, ticket: ClaimedDelivery, attempt_id: str, outcome: Outcome) -> None:
        result = Result(ticket, outcome, attempt_id)
        await self.run(partial(settle, results=[result]), locks=settle_locks([result]))

    async def send_due(self, outcome: Outcome | None = None) -> list[str]:
        """Send what is due, one round; return the people who were written to."""
        reached: list[str] = []
        for ticket in await self.claim():
            answer = await self.permit(ticket)
            if isinstance(answer, Permitted):
                said = outcome or Sent(f"<{ticket.id}@example.org>")
                await self.settle(ticket, answer.attempt_id, said)
                reached.append(ticket.delivery.contact_id or "")
        return reached


def mail(version: str, **said: Any) -> Step:
    return Step(
        channel=said.pop("channel", Channel.EMAIL),
        variants=(StepVariant(template_version_id=version),),
        **said,
    )


@pytest.fixture
async def office(database: str, tmp_path: Path) -> AsyncIterator[Office]:
    async with open_runtime(Settings(data=tmp_path, database=database)) as runtime:
        new = NewWorkspace(id=HOME, name="Ada", zone="Europe/Berlin")
        await runtime.operations.run(
            lambda tx, now: create_workspace(tx, now, new=new, by="system")
        )
        yield Office(runtime)
