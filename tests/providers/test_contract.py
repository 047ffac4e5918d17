"""The drive of adapters itself: it loses only the answers that a test has planned to lose."""

from __future__ import annotations

from cadenza.demo.rehearsal.faults import Kind
from cadenza.demo.rehearsal.kernel import rehearse
from cadenza.demo.rehearsal.wire import Answer, Received, say
from cadenza.demo.rehearsal.world import World, route
from cadenza.providers.http.outcome import Reply
from cadenza.providers.http.request import Request
from tests.providers.contract import PATIENCE, open_client


class Slow(World):
    """A network on a busy machine: it answers later than a test's patience lasts."""

    name = "slow"

    @route("GET", "/")
    async def answer_late(self, call: Received) -> Answer:
        await self.stage.clock.really_wait(PATIENCE * 1.5)
        return say(200, {})


async def test_a_slow_answer_is_lost_only_where_a_fault_must_be_outwaited() -> None:
    world = Slow()
    async with rehearse(world) as _, open_client(world) as http:
        ask = Request("GET", f"{world.url()}/")
        assert isinstance(await http.send(ask), Reply)
        fault = world.faults.plan(Kind.SILENCE_AFTER)
        assert not isinstance(await http.send(ask), Reply)
        assert fault.met == 1
        assert isinstance(await http.send(ask), Reply), "what was planned has happened"
