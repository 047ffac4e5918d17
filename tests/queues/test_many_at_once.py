"""Sixteen people at once: no slot twice, no post lost, every answer true."""

import asyncio

import pytest

from cadenza.core.channels import Channel
from cadenza.queues.add import Added, Queued, To, add_pieces
from tests.queues.conftest import ADA, DAILY, HOME, Desk, piece

CROWD = 16


async def check(desk: Desk, answers: list[Added], accounts: int) -> None:
    rows = await desk.rows("SELECT * FROM delivery WHERE slot_at IS NOT NULL")
    by_id = {row["id"]: row for row in rows}
    held = {(row["account_id"], row["slot_at"]) for row in rows}
    assert len(held) == len(rows) == CROWD * accounts
    for added in answers:
        assert len(added.answers) == accounts
        for answer in added.answers:
            assert isinstance(answer, Queued), answer
            row = by_id[answer.ids[0]]
            assert (row["account_id"], row["slot_at"]) == (answer.account_id, answer.at)


@pytest.mark.parametrize("to", [To.FIRST_FREE, To.END])
async def test_sixteen_add_to_one_queue_at_once(desk: Desk, to: To) -> None:
    await desk.week(slots=DAILY)
    answers = await asyncio.gather(*(desk.add(to=to) for _ in range(CROWD)))
    await check(desk, answers, 1)
    revisions = sorted(answer.answers[0].revision for answer in answers)  # pyright: ignore[reportAttributeAccessIssue]
    assert revisions == list(range(2, 2 + CROWD))
    days = [wall for _, wall in await desk.order()]
    assert days[-1] == "2026-05-09T12:00"  # sixteen slots without a gap


async def test_sixteen_put_theirs_first_and_all_keep_a_place(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    await asyncio.gather(*(desk.add(to=To.NEXT) for _ in range(CROWD)))
    order = await desk.order()
    assert len({post for post, _ in order}) == len(order) == CROWD
    assert order[-1][1] == "2026-05-09T12:00"


async def test_sixteen_add_to_eight_queues_at_once(desk: Desk) -> None:
    accounts = [f"account{n}" for n in range(8)]
    for account in accounts:
        await desk.connect(account)
        await desk.week(account, slots=DAILY)
    turned = [accounts[n % 8 :] + accounts[: n % 8] for n in range(CROWD)]
    answers = await asyncio.gather(*(desk.add(*names) for names in turned))
    await check(desk, list(answers), 8)


async def test_whoever_forgets_the_lock_still_gets_a_slot_of_their_own(desk: Desk) -> None:
    await desk.week(slots=DAILY)

    async def careless(number: int) -> Added:
        pieces = piece(f"careless{number}", ["ada"], [Channel.MASTODON])
        return await desk.operations.run(
            lambda tx, _: add_pieces(tx, desk.now, workspace_id=HOME, pieces=pieces, by=ADA)
        )

    await check(desk, list(await asyncio.gather(*map(careless, range(CROWD)))), 1)
