"""Does what a plan says: moves, removes and re-aims posts that nobody touched.

The plan was made in the same transaction with the posts held, so nobody can have touched one since; a
delivery that was moved or sent on meanwhile is passed over by its own condition. What is added is left
to the generator: it finds it missing.
"""

from collections.abc import Sequence
from datetime import datetime

from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries.model import COLUMNS, Delivery
from cadenza.deliveries.reasons import Code, Reason
from cadenza.deliveries.schedule import schedule
from cadenza.deliveries.transition import Changes, end_waiting, move_posts
from cadenza.drafts.asset_pool import recount
from cadenza.drafts.generate import deliveries_of, write_targets
from cadenza.drafts.model import Rule
from cadenza.drafts.occurrences import target_month
from cadenza.drafts.plan_change import GeneratedPost, Move, Plan, Retarget
from cadenza.media.use import use
from cadenza.sql.tx import Tx
from cadenza.sql.values import read_values

REASON = Reason.of(Code.RULE_CHANGED)


def apply_plan(tx: Tx, now: datetime, rule: Rule, plan: Plan) -> None:
    """Write everything but what is added. Run it under `drafts_locks`."""
    remove(tx, now, rule, plan.removed)
    _rename(tx, rule, [*plan.moved, *plan.renamed])
    _move(tx, now, rule, plan.moved)
    for change in plan.retargeted:
        _retarget(tx, now, rule, change)


def remove(tx: Tx, now: datetime, rule: Rule, removed: Sequence[GeneratedPost]) -> None:
    """Take untouched posts away with their keys: unlike a person's deletion, this leaves no tombstone."""
    posts = [each.post_id for each in removed if each.post_id is not None]
    if not posts:
        return
    params = {"workspace_id": rule.workspace_id, "posts": [(id_,) for id_ in posts]}
    tx.run(
        """
        UPDATE post SET deleted_at = :now
        WHERE workspace_id = :workspace_id
            AND id IN (SELECT id FROM TABLE(:posts) AS asked (id text))
        """,
        now=now,
        **params,
    )
    drafts = tx.all(
        f"""
        SELECT {COLUMNS} FROM delivery
        WHERE workspace_id = :workspace_id AND state = 'draft'
            AND post_id IN (SELECT id FROM TABLE(:posts) AS asked (id text))
        """,  # noqa: S608 - put together from constants
        **params,
    )
    end_waiting(tx, now, read_values(Delivery, drafts), State.CANCELED, REASON)
    tx.run(
        """
        DELETE FROM rule_occurrence
        WHERE workspace_id = :workspace_id AND rule_id = :rule_id
            AND post_id IN (SELECT id FROM TABLE(:posts) AS asked (id text))
        """,
        rule_id=rule.id,
        **params,
    )
    for each in removed:
        if each.post_id is not None and each.media_id is not None:
            use(tx, rule.workspace_id, each.post_id, [])
    for pool in {each.pool_id for each in removed if each.pool_id is not None}:
        media = [each.media_id for each in removed if each.media_id and each.pool_id == pool]
        recount(tx, rule.workspace_id, pool, media)


def _rename(tx: Tx, rule: Rule, moves: Sequence[Move]) -> None:
    """Give rows the keys that they stand for now; new keys were free, so the order does not matter."""
    tx.run(
        """
        UPDATE rule_occurrence SET day = new.to_day, slot = new.to_slot
        FROM TABLE(:new) AS new (day text, slot text, to_day text, to_slot text)
        WHERE rule_occurrence.workspace_id = :workspace_id AND rule_occurrence.rule_id = :rule_id
            AND rule_occurrence.day = new.day AND rule_occurrence.slot = new.slot
        """,
        workspace_id=rule.workspace_id,
        rule_id=rule.id,
        new=[(*move.laid.key, *move.to.key) for move in moves if move.laid.key != move.to.key],
    )


def _move(tx: Tx, now: datetime, rule: Rule, moves: Sequence[Move]) -> None:
    if not moves:
        return
    zone = rule.timing.zone
    tx.run(
        """
        UPDATE rule_occurrence SET due_at = new.due_at, target_month = new.target_month
        FROM TABLE(:new) AS new (post_id text, due_at timestamptz, target_month text)
        WHERE rule_occurrence.workspace_id = :workspace_id AND rule_occurrence.post_id = new.post_id
        """,
        workspace_id=rule.workspace_id,
        new=[(m.laid.post_id, m.to.instant, target_month(m.to, zone)) for m in moves],
    )
    drafts = tx.all(
        """
        SELECT delivery.id, delivery.post_id FROM TABLE(:moved) AS moved (post_id text, old_at timestamptz)
        JOIN delivery ON delivery.workspace_id = :workspace_id AND delivery.post_id = moved.post_id
        WHERE delivery.state = 'draft' AND delivery.due_at = moved.old_at
        """,
        workspace_id=rule.workspace_id,
        moved=[(m.laid.post_id, m.laid.due_at) for m in moves],
    )
    to = {m.laid.post_id: m.to for m in moves}
    changes = {
        row["id"]: Changes(due_at=slot.instant, wall_time=slot.wall_time, zone=str(zone))
        for row in drafts
        for slot in [to[row["post_id"]]]
    }
    move_posts(tx, now, rule.workspace_id, changes, was=(State.DRAFT,))


def _retarget(tx: Tx, now: datetime, rule: Rule, change: Retarget) -> None:
    post_id = change.laid.post_id
    assert post_id is not None, "only posts are re-aimed"
    drafts = tx.all(
        f"""
        SELECT {COLUMNS} FROM delivery
        WHERE workspace_id = :workspace_id AND post_id = :post_id AND state = 'draft'
            AND EXISTS (SELECT 1 FROM TABLE(:gone) AS gone (account_id text, channel text)
                WHERE gone.account_id = delivery.account_id AND gone.channel = delivery.channel)
        """,  # noqa: S608 - put together from constants
        workspace_id=rule.workspace_id,
        post_id=post_id,
        gone=[(account, channel.value) for account, channel in change.drop],
    )
    end_waiting(tx, now, read_values(Delivery, drafts), State.CANCELED, REASON)
    schedule(tx, now, deliveries_of(tx, rule, post_id, change.at, sorted(change.add)))
    tx.run(
        """
        UPDATE rule_occurrence SET targets = :targets
        WHERE workspace_id = :workspace_id AND post_id = :post_id
        """,
        targets=write_targets(sorted((change.laid.targets | change.add) - change.drop)),
        workspace_id=rule.workspace_id,
        post_id=post_id,
    )
