"""The maximum per day is asked again at the moment of sending, and only what is over it waits."""

from __future__ import annotations

from datetime import datetime, timedelta

from cadenza.core.channels import Channel
from cadenza.core.zones import day_bounds, get_zone, local_day
from cadenza.deliveries.expedite import expedite
from cadenza.deliveries.explain import Explanation, explain
from cadenza.deliveries.gates import GATES, MAX_PER_DAY, Pass
from cadenza.deliveries.model import Action, Delivery
from cadenza.deliveries.permit import Permitted, Refusal
from cadenza.providers.outcome import Sent
from cadenza.sql.tx import Tx
from cadenza.sql.values import read_value
from tests.deliveries.conftest import HOME, Pipeline


async def cap(pipeline: Pipeline, *, own: int | None, home: int | None = None) -> None:
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

    await pipeline.operations.run(write)


async def ask_next(pipeline: Pipeline) -> Permitted | Refusal:
    (ticket,) = await pipeline.claim()
    (answer,) = await pipeline.permit(ticket)
    assert isinstance(answer, Permitted | Refusal)
    if isinstance(answer, Permitted):
        await pipeline.settle(ticket, Sent("r"), answer.attempt_id)
    return answer


async def why(pipeline: Pipeline, id_: str) -> Explanation:
    said = await pipeline.operations.read(
        lambda tx, now: explain(tx, now, workspace_id=HOME, delivery_id=id_)
    )
    assert isinstance(said, Explanation)
    return said


async def test_what_is_over_the_days_number_waits_and_its_lane_is_the_queues(
    pipeline: Pipeline,
) -> None:
    await cap(pipeline, own=1)
    await pipeline.post()
    second = await pipeline.post()
    assert isinstance(await ask_next(pipeline), Permitted)
    answer = await ask_next(pipeline)
    assert isinstance(answer, Refusal)
    assert answer.gate == MAX_PER_DAY
    lane, row = await pipeline.row("lane", "account:ada"), await pipeline.row("delivery", second)
    assert lane["parked_by"] == MAX_PER_DAY
    zone = get_zone("Europe/Berlin")
    assert answer.until == day_bounds(local_day(row["due_at"], zone), zone)[1]
    assert row["attempts"] == 0
    assert row["reason"] == "the day has its 1 posts (1 before this one)"
    assert await pipeline.claim() == []


async def test_the_workspaces_number_holds_where_the_queue_has_none(pipeline: Pipeline) -> None:
    await cap(pipeline, own=None, home=1)
    await pipeline.post()
    await pipeline.post()
    assert isinstance(await ask_next(pipeline), Permitted)
    assert isinstance(await ask_next(pipeline), Refusal)


async def test_the_queues_own_number_wins_over_the_workspaces(pipeline: Pipeline) -> None:
    await cap(pipeline, own=2, home=1)
    await pipeline.post()
    await pipeline.post()
    assert isinstance(await ask_next(pipeline), Permitted)
    assert isinstance(await ask_next(pipeline), Permitted)


async def test_an_account_without_a_queue_and_other_actions_have_no_number(
    pipeline: Pipeline,
) -> None:
    await cap(pipeline, own=1)
    for account in ("ada", "ben", "ben"):
        await pipeline.post(account)
    await pipeline.post(action=Action.BROADCAST)
    tickets = await pipeline.claim()
    while tickets:
        for ticket, answer in zip(tickets, await pipeline.permit(*tickets), strict=True):
            assert isinstance(answer, Permitted)
            await pipeline.settle(ticket, Sent("r"), answer.attempt_id)
        tickets = await pipeline.claim()
    assert {row["state"] for row in await pipeline.rows("delivery")} == {"sent"}


async def test_a_posts_channels_count_once(pipeline: Pipeline) -> None:
    await cap(pipeline, own=1)
    await pipeline.post(post_id="p1")
    await pipeline.post(post_id="p1", channel=Channel.THREADS)
    assert isinstance(await ask_next(pipeline), Permitted)
    assert isinstance(await ask_next(pipeline), Permitted)


async def test_of_two_posts_at_one_instant_one_goes_whole(pipeline: Pipeline) -> None:
    await cap(pipeline, own=1)
    for name, post, channel in (
        ("3", "p1", Channel.MASTODON),
        ("1", "p1", Channel.THREADS),
        ("2", "p2", Channel.MASTODON),
    ):
        await pipeline.post(id=name, post_id=post, channel=channel)
    await pipeline.operations.run(
        lambda tx, now: tx.run("UPDATE delivery SET due_at = :now", now=now)
    )
    said = {name: (await why(pipeline, name)).gates[MAX_PER_DAY] for name in ("1", "2", "3")}
    assert [name for name, gate in said.items() if isinstance(gate, Pass)] == ["1", "3"]


async def test_publish_now_passes_it_and_opens_the_lane(pipeline: Pipeline) -> None:
    await cap(pipeline, own=1)
    await pipeline.post()
    second = await pipeline.post()
    await ask_next(pipeline)
    assert isinstance(await ask_next(pipeline), Refusal)
    row = await pipeline.row("delivery", second)
    held = read_value(Delivery, row)
    await pipeline.operations.run(lambda tx, now: expedite(tx, now, [held]))
    assert isinstance(await ask_next(pipeline), Permitted)


async def test_explain_shows_it_in_its_place(pipeline: Pipeline) -> None:
    names = list(GATES)
    assert names.index("hours") < names.index(MAX_PER_DAY) < names.index("budgets")
    await cap(pipeline, own=1)
    first = await pipeline.post(due=timedelta(seconds=1))
    second = await pipeline.post(due=timedelta(seconds=2))
    said = (await why(pipeline, first)).as_data()["gates"][MAX_PER_DAY]
    assert said == {"passed": True, "message": "0 of the day's 1 posts come before it"}
    told = await why(pipeline, second)
    assert list(told.blocked) == [MAX_PER_DAY]
    assert told.sentence.startswith("max per day: the day has its 1 posts (1 before this one), not")
    assert "an editor can change the maximum per day" in told.sentence
