"""The recipient's hours hold when a message is planned, when it is moved, and once more when it is sent."""

from datetime import UTC, datetime, timedelta
from functools import partial
from zoneinfo import ZoneInfo

from cadenza.core.clock import SystemClock
from cadenza.deliveries.explain import Explanation, explain
from cadenza.deliveries.gates import RECIPIENT_HOURS, Wait
from cadenza.outreach.check_limits import check_limits, repair_limits
from cadenza.outreach.find_time import Limit
from cadenza.outreach.model import Sequence
from tests.outreach.conftest import ADA, HOME, MONDAY, Office
from tests.outreach.test_limits import limit

TOKYO = ZoneInfo("Asia/Tokyo")


def elsewhere(now: datetime) -> str:
    """A zone where it is another day of the week than in UTC."""
    return "Pacific/Kiritimati" if now.hour >= 10 else "Pacific/Pago_Pago"


async def today_alone(office: Office, id_: str) -> str:
    """An account that is open today, the whole day, on the clock of UTC, and on no other day of the week."""
    now = SystemClock().now()
    day = {"start": "00:00", "end": "00:00", "days": [now.isoweekday() % 7]}
    await office.account(id_, zone="UTC", hours={"email": day})
    await limit(office, id_, "gap", 0)
    return id_


async def one_asleep(office: Office) -> tuple[Sequence, str, str]:
    """Two messages that are due: to a person on whose clock it is no hour for them, and to another."""
    await today_alone(office, "mailbox")
    made = await office.sequence("mailbox", recipient_hours=True)
    (asleep,) = await office.people(1, zone=elsewhere(SystemClock().now()))
    (awake,) = await office.people(1)
    await office.enroll(made, [asleep, awake])
    await office.start(made)
    await office.work(made)
    await office.make_due()
    return made, asleep, awake


async def test_a_message_outside_the_recipients_hours_is_not_sent_and_holds_up_nobody(
    office: Office,
) -> None:
    made, asleep, awake = await one_asleep(office)
    reached = [*await office.send_due(), *await office.send_due()]
    assert reached == [awake]
    (left,) = await office.deliveries(made, contact_id=asleep)
    zone = ZoneInfo(elsewhere(SystemClock().now()))
    today = SystemClock().now().isoweekday()
    assert left["due_at"].astimezone(zone).isoweekday() == today
    assert left["due_at"].astimezone(UTC).isoweekday() == today
    assert (left["state"], left["attempts"], left["deferrals"]) == ("scheduled", 0, 1)
    assert "outside the recipient's hours" in left["reason"]
    (lane,) = await office.rows("SELECT * FROM lane WHERE id = :id", id=left["lane_id"])
    assert lane["parked_until"] is None


async def test_explain_names_the_recipients_hours(office: Office) -> None:
    made, asleep, _ = await one_asleep(office)
    (row,) = await office.deliveries(made, contact_id=asleep)
    found = await office.operations.read(partial(explain, workspace_id=HOME, delivery_id=row["id"]))
    assert isinstance(found, Explanation)
    answer = found.gates[RECIPIENT_HOURS]
    assert isinstance(answer, Wait)
    assert answer.until is not None
    assert answer.until > SystemClock().now() + timedelta(days=1)


async def test_what_is_sent_by_hand_passes_the_recipients_hours(office: Office) -> None:
    _, asleep, _ = await one_asleep(office)
    await office.run(
        lambda tx, now: tx.run(
            "UPDATE delivery SET priority = -100 WHERE contact_id = :id", id=asleep
        )
    )
    assert asleep in [*await office.send_due(), *await office.send_due()]


async def test_a_contact_who_moves_is_found_and_gets_a_time_of_their_new_zone(
    office: Office,
) -> None:
    await office.account("mailbox", zone="Europe/Berlin")
    made = await office.sequence("mailbox", recipient_hours=True)
    await office.enroll(made, await office.people(8, zone="Europe/Berlin"))
    await office.start(made, now=MONDAY)
    await office.plan(made, now=MONDAY)
    await office.run(lambda tx, now: tx.run("UPDATE contact SET zone = 'Asia/Tokyo'"))
    found = await office.operations.read(lambda tx, _: check_limits(tx, MONDAY, workspace_id=HOME))
    assert {each.limit for each in found} == {Limit.RECIPIENT_HOURS}
    moved = await office.run(partial(repair_limits, workspace_id=HOME, by=ADA), now=MONDAY)
    assert moved
    for row in await office.deliveries(made):
        assert 9 <= row["due_at"].astimezone(TOKYO).hour < 18
        assert 9 <= row["due_at"].astimezone(ZoneInfo("Europe/Berlin")).hour < 18
