"""The drive of adapters itself: it loses only the answers that a test has planned to lose."""

from __future__ import annotations

from cadenza.demo.simulator.faults import Kind
from cadenza.demo.simulator.network import SimulatedNetwork, route
from cadenza.demo.simulator.serve import simulate
from cadenza.demo.simulator.wire import Answer, Received, say
from cadenza.providers.http.outcome import Reply
from cadenza.providers.http.request import Request
from tests.providers.contract import PATIENCE, open_client


class Slow(SimulatedNetwork):
    """A network on a busy machine: it answers later than a test's patience lasts."""

    name = "slow"

    @route("GET", "/")
    async def answer_late(self, call: Received) -> Answer:
        await self.shared.clock.really_wait(PATIENCE * 1.5)
        return say(200, {})


async def test_a_slow_answer_is_lost_only_where_a_fault_must_be_outwaited() -> None:
    simulated = Slow()
    async with simulate(simulated) as _, open_client(simulated) as http:
        ask = Request("GET", f"{simulated.url()}/")
        assert isinstance(await http.send(ask), Reply)
        fault = simulated.faults.plan(Kind.SILENCE_AFTER)
        assert not isinstance(await http.send(ask), Reply)
        assert fault.met == 1
        assert isinstance(await http.send(ask), Reply), "what was planned has happened"
