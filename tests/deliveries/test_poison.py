"""A payload that kills its process: it is given up alone, and its neighbours go out."""

from datetime import timedelta

from cadenza.deliveries import lanes
from cadenza.deliveries.model import ClaimedDelivery
from cadenza.deliveries.permit import Permitted
from cadenza.deliveries.rescue import rescue
from cadenza.deliveries.source import QUEUE, DeliverySource
from cadenza.engine.store import Batch
from cadenza.providers.outcome import NotReady, Sent
from tests.deliveries.conftest import HOME, LEASE, Pipeline
from tests.deliveries.test_batches import counting

NOW = timedelta()  # a lease that has run out when it is given


async def send(pipeline: Pipeline, ticket: ClaimedDelivery) -> None:
    (permit,) = await pipeline.permit(ticket)
    assert isinstance(permit, Permitted)
    await pipeline.settle(ticket, Sent("r"), permit.attempt_id)


async def take_back(pipeline: Pipeline) -> list[str]:
    """Let the lease of a dead worker run out."""
    _, given_up = await pipeline.operations.run(lambda tx, now: rescue(tx, now, crash_limit=5))
    return given_up


async def crash(pipeline: Pipeline) -> None:
    """Claim all there is and fall silent."""
    await pipeline.claim(lease=NOW)
    await take_back(pipeline)


async def one_life(pipeline: Pipeline, source: DeliverySource, poison: str) -> None:
    """Work as a worker does, until the process dies of the poison."""
    crashed = False
    while True:
        batch: Batch = await source.claim(QUEUE, limit=10, worker="w", lease=NOW, alone=crashed)
        if not batch.jobs and not batch.crashed:
            return
        tickets = [source.ticket(job.id) for job in batch.jobs]
        if any(ticket.id == poison for ticket in tickets):
            return  # it dies, and all that it had in hand with it
        for ticket in tickets:
            await send(pipeline, ticket)
        crashed = batch.crashed


async def test_only_what_keeps_killing_its_process_is_given_up(pipeline: Pipeline) -> None:
    await pipeline.connect("cy")
    poison = await pipeline.post()
    behind = await pipeline.post()  # in the same lane
    beside = [await pipeline.post("ben"), await pipeline.post("cy")]

    for _ in range(12):
        await one_life(pipeline, DeliverySource(pipeline.operations), poison)
        await take_back(pipeline)

    assert [(await pipeline.row("delivery", id_))["state"] for id_ in (behind, *beside)] == [
        "sent"
    ] * 3
    row = await pipeline.row("delivery", poison)
    assert (row["state"], row["crashes"]) == ("failed", 5)


async def test_what_a_process_died_with_once_goes_on_with_the_others(pipeline: Pipeline) -> None:
    crashed, behind = await pipeline.post(), await pipeline.post()
    await crash(pipeline)
    (ticket,) = await pipeline.claim()
    assert (ticket.id, ticket.delivery.crashes) == (crashed, 1)
    await send(pipeline, ticket)
    assert [ticket.id for ticket in await pipeline.claim()] == [behind]


async def test_what_processes_died_with_twice_is_passed_over_and_claimed_alone(
    pipeline: Pipeline,
) -> None:
    crashed, other = await pipeline.post(), await pipeline.post("ben")
    for _ in range(2):
        await crash(pipeline)
    third = await pipeline.post("ben")
    await pipeline.operations.run(
        lambda tx, _: tx.run("UPDATE delivery SET crashes = 0 WHERE id = :id", id=other)
    )
    await pipeline.operations.run(lambda tx, _: lanes.refresh(tx, [(HOME, "account:ben")]))

    assert [ticket.id for ticket in await pipeline.claim()] == [other]
    source = DeliverySource(pipeline.operations)
    assert (await source.claim(QUEUE, limit=1, worker="w", lease=NOW)).crashed
    assert [ticket.id for ticket in await pipeline.claim(alone=True)] == [crashed]
    assert await pipeline.claim(alone=True) == []
    assert (await pipeline.row("delivery", third))["state"] == "scheduled"


async def test_what_came_back_from_a_run_is_no_crashed_job_any_more(pipeline: Pipeline) -> None:
    id_ = await pipeline.post()
    for _ in range(2):
        await crash(pipeline)
    (ticket,) = await pipeline.claim(alone=True)
    (permit,) = await pipeline.permit(ticket)
    assert isinstance(permit, Permitted)
    await pipeline.settle(ticket, NotReady(NOW), permit.attempt_id)

    assert [ticket.id for ticket in await pipeline.claim()] == [id_]


async def test_who_lost_a_lease_and_got_the_delivery_again_keeps_the_new_one(
    pipeline: Pipeline,
) -> None:
    """A worker that slept: its first run is to be stopped, its second is nobody else's."""
    await pipeline.post()
    source = DeliverySource(pipeline.operations)
    first = await source.claim(QUEUE, limit=1, worker="w", lease=NOW)
    await take_back(pipeline)
    second = await source.claim(QUEUE, limit=1, worker="w", lease=LEASE)
    assert len(second.jobs) == 1

    renewal = await source.renew("w", [first.lease, second.lease], lease=LEASE)
    assert renewal.cancel == {first.jobs[0].id}


async def test_a_suspect_takes_no_more_calls_than_its_account_may_have(pipeline: Pipeline) -> None:
    suspect = await pipeline.post()
    for _ in range(2):
        await crash(pipeline)
    fresh = await pipeline.post()
    assert [ticket.id for ticket in await pipeline.claim()] == [fresh], "it holds up nobody"
    assert await pipeline.claim(alone=True) == []
    await pipeline.operations.run(
        lambda tx, _: tx.run("UPDATE lane SET in_flight_limit = 2, width = 2")
    )
    assert [ticket.id for ticket in await pipeline.claim(alone=True)] == [suspect]


async def test_a_whole_batch_is_taken_back_in_as_many_statements_as_one(pipeline: Pipeline) -> None:
    counts: list[int] = []
    await pipeline.operations.run(
        lambda tx, _: tx.run("UPDATE lane SET in_flight_limit = 99, width = 99")
    )
    for number in (1, 30):
        for _ in range(number):
            await pipeline.post()
        await pipeline.claim(lease=NOW)
        statements: list[str] = []
        back, _ = await pipeline.operations.run(
            lambda tx, now, said=statements: rescue(counting(tx, said), now, crash_limit=5)
        )
        counts.append(len(statements))
        assert len(back) == number
        await pipeline.operations.run(lambda tx, _: tx.run("DELETE FROM delivery"))
    assert counts[0] == counts[1]
