"""Takes the heads of runnable lanes, as many as each has room for, under a lease.

One statement finds the lanes and leases their heads; a lane that is paused, parked, full or empty is not
looked at, so the cost follows what can run. Lanes take turns: whoever was served longest ago comes first, and
each gets the same share of a claim. What processes died with twice is a suspect: it is passed over and
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
_LANES = f"""
    SELECT lane.workspace_id, lane.id AS lane_id, lane.unresumed_until, account.id AS account,
        lane.in_flight_limit - lane.in_flight AS room, coalesce(account.width - account.calls, :limit) AS account_room,
        {lanes.TURN} AS turn_at
"""
_IN_TURN = f"FROM {lanes.READY} AND {lanes.TURN} <= :now ORDER BY {lanes.TURN} LIMIT :limit"
# Of a claim each account gets the same share, of an account each of its lanes; whoever comes first of what is too little.
_SHARES = """
    SELECT *, least(room, greatest(1, least(:limit / count(*) OVER (), account_room / count(*) OVER of_account))) AS share
    FROM (SELECT *, row_number() OVER (PARTITION BY workspace_id, account ORDER BY turn_at) AS place FROM ready) AS ready
    WHERE place <= account_room
    WINDOW of_account AS (PARTITION BY workspace_id, account)
"""
_HEAD = f"""
    delivery.workspace_id = runnable.workspace_id AND delivery.lane_id = runnable.lane_id
        AND {lanes.FRESH} AND {_WAITS}
        AND (runnable.unresumed_until IS NULL OR due_at >= runnable.unresumed_until)
"""
_ORDER = "ORDER BY priority, due_at, delivery.id"
# Who changes the order in a lane writes the lane. One that was written after this statement's view of all rows
# and before its lock is passed over, else its old head would go; the next look sees it whole.
_HEADS_LOCKED = f"""
    WITH locked AS ({_LANES}, lane.xmin AS version {_IN_TURN} FOR UPDATE SKIP LOCKED),
    ready AS (
        SELECT * FROM locked WHERE version = (
            SELECT lane.xmin FROM lane WHERE lane.workspace_id = locked.workspace_id AND lane.id = lane_id
        )
    ), runnable AS ({_SHARES}), heads AS (
        SELECT runnable.workspace_id, head.id FROM runnable CROSS JOIN LATERAL (
            SELECT delivery.id FROM delivery WHERE {_HEAD} {_ORDER} LIMIT share FOR UPDATE SKIP LOCKED
        ) AS head
    )
"""  # noqa: S608 - put together from constants
# SQLite has one writer, and no sub-select with a limit of its own for each lane: it goes from head to head.
_HEADS = f"""
    WITH RECURSIVE ready AS ({_LANES} {_IN_TURN}), lanes AS (
        {_SHARES.replace("least(", "min(").replace("greatest(", "max(")}
    ), heads AS (
        SELECT workspace_id, lane_id, unresumed_until, share, 1 AS nth, (
            SELECT delivery.id FROM delivery WHERE {_HEAD} {_ORDER} LIMIT 1
        ) AS id
        FROM lanes AS runnable
        UNION ALL
        SELECT workspace_id, lane_id, unresumed_until, share, nth + 1, (
            SELECT delivery.id FROM delivery WHERE {_HEAD} AND (priority, due_at, delivery.id) > (
                SELECT priority, due_at, last.id FROM delivery AS last
                WHERE last.workspace_id = runnable.workspace_id AND last.id = runnable.id
            ) {_ORDER} LIMIT 1
        )
        FROM heads AS runnable WHERE nth < share AND runnable.id IS NOT NULL
    )
"""  # noqa: S608 - put together from constants
_CRASHED_DELIVERIES = f"""
    FROM delivery JOIN lane ON lane.workspace_id = delivery.workspace_id AND lane.id = delivery.lane_id
    WHERE crashes > 1 AND {_WAITS} AND {lanes.RESUMED} AND NOT paused AND NOT account_paused
        AND in_flight < in_flight_limit AND (parked_until IS NULL OR parked_until <= :now)
        AND NOT EXISTS (
            SELECT 1 FROM lane AS account WHERE account.workspace_id = delivery.workspace_id
                AND account.id = 'account:' || delivery.account_id AND account.calls >= account.width
        )
    ORDER BY due_at LIMIT 1
"""  # noqa: S608 - put together from constants


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
