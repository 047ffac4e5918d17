"""An audit that begins where the last night ended finds what a replay of the whole ledger finds."""

import random
from datetime import datetime, timedelta
from functools import partial

import pytest

from cadenza.deliveries.audit_limits import audit_limits, judge_settled, list_rules, save_audit
from cadenza.sql.tx import Tx
from tests.deliveries.conftest import HOME, Pipeline

KINDS = {"hour": 9, "day": 40, "week": 200, "rolling_day": 40, "gap": 1}


async def live_through(pipeline: Pipeline, seed: int) -> None:
    """Write sixty days of a ledger: busy hours, silent days."""
    dice = random.Random(seed)

    def write(tx: Tx, now: datetime) -> None:
        at = now - timedelta(days=60)
        for number in range(1500):
            at += timedelta(minutes=dice.choice((1, 2, 5, 40, 90, 300)))
            if at >= now:
                return
            tx.run(
                """
                INSERT INTO activity (workspace_id, id, account_id, action, mode, lane_id, state, counts,
                    attempt_id, reserved_at, settled_at)
                VALUES (:home, :id, 'ada', 'post', 'live', 'account:ada', 'success', true, :id, :at, :end)
                """,
                home=HOME,
                id=f"a{number}",
                at=at,
                end=at + timedelta(seconds=dice.randrange(30)),
            )

    await pipeline.operations.run(write)


@pytest.mark.parametrize("seed", range(3))
async def test_an_audit_from_the_last_night_on_finds_what_the_whole_ledger_tells(
    pipeline: Pipeline, seed: int
) -> None:
    for kind, amount in KINDS.items():
        await pipeline.limit("ada", "post", kind, amount)
    await live_through(pipeline, seed)
    whole = await pipeline.operations.read(partial(audit_limits, whole=True))
    assert {worst.kind for worst in whole.worst} == set(KINDS)
    for days in (45, 20, 3, 0):  # nights, one after the other

        def night(tx: Tx, now: datetime, days: int = days) -> None:
            at = now - timedelta(days=days)
            for rule in list_rules(tx, at):
                worst = judge_settled(tx, at, rule=rule)
                if worst is not None:
                    save_audit(tx, at, rule=rule, worst=worst)

        await pipeline.operations.run(night)
        kept = await pipeline.operations.read(audit_limits)
        assert [(w.kind, w.reached) for w in kept.worst] == [
            (w.kind, w.reached) for w in whole.worst
        ]


async def test_an_account_that_moved_to_another_zone_is_judged_again(pipeline: Pipeline) -> None:
    await pipeline.limit("ada", "post", "day", 40)
    await live_through(pipeline, 7)
    await pipeline.operations.run(
        lambda tx, now: [
            save_audit(tx, now, rule=rule, worst=worst)
            for rule in list_rules(tx, now)
            if (worst := judge_settled(tx, now, rule=rule)) is not None
        ]
    )
    await pipeline.operations.run(
        lambda tx, _: tx.run("UPDATE account SET zone = 'Asia/Kathmandu'")
    )
    whole = await pipeline.operations.read(partial(audit_limits, whole=True))
    assert (await pipeline.operations.read(audit_limits)).worst == whole.worst
