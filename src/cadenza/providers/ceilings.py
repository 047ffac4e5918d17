"""How many of an action a day networks bear from one account, whatever its owner allows.

From what the networks and their gateways publish (Unipile's limits for LinkedIn, Google's and Microsoft's for mail);
set where more gets accounts restricted. An account's own limit and its warm-up stay below.
"""

from collections.abc import Mapping

DAILY: Mapping[str, Mapping[str, int]] = {
    "unipile": {"connection_request": 100, "message": 100, "inmail": 50, "email": 2_000},
    "smtp": {"email": 10_000},
}


def daily_ceiling(provider: str, action: str) -> int | None:
    """Return what a network bears a day; None: nothing is known."""
    return DAILY.get(provider, {}).get(action)
