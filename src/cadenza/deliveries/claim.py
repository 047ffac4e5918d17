"""Takes the heads of runnable lanes, as many as each has room for, under a lease.

One statement finds the lanes and leases their heads; a lane that is paused, parked, full or empty is not
looked at, so the cost follows what can run. Lanes take turns: whoever was served longest ago comes first, and
each gets the same share of a claim. What a process died with is a suspect: it is passed over and
claimed alone, so that a poison payload takes no neighbours with it; what a network asked to leave alone is put
back at once. Nothing is decided about limits here: the permit does that, right before the call.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from operator import attrgetter

from cadenza.accounts.model import read_accounts
from cadenza.deliveries import lanes, leases
from cadenza.deliveries.contents import complete
from cadenza.deliveries.model import ClaimedDelivery, Delivery
from cadenza.deliveries.rate_limit_waits import return_rate_limited
from cadenza.sql.tx import Row, Tx
from cadenza.sql.values import Key, read_values

_WAITS = "state = 'scheduled' AND leased_until IS NULL AND due_at <= :now"
# Of a lane with crashed deliveries only the others count; a sub-select with a limit is asked lane by lane.
_SKIPS_CRASHED = f"""(
    NOT EXISTS (
        SELECT 1 FROM delivery
        WHERE delivery.workspace_id = lane.workspace_id AND delivery.lane_id = lane.id
            AND crashes > 0 AND state = 'scheduled' AND leased_until IS NULL
    ) OR (
        SELECT delivery.id FROM delivery
        WHERE delivery.workspace_id = lane.workspace_id AND delivery.lane_id = lane.id
            AND crashes = 0 AND {_WAITS} AND {lanes.RESUMED}
        LIMIT 1
    ) IS NOT NULL
)"""  # noqa: S608 - put together from constants
_RUNNABLE = f"""
    NOT paused AND runnable_at IS NOT NULL AND in_flight < in_flight_limit AND {lanes.TURN} <= :now
        AND {_SKIPS_CRASHED}
    ORDER BY {lanes.TURN} LIMIT :limit
"""
_HEAD = f"""
    delivery.workspace_id = runnable.workspace_id AND delivery.lane_id = runnable.lane_id
        AND crashes = 0 AND {_WAITS}
        AND (runnable.unresumed_until IS NULL OR due_at >= runnable.unresumed_until)
"""
_ORDER = "ORDER BY priority, due_at, delivery.id"
# Who changes the order in a lane writes the lane. One that was written after this statement's view of all rows
# and before its lock is passed over, else its old head would go; the next look sees it whole.
_HEADS_LOCKED = f"""
    WITH locked AS (
        SELECT workspace_id, id AS lane_id, unresumed_until, in_flight_limit - in_flight AS room, xmin AS version
        FROM lane WHERE {_RUNNABLE} FOR UPDATE SKIP LOCKED
    ), runnable AS (
        SELECT *, greatest(:limit / count(*) OVER (), 1) AS share FROM locked WHERE version = (
            SELECT lane.xmin FROM lane WHERE lane.workspace_id = locked.workspace_id AND lane.id = lane_id
        )
    ), heads AS (
        SELECT runnable.workspace_id, head.id FROM runnable CROSS JOIN LATERAL (
            SELECT delivery.id FROM delivery WHERE {_HEAD} {_ORDER}
            LIMIT least(room, share) FOR UPDATE SKIP LOCKED
        ) AS head
    )
"""  # noqa: S608 - put together from constants
# SQLite has one writer, and no sub-select with a limit of its own for each lane: it goes from head to head, first
# over all lanes, then over all again.
_HEADS = f"""
    WITH RECURSIVE lanes AS (
        SELECT workspace_id, id AS lane_id, unresumed_until, in_flight_limit - in_flight AS room
        FROM lane WHERE {_RUNNABLE}
    ), heads AS (
        SELECT runnable.*, 1 AS place, (SELECT delivery.id FROM delivery WHERE {_HEAD} {_ORDER} LIMIT 1) AS id
        FROM lanes AS runnable
        UNION ALL
        SELECT runnable.workspace_id, lane_id, unresumed_until, room, place + 1, (
            SELECT delivery.id FROM delivery WHERE {_HEAD} AND (priority, due_at, delivery.id) > (
                SELECT priority, due_at, last.id FROM delivery AS last
                WHERE last.workspace_id = runnable.workspace_id AND last.id = runnable.id
            ) {_ORDER} LIMIT 1
        )
        FROM heads AS runnable WHERE place < room AND runnable.id IS NOT NULL
        ORDER BY place LIMIT :limit
    )
"""  # noqa: S608 - put together from constants
_CRASHED_DELIVERIES = f"""
    FROM delivery JOIN lane ON lane.workspace_id = delivery.workspace_id AND lane.id = delivery.lane_id
    WHERE crashes > 0 AND {_WAITS} AND {lanes.RESUMED} AND NOT paused AND in_flight < in_flight_limit
        AND (parked_until IS NULL OR parked_until <= :now)
    ORDER BY due_at LIMIT 1
"""


def claim(
    tx: Tx, now: datetime, *, limit: int, worker: str, lease: timedelta, alone: bool = False
) -> list[ClaimedDelivery]:
    """Lease up to `limit` heads, each to this worker alone, with its account and its lane's epoch.

    `alone` takes one suspect instead.
    """
    until = now + lease
    if alone:
        rows = _lease_crashed(tx, now, worker=worker, until=until)
    else:
        rows = _lease_heads(tx, now, limit=limit, worker=worker, until=until)
    found = sorted(read_values(Delivery, rows), key=attrgetter("priority", "due_at", "id"))
    if not found:
        return []
    accounts = read_accounts(tx, (each.account_key for each in found))
    going = return_rate_limited(tx, now, found, accounts)
    served = lanes.change(tx, _count(going, 1), served_at=now)
    epochs = {(row["workspace_id"], row["id"]): row["epoch"] for row in served}
    return [
        ClaimedDelivery(each, accounts[each.account_key], epochs[each.lane_key], now, problem)
        for each, problem in complete(tx, going)
    ]


def has_crashed(tx: Tx, now: datetime) -> bool:
    """Say whether a claim alone would find something."""
    return tx.one(f"SELECT delivery.id {_CRASHED_DELIVERIES}", now=now) is not None


def _lease_crashed(tx: Tx, now: datetime, *, worker: str, until: datetime) -> list[Row]:
    skip_locked = "FOR UPDATE SKIP LOCKED" if tx.dialect == "postgresql" else ""  # its lane too
    return tx.all(
        f"""
        WITH crashed AS (SELECT delivery.workspace_id, delivery.id {_CRASHED_DELIVERIES} {skip_locked})
        {leases.lease_found("crashed")}
        """,
        now=now,
        until=until,
        worker=worker,
    )


def _lease_heads(tx: Tx, now: datetime, *, limit: int, worker: str, until: datetime) -> list[Row]:
    # The heads are locked as they are found, so the change itself asks for their keys alone: asked for
    # their state too, PostgreSQL may read all that waits to find them.
    return tx.all(
        f"""
        {_HEADS_LOCKED if tx.dialect == "postgresql" else _HEADS}
        {leases.lease_found("heads")}
        """,
        now=now,
        limit=limit,
        until=until,
        worker=worker,
    )


def release(tx: Tx, now: datetime, tickets: Sequence[ClaimedDelivery]) -> int:
    """Give back what was claimed and not permitted, untouched."""
    if not tickets:
        return 0
    ours = leases.give_back(tx, (ticket.fence for ticket in tickets))
    # What was not ours any more has left already.
    free_lane_room(tx, [ticket.delivery for ticket in tickets if ticket.fence in ours])
    return len(ours)


def renew(
    tx: Tx, now: datetime, tickets: Sequence[ClaimedDelivery], *, lease: timedelta
) -> list[ClaimedDelivery]:
    """Extend what is still held; return what is lost."""
    if not tickets:
        return []
    ours = leases.extend(tx, (ticket.fence for ticket in tickets), until=now + lease)
    return [ticket for ticket in tickets if ticket.fence not in ours]


def free_lane_room(tx: Tx, deliveries: Iterable[Delivery]) -> None:
    """Make room in the lanes of deliveries that are out of hand."""
    lanes.change(tx, _count(deliveries, -1))


def _count(deliveries: Iterable[Delivery], each: int) -> dict[Key, int]:
    counts: dict[Key, int] = {}
    for one in deliveries:
        counts[one.lane_key] = counts.get(one.lane_key, 0) + each
    return counts
