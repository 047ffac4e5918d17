"""The installation's guard: a duty of every process that sends or serves.

It gives signs of life, keeps the witness file beside the key file, tells the pipeline to claim nothing
while sending is held, and says so loudly. The file is written after the database, so it never knows
more than the database did: a database that knows less than the file was restored. A machine without the file
waits for another's sign of life, and holds sending where none comes. A database that is away is waited for; one whose disk failed ends the process, for a supervisor or a person to start it again.
"""

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import msgspec

from cadenza.core.clock import Clock, since_boot
from cadenza.deliveries.installation import (
    LOCK,
    Admitted,
    InstallationStatus,
    LastHeartbeat,
    Witness,
    admit,
    beat,
    hold_alone,
)
from cadenza.deliveries.source import DeliverySource
from cadenza.sql.errors import Broken, SqlError
from cadenza.sql.transactions import Operations

log = logging.getLogger("cadenza.guard")

EVERY = 5.0  # seconds between signs of life
AFTER_ERROR = 1.0
PATIENCE = 30.0  # seconds that a new machine waits for the others: six signs of life
LOOK_EVERY = 0.5


@dataclass(slots=True)
class Stopwatch:
    """Seconds since the last sign of life, also those that the machine slept through."""

    _at: float = 0.0

    def start(self) -> None:
        self._at = since_boot()

    def elapsed(self, signs: InstallationStatus | None) -> LastHeartbeat | None:
        """Return the time since then, or None before the first."""
        return None if signs is None else LastHeartbeat(signs.now, since_boot() - self._at)


@dataclass(slots=True)
class StartupCheck:
    """Whether this process may work on this database; until then it gives no sign of life."""

    admitted: bool = False
    trusts: bool = True  # False: what its file says is of another database
    since: int | None = None  # the epoch that it saw first
    _at: float = 0.0

    async def look(self, operations: Operations, witness: Witness | None) -> bool:
        """Ask to be admitted; return whether it waited long enough for the others."""
        found = await operations.read(
            lambda tx, now: admit(tx, now, witness=witness, since=self.since)
        )
        if isinstance(found, Admitted):
            self.admitted, self.trusts = True, found.trusts
            return False
        if self.since is None:
            self.since, self._at = found.epoch, since_boot()
            log.warning(
                "this machine is new to this database: it waits for a sign of life of the others",
                extra={"seconds": PATIENCE},
            )
        return since_boot() - self._at >= PATIENCE

    async def hold(self, operations: Operations, witness: Witness | None) -> None:
        """Alone for too long, hold all sending and wait for a person."""
        since = self.since or 0
        found = await operations.run(
            lambda tx, now: hold_alone(tx, now, witness=witness, since=since), locks=[LOCK]
        )
        self.admitted, self.trusts = True, found.trusts


@dataclass(slots=True)
class Guard:
    """Watches over one database for one process."""

    operations: Operations
    source: DeliverySource
    path: Path
    stopwatch: Stopwatch = field(default_factory=Stopwatch)
    newcomer: StartupCheck = field(default_factory=StartupCheck)
    signs: InstallationStatus | None = None
    before_going_on: Callable[[timedelta], Awaitable[object]] | None = None  # after so long a hold

    async def run_once(self) -> float:
        """Give a sign of life; obey what it brings. A machine that is new here is admitted first."""
        witness = read_witness(self.path)
        if not self.newcomer.admitted:
            self.source.held = True
            if await self.newcomer.look(self.operations, witness):
                await self.newcomer.hold(self.operations, witness)
            if not self.newcomer.admitted:
                return LOOK_EVERY
            witness = witness if self.newcomer.trusts else None
        elapsed = self.stopwatch.elapsed(self.signs)
        signs = await self.operations.run(
            lambda tx, now: beat(tx, now, witness=witness, elapsed=elapsed), locks=[LOCK]
        )
        self.stopwatch.start()
        held = self.signs.hold if self.signs is not None else None
        if held is not None and signs.hold is None and self.before_going_on is not None:
            await self.before_going_on(abs(signs.now - held.since))  # nothing is claimed yet
        self._obey(signs)
        if signs.hold is None or signs.hold.kind != "restore":
            # While a restore waits for a person, the file stays: it is the evidence.
            self._remember(signs.witness)
        return EVERY

    async def enter(self, clock: Clock, stop: asyncio.Event) -> None:
        """Look before anything is claimed or changed: return once admitted, or told to stop."""
        wait = await self.run_once()
        while not self.newcomer.admitted and not stop.is_set():
            await clock.wait(stop, wait)
            wait = await self.run_once()

    async def keep(self, clock: Clock, stop: asyncio.Event) -> None:
        """Keep guard until `stop` is set."""
        while not stop.is_set():
            wait = AFTER_ERROR
            try:
                wait = await self.run_once()
            except Broken:
                raise
            except SqlError as error:
                log.warning("store away, keeping guard waits", extra={"error": str(error)})
            except Exception:
                log.exception("keeping guard failed and will be tried again")
            await clock.wait(stop, wait)

    @asynccontextmanager
    async def kept(self, clock: Clock) -> AsyncGenerator[asyncio.Future[None]]:
        """Keep guard meanwhile; what is yielded is done only if the disk failed."""
        keeping = asyncio.ensure_future(self.keep(clock, asyncio.Event()))
        try:
            yield keeping
        finally:
            keeping.cancel()
            await asyncio.wait([keeping])
            failed = None if keeping.cancelled() else keeping.exception()
        if failed is not None:
            raise failed

    def _remember(self, witness: Witness) -> None:
        try:
            write_witness(self.path, witness)
        except OSError as error:
            log.error(  # noqa: TRY400 - no trace needed
                "the witness file cannot be written: a restored backup would not be noticed",
                extra={"file": str(self.path), "error": error.strerror},
            )

    def _obey(self, signs: InstallationStatus) -> None:
        before, self.signs = self.signs, signs
        self.source.held = signs.hold is not None
        if signs.hold is not None and (before is None or before.hold is None):
            log.critical(
                "sending is held until a person confirms with `cadenza db confirm`",
                extra={"kind": signs.hold.kind, "reason": signs.hold.message},
            )
        if signs.hold is None and before is not None and before.hold is not None:
            log.warning("sending goes on: a person confirmed")
            self.source.nudge()


def read_witness(path: Path) -> Witness | None:
    """Read what the file remembers; one that cannot be read remembers nothing, and that is told."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Witness)
    except FileNotFoundError:
        return None
    except (msgspec.DecodeError, OSError) as error:
        log.error(  # noqa: TRY400 - no trace needed
            "the witness file cannot be read: a restored backup would not be noticed",
            extra={"file": str(path), "error": type(error).__name__},
        )
        return None


def write_witness(path: Path, witness: Witness) -> None:
    """Write beside and move into place; several processes may, and the highest stays.

    It is on the disk before it counts: a machine that lost power must not find an empty file.
    """
    known = read_witness(path)
    if known is not None and known.lineage == witness.lineage:
        witness = max(known, witness, key=lambda each: (each.generation, each.epoch))
    beside = path.with_name(f"{path.name}.{os.getpid()}.new")  # others may write at the same time
    with beside.open("wb") as file:
        file.write(msgspec.json.encode(witness))
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
