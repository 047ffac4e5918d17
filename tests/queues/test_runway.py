"""When a queue runs dry, and that it is said once an incident."""

from datetime import UTC, datetime, timedelta

from cadenza.notices.model import NoticeBatch
from cadenza.notices.write import write
from cadenza.queues.runway import Runway, runway, tell_dry
from cadenza.queues.skip import skip
from tests.queues.conftest import ADA, DAILY, HOME, MONDAY, Desk


async def test_a_queue_reaches_to_the_slot_behind_its_last_post(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    posts = await desk.fill(4)
    answer = await desk.run(runway, account_id="ada")
    assert answer == Runway(
        posts=4,
        last_at=posts[-1].at,
        dry_at=datetime(2026, 5, 5, 13, tzinfo=UTC),
        empty_slots=21 - 4,
    )
    await desk.run(skip, account_id="ada", by=ADA, instants=[datetime(2026, 5, 5, 13, tzinfo=UTC)])
    answer = await desk.run(runway, account_id="ada")
    assert isinstance(answer, Runway)
    assert (answer.dry_at, answer.empty_slots) == (datetime(2026, 5, 6, 7, tzinfo=UTC), 16)


async def tell(desk: Desk) -> list[tuple[str, str]]:
    return await desk.operations.run(lambda tx, _: tell_dry(tx, desk.now))


async def test_a_queue_that_runs_dry_is_told_of_once_an_incident(desk: Desk) -> None:
    await desk.week("ada", slots=DAILY)
    await desk.week("ben", slots=DAILY)  # never used: nobody waits for it
    await desk.fill(2)
    assert await tell(desk) == [(HOME, "ada")]
    assert await tell(desk) == []
    await desk.fill(6)
    assert await tell(desk) == []
    desk.now = MONDAY + timedelta(days=2)
    assert await tell(desk) == [(HOME, "ada")]
    rows = await desk.rows("SELECT subject_id, kind FROM outbox")
    assert rows == [{"subject_id": "ada", "kind": "queue.dry"}] * 2


async def test_the_mail_says_whose_queue_and_until_when(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    await desk.fill(1)
    await tell(desk)
    (row,) = await desk.rows("SELECT * FROM outbox")
    news = row | {"channel": None, "account_id": None, "handle": None, "content": None}
    batch = NoticeBatch(HOME, "email", "ada", "g", 1, 0, (news,))
    letter = write(
        batch, to="a@b.example", name="Ada", home="Ada", public_url="https://c.example", now=MONDAY
    )
    assert letter.subject == "[Ada] The queue of ada (simulated) is running out of posts"
    assert (
        "Its last post goes out Monday 4 May 2026, 12:00 Europe/Berlin. Add more: " in letter.text
    )
    assert "https://c.example/accounts/ada/queue" in letter.text
