"""Does a long queue cost more? Adding to 10 and to 10,000 posts, and turning 10,000 round.

    python -m bench.queues [sqlite|postgres] [posts]

Slots are every half hour. Two queues of one database are added to by turns, so that a busy machine bears
on both alike: read the ratio, not the milliseconds. While the long queue is reordered, another account's
posts are claimed all the time; the longest wait for a claim is shown beside the quiet one. The bars
(`bars.judge_queues`) are judged at the end, and one that is not met makes the exit code 1.
"""

import asyncio
import sys
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from statistics import median
from typing import Any

from bench.bars import judge_queues, tell
from bench.pipeline import HOME, database
from cadenza.core.channels import Channel
from cadenza.core.slots import upcoming_slots
from cadenza.deliveries.claim import claim, release
from cadenza.deliveries.init_account import init_account
from cadenza.deliveries.lanes import refresh
from cadenza.deliveries.model import Action, ComposedPost, NewDelivery
from cadenza.deliveries.schedule import schedule
from cadenza.queues.add import Queued, To, add_pieces
from cadenza.queues.clear import clear
from cadenza.queues.model import Queue, locks, wall_text
from cadenza.queues.reorder import Reordered, reverse
from cadenza.queues.schedule import Written, write
from cadenza.sql.transactions import Operations
from cadenza.sql.tx import Tx

HALF_HOURS = {str(d): [f"{h:02}:{m:02}" for h in range(24) for m in (0, 30)] for d in range(7)}
SHORT, LONG, OTHER = "short", "long", "other"
ADDS = 40
_LEASE = timedelta(seconds=60)
BY = "member:bench"


async def begin(operations: Operations) -> dict[str, Queue]:
    def people(tx: Tx, now: datetime) -> dict[str, Queue]:
        tx.run(
            "INSERT INTO workspace (id, name, zone, created_at) VALUES (:h, 'b', 'UTC', :n)",
            h=HOME,
            n=now,
        )
        queues: dict[str, Queue] = {}
        for account in (SHORT, LONG, OTHER):
            tx.run(
                """
                INSERT INTO account (workspace_id, id, provider, remote_id, zone, created_at)
                VALUES (:home, :id, 'null', :id, 'Europe/Berlin', :now)
                """,
                home=HOME,
                id=account,
                now=now,
            )
            init_account(tx, now, workspace_id=HOME, account_id=account)
            made = write(tx, now, workspace_id=HOME, account_id=account, slots=HALF_HOURS, by=BY)
            assert isinstance(made, Written)
            queues[account] = made.queue
        return queues

    return await operations.run(people)


async def fill(operations: Operations, queue: Queue, posts: int) -> None:
    def put(first: int, tx: Tx, now: datetime) -> None:
        slots = list(upcoming_slots(queue.schedule, not_before=now))[
            first : min(first + 500, posts)
        ]
        new = [
            NewDelivery(
                id=f"{queue.account_id}-{first + n:06}",
                workspace_id=HOME,
                account_id=queue.account_id,
                channel=Channel.WEBHOOK,
                action=Action.POST,
                due_at=slot.instant,
                content='{"text":"hello"}',
                post_id=f"post-{queue.account_id}-{first + n}",
                slot_at=slot.instant,
                wall_time=wall_text(slot),
                zone="Europe/Berlin",
            )
            for n, slot in enumerate(slots)
        ]
        schedule(tx, now, new)

    for first in range(0, posts, 500):
        await operations.run(lambda tx, now, f=first: put(f, tx, now))


async def add(operations: Operations, account: str, number: int) -> float:
    piece = ComposedPost(
        post_id=f"new-{account}-{number}",
        account_id=account,
        channel=Channel.WEBHOOK,
        content='{"text":"new"}',
        approved=True,
    )

    def put(tx: Tx, now: datetime) -> Any:
        return add_pieces(tx, now, workspace_id=HOME, pieces=[piece], by=BY, to=To.FIRST_FREE)

    began = time.perf_counter()
    answer = await operations.run(put, locks=locks(HOME, account))
    took = time.perf_counter() - began
    assert isinstance(answer.answers[0], Queued), answer
    return took


async def timed(operations: Operations, work: Callable[[Tx, datetime], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    answer = await operations.run(work, locks=locks(HOME, LONG))
    return time.perf_counter() - began, answer


async def keep_claiming(operations: Operations, waits: list[float], ready: asyncio.Event) -> None:
    """Claim and give back another account's post, again and again, as its sending would."""

    def once(tx: Tx, now: datetime) -> int:
        tx.run("UPDATE delivery SET due_at = :now WHERE id = :id", now=now, id=f"{OTHER}-000000")
        refresh(tx, [(HOME, f"account:{OTHER}")])
        tickets = claim(tx, now, limit=5, worker="w", lease=_LEASE)
        release(tx, now, tickets)
        return len(tickets)

    while not ready.is_set():
        began = time.perf_counter()
        assert await operations.run(once) >= 1
        waits.append(time.perf_counter() - began)


async def main(kind: str = "sqlite", posts: int = 10_000) -> int:
    async with database(kind) as operations:
        queues = await begin(operations)
        await fill(operations, queues[SHORT], 10)
        await fill(operations, queues[LONG], posts)
        await fill(operations, queues[OTHER], 1)
        short: list[float] = []
        long: list[float] = []
        for number in range(ADDS):
            short.append(await add(operations, SHORT, number))
            long.append(await add(operations, LONG, number))
        ratio = median(long) / median(short)
        print(
            f"{kind}: add to 10 posts {median(short) * 1000:.1f} ms, to {posts:,} "
            f"{median(long) * 1000:.1f} ms: {ratio:.2f} times"
        )
        quiet, busy, done = [], [], asyncio.Event()  # type: list[float], list[float], asyncio.Event
        calm = asyncio.create_task(keep_claiming(operations, quiet, done))
        await asyncio.sleep(0.5)
        done.set()
        await calm
        done = asyncio.Event()
        claims = asyncio.create_task(keep_claiming(operations, busy, done))
        took, answer = await timed(
            operations,
            lambda tx, now: reverse(tx, now, workspace_id=HOME, account_id=LONG, by=BY),
        )
        done.set()
        await claims
        assert isinstance(answer, Reordered), answer
        print(
            f"{kind}: {len(answer.moved):,} posts turned round in {took:.2f} s; another account's claim "
            f"took at most {max(busy) * 1000:.0f} ms meanwhile ({max(quiet) * 1000:.0f} ms in quiet)"
        )
        bars = judge_queues(kind, posts=posts, ratio=ratio, turned=took, waited=max(busy))
        took, _ = await timed(
            operations, lambda tx, now: clear(tx, now, workspace_id=HOME, account_id=LONG, by=BY)
        )
        print(f"{kind}: cleared in {took:.2f} s")
    return tell(bars)


if __name__ == "__main__":
    words = sys.argv[1:]
    sys.exit(asyncio.run(main(*words[:1], *(int(word) for word in words[1:]))))
