"""What an account sent elsewhere counts: in its limits, in plans, in its gap; and it is not our fault in an audit."""

from collections import Counter
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from cadenza.core.clock import SystemClock
from cadenza.deliveries.audit_limits import audit_limits
from cadenza.deliveries.model import Action
from cadenza.deliveries.record_external import (
    ExternalRecorded,
    NotRecorded,
    record_external,
    take_back_external,
)
from cadenza.outreach.model import account_lock
from tests.outreach.conftest import ADA, HOME, MONDAY, NEW_YORK, Office
from tests.outreach.test_http import Desk, desk
from tests.outreach.test_limits import limit

__all__ = ["desk"]
ZONE = ZoneInfo(NEW_YORK)


async def elsewhere(
    office: Office, count: int, *, now: datetime | None = None, **said: Any
) -> ExternalRecorded | NotRecorded:
    what = partial(
        record_external,
        workspace_id=HOME,
        account_id="mailbox",
        action=Action.EMAIL,
        count=count,
        by=ADA,
        **said,
    )
    return await office.run(what, now=now, locks=[account_lock(HOME, "mailbox")])


async def due(office: Office, people: int) -> Any:
    await office.account("mailbox", always=True)
    made = await office.sequence("mailbox")
    await office.enroll(made, await office.people(people))
    await office.start(made)
    await office.work(made)
    return made


async def test_what_was_sent_elsewhere_counts_against_the_day(office: Office) -> None:
    made = await due(office, 3)
    await limit(office, "mailbox", "day", 5)
    await limit(office, "mailbox", "gap", 0)
    recorded = await elsewhere(office, 4)
    assert isinstance(recorded, ExternalRecorded)
    await office.make_due()
    reached = [person for _ in range(3) for person in await office.send_due()]
    assert len(reached) == 1
    audit = await office.operations.read(audit_limits)
    assert audit.clean
    (day,) = [w for w in audit.worst if (w.kind, w.action) == ("day", "email")]
    assert (day.reached, day.limit) == (5, 5)
    taken = await office.run(
        partial(
            take_back_external,
            workspace_id=HOME,
            account_id="mailbox",
            external_id=recorded.id,
            by=ADA,
        )
    )
    assert taken == 4
    await office.make_due()
    reached = [person for _ in range(3) for person in await office.send_due()]
    assert len(reached) == 2
    assert {row["state"] for row in await office.deliveries(made)} == {"sent"}
    assert (await office.operations.read(audit_limits)).clean


async def test_more_was_sent_elsewhere_than_allowed_is_not_our_breach_but_ours_after_it_would_be(
    office: Office,
) -> None:
    await due(office, 2)
    await limit(office, "mailbox", "day", 5)
    await limit(office, "mailbox", "gap", 0)
    await office.make_due()
    assert len(await office.send_due()) == 1
    await elsewhere(office, 30)
    assert (await office.operations.read(audit_limits)).clean
    assert await office.send_due() == []
    await limit(office, "mailbox", "day", 100)
    await office.make_due()
    assert len(await office.send_due()) == 1
    await limit(office, "mailbox", "day", 5)
    assert not (await office.operations.read(audit_limits)).clean


async def test_the_gap_begins_with_what_was_sent_elsewhere(office: Office) -> None:
    await due(office, 1)
    await office.make_due()
    await elsewhere(office, 1)
    assert await office.send_due() == []
    await office.make_due()  # the gap is over
    assert len(await office.send_due()) == 1


async def test_plans_leave_room_for_what_was_sent_elsewhere_today(office: Office) -> None:
    await office.account("mailbox")
    now = MONDAY + timedelta(hours=2)
    await elsewhere(office, 18, now=now, at=MONDAY + timedelta(hours=1))
    made = await office.ready("mailbox", people=30, now=now)
    days = Counter(row["due_at"].astimezone(ZONE).date() for row in await office.deliveries(made))
    assert [days[day] for day in sorted(days)] == [2, 20, 8]


async def test_a_time_to_come_or_long_past_is_refused(office: Office) -> None:
    await office.account("mailbox")
    now = SystemClock().now()
    for at in (now + timedelta(hours=1), now - timedelta(days=400)):
        assert isinstance(await elsewhere(office, 1, at=at), NotRecorded)
    assert isinstance(await elsewhere(office, 1_001), NotRecorded)


async def test_it_is_recorded_shown_and_taken_back_over_http(desk: Desk) -> None:
    path = "/accounts/account-of-ada"
    admin = Desk(desk.place, await desk.place.client("admin"))
    limits = [{"action": "email", "kind": "day", "amount": 20}]
    await admin.ask("PUT", f"{path}/limits", limits=limits)
    made = await desk.ask("POST", f"{path}/external-sends", 201, action="email", count=7)
    (use,) = (await desk.ask("GET", f"{path}/use"))["uses"]
    assert use["used"] == 7
    await desk.ask("DELETE", f"{path}/external-sends/{made['id']}")
    (use,) = (await desk.ask("GET", f"{path}/use"))["uses"]
    assert use["used"] == 0
    await desk.ask("DELETE", f"{path}/external-sends/{made['id']}", 404)
    await desk.ask("POST", f"{path}/external-sends", 422, action="post")
