"""Lanes: where deliveries wait their turn, and the only place that says when a lane may be looked at.

`runnable_at` is the later of its first waiting delivery's due time and the lane's park. Whoever adds,
moves or takes a delivery calls `refresh`, which wakes the workers as well; so a claim reads one index of
lanes and never looks at what cannot run. A paused or full lane is not in that index at all.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from cadenza.deliveries.model import account_scope, lane_of
from cadenza.deliveries.transition import restore_due
from cadenza.sql.tx import Row, Tx
from cadenza.sql.values import Key

WIDTH = 32  # calls at once of an account that is made to write to many; others have one
QUEUE = "deliveries"  # as workers know it
PAUSE = "lane"  # the gate that parks for a pause, where something was in a worker's hands
RECONNECT = "reconnect"  # who parks for want of a connected account
FOLLOWING = timedelta(
    hours=1
)  # a park that begins so long after another goes on with the same hold
A_YEAR = timedelta(days=365)
# When its turn is: lanes that may be looked at go in the order in which they were last served.
TURN = "(CASE WHEN lane.served_at > lane.runnable_at THEN lane.served_at ELSE lane.runnable_at END)"
# Lanes that wait for nothing but their turn, each with the one that counts for its whole account.
READY = """
    lane JOIN lane AS account ON account.workspace_id = lane.workspace_id
        AND account.id = CASE WHEN lane.scope_id IS NULL THEN lane.id ELSE 'account:' || lane.account_id END
    WHERE NOT lane.paused AND NOT lane.account_paused AND lane.runnable_at IS NOT NULL
        AND lane.in_flight < lane.in_flight_limit AND (account.width IS NULL OR account.calls < account.width)
"""
# What came due without a connection waits for a person's choice, not for its lane.
RESUMED = "(lane.unresumed_until IS NULL OR due_at >= lane.unresumed_until)"
# What processes died with again and again is claimed alone, beside its lane's others.
FRESH = "crashes < 2"
# A park that had run out before opened the lane then, not now.
OPENED = """parked_until = NULL, park_reason = NULL, parked_by = NULL,
    opened_at = CASE WHEN parked_until <= CLOCK() THEN parked_until ELSE CLOCK() END"""


def open_lane(
    tx: Tx,
    *,
    workspace_id: str,
    scope: str,
    account_id: str | None = None,
    in_flight_limit: int = 1,
) -> None:
    """Make the lane of a scope, of an account's part in it where one is named, if there is none.

    It is paused if its account is.
    """
    own = account_id is None or scope == account_scope(account_id)
    tx.run(
        """
        INSERT INTO lane (workspace_id, id, account_id, scope_id, in_flight_limit, account_paused)
        VALUES (:workspace_id, :id, :account_id, :scope_id, :limit, EXISTS (
            SELECT 1 FROM lane WHERE workspace_id = :workspace_id AND id = :account AND paused
        ))
        ON CONFLICT (workspace_id, id) DO NOTHING
        """,
        workspace_id=workspace_id,
        id=scope if own else lane_of(scope, account_id or ""),
        account_id=account_id,
        scope_id=None if own else scope,
        limit=in_flight_limit,
        account=account_scope(account_id or ""),
    )


def refresh(tx: Tx, lanes: Iterable[tuple[str, str]]) -> None:
    """Write again when these lanes may be looked at, and wake the workers: it may be now."""
    change(tx, dict.fromkeys(lanes, 0))
    tx.wake(QUEUE)


def change(tx: Tx, in_flight: Mapping[Key, int], *, served_at: datetime | None = None) -> list[Row]:
    """Count in or out of lanes, and say again when they may be looked at; return their epochs.

    The rows are held first, in one order, so that two workers never wait in a ring, and so that what is
    read next includes all that those who held them before have written.
    """
    if not in_flight:
        return []
    changes = _with_accounts(in_flight)
    if tx.dialect == "postgresql":
        tx.all(
            """
            SELECT 1 AS held FROM lane
            JOIN TABLE(:changes) AS asked (workspace_id text, lane_id text, count bigint, begun bigint)
                ON lane.workspace_id = asked.workspace_id AND lane.id = asked.lane_id
            ORDER BY lane.workspace_id, lane.id FOR UPDATE OF lane
            """,
            changes=changes,
        )
    return tx.all(
        f"""
        UPDATE lane SET
            in_flight = CASE WHEN in_flight + asked.count > 0 THEN in_flight + asked.count ELSE 0 END,
            calls = CASE WHEN calls + asked.begun > 0 THEN calls + asked.begun ELSE 0 END,
            served_at = CASE WHEN asked.count > 0 THEN :served_at ELSE served_at END,
            runnable_at = (
                SELECT CASE WHEN lane.parked_until > min(due_at) THEN lane.parked_until ELSE min(due_at) END
                FROM delivery
                WHERE delivery.workspace_id = lane.workspace_id AND delivery.lane_id = lane.id
                    AND state = 'scheduled' AND leased_until IS NULL AND {RESUMED} AND {FRESH}
            )
        FROM TABLE(:changes) AS asked (workspace_id text, lane_id text, count bigint, begun bigint)
        WHERE lane.workspace_id = asked.workspace_id AND lane.id = asked.lane_id
        RETURNING lane.workspace_id, lane.id, lane.epoch
        """,  # noqa: S608 - constants
        changes=changes,
        served_at=served_at,
    )


def _with_accounts(in_flight: Mapping[Key, int]) -> list[tuple[str, str, int, int]]:
    """Say what each lane counts for itself, and what the account's own counts for all of its lanes."""
    calls = Counter[Key]()
    for (workspace_id, lane_id), count in in_flight.items():
        _, _, account_id = lane_id.partition("@")
        own = account_scope(account_id) if account_id else lane_id
        if count or own == lane_id:
            calls[workspace_id, own] += count
    keys = sorted({*in_flight, *calls})
    return [(*key, in_flight.get(key, 0), calls[key]) for key in keys]


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


def park_scopes(tx: Tx, now: datetime, parks: Sequence[Park]) -> None:
    """Park all lanes of scopes, named as lanes are."""
    if parks:
        of = lanes_of(tx, [(park.workspace_id, park.lane_id) for park in parks])
        park_all(
            tx,
            now,
            [
                replace(park, lane_id=lane_id)
                for park in parks
                for _, lane_id in of.get((park.workspace_id, park.lane_id), ())
            ],
        )


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
    accounts: Sequence[Key],
    scopes: Sequence[Key] = (),
    by: Sequence[str],
) -> None:
    """End the parks that these gates asked for on all lanes of accounts and other scopes: they may have opened."""
    opened = tx.all(
        f"""
        UPDATE lane SET {OPENED}
        WHERE parked_by IN (SELECT gate FROM TABLE(:by) AS gates (gate text))
            AND ((workspace_id, account_id) IN (
                    SELECT workspace_id, id FROM TABLE(:accounts) AS accounts (workspace_id text, id text)
                ) OR (workspace_id, coalesce(scope_id, id)) IN (
                    SELECT workspace_id, id FROM TABLE(:scopes) AS scopes (workspace_id text, id text)
                ))
        RETURNING workspace_id, id
        """,  # noqa: S608 - a constant
        by=[(gate,) for gate in by],
        accounts=sorted(set(accounts)),
        scopes=sorted(set(scopes)),
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
    tx: Tx, *, workspace_id: str, scope: str, reason: str, until: datetime | None = None
) -> bool:
    """Claim nothing more of a scope's lanes from here on; what was claimed and has no permit is stale by its epoch.

    An account's lanes of campaigns and sequences stop with it. Paused again it gets the new reason and end. Say
    whether any of it ran before.
    """
    changed = tx.run(
        """
        UPDATE lane SET paused = true, epoch = epoch + 1
        WHERE workspace_id = :workspace_id AND (id = :scope OR scope_id = :scope) AND NOT paused
        """,
        workspace_id=workspace_id,
        scope=scope,
    )
    tx.run(
        """
        UPDATE lane SET pause_reason = :reason, paused_until = :until
        WHERE workspace_id = :workspace_id AND (id = :scope OR scope_id = :scope)
        """,
        workspace_id=workspace_id,
        scope=scope,
        reason=reason,
        until=until,
    )
    _pause_others(tx, workspace_id, scope, paused=True)
    return changed > 0


def resume(tx: Tx, *, workspace_id: str, scope: str) -> bool:
    """Open a paused scope. What came due meanwhile is the caller's to plan: see the resume choices."""
    opened = tx.all(
        """
        UPDATE lane SET paused = false, pause_reason = NULL, paused_until = NULL, epoch = epoch + 1,
            parked_until = CASE WHEN parked_by = :pause THEN NULL ELSE parked_until END,
            park_reason = CASE WHEN parked_by = :pause THEN NULL ELSE park_reason END,
            parked_by = CASE WHEN parked_by = :pause THEN NULL ELSE parked_by END
        WHERE workspace_id = :workspace_id AND (id = :scope OR scope_id = :scope) AND paused
        RETURNING workspace_id, id
        """,
        workspace_id=workspace_id,
        scope=scope,
        pause=PAUSE,
    )
    _pause_others(tx, workspace_id, scope, paused=False)
    refresh(tx, [(row["workspace_id"], row["id"]) for row in opened])
    return bool(opened)


def _pause_others(tx: Tx, workspace_id: str, scope: str, *, paused: bool) -> None:
    """Stop or open an account's lanes of campaigns and sequences; they may be paused for themselves too."""
    kind, _, account_id = scope.partition(":")
    if kind == "account":
        tx.run(
            """
            UPDATE lane SET account_paused = :paused, epoch = epoch + 1
            WHERE workspace_id = :workspace_id AND account_id = :account_id AND scope_id IS NOT NULL
                AND account_paused <> :paused
            """,
            workspace_id=workspace_id,
            account_id=account_id,
            paused=paused,
        )


def lanes_of(tx: Tx, scopes: Iterable[Key]) -> dict[Key, list[Key]]:
    """Name the lanes of scopes; an account's are its own and those of campaigns and sequences that it sends for."""
    found: dict[Key, list[Key]] = {}
    for row in tx.all(
        """
        SELECT lane.workspace_id, lane.id, asked.scope FROM TABLE(:scopes) AS asked (workspace_id text, scope text)
        JOIN lane ON lane.workspace_id = asked.workspace_id AND (
            lane.id = asked.scope OR lane.scope_id = asked.scope
            OR lane.scope_id IS NOT NULL AND 'account:' || lane.account_id = asked.scope
        )
        """,
        scopes=sorted(set(scopes)),
    ):
        scope = row["workspace_id"], row["scope"]
        found.setdefault(scope, []).append((row["workspace_id"], row["id"]))
    return found


def next_due(tx: Tx, now: datetime) -> datetime | None:
    """Say when the next lane may be looked at."""
    row = tx.one(
        f"SELECT {TURN} AS turn_at FROM {READY} ORDER BY {TURN} LIMIT 1"  # noqa: S608 - constants
    )
    if row is None:
        return None
    at: datetime = row["turn_at"]
    return max(at, now - timedelta(seconds=1))
