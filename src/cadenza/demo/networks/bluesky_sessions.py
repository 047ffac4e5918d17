"""Sessions of a Bluesky server: short access tokens, refresh tokens that rotate with two hours of grace.

An old refresh token that comes again within its grace gets the same successor, so a lost reply does
no harm; later it is dead. Tokens look like JWTs and carry their end, as the real ones do.
"""

import json
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from datetime import datetime, timedelta

from cadenza.demo.simulator.ids import Ids

ACCESS_LIFE = timedelta(minutes=120)
REFRESH_LIFE = timedelta(days=90)
GRACE = timedelta(hours=2)


@dataclass(slots=True)
class Pair:
    did: str
    access: str
    refresh: str
    access_until: datetime
    refresh_until: datetime
    successor: "Pair | None" = None


class Sessions:
    """All pairs that were handed out."""

    def __init__(self) -> None:
        self.by_access: dict[str, Pair] = {}
        self.by_refresh: dict[str, Pair] = {}

    def begin(self, did: str, ids: Ids, now: datetime) -> Pair:
        """Hand out a pair."""
        access_until, refresh_until = now + ACCESS_LIFE, now + REFRESH_LIFE
        pair = Pair(
            did,
            _jwt(did, "com.atproto.appPass", access_until, ids),
            _jwt(did, "com.atproto.refresh", refresh_until, ids),
            access_until,
            refresh_until,
        )
        self.by_access[pair.access] = self.by_refresh[pair.refresh] = pair
        return pair

    def rotate(self, refresh: str, ids: Ids, now: datetime) -> Pair | None:
        """Hand out the successor of a pair, the same one within the grace; None: it is dead."""
        pair = self.by_refresh.get(refresh)
        if pair is None or pair.refresh_until <= now:
            return None
        if pair.successor is None:
            pair.successor = self.begin(pair.did, ids, now)
            pair.refresh_until = min(pair.refresh_until, now + GRACE)
        return pair.successor


def _jwt(did: str, scope: str, until: datetime, ids: Ids) -> str:
    def part(data: dict[str, object]) -> str:
        return urlsafe_b64encode(json.dumps(data).encode()).decode().rstrip("=")

    claims = {"scope": scope, "sub": did, "exp": int(until.timestamp()), "jti": ids.letters(16)}
    return f"{part({'typ': 'JWT', 'alg': 'ES256K'})}.{part(claims)}.{ids.letters(86)}"
