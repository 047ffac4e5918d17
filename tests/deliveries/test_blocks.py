"""A network that blocks an account as a punishment: twice in a row stops it, and people are told."""

from datetime import timedelta

from cadenza.deliveries.lift_suspension import lift_suspension
from cadenza.deliveries.permit import Permitted
from cadenza.providers.outcome import Outcome, Sent, TryLater, WaitScope
from tests.deliveries.conftest import HOME, Pipeline

BLOCK = TryLater(timedelta(), WaitScope.ACCOUNT, "blocked for a while by policy", block=True)


async def end_with(pipeline: Pipeline, outcome: Outcome) -> str:
    """Let the next call end so; say what the account is then."""
    (ticket,) = await pipeline.claim(1)
    (permit,) = await pipeline.permit(ticket)
    assert isinstance(permit, Permitted)
    await pipeline.settle(ticket, outcome, permit.attempt_id)
    return (await pipeline.row("account", "ada"))["state"]


async def test_a_second_block_in_a_row_stops_the_account_and_is_told(pipeline: Pipeline) -> None:
    await pipeline.post()
    assert await end_with(pipeline, BLOCK) == "connected"
    assert await end_with(pipeline, BLOCK) == "suspended"
    limited, told = await pipeline.rows("outbox")
    assert limited["kind"] == "account.limited"
    assert (told["kind"], told["subject_id"]) == ("account.suspended", "ada")
    assert "blocked for a while by policy" in told["body"]

    await pipeline.operations.run(
        lambda tx, now: lift_suspension(
            tx, now, workspace_id=HOME, account_id="ada", by="member:ada"
        )
    )
    assert await end_with(pipeline, BLOCK) == "connected"  # counted again


async def test_a_success_between_two_blocks_begins_again(pipeline: Pipeline) -> None:
    for outcome in (BLOCK, Sent("r"), BLOCK):
        await pipeline.post()
        assert await end_with(pipeline, outcome) == "connected"


async def test_an_ordinary_wait_is_no_block(pipeline: Pipeline) -> None:
    await pipeline.post()
    for _ in range(3):
        slow = TryLater(timedelta(), WaitScope.ACCOUNT, "slow down")
        assert await end_with(pipeline, slow) == "connected"
