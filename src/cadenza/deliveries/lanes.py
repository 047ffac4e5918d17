"""Lanes: where deliveries wait their turn, and the only place that says when a lane may be looked at.

`runnable_at` is the later of its first waiting delivery's due time and the lane's park. Whoever adds,
moves or takes a delivery calls `refresh`, which wakes the workers as well; so a claim reads one index of
lanes and never looks at what cannot run. A paused or full lane is not in that index at all.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cadenza.deliveries.transition import restore_due
from cadenza.sql.tx import Row, Tx

QUEUE = "deliveries"  # as workers know it
PAUSE = "lane"  # the gate that parks for a pause, where something was in a worker's hands
RECONNECT = "reconnect"  # who parks for want of a connected account
FOLLOWING = timedelta(
    hours=1
)  # a park that begins so long after another goes on with the same hold
A_YEAR = timedelta(days=365)
# When its turn is: lanes that may be looked at go in the order in which they were last served.
TURN = "(CASE WHEN served_at > runnable_at THEN served_at ELSE runnable_at END)"
# What came due without a connection waits for a person's choice, not for its lane.
RESUMED = "(lane.unresumed_until IS NULL OR due_at >= lane.unresumed_until)"
# A park that had run out before opened the lane then, not now.
OPENED = """parked_until = NULL, park_reason = NULL, parked_by = NULL,
    opened_at = CASE WHEN parked_until <= CLOCK() THEN parked_until ELSE CLOCK() END"""


def open_lane(
    tx: Tx,
    *,
    workspace_id: str,
    lane_id: str,
    account_id: str | None = None,
    in_flight_limit: int = 1,
) -> None:
    """Make a lane if there is none of that name."""
    tx.run(
        """
        INSERT INTO lane (workspace_id, id, account_id, in_flight_limit)
        VALUES (:workspace_id, :id, :account_id, :limit)
        ON CONFLICT (workspace_id, id) DO NOTHING
        """,
        workspace_id=workspace_id,
        id=lane_id,
        account_id=account_id,
        limit=in_flight_limit,
    )


def refresh(tx: Tx, lanes: Iterable[tuple[str, str]]) -> None:
    """Write again when these lanes may be looked at, and wake the workers: it may be now."""
    change(tx, dict.fromkeys(lanes, 0))
    tx.wake(QUEUE)


def change(
    tx: Tx, in_flight: Mapping[tuple[str, str], int], *, served_at: datetime | None = None
) -> list[Row]:
    """Count in or out of lanes, and say again when they may be looked at; return their epochs.

    The rows are held first, in one order, so that two workers never wait in a ring, and so that what is
    read next includes all that those who held them before have written.
    """
    if not in_flight:
        return []
    changes = [(*lane, count) for lane, count in sorted(in_flight.items())]
    if tx.dialect == "postgresql":
        tx.all(
            """
            SELECT 1 AS held FROM lane
            JOIN TABLE(:changes) AS asked (workspace_id text, lane_id text, count bigint)
                ON lane.workspace_id = asked.workspace_id AND lane.id = asked.lane_id
            ORDER BY lane.workspace_id, lane.id FOR UPDATE OF lane
            """,
            changes=changes,
        )
    return tx.all(
        f"""
        UPDATE lane SET
            in_flight = CASE WHEN in_flight + asked.count > 0 THEN in_flight + asked.count ELSE 0 END,
            served_at = coalesce(:served_at, served_at),
            runnable_at = (
                SELECT CASE WHEN lane.parked_until > min(due_at) THEN lane.parked_until ELSE min(due_at) END
                FROM delivery
                WHERE delivery.workspace_id = lane.workspace_id AND delivery.lane_id = lane.id
                    AND state = 'scheduled' AND leased_until IS NULL AND {RESUMED}
            )
        FROM TABLE(:changes) AS asked (workspace_id text, lane_id text, count bigint)
        WHERE lane.workspace_id = asked.workspace_id AND lane.id = asked.lane_id
        RETURNING lane.workspace_id, lane.id, lane.epoch
        """,  # noqa: S608 - a constant
        changes=changes,
        served_at=served_at,
    )


@dataclass(frozen=True, slots=True)
class Park:
    """Nothing of a lane is looked at before `until`, for this reason, says `by`."""

    workspace_id: str
    lane_id: str
    until: datetime
    reason: str
    by: str = "network"


def park_all(tx: Tx, now: datetime, parks: Sequence[Park]) -> None:
    """Park lanes; a longer park stays as it is. Parks that follow each other are one hold."""
    longest: dict[tuple[str, str], Park] = {}
    for park in sorted(parks, key=lambda park: park.until):
        longest[park.workspace_id, park.lane_id] = park
    if not longest:
        return
    tx.run(
        """
        UPDATE lane SET parked_until = asked.until, park_reason = asked.reason, parked_by = asked.by_whom,
            held_at = CASE
                WHEN coalesce(parked_until, opened_at) >= :lately THEN coalesce(held_at, :now)
                ELSE :now
            END
        FROM TABLE(:parks)
            AS asked (workspace_id text, lane_id text, until timestamptz, reason text, by_whom text)
        WHERE lane.workspace_id = asked.workspace_id AND lane.id = asked.lane_id
            AND (parked_until IS NULL OR parked_until < asked.until)
        """,
        parks=[
            (park.workspace_id, park.lane_id, park.until, park.reason, park.by)
            for _, park in sorted(longest.items())
        ],
        now=now,
        lately=now - FOLLOWING,
    )
    change(tx, dict.fromkeys(longest, 0))  # nobody is woken for what waits longer


def park(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    lane_id: str,
    until: datetime,
    reason: str,
    by: str = "network",
) -> None:
    """Let nothing of a lane be looked at before `until`; a longer park stays as it is."""
    park_all(tx, now, [Park(workspace_id, lane_id, until, reason, by)])


def unpark(
    tx: Tx,
    *,
    accounts: Sequence[tuple[str, str]],
    lanes: Sequence[tuple[str, str]] = (),
    by: Sequence[str],
) -> None:
    """End the parks that these gates asked for on lanes, and on all lanes of accounts: they may have opened."""
    opened = tx.all(
        f"""
        UPDATE lane SET {OPENED}
        WHERE parked_by IN (SELECT gate FROM TABLE(:by) AS gates (gate text))
            AND ((workspace_id, account_id) IN (
                    SELECT workspace_id, id FROM TABLE(:accounts) AS accounts (workspace_id text, id text)
                ) OR (workspace_id, id) IN (
                    SELECT workspace_id, id FROM TABLE(:lanes) AS lanes (workspace_id text, id text)
                ))
        RETURNING workspace_id, id
        """,  # noqa: S608 - a constant
        by=[(gate,) for gate in by],
        accounts=sorted(set(accounts)),
        lanes=sorted(set(lanes)),
    )
    refresh(tx, [(row["workspace_id"], row["id"]) for row in opened])


def hold_due(tx: Tx, now: datetime, *, workspace_id: str, account_id: str) -> None:
    """Let what an account had due before now wait for a person's choice; what is due from now on goes."""
    end_reconnect_wait(tx, workspace_id=workspace_id, account_id=account_id)
    held = tx.all(
        """
        UPDATE lane SET unresumed_until = :now
        WHERE workspace_id = :workspace_id AND account_id = :account_id
        RETURNING workspace_id, id
        """,
        now=now,
        workspace_id=workspace_id,
        account_id=account_id,
    )
    refresh(tx, [(row["workspace_id"], row["id"]) for row in held])


def release_due(tx: Tx, now: datetime, *, workspace_id: str, account_id: str) -> None:
    """Hold nothing of an account any more for want of a connection or of a choice."""
    end_reconnect_wait(tx, workspace_id=workspace_id, account_id=account_id)
    key = {"workspace_id": workspace_id, "account_id": account_id}
    held = tx.all(
        """
        UPDATE lane SET unresumed_until = NULL
        WHERE workspace_id = :workspace_id AND account_id = :account_id AND unresumed_until IS NOT NULL
        RETURNING workspace_id, id AS lane_id
        """,
        **key,
    )
    # In a lane of others the one delivery was put off: it is due as it was.
    back = restore_due(tx, since=now + A_YEAR, **key)
    refresh(tx, {*((row["workspace_id"], row["lane_id"]) for row in held), *back})


def end_reconnect_wait(tx: Tx, *, workspace_id: str, account_id: str) -> None:
    """Forget that an account waits to be connected."""
    tx.run(
        """
        DELETE FROM network_wait
        WHERE asked_by = 'reconnect' AND workspace_id = :workspace_id AND scope = 'account:' || :account_id
        """,
        workspace_id=workspace_id,
        account_id=account_id,
    )


def pause(
    tx: Tx, *, workspace_id: str, lane_id: str, reason: str, until: datetime | None = None
) -> bool:
    """Claim nothing more from here on; what was claimed and not yet permitted is stale by its epoch."""
    changed = tx.run(
        """
        UPDATE lane SET paused = true, pause_reason = :reason, paused_until = :until, epoch = epoch + 1
        WHERE workspace_id = :workspace_id AND id = :lane_id AND NOT paused
        """,
        workspace_id=workspace_id,
        lane_id=lane_id,
        reason=reason,
        until=until,
    )
    return changed == 1


def resume(tx: Tx, *, workspace_id: str, lane_id: str) -> bool:
    """Open a paused lane. What came due meanwhile is the caller's to plan: see the resume choices."""
    changed = tx.run(
        """
        UPDATE lane SET paused = false, pause_reason = NULL, paused_until = NULL, epoch = epoch + 1,
            parked_until = CASE WHEN parked_by = :pause THEN NULL ELSE parked_until END,
            park_reason = CASE WHEN parked_by = :pause THEN NULL ELSE park_reason END,
            parked_by = CASE WHEN parked_by = :pause THEN NULL ELSE parked_by END
        WHERE workspace_id = :workspace_id AND id = :lane_id AND paused
        """,
        workspace_id=workspace_id,
        lane_id=lane_id,
        pause=PAUSE,
    )
    refresh(tx, [(workspace_id, lane_id)])
    return changed == 1


def next_due(tx: Tx, now: datetime) -> datetime | None:
    """Say when the next lane may be looked at."""
    row = tx.one(
        f"""
        SELECT {TURN} AS turn_at FROM lane
        WHERE NOT paused AND runnable_at IS NOT NULL AND in_flight < in_flight_limit
        ORDER BY {TURN} LIMIT 1
        """  # noqa: S608 - a constant
    )
    if row is None:
        return None
    at: datetime = row["turn_at"]
    return max(at, now - timedelta(seconds=1))
