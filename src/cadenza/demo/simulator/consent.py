"""The page where a network asks a person whether our app may act for them. Here everybody says yes.

The browser is sent back at once, with a code and the state that it came with. A world whose `refuses`
is set sends it back with `access_denied` instead. What is wrong about the request itself (app, address,
state) is shown and not sent back, as real networks do.
"""

from collections.abc import Callable
from urllib.parse import urlencode

from cadenza.demo.simulator.wire import Answer, Received

NEEDED = ("client_id", "redirect_uri", "state")
ANYWHERE = "*"  # an app that is registered so may send people back to any address


def same_place(registered: str, given: str | None) -> bool:
    """Say whether an app may send people back there; nobody knows yet where a demo will listen."""
    return bool(given) and registered in (given, ANYWHERE)


def consent(
    call: Received, *, known: bool, give: Callable[[], str], refuses: bool = False
) -> Answer:
    """Send the browser back with what `give` returns; `known`: app and address belong together."""
    missing = [name for name in NEEDED if not call.query.get(name)]
    if missing or call.query.get("response_type") != "code":
        return _shown(f"The request lacks {', '.join(missing) or 'response_type=code'}.")
    if not known:
        return _shown("This app is not known here, or not at this address.")
    if refuses:
        return _back(call, {"error": "access_denied", "error_description": "The person said no."})
    return _back(call, {"code": give()})


def _back(call: Received, fields: dict[str, str]) -> Answer:
    place = call.query["redirect_uri"]
    query = urlencode({**fields, "state": call.query["state"]})
    address = f"{place}{'&' if '?' in place else '?'}{query}"
    return Answer(302, b"", (("location", address),))


def _shown(words: str) -> Answer:
    return Answer(400, words.encode(), (("content-type", "text/plain; charset=utf-8"),))
