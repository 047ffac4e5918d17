"""Simulated networks that speak the adapter's protocol, and a log of what became visible on them.

Each call needs a token that is accepted, where tokens run out (`grants.py`). Three kinds: one that knows a repetition by its key and is asked by repeating, one that can be searched,
and one that can do neither. Each step may be slow, refuse, or lose its answer; what becomes visible is the world's truth and
is never taken back. A call that has arrived is done at the latest `LAG` seconds after it began.
"""

import asyncio
from datetime import timedelta

from cadenza.core.channels import Channel
from cadenza.providers.base import (
    QUICKLY,
    AttemptContext,
    Capabilities,
    Idempotency,
    Prepared,
    Problem,
    StillPreparing,
)
from cadenza.providers.message import AccountRef, Message, Tokens
from cadenza.providers.outcome import (
    Absent,
    CannotTell,
    Disconnected,
    Finding,
    Found,
    Outcome,
    Rejected,
    Sent,
    Transient,
    TryLater,
    Unconfirmed,
    WaitScope,
)
from tests.simulation.grants import Grants
from tests.simulation.stage import Stage, Wire
from tests.simulation.tape import Tape

LAG = 40.0  # seconds within which whatever arrived has become visible
FLOOD = 7  # a fault's number: the network asks our whole app to wait
KINDS = ("findable", "idempotent", "neither")


class Shown:
    """What a network shows, and which keys it knows; the same for all hosts."""

    def __init__(self) -> None:
        self.keys: dict[str, str] = {}
        self.posts: dict[tuple[str, int], str] = {}


class Network:
    """One network, as it is asked about one delivery."""

    def __init__(
        self,
        world: Stage,
        kind: str,
        shown: Shown,
        *,
        delivery: str = "",
        lane: str = "",
        grants: Grants | None = None,
    ) -> None:
        self._world = world
        self.kind = kind
        self._shown = shown
        self._delivery = delivery
        self._lane = lane
        self._grants = grants

    @property
    def name(self) -> str:
        return self.kind

    @property
    def channels(self) -> tuple[Channel, ...]:
        return (Channel.MASTODON,)

    def capabilities(self, channel: Channel) -> Capabilities:
        native = self.kind == "idempotent"
        return Capabilities(
            idempotency=Idempotency.NATIVE if native else Idempotency.NONE,
            findable=self.kind != "neither",
            repeats=native,
            threads=True,
        )

    def validate(self, message: Message, account: AccountRef) -> list[Problem]:
        return []

    async def prepare(self, call: AttemptContext) -> Prepared | StillPreparing | Outcome:
        world = self._world
        await world.step("prepare", longest=1.0)
        if not self._lets_in(call):
            return Disconnected("the token is not accepted")
        if world.trouble("prepare"):
            match world.tape.below(3):
                case 0:
                    await asyncio.sleep(10 + world.tape.seconds(50))
                case 1:
                    return Transient("the upload broke off")
                case _:
                    wait = timedelta(seconds=1 + world.tape.below(20))
                    return StillPreparing(
                        {"container": call.message.text}, wait, "still processing"
                    )
        return Prepared({"container": call.message.text})

    def _lets_in(self, call: AttemptContext) -> bool:
        return self._grants is None or self._grants.accepts(call.account.id, call.tokens.access)

    async def publish(self, call: AttemptContext) -> Outcome:
        world = self._world
        if not self._lets_in(call):
            await world.step("answer", longest=1)
            return Disconnected("the token is not accepted")
        wire = self._begin(call)
        fault = 1 + world.tape.below(6) if world.trouble("publish") else 0
        if not fault and world.trouble("flood"):
            fault = FLOOD
        answer: asyncio.Future[Outcome] = world.loop.create_future()
        self._serve(wire, fault, answer)
        try:
            outcome = await answer
        except asyncio.CancelledError:  # whoever renewed a token before had less time left
            wire.ended = min(wire.ended, world.now())
            raise
        await world.step("answer", longest=1)
        return outcome

    def _begin(self, call: AttemptContext, *, repeat: bool = False) -> Wire:
        """Put a call on the wire."""
        world = self._world
        wire = Wire(
            account=call.account.id,
            delivery=self._delivery,
            part=call.part,
            key=call.key,
            host=world.host_name(),
            called=world.now(),
            ended=world.now(),
            stored=world.stored(),
            text=call.message.text,
            repeat=repeat,
            lane=self._lane,
        )
        world.wires.append(wire)
        world.on_the_wire(wire)
        again = " again" if repeat else ""
        world.tell("wire", f"{wire.delivery} part {wire.part} is called{again} ({self.kind})")
        return wire

    def _serve(self, wire: Wire, fault: int, answer: "asyncio.Future[Outcome]") -> None:
        """Do the network's part: nothing that happens to the caller changes it any more."""
        tape = self._world.tape
        soon = 0.01 + tape.seconds(20 if fault == 4 else 1)
        match fault:
            case 1:  # the answer is lost, the post is there
                self._world.outside(tape.seconds(LAG), lambda: self._show(wire))
                self._tell_caller(wire, answer, Unconfirmed("the connection broke"), soon)
            case 2:  # a long silence; it may become visible after the caller has given up
                self._world.outside(tape.seconds(LAG), lambda: self._show(wire))
                self._tell_caller(wire, answer, Unconfirmed("too late"), 100)
            case 3:  # it never arrived, and the caller cannot know
                self._tell_caller(wire, answer, Unconfirmed("the connection broke"), soon)
            case 5:
                self._tell_caller(wire, answer, _slow_down(tape, WaitScope.ACCOUNT), soon)
            case 6:
                no = (
                    Transient("try again", out_of_order=True)
                    if tape.below(3)
                    else Rejected("not like this")
                )
                self._tell_caller(wire, answer, no, soon)
            case 7:  # FLOOD
                self._tell_caller(wire, answer, _slow_down(tape, WaitScope.APP), soon)
            case _:
                self._world.outside(
                    soon, lambda: self._tell_caller(wire, answer, Sent(self._show(wire)), 0.05)
                )

    def _tell_caller(
        self, wire: Wire, answer: "asyncio.Future[Outcome]", outcome: Outcome, after: float
    ) -> None:
        def tell() -> None:
            if not answer.done():
                answer.set_result(outcome)

        wire.ended = min(self._world.now() + after, wire.called + QUICKLY.total_seconds())
        self._world.outside(after, tell)

    def _show(self, wire: Wire) -> str:
        """Make it visible, unless this network knows the key."""
        if self.kind == "idempotent" and wire.key in self._shown.keys:
            return self._shown.keys[wire.key]
        wire.visible = self._world.now()
        remote = f"r{len(self._world.wires)}"
        self._shown.keys[wire.key] = remote
        self._shown.posts[wire.delivery, wire.part] = remote
        self._world.tell("seen", f"{wire.delivery} part {wire.part} is visible as {remote}")
        return remote

    async def find_out(self, call: AttemptContext) -> Finding:
        world = self._world
        if not self._lets_in(call):
            return CannotTell("the token is not accepted", timedelta(seconds=30))
        if self.kind == "idempotent":
            return await self._repeat(call)
        await world.step("find out", longest=2)
        if self.kind == "neither":
            return CannotTell("this network tells nothing")
        if world.trouble("find"):
            return CannotTell("it does not answer", timedelta(seconds=30))
        remote = self._shown.posts.get((self._delivery, call.part))
        await world.step("finding", longest=2)
        return Absent() if remote is None else Found(remote)

    async def _repeat(self, call: AttemptContext) -> Finding:
        """Be called again under the same key, and answer with what there is, or is from now on."""
        world = self._world
        wire = self._begin(call, repeat=True)
        if world.trouble("find"):
            if world.tape.below(2):  # it arrives all the same
                world.outside(world.tape.seconds(LAG), lambda: self._show(wire))
            await world.step("find out", longest=2)
            wire.ended = world.now()
            return CannotTell("it does not answer", timedelta(seconds=30))
        remote = self._show(wire)
        await world.step("finding", longest=2)
        wire.ended = world.now()
        return Found(remote)

    async def finish(self, call: AttemptContext, sent: Sent) -> Sent:
        world = self._world
        if world.trouble("finish"):
            await asyncio.sleep(world.tape.seconds(20))
            raise ConnectionError("the address could not be read")
        return sent

    async def refresh(self, call: AttemptContext) -> Tokens | Outcome:
        return call.tokens if self._grants is None else await self._grants.exchange(call)


def _slow_down(tape: Tape, reach: WaitScope) -> TryLater:
    """Ask for a wait; the watch reads off these words how long and for whom."""
    seconds = 1 + tape.below(60)
    return TryLater(timedelta(seconds=seconds), reach, f"{reach} slow down for {seconds} s")
