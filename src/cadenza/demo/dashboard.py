"""The front desk of a simulation: one page of all that arrived, live, and faults that are set by a POST.

    GET  /             what to type to connect each network, and what people would see on all, newest first
    GET  /ledger.json  the same for programs
    GET  /faults       what is planned, and how often it was met
    POST /faults       {"network": "mastodon", "kind": "silence_after", "route": "*", "nth": 1, "times": 1}
    DELETE /faults     let everything work again

It listens on this machine alone and asks nobody who they are: it is for trying things out.
"""

from collections.abc import Mapping
from html import escape
from typing import Any, ClassVar

from cadenza.core.suggest import did_you_mean
from cadenza.demo.simulator.faults import Fault, Kind
from cadenza.demo.simulator.ledger import Entry
from cadenza.demo.simulator.network import SimulatedNetwork, route
from cadenza.demo.simulator.wire import Answer, Received, say

_DETAILS: Mapping[str, type] = {"nth": int, "times": int, "status": int, "seconds": float}
_BOUNDS = {"nth": (1, 10**6), "times": (1, 10**6), "status": (200, 599), "seconds": (0, 3600)}
_WORDS: Mapping[type, str] = {int: "whole number", float: "number", str: "text"}
_STYLE = (
    "body{font:16px/1.5 system-ui;max-width:48rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b}"
    "article{border:1px solid #bbb;border-radius:.5rem;padding:.75rem 1rem;margin:.75rem 0}"
    "article p{white-space:pre-wrap;margin:.25rem 0}small{color:#444}"
    "dt{font-weight:600}code{overflow-wrap:anywhere}"
)
# Asks every second and changes the page only when something new arrived.
_SCRIPT = (
    "let seen=-1;setInterval(async()=>{try{const r=await fetch('/count');const n=await r.json();"
    "if(seen>=0&&n!==seen){const t=await(await fetch('/')).text();"
    "document.querySelector('main').innerHTML="
    "new DOMParser().parseFromString(t,'text/html').querySelector('main').innerHTML}seen=n}"
    "catch{}},1000)"
)


class BadFault(ValueError):
    """A fault that cannot be planned; the message says why."""


class Dashboard(SimulatedNetwork):
    """Where people look at a simulation and make things go wrong."""

    name: ClassVar[str] = "desk"

    def __init__(self) -> None:
        super().__init__()
        self.networks: dict[str, SimulatedNetwork] = {}
        self.typed: dict[str, Mapping[str, str]] = {}  # by network: what a person types to connect
        self._planned: list[tuple[str, Fault]] = []

    def plan(self, network: str, kind: str, **details: Any) -> Fault:
        """Plan a fault of a network; refuse what does not exist, with a guess."""
        simulated = self.networks.get(network)
        if simulated is None:
            raise BadFault(
                f"there is no network {network!r}.{did_you_mean(network, self.networks)}"
            )
        kinds = [each.value for each in Kind]
        if kind not in kinds:
            raise BadFault(f"there is no fault {kind!r}.{did_you_mean(kind, kinds)}")
        for name, value in details.items():
            wanted = str if name == "route" else _DETAILS.get(name)
            if wanted is None:
                raise BadFault(
                    f"a fault has no {name!r}.{did_you_mean(name, [*_DETAILS, 'route'])}"
                )
            if not isinstance(value, int | float if wanted is float else wanted):
                raise BadFault(f"{name} must be a {_WORDS[wanted]}")
            first, last = _BOUNDS.get(name, (0, 0))
            if wanted is not str and not first <= value <= last:
                raise BadFault(f"{name} must be {first} to {last}, not {value}")
        fault = simulated.faults.plan(Kind(kind), details.pop("route", "*"), **details)
        self._planned.append((network, fault))
        return fault

    def entries(self) -> list[Entry]:
        """List what became visible anywhere, oldest first."""
        return self.shared.ledger.of()

    @route("GET", "/")
    async def show_page(self, call: Received) -> Answer:
        """Show everything, newest first."""
        page = _page(self.entries(), self.typed)
        return Answer(200, page.encode(), (("content-type", "text/html; charset=utf-8"),))

    @route("GET", "/count")
    async def count(self, call: Received) -> Answer:
        """Say how much there is, for the page to know when to look again."""
        return say(200, len(self.entries()))

    @route("GET", "/ledger.json")
    async def ledger(self, call: Received) -> Answer:
        """Show everything to programs."""
        return say(200, [plain(entry) for entry in self.entries()])

    @route("GET", "/faults")
    async def list_faults(self, call: Received) -> Answer:
        """List what is planned."""
        return say(
            200,
            [
                {"network": name, "kind": fault.kind, "route": fault.route, "met": fault.met}
                for name, fault in self._planned
            ],
        )

    @route("POST", "/faults")
    async def add_fault(self, call: Received) -> Answer:
        """Plan a fault."""
        wanted = call.json()
        try:
            fault = self.plan(str(wanted.pop("network", "")), str(wanted.pop("kind", "")), **wanted)
        except BadFault as error:
            return say(422, {"error": str(error)})
        return say(201, {"kind": fault.kind, "route": fault.route})

    @route("DELETE", "/faults")
    async def clear_faults(self, call: Received) -> Answer:
        """Let everything work again."""
        self._planned.clear()
        for simulated in self.networks.values():
            simulated.faults.clear()
        return Answer(204)


def plain(entry: Entry) -> dict[str, object]:
    """Show an entry to programs."""
    return {
        "network": entry.simulated,
        "account": entry.account,
        "remote_id": entry.remote_id,
        "kind": entry.kind,
        "to": entry.to,
        "text": entry.text,
        "at": entry.at.isoformat(),
    }


def _page(entries: list[Entry], typed: Mapping[str, Mapping[str, str]]) -> str:
    cards = "".join(map(_card, reversed(entries))) or "<p>Nothing arrived yet.</p>"
    title = "Rehearsal: what arrived"
    return (
        "<!doctype html><html lang=en><meta charset=utf-8>"
        f"<meta name=viewport content='width=device-width'><title>{title}</title>"
        f"<style>{_STYLE}</style><details><summary>What to type to connect an account</summary>"
        f"<dl>{''.join(map(_words, typed.items()))}</dl></details>"
        f"<main aria-live=polite><h1>{title} ({len(entries)})</h1>{cards}</main>"
        f"<script>{_SCRIPT}</script></html>"
    )


def _words(network: tuple[str, Mapping[str, str]]) -> str:
    name, typed = network
    requested = (
        f"<dd>{escape(key)}: <code>{escape(said)}</code></dd>" for key, said in typed.items()
    )
    return f"<dt>{escape(name)}</dt>" + ("".join(requested) or "<dd>nothing: sign in there</dd>")


def _card(entry: Entry) -> str:
    place = f" to {escape(entry.to)}" if entry.to else ""
    return (
        f"<article><small><strong>{escape(entry.simulated)}</strong> · {escape(entry.account)} · "
        f"{escape(entry.kind)}{place} · {entry.at:%Y-%m-%d %H:%M:%S} UTC</small>"
        f"<p>{escape(entry.text)}</p></article>"
    )
