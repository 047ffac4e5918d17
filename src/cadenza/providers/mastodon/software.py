"""Which program is the server? Nodeinfo names it; what is not named is trusted with nothing.

Asked when it matters, right before a key would be repeated: a server may have moved to another program since
the account was connected.
"""

from urllib.parse import urlsplit

from cadenza.providers.base import AttemptContext
from cadenza.providers.http.request import Request
from cadenza.providers.mastodon.errors import TABLE
from cadenza.providers.mastodon.request import AGAIN, base_url
from cadenza.providers.outcome import CannotTell, Disconnected, Forbidden, Outcome, Rejected
from cadenza.providers.reply import HttpSuccess, ask, no_answer

# Programs that return the first post for a repeated Idempotency-Key, and keep their keys over a restart.
# README.md says why others are not here.
KEEPS_KEYS = frozenset({"mastodon"})
SCHEMA = "http://nodeinfo.diaspora.software/ns/schema/2."


async def keeps_keys(call: AttemptContext) -> bool | CannotTell:
    """Say whether the server is known to honour a repeated key; it may not answer just now."""
    links = await ask(call, Request("GET", f"{base_url(call)}/.well-known/nodeinfo"), TABLE)
    place = _place(links, base_url(call)) if isinstance(links, HttpSuccess) else None
    if place is None:
        return _unknown(links)
    about = await ask(call, Request("GET", place), TABLE)
    if not isinstance(about, HttpSuccess):
        return _unknown(about)
    return (about.text("software", "name") or "").casefold() in KEEPS_KEYS


def _unknown(got: HttpSuccess | Outcome) -> bool | CannotTell:
    """A server without nodeinfo is unknown; one in trouble may tell later."""
    if isinstance(got, HttpSuccess | Rejected | Forbidden | Disconnected):
        return False
    return no_answer(got, "The server did not say which program it is.", AGAIN)


def _place(links: HttpSuccess, base: str) -> str | None:
    """Return where the server describes itself; another host's word is not taken."""
    shown = links.at("links")
    for each in shown if isinstance(shown, list) else ():
        if isinstance(each, dict) and str(each.get("rel")).startswith(SCHEMA):
            path = urlsplit(str(each.get("href"))).path
            return base + path if path.startswith("/") else None
    return None
