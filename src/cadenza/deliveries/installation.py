"""Whether this database may send: signs of life, holds, and a person's word that all is well.

Every process gives a sign of life a few times a minute; it raises an epoch here, and then in a file
outside. A database whose epoch is lower than the file's went back in time: a backup was restored. A
clock that ran far ahead of monotonic time, or behind it, jumped. Either holds all sending, for every
worker, until a person confirms. A machine without such a file, beside a database that has deliveries, is
admitted once it saw another machine's sign of life here, which no dump can give; where none comes, the database
may be a restored backup, and sending is held too. Limits: what happened within one beat before a backup's copy
is not noticed, nor a restore that brings the file along; a jump while no process ran looks like a long night.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec
from msgspec import structs

from cadenza.core.rollup import DeliveryState as State
from cadenza.db.audit import record
from cadenza.db.write_outbox import OutboxEvent, write_outbox
from cadenza.deliveries import lanes, leases
from cadenza.deliveries.announce import DeliveryEvent, announce
from cadenza.deliveries.gates import BRAKE
from cadenza.deliveries.model import ALSO, COLUMNS, Delivery
from cadenza.deliveries.reasons import Code, Reason
from cadenza.deliveries.rescue import rescue
from cadenza.deliveries.transition import end_waiting
from cadenza.notices.model import EventKind
from cadenza.sql.tx import Row, Tx
from cadenza.sql.values import read_values

LOCK = "installation"
RESTORE, CLOCK = "restore", "clock"
NO_LIMIT = 1_000_000  # crashes: those of another time are none
MAYBE_SENT = Reason.of(Code.MAYBE_SENT)


@dataclass(frozen=True, slots=True)
class Witness:
    """What a file outside the database remembers of it."""

    lineage: str
    generation: int
    epoch: int


@dataclass(frozen=True, slots=True)
class Admitted:
    """This machine may work here; `trusts` is False if its file tells of another database."""

    trusts: bool = True


@dataclass(frozen=True, slots=True)
class Alone:
    """A machine that is new here saw no sign of life of another yet; the database stood at `epoch`."""

    epoch: int
    message: str


@dataclass(frozen=True, slots=True)
class LastHeartbeat:
    """When this process last gave a sign of life, and how long ago by a clock that only rises."""

    beat_at: datetime
    seconds: float


@dataclass(frozen=True, slots=True)
class Jump:
    """What the clock did, and where it stood before, if it went forward."""

    message: str
    since: datetime


@dataclass(frozen=True, slots=True)
class Hold:
    """All sending waits for a person. After a jump `since` is by the clock as it went before it."""

    kind: str
    message: str
    since: datetime


@dataclass(frozen=True, slots=True)
class InstallationStatus:
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


def admit(
    tx: Tx, _now: datetime, *, witness: Witness | None, since: int | None = None
) -> Admitted | Alone:
    """Say whether a machine may work here: it knows this database, or others live on it, or nothing is at stake.

    `since` is the epoch that it saw first. Whoever is new gives no sign of life before it is admitted, so a
    higher epoch is the sign of a machine that knows this database, given on this very database, after the look.
    """
    row = _row(tx)
    if row is None or _knows(row, witness) or row["hold_kind"] == RESTORE:
        return Admitted()
    if since is not None and row["epoch"] > since:
        return Admitted(trusts=False)
    if tx.one("SELECT id FROM delivery LIMIT 1") is None:
        return Admitted(trusts=witness is None)  # there is nothing that could be sent twice
    return Alone(row["epoch"] if since is None else since, _strange(row, witness))


def hold_alone(tx: Tx, now: datetime, *, witness: Witness | None, since: int) -> Admitted:
    """Hold sending for a machine that stayed alone, unless another gave a sign of life right now."""
    found = admit(tx, now, witness=witness, since=since)
    if isinstance(found, Admitted):
        return found
    row = _row(tx)
    assert row is not None, "a machine is alone beside a database that was worked on before"
    if row["held_at"] is None:
        hold(tx, now, kind=RESTORE, message=found.message)
    else:  # behind a jump of the clock
        _set_aside(tx, now)
        _hold_both(tx, found.message, row["hold_reason"])
    return Admitted()


def join(tx: Tx, now: datetime, *, by: str) -> InstallationStatus | None:
    """A person says that this is the current database and their machine works on it; None: nobody ever did."""
    row = _row(tx)
    if row is None:
        return None
    for workspace in tx.all("SELECT id FROM workspace"):
        record(
            tx,
            now,
            workspace_id=workspace["id"],
            by=by,
            action="installation.join",
            subject_id=row["lineage"],
        )
    return _signs(tx, now)


def beat(
    tx: Tx, now: datetime, *, witness: Witness | None = None, elapsed: LastHeartbeat | None = None
) -> InstallationStatus:
    """Give a sign of life, having compared the database with what is known outside of it."""
    row = _row(tx)
    if row is None:
        return _begin(tx, now)
    back, jumped = _went_back(row, witness), _jumped(row, now, elapsed)
    new = row["held_at"] is None and (back or jumped) is not None
    if new:
        kind = CLOCK if back is None else RESTORE
        message, jump = back, jumped and jumped.message
        if message is None:
            message, jump = jump or "", None
        hold(tx, now, kind=kind, message=message, jump=jump, since=jumped and jumped.since)
    elif row["hold_kind"] == RESTORE:
        _set_aside(tx, now)  # a copy was held when it was made: more is overdue by now
        if jumped is not None and row["jump_reason"] is None:
            _hold_both(tx, row["hold_reason"], jumped.message)
    elif back is not None:  # behind a jump that was held already
        _set_aside(tx, now)
        _hold_both(tx, back, row["hold_reason"])
    tx.run(
        "UPDATE installation SET epoch = epoch + 1, beat_at = :now WHERE id = 'this'",
        now=now,
    )
    return _signs(tx, now, new=new)


def hold(
    tx: Tx,
    now: datetime,
    *,
    kind: str,
    message: str,
    jump: str | None = None,
    since: datetime | None = None,
) -> None:
    """Let nothing leave; after a restore, what was in hand or is overdue may be out already.

    `jump` is what the clock did besides.
    """
    tx.run(
        """
        UPDATE installation SET held_at = :since, hold_kind = :kind, hold_reason = :message, jump_reason = :jump
        WHERE id = 'this' AND held_at IS NULL
        """,
        jump=jump,
        since=since or now,
        kind=kind,
        message=message,
    )
    if kind == RESTORE:
        _set_aside(tx, now)
    words = [
        OutboxEvent(
            workspace_id=row["id"],
            id=f"installation:{now.isoformat()}:held",
            kind=EventKind.HELD,
            subject_id=row["id"],
            body={"kind": kind, "reason": ALSO.join(filter(None, (message, jump)))},
        )
        for row in tx.all("SELECT id FROM workspace ORDER BY id")
    ]
    write_outbox(tx, now, words)


def confirm(
    tx: Tx, now: datetime, *, by: str, witness: Witness | None = None
) -> Confirmed | NothingHeld:
    """A person says that all is well. After a restore, what is overdue may be out: it is missed.

    After a jump of the clock, what came due meanwhile is not late for it.
    If the clock jumped while a restore was held, that is a second matter, and stays held.
    """
    row = _row(tx)
    if row is None or row["held_at"] is None:
        return NothingHeld()
    restored, jumped = row["hold_kind"] == RESTORE, row["jump_reason"] or ""
    if restored:
        _set_aside(tx, now)
    missed = count_maybe_sent(tx) if restored else 0
    accepted: list[str] = msgspec.json.decode(row["accepted"])
    if witness is not None and witness.lineage not in (row["lineage"], *accepted):
        accepted.append(witness.lineage)
    tx.run(
        """
        UPDATE installation SET epoch = epoch + 1, generation = generation + :step, accepted = :accepted,
            held_at = CASE WHEN :still <> '' THEN held_at END,
            hold_kind = CASE WHEN :still <> '' THEN 'clock' END,
            hold_reason = CASE WHEN :still <> '' THEN :still END, jump_reason = NULL,
            beat_at = CASE WHEN hold_kind = 'clock' THEN :now ELSE beat_at END,
            restored_at = CASE WHEN hold_kind = 'restore' THEN :until ELSE restored_at END
        WHERE id = 'this'
        """,
        now=now,
        until=_last_call(tx, now) if restored else now,
        still=jumped,
        step=1 if restored else 0,
        accepted=msgspec.json.encode(accepted).decode(),
    )
    if not jumped:
        _open_lanes(tx)
    if not jumped and not restored:
        _excuse_lateness(tx, now, since=row["held_at"])
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


def read_signs(tx: Tx, now: datetime) -> InstallationStatus | None:
    """Return where it stands, without a sign of life; None: no process ever ran here."""
    return None if _row(tx) is None else _signs(tx, now)


def list_maybe_sent(tx: Tx, _now: datetime) -> dict[tuple[str, str], list[str]]:
    """Name the posts that were set aside after a restore, by (workspace, account)."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in tx.all(
        """
        SELECT workspace_id, account_id, id FROM delivery
        WHERE state = 'missed' AND reason_code = :code AND action = 'post' ORDER BY due_at, id
        """,
        code=MAYBE_SENT.code.value,
    ):
        found.setdefault((row["workspace_id"], row["account_id"]), []).append(row["id"])
    return found


def _last_call(tx: Tx, now: datetime) -> datetime:
    """Return an instant that no call of this database is later than: its clock may have been set back since."""
    row = tx.one("SELECT max(began_at) AS last_at FROM attempt")
    return max(now, row["last_at"]) if row is not None and row["last_at"] is not None else now


def _begin(tx: Tx, now: datetime) -> InstallationStatus:
    tx.run(
        """
        INSERT INTO installation (id, lineage, beat_at, created_at) VALUES ('this', :lineage, :now, :now)
        ON CONFLICT (id) DO NOTHING
        """,
        lineage=tx.new_id(),
        now=now,
    )
    return _signs(tx, now)


def _signs(tx: Tx, now: datetime, *, new: bool = False) -> InstallationStatus:
    row = _row(tx)
    assert row is not None, "it is there from the first sign of life on"
    held = row["held_at"] is not None
    reason = ALSO.join(filter(None, (row["hold_reason"], row["jump_reason"])))
    return InstallationStatus(
        Witness(row["lineage"], row["generation"], row["epoch"]),
        now,
        row["beat_at"],
        Hold(row["hold_kind"], reason, row["held_at"]) if held else None,
        new,
    )


def _row(tx: Tx) -> Row | None:
    return tx.one("SELECT * FROM installation WHERE id = 'this'")


def _knows(row: Row, witness: Witness | None) -> bool:
    """Whether what is remembered outside is of this database, older or newer."""
    if witness is None:
        return False
    return witness.lineage in (row["lineage"], *msgspec.json.decode(row["accepted"]))


def _strange(row: Row, witness: Witness | None) -> str:
    """Say why a machine that is new here does not trust what it found."""
    if witness is not None:
        return "this is not the database that this installation worked on before"
    return (
        "this machine has not worked on this database before, and no other machine is at work on it: it may be "
        f"restored from a backup. It ends at {row['beat_at']:%Y-%m-%d %H:%M:%S} UTC; what was due since then may "
        "have been sent already"
    )


def _went_back(row: Row, witness: Witness | None) -> str | None:
    if witness is None:
        return None
    if witness.lineage != row["lineage"]:
        return None if _knows(row, witness) else _strange(row, witness)
    if (row["generation"], row["epoch"]) >= (witness.generation, witness.epoch):
        return None
    return (
        f"the database was restored from a backup: it ends at {row['beat_at']:%Y-%m-%d %H:%M:%S} UTC, "
        "and this installation has seen later than that"
    )


def _jumped(row: Row, now: datetime, elapsed: LastHeartbeat | None) -> Jump | None:
    """Judge the clock by this process; one that was frozen while others beat says nothing."""
    if elapsed is None:
        ahead = row["beat_at"] - now
        if ahead <= BRAKE:
            return None
        return Jump(f"the database's clock is {ahead} behind its own last sign of life", now)
    jump = now - (elapsed.beat_at + timedelta(seconds=elapsed.seconds))
    if abs(jump) <= BRAKE or abs(now - row["beat_at"]) <= BRAKE:
        return None
    where = "forward" if jump > timedelta() else "back"
    return Jump(f"the database's clock jumped {where} by {abs(jump)}", min(now, now - jump))


def _hold_both(tx: Tx, back: str, jumped: str) -> None:
    """Hold for a restore and a jump: confirming the one says nothing of the other."""
    tx.run(
        """
        UPDATE installation SET hold_kind = 'restore', hold_reason = :back, jump_reason = :jumped
        WHERE id = 'this'
        """,
        back=back,
        jumped=jumped,
    )


def _set_aside(tx: Tx, now: datetime) -> None:
    """Leave nothing that may be out already where it could be sent, or moved to where it would be."""
    # Whoever held something is of another time: what was in a call is an unconfirmed send, what was about to be
    # called may be out, even if the clock says by now that it is not due yet.
    leases.end_all(tx, now)
    while rescue(tx, now, crash_limit=NO_LIMIT)[0]:
        pass
    _miss_overdue(tx, now)


def count_maybe_sent(tx: Tx) -> int:
    """Count what was set aside after a restore, for a person to look at."""
    return tx.value(
        "SELECT count(*) FROM delivery WHERE state = 'missed' AND reason_code = :code",
        code=MAYBE_SENT.code.value,
    )


def _miss_overdue(tx: Tx, now: datetime) -> None:
    lock = "FOR UPDATE" if tx.dialect == "postgresql" else ""
    rows = tx.all(
        f"""
        SELECT {COLUMNS} FROM delivery
        WHERE state = 'scheduled' AND leased_until IS NULL AND due_at <= :now
        {lock}
        """,  # noqa: S608 - put together from constants
        now=now,
    )
    missed = end_waiting(tx, now, read_values(Delivery, rows), State.MISSED, MAYBE_SENT)
    news = [
        DeliveryEvent.of(
            structs.replace(each.delivery, lease=each.delivery.lease + 1), State.MISSED, MAYBE_SENT
        )
        for each in missed
    ]
    announce(tx, now, news)
    lanes.refresh(tx, [each.delivery.lane_key for each in missed])


def _open_lanes(tx: Tx) -> None:
    rows = tx.all(
        f"""
        UPDATE lane SET {lanes.OPENED}
        WHERE parked_by = 'installation'
        RETURNING workspace_id, id
        """  # noqa: S608 - a constant
    )
    lanes.refresh(tx, [(row["workspace_id"], row["id"]) for row in rows])


def _excuse_lateness(tx: Tx, now: datetime, *, since: datetime) -> None:
    """Let nobody call late what came due while all was held: to a lane it was a hold like another."""
    tx.run(
        """
        UPDATE lane SET opened_at = :now, held_at = CASE
            WHEN coalesce(parked_until, opened_at) >= :lately AND held_at < :since THEN held_at ELSE :since
        END
        WHERE NOT paused AND runnable_at <= :now
        """,
        now=now,
        since=since,
        lately=since - lanes.FOLLOWING,
    )
