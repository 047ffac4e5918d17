"""Whether this database may send: signs of life, holds, and a person's word that all is well.

Every process gives a sign of life a few times a minute; it raises an epoch here, and then in a file
outside. A database whose epoch is lower than the file's went back in time: a backup was restored. A
clock that ran far ahead of monotonic time, or behind it, jumped. Either holds all sending, for every
worker, until a person confirms. Limits: what happened within one beat before a backup's copy is not
noticed, nor a restore that brings the file along; a jump while no process ran looks like a long night.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec

from cadenza.db.audit import record
from cadenza.deliveries import lanes
from cadenza.deliveries.gates import BRAKE
from cadenza.deliveries.rescue import rescue
from cadenza.sql.tx import Row, Tx

LOCK = "installation"
RESTORE, CLOCK = "restore", "clock"
NO_LIMIT = 1_000_000  # crashes: those of another time are none
MAYBE_SENT = (
    "it was due after the backup that this database was restored from: look whether it is out"
)


@dataclass(frozen=True, slots=True)
class Witness:
    """What a file outside the database remembers of it."""

    lineage: str
    generation: int
    epoch: int


@dataclass(frozen=True, slots=True)
class Elapsed:
    """When this process last gave a sign of life, and how long ago by a clock that only rises."""

    beat_at: datetime
    seconds: float


@dataclass(frozen=True, slots=True)
class Hold:
    """All sending waits for a person."""

    kind: str
    says: str
    since: datetime


@dataclass(frozen=True, slots=True)
class Signs:
    """The state after a sign of life: what to remember outside, and whether sending is held."""

    witness: Witness
    now: datetime
    beat_at: datetime
    hold: Hold | None = None
    new: bool = False  # this very beat found the reason


@dataclass(frozen=True, slots=True)
class Confirmed:
    """Sending goes on; so many overdue deliveries are missed now, for a person to look at."""

    kind: str
    missed: int


@dataclass(frozen=True, slots=True)
class NothingHeld:
    """There is nothing to confirm."""


def beat(
    tx: Tx, now: datetime, *, witness: Witness | None = None, elapsed: Elapsed | None = None
) -> Signs:
    """Give a sign of life, having compared the database with what is known outside of it."""
    row = _row(tx)
    if row is None:
        return _begin(tx, now)
    reason = _went_back(row, witness) or _jumped(row, now, elapsed)
    new = reason is not None and row["held_at"] is None
    if new:
        assert reason is not None
        hold(tx, now, kind=reason[0], says=reason[1])
    elif row["hold_kind"] == RESTORE:
        _set_aside(tx, now)  # a copy was held when it was made: more is overdue by now
    tx.run(
        "UPDATE installation SET epoch = epoch + 1, beat_at = :now WHERE id = 'this'",
        now=now,
    )
    return _signs(tx, now, new=new)


def hold(tx: Tx, now: datetime, *, kind: str, says: str) -> None:
    """Let nothing leave; after a restore, what was in hand or is overdue may be out already."""
    tx.run(
        """
        UPDATE installation SET held_at = :now, hold_kind = :kind, hold_reason = :says
        WHERE id = 'this' AND held_at IS NULL
        """,
        now=now,
        kind=kind,
        says=says,
    )
    if kind == RESTORE:
        _set_aside(tx, now)
    body = msgspec.json.encode({"kind": kind, "reason": says}).decode()
    tx.run(
        """
        INSERT INTO outbox (workspace_id, id, kind, subject_id, body, created_at)
        SELECT id, :name, 'installation.held', id, :body, :at FROM workspace WHERE true
        ON CONFLICT (workspace_id, id) DO NOTHING
        """,
        name=f"installation:{now.isoformat()}:held",
        body=body,
        at=now,
    )


def confirm(
    tx: Tx, now: datetime, *, by: str, witness: Witness | None = None
) -> Confirmed | NothingHeld:
    """A person says that all is well. After a restore, what is overdue may be out: it is missed."""
    row = _row(tx)
    if row is None or row["held_at"] is None:
        return NothingHeld()
    restored = row["hold_kind"] == RESTORE
    if restored:
        _set_aside(tx, now)
    missed = _count_missed(tx) if restored else 0
    accepted: list[str] = msgspec.json.decode(row["accepted"])
    if witness is not None and witness.lineage not in (row["lineage"], *accepted):
        accepted.append(witness.lineage)
    tx.run(
        """
        UPDATE installation SET held_at = NULL, hold_kind = NULL, hold_reason = NULL, beat_at = :now,
            epoch = epoch + 1, generation = generation + :step, accepted = :accepted,
            restored_at = CASE WHEN hold_kind = 'restore' THEN :now ELSE restored_at END
        WHERE id = 'this'
        """,
        now=now,
        step=1 if restored else 0,
        accepted=msgspec.json.encode(accepted).decode(),
    )
    _open_lanes(tx)
    for workspace in tx.all("SELECT id FROM workspace"):
        record(
            tx,
            now,
            workspace_id=workspace["id"],
            by=by,
            action=f"installation.confirm_{row['hold_kind']}",
            subject_id=row["lineage"],
            before={"reason": row["hold_reason"]},
        )
    return Confirmed(row["hold_kind"], missed)


def read_signs(tx: Tx, now: datetime) -> Signs | None:
    """Return where it stands, without a sign of life; None: no process ever ran here."""
    return None if _row(tx) is None else _signs(tx, now)


def _begin(tx: Tx, now: datetime) -> Signs:
    tx.run(
        """
        INSERT INTO installation (id, lineage, beat_at, created_at) VALUES ('this', :lineage, :now, :now)
        ON CONFLICT (id) DO NOTHING
        """,
        lineage=tx.new_id(),
        now=now,
    )
    return _signs(tx, now)


def _signs(tx: Tx, now: datetime, *, new: bool = False) -> Signs:
    row = _row(tx)
    assert row is not None, "it is there from the first sign of life on"
    held = row["held_at"] is not None
    return Signs(
        Witness(row["lineage"], row["generation"], row["epoch"]),
        now,
        row["beat_at"],
        Hold(row["hold_kind"], row["hold_reason"], row["held_at"]) if held else None,
        new,
    )


def _row(tx: Tx) -> Row | None:
    return tx.one("SELECT * FROM installation WHERE id = 'this'")


def _went_back(row: Row, witness: Witness | None) -> tuple[str, str] | None:
    if witness is None:
        return None
    if witness.lineage != row["lineage"]:
        if witness.lineage in msgspec.json.decode(row["accepted"]):
            return None
        return RESTORE, "this is not the database that this installation worked on before"
    if (row["generation"], row["epoch"]) >= (witness.generation, witness.epoch):
        return None
    return RESTORE, (
        f"the database was restored from a backup: it ends at {row['beat_at']:%Y-%m-%d %H:%M:%S} UTC, "
        "and this installation has seen later than that"
    )


def _jumped(row: Row, now: datetime, elapsed: Elapsed | None) -> tuple[str, str] | None:
    """Judge the clock by this process; one that was frozen while others beat says nothing."""
    if elapsed is None:
        ahead = row["beat_at"] - now
        if ahead <= BRAKE:
            return None
        return CLOCK, f"the database's clock is {ahead} behind its own last sign of life"
    jump = now - (elapsed.beat_at + timedelta(seconds=elapsed.seconds))
    if abs(jump) <= BRAKE or abs(now - row["beat_at"]) <= BRAKE:
        return None
    where = "forward" if jump > timedelta() else "back"
    return CLOCK, f"the database's clock jumped {where} by {abs(jump)}"


def _set_aside(tx: Tx, now: datetime) -> None:
    """Leave nothing that may be out already where it could be sent, or moved to where it would be."""
    # Whoever held something is of another time: what was in a call is a doubt.
    tx.run(
        "UPDATE delivery SET leased_until = :now WHERE leased_until IS NOT NULL AND leased_until > :now",
        now=now,
    )
    while rescue(tx, now, crash_limit=NO_LIMIT)[0]:
        pass
    _miss_overdue(tx, now)


def _count_missed(tx: Tx) -> int:
    """Count what a person is to look at."""
    return tx.value(
        "SELECT count(*) FROM delivery WHERE state = 'missed' AND reason = :reason",
        reason=MAYBE_SENT,
    )


def _miss_overdue(tx: Tx, now: datetime) -> None:
    rows = tx.all(
        """
        UPDATE delivery SET state = 'missed', reason = :reason
        WHERE state = 'scheduled' AND leased_until IS NULL AND due_at <= :now
        RETURNING workspace_id, id, lane_id, lease
        """,
        reason=MAYBE_SENT,
        now=now,
    )
    body = msgspec.json.encode({"state": "missed", "reason": MAYBE_SENT, "url": None}).decode()
    tx.run_each(
        """
        INSERT INTO outbox (workspace_id, id, kind, subject_id, body, created_at)
        VALUES (:workspace_id, :name, 'delivery.missed', :id, :body, :now)
        ON CONFLICT (workspace_id, id) DO NOTHING
        """,
        [
            {
                "workspace_id": row["workspace_id"],
                "name": f"{row['id']}:{row['lease']}:missed",
                "id": row["id"],
                "body": body,
                "now": now,
            }
            for row in rows
        ],
    )
    lanes.refresh(tx, [(row["workspace_id"], row["lane_id"]) for row in rows])


def _open_lanes(tx: Tx) -> None:
    rows = tx.all(
        """
        UPDATE lane SET parked_until = NULL, park_reason = NULL, parked_by = NULL
        WHERE parked_by = 'installation'
        RETURNING workspace_id, id
        """
    )
    lanes.refresh(tx, [(row["workspace_id"], row["id"]) for row in rows])
