"""What people see of a simulated network: a page of what arrived, the same as JSON, and media files.

It lives under a prefix that no real network has, on every door, and changes nothing.
"""

from html import escape

from cadenza.demo.simulator.ledger import Entry
from cadenza.demo.simulator.network import SimulatedNetwork
from cadenza.demo.simulator.wire import Answer, Received, say

PREFIX = "/__simulator"
_STYLE = (
    "body{font:16px/1.5 system-ui;max-width:44rem;margin:2rem auto;padding:0 1rem}"
    "article{border:1px solid #ccc;border-radius:.5rem;padding:.75rem 1rem;margin:.75rem 0}"
    "article p{white-space:pre-wrap;margin:.25rem 0}small{color:#555}"
)


def control_page(simulated: SimulatedNetwork, call: Received) -> Answer:
    """Answer a request about the simulator itself."""
    place = call.path.removeprefix(PREFIX).strip("/")
    if place.startswith("media/"):
        return _media(simulated, place.removeprefix("media/"))
    entries = simulated.shared.ledger.of(simulated.name)
    if place == "ledger.json":
        return say(200, [_plain(entry) for entry in entries])
    page = _page(simulated.name, entries)
    return Answer(200, page.encode(), (("content-type", "text/html; charset=utf-8"),))


def _media(simulated: SimulatedNetwork, name: str) -> Answer:
    kept = simulated.shared.media.get(name)
    if kept is None:
        return Answer(404, b"not here", (("content-type", "text/plain"),))
    return Answer(200, kept[1], (("content-type", kept[0]),))


def _plain(entry: Entry) -> dict[str, object]:
    return {
        "account": entry.account,
        "remote_id": entry.remote_id,
        "kind": entry.kind,
        "to": entry.to,
        "text": entry.text,
        "at": entry.at.isoformat(),
        "detail": dict(entry.detail),
    }


def _page(name: str, entries: list[Entry]) -> str:
    title = f"{name}: what arrived ({len(entries)})"
    cards = "".join(_card(entry) for entry in reversed(entries)) or "<p>Nothing arrived yet.</p>"
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(title)}</title>"
        f"<style>{_STYLE}</style><h1>{escape(title)}</h1>{cards}</html>"
    )


def _card(entry: Entry) -> str:
    place = f" to {escape(entry.to)}" if entry.to else ""
    return (
        f"<article><small>{escape(entry.account)} · {escape(entry.kind)}{place} · "
        f"{entry.at:%Y-%m-%d %H:%M:%S} UTC · {escape(entry.remote_id)}</small>"
        f"<p>{escape(entry.text)}</p></article>"
    )
