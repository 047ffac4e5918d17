"""What ends a sequence for a person, and that nothing leaves after it."""

from typing import Any

import pytest

from cadenza.core.channels import Channel
from cadenza.deliveries.permit import Permitted
from cadenza.outreach import model
from cadenza.outreach.model import ContactState, StopCause
from cadenza.outreach.report import report
from cadenza.outreach.stop import accept_for, stop_for
from cadenza.providers.outcome import Sent
from tests.outreach.conftest import HOME, Office, mail


async def hear(office: Office, cause: StopCause, contact_id: str, **said: Any) -> list[str]:
    return await office.run(lambda tx, now: stop_for(tx, now, HOME, contact_id, cause, **said))


async def two_steps(office: Office, **said: Any) -> tuple[model.Sequence, str]:
    await office.account("mailbox", always=True)
    version = await office.template()
    made = await office.sequence(
        "mailbox", steps=[mail(version), mail(version, wait_days=2)], **said
    )
    (ada,) = await office.people(1)
    await office.enroll(made, [ada])
    await office.start(made)
    await office.work(made)
    return made, ada


@pytest.mark.parametrize("cause", [StopCause.REPLY, StopCause.BOUNCE, StopCause.UNSUBSCRIBE])
async def test_it_stops_the_follow_up_that_is_planned(office: Office, cause: StopCause) -> None:
    made, ada = await two_steps(office)
    await office.make_due()
    await office.send_due()
    await office.work(made)
    assert await hear(office, cause, ada) == [made.id]
    first, second = await office.deliveries(made)
    assert (first["state"], second["state"]) == ("sent", "canceled")
    assert (await office.person(made, ada)).cause == cause


async def test_a_reply_stops_a_message_that_a_worker_has_in_hand(office: Office) -> None:
    made, ada = await two_steps(office)
    await office.make_due()
    (ticket,) = await office.claim()
    await hear(office, StopCause.REPLY, ada)
    assert not isinstance(await office.permit(ticket), Permitted)
    (row,) = await office.deliveries(made)
    assert row["state"] == "canceled"
    (lane,) = await office.rows(
        "SELECT * FROM lane WHERE id = :id", id=f"sequence:{made.id}@mailbox"
    )
    assert lane["in_flight"] == 0


async def test_a_reply_while_a_step_is_sent_plans_no_next_one(office: Office) -> None:
    made, ada = await two_steps(office)
    await office.make_due()
    (ticket,) = await office.claim()
    answer = await office.permit(ticket)
    assert isinstance(answer, Permitted)
    await hear(office, StopCause.REPLY, ada)
    await office.settle(ticket, answer.attempt_id, Sent("<x@example.org>"))
    await office.work(made)
    assert [row["state"] for row in await office.deliveries(made)] == ["sent"]
    assert (await office.person(made, ada)).state is ContactState.STOPPED


async def test_a_sequence_may_go_on_after_a_reply_but_never_after_an_unsubscribe(
    office: Office,
) -> None:
    made, ada = await two_steps(office, stop_on=[StopCause.BOUNCE])
    assert await hear(office, StopCause.REPLY, ada) == []
    assert await hear(office, StopCause.UNSUBSCRIBE, ada) == [made.id]


async def test_the_report_counts_a_reply_where_it_was_earned(office: Office) -> None:
    made, ada = await two_steps(office)
    await office.make_due()
    await office.send_due()
    (sent,) = await office.deliveries(made)
    await hear(office, StopCause.REPLY, ada, delivery_id=sent["id"])
    found = await office.operations.read(
        lambda tx, _: report(tx, workspace_id=HOME, sequence_id=made.id)
    )
    (line,) = found.lines
    assert (line.step, line.sent, line.replied, line.account_id) == (0, 1, 1, "mailbox")
    assert found.stopped == {"reply": 1}


async def test_a_step_that_waits_for_acceptance_is_planned_once_it_comes(office: Office) -> None:
    await office.account("linkedin", always=True, provider="unipile")
    version = await office.template()
    steps = [
        mail(version, channel=Channel.LINKEDIN_INVITATION),
        mail(version, channel=Channel.LINKEDIN_MESSAGE, only_if="accepted"),
    ]
    made = await office.sequence("linkedin", steps=steps)
    (ada,) = await office.people(1)
    await office.enroll(made, [ada])
    await office.start(made)
    await office.work(made)
    await office.make_due()
    assert await office.send_due() == [ada]
    await office.work(made)
    assert len(await office.deliveries(made)) == 1
    assert (await office.person(made, ada)).cause == "accepted"
    await office.run(lambda tx, now: accept_for(tx, now, HOME, ada))
    await office.work(made)
    _, second = await office.deliveries(made)
    assert (second["action"], second["state"]) == ("message", "scheduled")


async def test_snoozed_people_come_back_by_themselves(office: Office) -> None:
    from datetime import timedelta

    from cadenza.bootstrap.plan_sequences import plan_sequences
    from cadenza.outreach.change_contact import snooze_contact
    from cadenza.outreach.list_ready import wake_snoozed

    made, ada = await two_steps(office)

    def snooze(tx: Any, now: Any) -> Any:
        return snooze_contact(
            tx,
            now,
            workspace_id=HOME,
            sequence_id=made.id,
            contact_id=ada,
            until=now + timedelta(days=30),
            by="member:ada",
        )

    await office.run(snooze)
    assert [row["state"] for row in await office.deliveries(made)] == ["canceled"]
    await plan_sequences(office.runtime, {})
    assert (await office.person(made, ada)).state is ContactState.SNOOZED
    await office.run(lambda tx, now: wake_snoozed(tx, now + timedelta(days=31)))
    assert (await office.person(made, ada)).state is ContactState.WAITING
    await office.run(lambda tx, now: tx.run("UPDATE sequence_contact SET ready_at = :now", now=now))
    await plan_sequences(office.runtime, {})
    assert [row["state"] for row in await office.deliveries(made)] == ["scheduled"]
