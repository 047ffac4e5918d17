"""Decide where a redirect may lead. Pure: the next hop, or the reason why not.

Only GET and HEAD are sent on. To another origin goes nothing but what any browser would say: tokens
stand in headers of many names, so what is kept is listed, not what is dropped. From https there is
no way back to http. The next hop is read, resolved and judged as the first one was.
"""

from dataclasses import replace

import httpx2

from cadenza.providers.http.encode import OutboundRequest
from cadenza.providers.http.outcome import Reason, Stop
from cadenza.providers.http.parse_target import BadAddress, parse_target
from cadenza.providers.http.policy import Policy

STATUSES = frozenset({301, 302, 303, 307, 308})
KEPT = frozenset({"accept", "accept-encoding", "accept-language", "range", "user-agent"})


def redirects(method: str, status: int, location: str | None) -> bool:
    """Say whether this reply sends us on, and the method may go."""
    return status in STATUSES and location is not None and method in {"GET", "HEAD"}


def follow(call: OutboundRequest, location: str, policy: Policy) -> OutboundRequest:
    """Return the next hop, or raise `Stop`."""
    try:
        # aim() reads the joined text; blanks and the like must not be joined away before that.
        if any(character <= " " or character == "\\" for character in location):
            raise BadAddress("the redirect holds a blank, a control character or a backslash")
        target = parse_target(str(call.target.url.join(location)), policy)
    except (BadAddress, httpx2.InvalidURL) as wrong:
        raise Stop(Reason.REFUSED, f"redirect: {wrong}") from None
    if call.target.scheme == "https" and target.scheme == "http":
        raise Stop(Reason.REFUSED, "redirect from https to http")
    if target.origin == call.target.origin:
        return replace(call, target=target)
    kept = {name: value for name, value in call.headers.items() if name in KEPT}
    return replace(call, target=target, headers=kept)
