"""A whole installation in one thread: hosts with the real worker, one database, networks, people.

Each seed draws its own mix of faults (a swarm), then: a time of trouble in which promises are checked
after every write, then everything heals and every accepted delivery must come to an end. Product code is
the real one: engine worker, source, publisher, reconciler, the duties around them, posts, queues, and
their SQL. Not simulated: PostgreSQL, the adapters' HTTP.
"""

import asyncio
import itertools
from dataclasses import dataclass
from datetime import timedelta
from typing import cast

from cadenza.accounts.open import open_account_tokens
from cadenza.accounts.refresher import Refresher
from cadenza.core.ids import CountedIds, SeededRandom
from cadenza.deliveries.installation import CLOCK, RESTORE, confirm
from cadenza.deliveries.model import ClaimedDelivery
from cadenza.deliveries.publish import Publisher, Sender
from cadenza.deliveries.reconcile import Reconciler
from cadenza.deliveries.source import QUEUE, DeliverySource
from cadenza.engine.worker import Worker
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import AccountRef, App, Tokens
from cadenza.sql.transactions import SqliteOperations
from tests.simulation.backup import go_back
from tests.simulation.checkers import Checks
from tests.simulation.duties import Duties, operate, renew_tokens
from tests.simulation.grants import RING, Grants
from tests.simulation.kernel import Host, HostClock, SlowClock, run
from tests.simulation.mutants import Mutant
from tests.simulation.network import KINDS, Network, Shown
from tests.simulation.people import NAMES, People
from tests.simulation.post_acts import VERBS
from tests.simulation.stage import Event, Stage, Wire
from tests.simulation.store import FaultyOperations
from tests.simulation.swarm import HEARTBEAT
from tests.simulation.tape import Tape
from tests.simulation.users import Users
from tests.simulation.watch import Violation

TROUBLE = 600.0  # virtual seconds in which things go wrong
HEALING = 24 * 3600.0  # and in which all must be well again
SOON = 180.0  # after that time of calm nobody holds what a dead worker held
APP = App(base_url="https://example.org")
CALM_LEASE = timedelta(minutes=10)  # once nothing dies any more, leases need not be short


class NoFiles:
    """There are no media in this world."""

    async def read(self, name: str) -> bytes:
        raise FileNotFoundError(name)


class NoHttp:
    """Nothing is said over HTTP here: the networks are functions."""

    notes = None

    def recording_to(self, _notes: object) -> "NoHttp":
        return self

    def for_use(self, _use: str | None) -> "NoHttp":
        return self


class World(Stage):
    """One seed's world."""

    def __init__(self, tape: Tape, mutant: Mutant | None = None) -> None:
        super().__init__(tape, mutant)
        self._alone = False
        self._ids = itertools.count(1)
        self._incarnations = itertools.count(1)
        self._workers: dict[str, tuple[Host, Worker]] = {}
        self.operations = FaultyOperations(self, SqliteOperations(self.database, CountedIds("row")))
        self.shown = {kind: Shown() for kind in KINDS}
        self.people = People(self, self.operations)
        self.checks = Checks(self, self.people)
        self.grants = Grants(self, self.checks.violate) if self.swarm.tokens else None
        self.people.grants = self.grants
        self.users = Users(self, self.people, self.operations, self.checks.violate)

    def after_write(self) -> None:
        self.checks.after_write()

    def on_the_wire(self, wire: Wire) -> None:
        self.checks.on_the_wire(wire)

    # What happens

    async def live(self) -> None:
        """Trouble, then healing."""
        self.people.settle_in()
        if self.swarm.users:
            self.users.settle_in()
        self.checks.watch()
        for n in range(self.swarm.hosts):
            self.boot(f"w{n + 1}")
        self.loop.boot(Host("people"), self.people.plan())
        self.loop.boot(Host("editor"), self.people.meddle())
        for name in NAMES[: self.swarm.users]:
            self.loop.boot(Host(name), self.users.work(name, VERBS))
        if self.swarm.step:
            self.loop.boot(Host("operator"), operate(self, self.operations))
        if self.swarm.restore:
            backup = go_back(self, self.people, self.operations, self._restart)
            self.loop.boot(Host("backup"), backup)
        await asyncio.sleep(TROUBLE)
        self.heal()
        await asyncio.sleep(SOON)
        self._open_all()  # what somebody was about to do when the trouble ended is done by now
        self.checks.after_healing()
        self._let_one_go_on()
        while not self.checks.is_over():
            if self.now() > TROUBLE + HEALING:
                break
            await asyncio.sleep(60)
        self.checks.at_the_end()

    def heal(self) -> None:
        """No more faults; every host is up, every lane open."""
        self.healed_at = self.now()
        self.tell("heal", "all faults end")
        for host in self.loop.hosts:
            if host.alive and host.frozen:
                self.loop._thaw(host)
        self.jumped = self.waits_for_word = False
        for _ in (RESTORE, CLOCK):  # one may be held behind the other
            self.people.at_once(lambda tx, now: confirm(tx, now, by="operator"))
        self._open_all()

    def _open_all(self) -> None:
        self.people.open_all()
        if self.swarm.users or self.swarm.tokens:
            self.users.open_all()

    def _let_one_go_on(self) -> None:
        """Stop all workers; one comes back: it must do alone, and a seed costs less."""
        self._alone = True
        for _, worker in self._workers.values():
            worker.stop()

    def _restart(self) -> None:
        """Cut the power of every worker; they come back one after the other."""
        self.checks.start_over()
        for name, (host, _) in self._workers.items():
            if host.alive:
                self.loop.crash(host)
                self.outside(1.0 + self.tape.seconds(30), lambda name=name: self.boot(name))

    def boot(self, name: str) -> None:
        skew = self.tape.one_of(self.swarm.skews)
        host = Host(f"{name}.{next(self._incarnations)}", skew=skew)
        self.loop.boot(host, self._serve(name, host))

    async def _serve(self, name: str, host: Host) -> None:
        """Be one process of the product, from start to end."""
        clock = HostClock(self.loop, host.skew)
        if self.swarm.host_step:
            self.outside(self.tape.seconds(TROUBLE), lambda: self._step(host, clock))
        source = DeliverySource(self.operations)
        publisher = Publisher(
            source,
            self.operations,
            open_sender=self._open_sender,
            http=cast("OutboundClient", NoHttp()),
            files=NoFiles(),
            clock=clock,
            rng=SeededRandom(host.name),
            new_id=lambda: f"a{next(self._ids):04}",
            refresher=(refresher := self._refresher(host)),
        )
        worker = Worker(
            source,
            publisher,
            name=host.name,
            queues=[QUEUE],
            clock=clock,
            concurrency=4,
            lease=CALM_LEASE if self._alone else self.swarm.lease,
            poll=300.0 if self._alone else 60.0,
        )
        reconciler = Reconciler(self.operations, publisher.find_out, clock=clock)

        async def reconcile() -> float:
            await reconciler.run_once()
            return HEARTBEAT * (4 if self._alone else 1)

        worker.duties.append(worker.loop("reconcile", reconcile))
        if refresher is not None:
            renew = renew_tokens(self, refresher)
            worker.duties.append(worker.loop("tokens", renew))
        duties = Duties(self, self.operations, source)
        worker.duties.append(worker.loop("duties", duties.run_once))
        self._workers[name] = (host, worker)
        if self.trouble("deploy"):
            self.outside(self.tape.seconds(TROUBLE), worker.stop)
        await duties.begin()
        try:
            await worker.run()
        except Exception as error:  # noqa: BLE001 - whatever it is, it ended a worker
            self.checks.violate(
                "P8", f"{host.name} ended by itself: {type(error).__name__}: {error}"
            )
        if not self._alone or name == "w1":
            self.outside(1.0, lambda: self.boot(name))

    def _step(self, host: Host, clock: HostClock) -> None:
        """Let a worker's own clock step."""
        host.skew += self.swarm.host_step
        clock.skew = host.skew

    def _open_sender(self, ticket: ClaimedDelivery) -> Sender:
        account, delivery = ticket.account, ticket.delivery
        tokens = None if self.grants is None else open_account_tokens(RING, account)
        return Sender(
            self._network(account.provider, delivery.id, delivery.lane_id),
            AccountRef(id=account.id, remote_id=account.remote_id),
            tokens or Tokens(access=Secret("t")),
            APP,
        )

    def _network(self, kind: str, delivery: str = "", lane: str = "") -> Network:
        shown = self.shown[kind]
        return Network(self, kind, shown, delivery=delivery, lane=lane, grants=self.grants)

    def _refresher(self, host: Host) -> Refresher | None:
        if self.grants is None:
            return None
        return Refresher(
            self.operations,
            ring=RING,
            provider_of=self._network,
            app_of=lambda _: APP,
            http=cast("OutboundClient", NoHttp()),
            clock=SlowClock(self.loop, host.skew),
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one run came to."""

    seed: int
    violation: Violation | None
    hash: str
    tape: list[int]
    events: list[Event]
    turns: int
    seconds: float  # virtual


def simulate(
    seed: int,
    *,
    replay: list[int] | None = None,
    mutant: Mutant | None = None,
    crash_at: int | None = None,
) -> Verdict:
    """Run one seed, or one tape, to its end or to its first violation."""
    tape = Tape(seed, replay)
    if mutant is not None:
        mutant.plant()
    world = World(tape, mutant)
    world.crash_at = crash_at
    violation: Violation | None = None
    try:
        run(world.loop, world.checks.guard(world.live()))
        violation = world.checks.first
    finally:
        if mutant is not None:
            mutant.pull()
    return Verdict(
        seed, violation, world.hash, tape.taken, world.events, world.loop.turns, world.loop.time()
    )
