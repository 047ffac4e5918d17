"""What a claim takes: as many heads as lanes have room for, in their order, and no lane before its turn."""

from collections import Counter
from collections.abc import Sequence

from cadenza.deliveries import lanes
from cadenza.deliveries.claim import release
from cadenza.deliveries.model import ClaimedDelivery
from tests.deliveries.conftest import HOME, Pipeline


async def widen(pipeline: Pipeline, width: int) -> None:
    await pipeline.operations.run(
        lambda tx, _: tx.run(
            "UPDATE lane SET in_flight_limit = :width, width = :width", width=width
        )
    )


def ids(tickets: Sequence[ClaimedDelivery]) -> list[str]:
    return [ticket.id for ticket in tickets]


async def test_a_lane_hands_out_as_many_as_it_has_room_for_in_order(pipeline: Pipeline) -> None:
    await widen(pipeline, 3)
    posts = [await pipeline.post(priority=0 if n else 1) for n in range(5)]
    in_order = [*posts[1:], posts[0]]

    assert ids(await pipeline.claim(2)) == in_order[:2]
    assert ids(await pipeline.claim()) == in_order[2:3]
    assert await pipeline.claim() == []
    assert (await pipeline.row("lane", "account:ada"))["in_flight"] == 3


async def test_a_narrow_lane_hands_out_one_after_the_other(pipeline: Pipeline) -> None:
    posts = [await pipeline.post() for _ in range(2)]
    (first,) = await pipeline.claim()
    assert (first.id, await pipeline.claim()) == (posts[0], [])


async def test_lanes_share_a_claim_and_an_empty_one_takes_nothing_from_the_others(
    pipeline: Pipeline,
) -> None:
    await widen(pipeline, 9)
    for account in ("ada", "ben"):
        for _ in range(6):
            await pipeline.post(account)

    assert Counter(ticket.account.id for ticket in await pipeline.claim(4)) == {"ada": 2, "ben": 2}
    await pipeline.operations.run(
        lambda tx, _: tx.run("UPDATE delivery SET state = 'draft' WHERE account_id = 'ada'")
    )
    await pipeline.operations.run(lambda tx, _: lanes.refresh(tx, [(HOME, "account:ada")]))
    assert Counter(ticket.account.id for ticket in await pipeline.claim(4)) == {"ben": 4}


async def test_who_was_served_longest_ago_comes_first_whoever_waits_longer(
    pipeline: Pipeline,
) -> None:
    """A lane with a long backlog would else be served again before all that came due after it."""
    for account in ("ada", "ada", "ada", "ben", "ben"):
        await pipeline.post(account)
    served: list[str] = []
    for _ in range(4):
        tickets = await pipeline.claim(1)
        served += [ticket.account.id for ticket in tickets]
        await pipeline.operations.run(lambda tx, now, tickets=tickets: release(tx, now, tickets))

    assert served == ["ada", "ben", "ada", "ben"]
