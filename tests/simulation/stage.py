"""What every part of the world may ask of it: time, trouble, the tape, and a line in the story."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextvars import Context
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Protocol

from cadenza.deliveries.installation import Witness
from tests.simulation.kernel import Host, HostClock, SimulatedLoop, current_host
from tests.simulation.memory import lend
from tests.simulation.swarm import Swarm, draw
from tests.simulation.tape import Tape

HOT = 6.0
ON_THE_WAY = frozenset({"prepare", "answer", "finding"})


class Planted(Protocol):
    """A planted mistake, as the database sees it."""

    @property
    def rewrite(self) -> Callable[[str], str] | None: ...

    @property
    def host_clock(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the story."""

    at: float
    host: str
    kind: str
    text: str


@dataclass(slots=True)
class Wire:
    """One irreversible call as the network saw it."""

    account: str
    delivery: str
    part: int
    key: str
    host: str
    called: float
    ended: float  # when the caller had its answer, or gave up
    stored: float  # what the database's clock showed at the call
    text: str = ""
    visible: float | None = None  # None: it never became visible, or was known by its key
    repeat: bool = False  # made to find out, under the key of a call before it
    lane: str = ""


@dataclass(slots=True)
class Lost:
    """What a restore made the database forget."""

    since: float
    until: float
    calls: set[int]  # places among the wires
    ids: set[str]  # of deliveries that are no more
    called: set[str] = field(default_factory=set[str])  # deliveries that left in that time
    early: set[str] = field(default_factory=set[str])  # before their time: nobody can know
    requested: set[str] = field(default_factory=set[str])  # a person sent them again, or moved them


class Stage:
    """The world without its actors."""

    def __init__(self, tape: Tape, mutant: Planted | None = None) -> None:
        self.tape = tape
        self.mutant = mutant
        self.swarm: Swarm = draw(tape)
        self.loop = SimulatedLoop(tape, shuffle=self.swarm.shuffle)
        self.events: list[Event] = []
        self.wires: list[Wire] = []
        self.healed_at: float | None = None
        self.jumped = False  # the database's clock, further than the brake lets pass
        self.lost: Lost | None = None  # by a restore
        self.era = 0  # restores so far
        self.waits_for_word = False  # a backup was put back, and no person confirmed yet
        self.closed = False  # a backup was put back, and no process gave a sign of life yet
        self.witness: Witness | None = None  # what the file beside the database remembers
        self.unseen = False  # a process that began after the jump gave the first sign of life
        self.steps = 0  # of workers, counted
        self.crash_at: int | None = (
            None  # the step at which a worker's power is cut, tape or no tape
        )
        self._hash = blake2b(digest_size=12)
        self.clock = HostClock(self.loop)  # the database's; its skew is what it stepped by
        self.database = lend(self.clock)
        self.raw: sqlite3.Connection = self.database.raw

    def now(self) -> float:
        return self.loop.time()

    def stored(self) -> float:
        """Say what the database's clock shows, in seconds since the start."""
        return self.loop.time() + self.clock.skew

    def host_name(self) -> str:
        return current_host().name

    def trouble(self, kind: str, weight: float = 1.0) -> bool:
        """Say whether a fault of that kind happens here."""
        strength = self.swarm.faults.get(kind, 0.0) * weight
        return self.healed_at is None and self.tape.happens(strength)

    async def step(self, label: str, *, longest: float) -> None:
        """Do I/O: time passes, and the host may crash or freeze just here."""
        await self.loop.pause(0.001 + self.tape.seconds(longest, 20))
        host = current_host()
        worker = host.name[0] == "w"
        self.steps += worker
        if self.healed_at is not None and self.steps != self.crash_at:
            return
        # Most I/O of a worker is idle looking: trouble counts for more on the way of a delivery.
        weight = HOT if label in ON_THE_WAY else 1.0
        if worker and (self.steps == self.crash_at or self.trouble("crash", weight)):
            self.tell("crash", f"at {label}")
            self.loop.crash(host)
            name = host.name.partition(".")[0]
            self.outside(1.0 + self.tape.seconds(90), lambda: self.boot(name))
            await self.loop.create_future()
        if self.trouble("freeze", weight):
            seconds = 1 + self.tape.seconds(self.tape.one_of((200, 80)))
            self.tell("freeze", f"for {seconds:.0f} s at {label}")
            self.loop.freeze(host, seconds)
            await asyncio.sleep(0)

    def outside(self, seconds: float, action: Callable[[], object]) -> None:
        """Let something happen that belongs to no host."""
        self.loop.call_later(seconds, action, context=Context())

    def boot(self, name: str) -> None:
        """Start a process again."""
        raise NotImplementedError

    def after_write(self) -> None:
        """Look at what was written."""
        raise NotImplementedError

    def on_the_wire(self, wire: Wire) -> None:
        """Look at a call that begins."""
        raise NotImplementedError

    def tell(self, kind: str, text: str, *, host: str | None = None) -> None:
        """Add a line to the story, and to the hash of the run."""
        if host is None:
            here = self._here()
            host = "" if here is None else here.name
        event = Event(round(self.now(), 6), host, kind, text)
        self.events.append(event)
        self._hash.update(repr((event.at, host, kind, text)).encode())

    def _here(self) -> Host | None:
        try:
            return current_host()
        except AssertionError:
            return None

    @property
    def hash(self) -> str:
        return self._hash.hexdigest()
