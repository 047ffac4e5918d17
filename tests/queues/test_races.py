"""Races on PostgreSQL: each operation that reads and then writes, against what could come between."""

import asyncio
from datetime import datetime, timedelta

from cadenza.deliveries import lanes
from cadenza.deliveries.model import ClaimedDelivery
from cadenza.deliveries.permit import Permitted
from cadenza.queues.change import ChangedSchedule, change
from cadenza.queues.clear import Cleared, clear
from cadenza.queues.move_to_slot import MovedToSlot, move_to_slot
from cadenza.queues.pause import pause
from cadenza.queues.reorder import Reordered, Stale, reorder, reverse
from cadenza.queues.resume import Resumed, resume
from cadenza.queues.skip import Skipped, skip_next
from cadenza.sql.tx import Tx
from tests.queues.conftest import ADA, BEN, DAILY, HOME, Desk

ROUNDS = 6


async def test_reorder_against_claim_moves_all_but_the_one_that_was_taken(pg: Desk) -> None:
    await pg.week(slots=DAILY)
    posts = await pg.fill(6)
    instants = [post.at for post in posts]
    pg.now = posts[0].at
    for _ in range(ROUNDS):
        answer, tickets = await asyncio.gather(
            pg.run(reverse, account_id="ada", by=ADA), pg.claim()
        )
        assert isinstance(answer, Reordered)
        rows = await pg.rows("SELECT * FROM delivery ORDER BY slot_at")
        assert [row["slot_at"] for row in rows] == instants
        assert all(row["due_at"] == row["slot_at"] for row in rows)
        for ticket in tickets:
            # The lane was held or passed over: what was claimed stands where the claim saw it.
            seen = await pg.row("delivery", ticket.id)
            assert seen["due_at"] == ticket.delivery.due_at == instants[0]
            assert ticket.id not in {m.id for m in answer.moved} or await _was_after(pg, ticket)
        await pg.operations.run(
            lambda tx, _: tx.run("UPDATE delivery SET leased_until = NULL, worker = NULL")
        )
        await pg.operations.run(
            lambda tx, _, at=instants[0]: tx.run(
                "UPDATE lane SET in_flight = 0, calls = 0, runnable_at = :at", at=at
            )
        )


async def _was_after(pg: Desk, ticket: ClaimedDelivery) -> bool:
    """It moved to the head first and was claimed there: its instant is the head's."""
    return (await pg.row("delivery", ticket.id))["due_at"] <= pg.now


async def test_of_two_reorders_of_one_revision_one_wins(pg: Desk) -> None:
    await pg.week(slots=DAILY)
    await pg.fill(4)
    for _ in range(ROUNDS):
        revision = (await pg.queue()).revision
        line = await pg.posts()
        left, right = line[::-1], [*line[1:], line[0]]
        answers = await asyncio.gather(
            pg.run(reorder, account_id="ada", ids=left, revision=revision, by=ADA),
            pg.run(reorder, account_id="ada", ids=right, revision=revision, by=BEN),
        )
        assert sorted(type(answer).__name__ for answer in answers) == ["Reordered", "Stale"]
        winner = left if isinstance(answers[0], Reordered) else right
        (loser,) = [answer for answer in answers if isinstance(answer, Stale)]
        assert await pg.posts() == winner == [entry.post_id for entry in loser.order]


async def test_clear_against_permit_never_cancels_what_was_permitted(pg: Desk) -> None:
    await pg.week(slots=DAILY)
    for _ in range(ROUNDS):
        posts = await pg.fill(2)
        pg.now = posts[0].at
        (ticket,) = await pg.claim()
        permitted, cleared = await asyncio.gather(
            pg.permit(ticket), pg.run(clear, account_id="ada", by=ADA)
        )
        assert isinstance(permitted, Permitted)
        assert isinstance(cleared, Cleared)
        assert ticket.id in cleared.on_their_way
        row = await pg.row("delivery", ticket.id)
        assert row["state"] == "sending"
        await pg.operations.run(
            lambda tx, _: tx.run(
                "UPDATE delivery SET state = 'sent', sent_at = due_at, leased_until = NULL "
                "WHERE state = 'sending'"
            )
        )
        await pg.operations.run(lambda tx, _: tx.run("UPDATE lane SET in_flight = 0, calls = 0"))


async def test_clear_against_claim_cancels_or_is_too_late(pg: Desk) -> None:
    await pg.week(slots=DAILY)
    for _ in range(ROUNDS):
        (post,) = await pg.fill(1)
        pg.now = post.at
        cleared, tickets = await asyncio.gather(pg.run(clear, account_id="ada", by=ADA), pg.claim())
        assert isinstance(cleared, Cleared)
        canceled, claimed = post.ids[0] in cleared.canceled, bool(tickets)
        assert canceled != claimed
        await pg.operations.run(
            lambda tx, _: tx.run(
                "UPDATE delivery SET state = 'canceled', leased_until = NULL WHERE state = 'scheduled'"
            )
        )
        await pg.operations.run(lambda tx, _: tx.run("UPDATE lane SET in_flight = 0, calls = 0"))


async def test_add_against_a_schedule_change_never_leaves_a_post_beside_the_slots(pg: Desk) -> None:
    await pg.week(slots=DAILY)
    evening = {day: ["18:00", "19:00", "20:00"] for day in DAILY}
    for turn in range(ROUNDS):
        changed, *_ = await asyncio.gather(
            pg.run(change, account_id="ada", by=ADA, slots=evening if turn % 2 == 0 else DAILY),
            pg.add(),
            pg.add(),
        )
        assert isinstance(changed, ChangedSchedule)
        hours = {wall[11:] for _, wall in await pg.order()}
        assert hours <= (
            {"18:00", "19:00", "20:00"} if turn % 2 == 0 else {"09:00", "12:00", "15:00"}
        )
    assert len(await pg.posts()) == ROUNDS * 2


async def test_workers_that_claim_at_once_are_given_different_deliveries(pg: Desk) -> None:
    for account in ("ada", "ben"):
        await pg.week(account, slots=DAILY)
        await pg.fill(ROUNDS, account)
    pg.now += timedelta(days=3)
    given: list[str] = []
    for _ in range(ROUNDS):
        claims = await asyncio.gather(*(pg.claim() for _ in range(6)))
        tickets = [ticket for claim in claims for ticket in claim]
        assert {ticket.delivery.account_id for ticket in tickets} == {"ada", "ben"}
        given += [ticket.id for ticket in tickets]
        await pg.operations.run(
            lambda tx, _: tx.run(
                "UPDATE delivery SET state = 'sent', sent_at = due_at, leased_until = NULL "
                "WHERE leased_until IS NOT NULL"
            )
        )
        lanes_ = [(HOME, "account:ada"), (HOME, "account:ben")]
        await pg.operations.run(
            lambda tx, _, all_=lanes_: lanes.change(tx, dict.fromkeys(all_, -1))
        )
    assert len(given) == len(set(given)) == 2 * ROUNDS


async def test_of_two_who_point_at_one_slot_one_gets_it(pg: Desk) -> None:
    await pg.week(slots=DAILY)
    first, second = await pg.fill(2)
    posts = await pg.posts()
    for round_ in range(ROUNDS):
        at = first.at + timedelta(days=round_ + 2)
        answers = await asyncio.gather(
            pg.run(move_to_slot, account_id="ada", post_id=posts[0], at=at, by=ADA),
            pg.run(move_to_slot, account_id="ada", post_id=posts[1], at=at, by=BEN),
        )
        assert sorted(type(answer).__name__ for answer in answers) == ["MovedToSlot", "NoRoom"]
        held = [(await pg.row("delivery", each.ids[0]))["slot_at"] for each in (first, second)]
        assert held.count(at) == 1


async def test_a_slot_is_never_given_to_what_a_worker_took_meanwhile(pg: Desk) -> None:
    await pg.week(slots=DAILY)
    for _ in range(ROUNDS):
        (queued,) = await pg.fill(1)
        post = (await pg.row("delivery", queued.ids[0]))["post_id"]
        pg.now = queued.at
        answer, tickets = await asyncio.gather(
            pg.run(
                move_to_slot,
                account_id="ada",
                post_id=post,
                at=queued.at + timedelta(days=1),
                by=ADA,
            ),
            pg.claim(),
        )
        row = await pg.row("delivery", queued.ids[0])
        # Who came first decides: moved and not due any more, or taken and left where it was.
        assert isinstance(answer, MovedToSlot) != bool(tickets)
        assert row["due_at"] == (queued.at if tickets else queued.at + timedelta(days=1))
        await pg.operations.run(lambda tx, _: tx.run("UPDATE delivery SET state = 'canceled'"))
        await pg.operations.run(
            lambda tx, _: tx.run("UPDATE lane SET in_flight = 0, calls = 0, runnable_at = NULL")
        )


async def test_two_skips_at_once_are_one_skip(pg: Desk) -> None:
    await pg.week(slots=DAILY)
    answers = await asyncio.gather(*(pg.run(skip_next, account_id="ada", by=ADA) for _ in range(4)))
    assert sum(1 for a in answers if isinstance(a, Skipped) and a.fresh) == 1
    assert len(await pg.rows("SELECT * FROM queue_skip")) == 1


async def test_two_resumes_at_once_shift_once(pg: Desk) -> None:
    await pg.week(slots=DAILY)
    await pg.fill(3)
    await pg.run(pause, account_id="ada", reason="x", by=ADA)
    pg.now += timedelta(hours=6)
    answers = await asyncio.gather(*(pg.run(resume, account_id="ada", by=ADA) for _ in range(3)))
    assert sorted(len(a.held) for a in answers if isinstance(a, Resumed)) == [0, 0, 2]
    assert [wall for _, wall in await pg.order()] == [
        "2026-05-05T09:00",
        "2026-05-05T12:00",
        "2026-05-05T15:00",
    ]


async def test_a_held_queue_does_not_hold_up_another_accounts_claims(pg: Desk) -> None:
    await pg.week("ada", slots=DAILY)
    await pg.week("ben", slots=DAILY)
    (mine,) = await pg.fill(1, "ada")
    await pg.fill(1, "ben")
    pg.now = mine.at
    claimed: list[str] = []

    async def long_change() -> None:
        started, release = asyncio.Event(), asyncio.Event()
        loop = asyncio.get_running_loop()

        def work(tx: Tx, _now: datetime) -> None:
            tx.value("SELECT id FROM lane WHERE id = 'account:ada' FOR UPDATE")
            loop.call_soon(started.set)
            while not release.is_set():
                tx.value("SELECT pg_sleep(0.01)")

        change_ = asyncio.create_task(pg.operations.run(work))
        await started.wait()
        claimed.extend(ticket.delivery.account_id for ticket in await pg.claim())
        release.set()
        await change_

    await asyncio.wait_for(long_change(), 20)
    assert claimed == ["ben"]
