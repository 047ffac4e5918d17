"""The rules of outreach under account limits, from adding people to the last step."""

from collections import Counter
from datetime import timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from cadenza.outreach.model import ContactState, StopCause
from cadenza.providers.outcome import Rejected
from tests.outreach.conftest import MONDAY, NEW_YORK, Office, mail

ZONE = ZoneInfo(NEW_YORK)


async def test_twenty_a_day_within_office_hours_with_random_gaps(office: Office) -> None:
    await office.account("mailbox")
    made = await office.ready("mailbox", people=50)
    rows = await office.deliveries(made)
    walls = [row["due_at"].astimezone(ZONE) for row in rows]
    assert list(Counter(wall.date() for wall in walls).values()) == [20, 20, 10]
    assert all(9 <= wall.hour < 18 and wall.isoweekday() <= 5 for wall in walls)
    gaps = [b - a for a, b in pairwise(walls) if a.date() == b.date()]
    assert all(timedelta(minutes=6) <= gap <= timedelta(minutes=20) for gap in gaps)
    assert len(set(gaps)) > 10


async def test_what_is_planned_is_what_the_preview_showed(office: Office) -> None:
    for id_ in ("one", "two", "three"):
        await office.account(id_)
    made = await office.sequence("one", "two", "three")
    await office.enroll(made, await office.people(70))
    shown = await office.preview(made)
    await office.start(made)
    await office.plan(made, limit=7)  # in small chunks: nothing of it may depend on them
    rows = await office.deliveries(made)
    assert [(each.person.contact_id, each.account_id, each.at) for each in shown.times] == [
        (row["contact_id"], row["account_id"], row["due_at"]) for row in rows
    ]
    assert (shown.messages, shown.without_time) == (70, 0)
    assert shown.finish_on == max(row["due_at"].astimezone(ZONE).date() for row in rows)


async def test_accounts_take_turns_and_later_additions_go_on_with_the_turn(office: Office) -> None:
    for id_ in ("one", "two", "three"):
        await office.account(id_)
    made = await office.ready("one", "two", "three", people=4)
    more = await office.people(3)
    await office.enroll(made, more)
    await office.plan(made)
    rows = await office.rows("SELECT account_id FROM sequence_contact ORDER BY position")
    assert [row["account_id"] for row in rows] == [
        "one",
        "two",
        "three",
        "one",
        "two",
        "three",
        "one",
    ]


async def test_a_step_that_was_sent_lets_the_next_one_be_planned(office: Office) -> None:
    await office.account("mailbox", always=True)
    first, second = await office.template(), await office.template("Again", "Did you see it?")
    made = await office.sequence(
        "mailbox", steps=[mail(first), mail(second, wait_days=2, same_thread=True)]
    )
    (ada,) = await office.people(1)
    await office.enroll(made, [ada])
    await office.start(made)
    await office.work(made)
    await office.make_due()
    assert await office.send_due() == [ada]
    assert (await office.person(made, ada)).state is ContactState.WAITING
    await office.work(made)
    (sent, planned) = await office.deliveries(made)
    assert (sent["state"], planned["state"], planned["step"]) == ("sent", "scheduled", 1)
    days = planned["due_at"].astimezone(ZONE).date() - sent["sent_at"].astimezone(ZONE).date()
    assert days == timedelta(days=2)
    assert f"<{sent['id']}@example.org>" in planned["content"]
    assert '"subject":"Re: Hi Person' in planned["content"]
    await office.make_due()
    assert await office.send_due() == [ada]
    assert (await office.person(made, ada)).state is ContactState.FINISHED


async def test_nobody_gets_a_follow_up_to_a_message_that_never_came(office: Office) -> None:
    await office.account("mailbox", always=True)
    version = await office.template()
    made = await office.sequence("mailbox", steps=[mail(version), mail(version)])
    (ada,) = await office.people(1)
    await office.enroll(made, [ada])
    await office.start(made)
    await office.work(made)
    await office.make_due()
    await office.send_due(Rejected("no such mailbox"))
    await office.work(made)
    person = await office.person(made, ada)
    assert (person.state, person.cause) == (ContactState.STOPPED, StopCause.NOT_SENT)
    assert len(await office.deliveries(made)) == 1


async def test_the_first_message_leaves_after_the_hours_open(office: Office) -> None:
    await office.account("mailbox")
    made = await office.ready("mailbox", people=1)
    (row,) = await office.deliveries(made)
    wall = row["due_at"].astimezone(ZONE)
    assert (wall.date(), wall.hour) == (MONDAY.date(), 9)
