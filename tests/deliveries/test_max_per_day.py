"""The maximum per day is asked again at the moment of sending, and only what is over it waits."""

from __future__ import annotations

from datetime import datetime, timedelta

from cadenza.core.channels import Channel
from cadenza.core.zones import day_bounds, get_zone, local_day
from cadenza.deliveries.expedite import expedite
from cadenza.deliveries.explain import Explanation, explain
from cadenza.deliveries.gates import GATES, MAX_PER_DAY, Pass
from cadenza.deliveries.model import Action
from cadenza.deliveries.permit import Permitted, Refusal
from cadenza.providers.outcome import Sent
from cadenza.sql.tx import Tx
from tests.deliveries.conftest import HOME, Road


async def cap(road: Road, *, own: int | None, home: int | None = None) -> None:
    def write(tx: Tx, now: datetime) -> None:
        tx.run("UPDATE workspace SET max_per_day = :home WHERE id = :id", home=home, id=HOME)
        tx.run(
            """
            INSERT INTO queue (workspace_id, account_id, max_per_day, tz_version, created_at, changed_at)
            VALUES (:id, 'ada', :own, 'v', :now, :now)
            """,
            id=HOME,
            own=own,
            now=now,
        )

    await road.operations.run(write)


async def ask_next(road: Road) -> Permitted | Refusal:
    (ticket,) = await road.claim()
    (answer,) = await road.permit(ticket)
    assert isinstance(answer, Permitted | Refusal)
    if isinstance(answer, Permitted):
        await road.settle(ticket, Sent("r"), answer.attempt_id)
    return answer


async def why(road: Road, id_: str) -> Explanation:
    said = await road.operations.read(
        lambda tx, now: explain(tx, now, workspace_id=HOME, delivery_id=id_)
    )
    assert isinstance(said, Explanation)
    return said


async def test_what_is_over_the_days_number_waits_and_its_lane_is_the_queues(road: Road) -> None:
    await cap(road, own=1)
    await road.post()
    second = await road.post()
    assert isinstance(await ask_next(road), Permitted)
    answer = await ask_next(road)
    assert isinstance(answer, Refusal)
    assert answer.gate == MAX_PER_DAY
    lane, row = await road.row("lane", "account:ada"), await road.row("delivery", second)
    assert lane["parked_by"] == MAX_PER_DAY
    zone = get_zone("Europe/Berlin")
    assert answer.until == day_bounds(local_day(row["due_at"], zone), zone)[1]
    assert row["attempts"] == 0
    assert row["reason"] == "the day has its 1 posts (1 before this one)"
    assert await road.claim() == []


async def test_the_workspaces_number_holds_where_the_queue_has_none(road: Road) -> None:
    await cap(road, own=None, home=1)
    await road.post()
    await road.post()
    assert isinstance(await ask_next(road), Permitted)
    assert isinstance(await ask_next(road), Refusal)


async def test_the_queues_own_number_wins_over_the_workspaces(road: Road) -> None:
    await cap(road, own=2, home=1)
    await road.post()
    await road.post()
    assert isinstance(await ask_next(road), Permitted)
    assert isinstance(await ask_next(road), Permitted)


async def test_an_account_without_a_queue_and_other_actions_have_no_number(road: Road) -> None:
    await cap(road, own=1)
    for account in ("ada", "ben", "ben"):
        await road.post(account)
    await road.post(action=Action.BROADCAST)
    tickets = await road.claim()
    while tickets:
        for ticket, answer in zip(tickets, await road.permit(*tickets), strict=True):
            assert isinstance(answer, Permitted)
            await road.settle(ticket, Sent("r"), answer.attempt_id)
        tickets = await road.claim()
    assert {row["state"] for row in await road.rows("delivery")} == {"sent"}


async def test_a_posts_channels_count_once(road: Road) -> None:
    await cap(road, own=1)
    await road.post(post_id="p1")
    await road.post(post_id="p1", channel=Channel.THREADS)
    assert isinstance(await ask_next(road), Permitted)
    assert isinstance(await ask_next(road), Permitted)


async def test_of_two_posts_at_one_instant_one_goes_whole(road: Road) -> None:
    await cap(road, own=1)
    for name, post, channel in (
        ("3", "p1", Channel.MASTODON),
        ("1", "p1", Channel.THREADS),
        ("2", "p2", Channel.MASTODON),
    ):
        await road.post(id=name, post_id=post, channel=channel)
    await road.operations.run(lambda tx, now: tx.run("UPDATE delivery SET due_at = :now", now=now))
    said = {name: (await why(road, name)).gates[MAX_PER_DAY] for name in ("1", "2", "3")}
    assert [name for name, gate in said.items() if isinstance(gate, Pass)] == ["1", "3"]


async def test_publish_now_passes_it_and_opens_the_lane(road: Road) -> None:
    await cap(road, own=1)
    await road.post()
    second = await road.post()
    await ask_next(road)
    assert isinstance(await ask_next(road), Refusal)
    row = await road.row("delivery", second)
    await road.operations.run(lambda tx, now: expedite(tx, now, [row]))
    assert isinstance(await ask_next(road), Permitted)


async def test_explain_shows_it_in_its_place(road: Road) -> None:
    names = list(GATES)
    assert names[names.index("hours") + 1] == MAX_PER_DAY
    assert names.index(MAX_PER_DAY) < names.index("budgets")
    await cap(road, own=1)
    first = await road.post(due=timedelta(seconds=1))
    second = await road.post(due=timedelta(seconds=2))
    said = (await why(road, first)).as_data()["gates"][MAX_PER_DAY]
    assert said == {"passed": True, "says": "0 of the day's 1 posts come before it"}
    told = await why(road, second)
    assert list(told.blocked) == [MAX_PER_DAY]
    assert told.sentence.startswith("max per day: the day has its 1 posts (1 before this one), not")
    assert "an editor can change the maximum per day" in told.sentence
