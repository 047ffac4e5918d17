"""Drives an adapter as the pipeline will, against a simulated network, and judges what became visible.

Reuse it for every network: build a `Scene`, plan faults on its world, `await drive(scene)`, then
`judge(ended, scene)`: one visible post, or none and a clear outcome, never two. The pipeline's rules are
played strictly: state goes through JSON after each step, every new attempt has a new key, an unconfirmed send is
looked into after its deadline and sent again only when the post is provably absent.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from cadenza.core.clock import SystemClock
from cadenza.demo.simulator.faults import Kind
from cadenza.demo.simulator.network import SimulatedNetwork
from cadenza.demo.simulator.serve import Simulator
from cadenza.providers.base import AttemptContext, Prepared, Provider, StillPreparing
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.outcome import Outcome as HttpOutcome
from cadenza.providers.http.policy import HostRule, Policy
from cadenza.providers.http.request import Request, Timeouts
from cadenza.providers.message import AccountRef, App, Message, Tokens
from cadenza.providers.outcome import (
    Absent,
    CannotTell,
    Disconnected,
    Found,
    NotReady,
    Outcome,
    Sent,
    Transient,
    TryLater,
    Unconfirmed,
)

PATIENCE = 0.4  # real seconds that a client waits; faults that outlast it are "silence"
OUTWAITED = (Kind.SILENCE_BEFORE, Kind.SILENCE_AFTER, Kind.DELAY, Kind.DRIP)
DEADLINE = timedelta(seconds=90)  # after which an unconfirmed send is looked into
BACKOFF = timedelta(seconds=30)
ATTEMPTS = 4
STEPS = 80  # a drive that takes more is stuck

# Every fault of the acceptance list, as (kind, details); a refused connection is `shut_at`.
FAULTS: tuple[tuple[Kind, dict[str, Any]], ...] = (
    (Kind.DROP_BEFORE, {}),
    (Kind.RESET_AFTER, {}),
    (Kind.DROP_AFTER, {}),
    (Kind.SILENCE_AFTER, {}),
    (Kind.TRUNCATE_AFTER, {}),
    (Kind.DELAY, {"seconds": PATIENCE * 1.5}),
    *((Kind.ERROR_BEFORE, {"status": status}) for status in (500, 502, 503, 504)),
    *((Kind.ERROR_AFTER, {"status": status}) for status in (500, 502, 503, 504)),
    (Kind.HTML_AFTER, {}),
    (Kind.DRIP, {"seconds": PATIENCE / 4}),
    (Kind.DRIP, {"seconds": PATIENCE * 2}),
    (Kind.TWICE, {}),
    (Kind.LAG, {"seconds": 20}),
    (Kind.EXPIRE, {}),
)


def fault_name(value: object) -> str:
    """Name a parameter in a test's id."""
    if isinstance(value, dict):
        return "-".join(str(each) for each in value.values())
    return str(value)


class HastyClient(OutboundClient):
    """The real client; for a call that meets a fault which must be outwaited, with a test's patience.

    No other call is given up early: a busy machine would lose answers that no test has planned to lose.
    """

    simulated_networks: tuple[SimulatedNetwork, ...] = ()

    async def send(self, request: Request) -> HttpOutcome:
        if any(self._outwaits(simulated, request) for simulated in self.simulated_networks):
            hasty = Timeouts(connect=PATIENCE, read=PATIENCE, total=PATIENCE)
            request = replace(request, timeout=hasty)
        return await super().send(request)

    def _outwaits(self, simulated: SimulatedNetwork, request: Request) -> bool:
        place = urlsplit(request.url)
        if place.port not in simulated.ports.values():
            return False
        found = simulated.find(request.method, place.path)
        name = found[0].name if found else f"{request.method} {place.path}"
        return any(fault.kind in OUTWAITED for fault in simulated.faults.next_of(name))


def open_client(*simulated_networks: SimulatedNetwork) -> HastyClient:
    """Make a client that may call these worlds and nothing else."""
    client = HastyClient(_policy(*simulated_networks), clock=SystemClock())
    client.simulated_networks = simulated_networks
    return client


def patient_client(*simulated_networks: SimulatedNetwork) -> OutboundClient:
    """Make one that waits as long as the product does, where nothing is lost and a machine may be busy."""
    return OutboundClient(_policy(*simulated_networks), clock=SystemClock())


def _policy(*simulated_networks: SimulatedNetwork) -> Policy:
    rules = [
        HostRule("127.0.0.1", port)
        for simulated in simulated_networks
        for port in simulated.ports.values()
    ]
    return Policy(allow=tuple(rules))


@dataclass(slots=True, kw_only=True)
class Scene:
    """An adapter, the world it speaks to, an account in it and a message."""

    simulator: Simulator
    simulated: SimulatedNetwork
    provider: Provider
    http: OutboundClient
    account: AccountRef
    tokens: Tokens
    app: App
    message: Message
    expected: tuple[str, ...] = ()  # what people shall see; default: the texts of the parts
    prepares_once: bool = (
        False  # a road that does not prepare again for the later parts of a thread
    )
    delivery: str = "delivery-1"  # a second drive is the same delivery unless this changes
    seen_as: str | None = None  # the account's name in the ledger
    before: Callable[[str], Awaitable[None]] | None = None  # called with the step's name

    @property
    def texts(self) -> tuple[str, ...]:
        return self.expected or (self.message.text, *self.message.parts)

    def visible(self) -> list[str]:
        """List the texts that people see."""
        return [entry.text for entry in self.simulator.visible(self.simulated, self.seen_as)]

    def call(self) -> AttemptContext:
        """Make a call about the message, outside of a drive."""
        return AttemptContext(
            account=self.account,
            tokens=self.tokens,
            app=self.app,
            http=self.http,
            now=self.simulator.clock.now(),
            message=self.message,
        )

    def shut_at(self, step: str) -> None:
        """Refuse connections the first time this step begins; open the door at the next step."""
        shut = False
        done = False

        async def before(now: str) -> None:
            nonlocal shut, done
            if shut:
                shut, done = False, True
                for endpoint in self.simulated.endpoints:
                    await self.simulator.open_endpoint(self.simulated, endpoint)
            elif now == step and not done:
                shut = True
                for endpoint in self.simulated.endpoints:
                    await self.simulator.close_endpoint(self.simulated, endpoint)

        self.before = before


@dataclass(slots=True)
class Ended:
    """How a drive ended, and everything that was returned on the way."""

    outcome: Outcome
    remote_ids: tuple[str | None, ...]
    attempts: int
    waited: timedelta
    trail: list[object] = field(default_factory=list[object])

    def returned(self, kind: type[object]) -> int:
        """Count what was returned of a kind."""
        return sum(isinstance(each, kind) for each in self.trail)


class _Drive:
    """One delivery in the pipeline."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.state: Mapping[str, Any] = {}
        self.tokens = scene.tokens
        self.sent: list[str | None] = []
        self.attempts = 0
        self.burnt = 0
        self.refreshed = False
        self.waited = timedelta()
        self.trail: list[object] = []

    def call(self, key: str = "", began_at: datetime | None = None) -> AttemptContext:
        return replace(
            self.scene.call(),
            tokens=self.tokens,
            state=self.state,
            key=key,
            part=len(self.sent),
            sent_parts=tuple(each or "" for each in self.sent),
            began_at=began_at,
        )

    async def step(self, name: str) -> None:
        if len(self.trail) > STEPS:
            raise AssertionError(f"the drive is stuck: {self.trail[-4:]}")
        if self.scene.before is not None:
            await self.scene.before(name)

    def wait(self, span: timedelta) -> None:
        self.waited += span
        self.scene.simulator.clock.advance(max(span, timedelta(milliseconds=1)))

    def keep(self, state: Mapping[str, Any]) -> None:
        self.state = json.loads(json.dumps(dict(state)))  # as if the process had died in between

    def note(self, thing: Any) -> Any:
        self.trail.append(thing)
        return thing


async def drive(scene: Scene) -> Ended:
    """Send the scene's message to its end, part by part."""
    pipeline = _Drive(scene)
    outcome: Outcome = Transient("nothing was tried")
    while len(pipeline.sent) < 1 + len(scene.message.parts):
        outcome = await _part(pipeline)
        if not isinstance(outcome, Sent):
            break
        await pipeline.step("finish")
        outcome = pipeline.note(await scene.provider.finish(pipeline.call(), outcome))
        assert isinstance(outcome, Sent), "finish never fails a delivery"
        pipeline.sent.append(outcome.remote_id)
    await scene.simulator.quiet()
    return Ended(outcome, tuple(pipeline.sent), pipeline.attempts, pipeline.waited, pipeline.trail)


async def _part(pipeline: _Drive) -> Outcome:
    """Prepare and publish one part, with every wait, refresh and doubt on the way."""
    while True:
        skips = pipeline.scene.prepares_once and pipeline.sent
        outcome = None if skips else await _prepare(pipeline)
        if outcome is None:
            outcome = await _publish(pipeline)
        match outcome:
            case NotReady(wait=wait) | TryLater(wait=wait):
                pipeline.wait(wait)
            case Transient(restart=restart, wait=at_least):
                pipeline.burnt += 1
                if pipeline.burnt >= ATTEMPTS:
                    return outcome
                if restart:
                    pipeline.state = {}
                pipeline.wait(max(BACKOFF, at_least or BACKOFF))
            case Disconnected() if not pipeline.refreshed:
                fresh = await _refresh(pipeline)
                if not isinstance(fresh, Tokens):
                    return outcome
                pipeline.tokens = fresh
            case None:  # provably absent: once more, as a new attempt
                pass
            case _:
                return outcome


async def _prepare(pipeline: _Drive) -> Outcome | None:
    while True:
        await pipeline.step("prepare")
        match pipeline.note(await pipeline.scene.provider.prepare(pipeline.call())):
            case Prepared(state=state):
                pipeline.keep(state)
                return None
            case StillPreparing(state=state, wait=wait):
                pipeline.keep(state)
                pipeline.wait(wait)
            case outcome:
                return outcome


async def _publish(pipeline: _Drive) -> Outcome | None:
    """Make one attempt; None: it is provably not there."""
    pipeline.attempts += 1
    key = f"{pipeline.scene.delivery}.part-{len(pipeline.sent)}.attempt-{pipeline.attempts}"
    began_at = pipeline.scene.simulator.clock.now()
    await pipeline.step("publish")
    outcome = pipeline.note(await pipeline.scene.provider.publish(pipeline.call(key, began_at)))
    match outcome:
        case Unconfirmed():
            return await _find_out(pipeline, key, began_at, outcome)
        case Sent(remote_id=None) if pipeline.scene.provider.capabilities(
            pipeline.scene.message.channel
        ).findable:
            found = await _find_out(pipeline, key, began_at, outcome)
            return found if isinstance(found, Sent) else outcome
        case _:
            return outcome


async def _find_out(
    pipeline: _Drive, key: str, began_at: datetime, doubt: Outcome
) -> Outcome | None:
    await pipeline.scene.simulator.quiet()  # the deadline is longer than any request can live
    pipeline.wait(DEADLINE)
    for _ in range(ATTEMPTS):
        await pipeline.step("find_out")
        match pipeline.note(await pipeline.scene.provider.find_out(pipeline.call(key, began_at))):
            case Found(remote_id=remote_id, url=url):
                return Sent(remote_id, url)
            case Absent():
                return None
            case CannotTell(again=timedelta() as again):
                pipeline.wait(again)
                if isinstance(pipeline.trail[-1], CannotTell) and not pipeline.refreshed:
                    await _refresh_quietly(pipeline)
            case _:
                return doubt
    return doubt


async def _refresh(pipeline: _Drive) -> Tokens | Outcome:
    pipeline.refreshed = True
    await pipeline.step("refresh")
    return pipeline.note(await pipeline.scene.provider.refresh(pipeline.call()))


async def _refresh_quietly(pipeline: _Drive) -> None:
    """Before a second look the pipeline renews a token that has run out, as it does before any call."""
    expires = pipeline.tokens.expires_at
    if expires is not None and expires <= pipeline.scene.simulator.clock.now():
        fresh = await _refresh(pipeline)
        if isinstance(fresh, Tokens):
            pipeline.tokens = fresh


# The verdict


def judge(ended: Ended, scene: Scene) -> None:
    """Hold what is visible against what was said. Never two; a clear failure shows nothing."""
    seen, texts = scene.visible(), scene.texts
    told = f"said {ended.outcome}, visible {seen}, trail {ended.trail}"
    assert not scene.simulator.ledger.duplicates(scene.simulated.name), told
    done = len(ended.remote_ids)
    match ended.outcome:
        case Sent():
            assert seen == list(texts), told
            shown = [
                each.remote_id for each in scene.simulator.visible(scene.simulated, scene.seen_as)
            ]
            known = [each for each in ended.remote_ids if each is not None]
            assert [each for each in shown if each in known] == known, told
        case Unconfirmed():
            assert seen in (list(texts[:done]), list(texts[: done + 1])), told
        case _:
            assert seen == list(texts[:done]), told


def no_secret_in(texts: Iterable[str], secrets: Iterable[str]) -> None:
    """Fail if a secret shows in what people can read."""
    for text in texts:
        for secret in secrets:
            assert secret not in text, f"a secret shows: {text[:200]}"


def bare(outcome: object) -> dict[str, object]:
    """Return an outcome's kind and fields but its words, to compare what they decide."""
    names = [name for name in getattr(outcome, "__dataclass_fields__", {}) if name != "message"]
    return {"kind": type(outcome), **{name: getattr(outcome, name) for name in names}}
