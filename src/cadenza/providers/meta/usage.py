"""How much of Meta's rate is used up, and how long until there is room again: two headers tell.

Both come with every reply, also the good ones. `regain` is the wait that a refused call is told;
`breather` is what we wait of our own accord when almost all is used, so that a preparation of many
steps does not run into the wall. Percentages without a time are only slowed down for.
"""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from cadenza.providers.http.outcome import Reply
from cadenza.providers.waits import bounded

APP = "x-app-usage"
BUSINESS = "x-business-use-case-usage"
SHARES = ("call_count", "total_cputime", "total_time")
A_DAY = 24 * 60  # minutes; no header makes us wait longer
SLOW_AT = 80
STOP_AT = 95
SLOWLY = timedelta(seconds=10)
STOPPED = timedelta(minutes=5)


def regain(reply: Reply) -> timedelta | None:
    """Return the longest wait that is named, in minutes over there."""
    named = (each.get("estimated_time_to_regain_access") for each in _uses(reply))
    minutes = [each for each in named if isinstance(each, int | float) and each > 0]
    return bounded(timedelta(minutes=min(max(minutes), A_DAY))) if minutes else None


def share(reply: Reply) -> float:
    """Return the largest share used, in percent."""
    shares = (each.get(name) for each in _uses(reply) for name in SHARES)
    return max((each for each in shares if isinstance(each, int | float)), default=0.0)


def breather(reply: Reply) -> timedelta:
    """Say how long to rest before the next call, if at all."""
    used = share(reply)
    if used >= STOP_AT:
        return regain(reply) or STOPPED
    return SLOWLY if used >= SLOW_AT else timedelta()


def _uses(reply: Reply) -> Iterator[dict[str, Any]]:
    app = _parsed(reply, APP)
    if isinstance(app, dict):
        yield app
    business = _parsed(reply, BUSINESS)
    lists = business.values() if isinstance(business, dict) else ()
    yield from (each for uses in lists if isinstance(uses, list) for each in uses if _is_use(each))


def _is_use(each: object) -> bool:
    return isinstance(each, dict)


def _parsed(reply: Reply, header: str) -> Any:
    try:
        return json.loads(reply.header(header) or "null")
    except (ValueError, RecursionError):
        return None
