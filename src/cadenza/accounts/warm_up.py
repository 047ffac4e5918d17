"""An account's warm-up: a new mailbox or profile begins with few messages a day and gets more with each active day.

Kept in the account's settings, per action: `{"warm_up": {"email": {"start": 5, "step": 2, "every": 1, "since":
"2026-06-01T08:00:00+00:00"}}}`. Days count from `since` on, when the warm-up was set; a pause does not jump it.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Struct

from cadenza.accounts.model import Account
from cadenza.core.budgets import Ramp

LONGEST = 366  # active days, after which any warm-up is over


class WarmUp(Struct, frozen=True, kw_only=True):
    """So many a day at first, `step` more after every `every` days with at least one message."""

    start: int
    step: int
    since: datetime
    every: int = 1

    @property
    def ramp(self) -> Ramp:
        """Return it as the arithmetic knows it."""
        return Ramp(self.start, self.step, self.every)

    def days_to(self, cap: int) -> int:
        """Return after how many active days it allows `cap`."""
        steps = -(-max(0, cap - self.start) // self.step)
        return min(LONGEST, steps * self.every)


def warm_up_of(account: Account, action: str) -> WarmUp | None:
    """Return how an account warms up for an action; None: it does not."""
    settings: dict[str, Any] = msgspec.json.decode(account.settings)
    said = settings.get("warm_up", {}).get(action)
    return None if said is None else msgspec.convert(said, WarmUp)


def begin_warm_up(
    said: Mapping[str, Mapping[str, int] | None], before: Mapping[str, Any], now: datetime
) -> dict[str, Any]:
    """Return the setting: what goes on keeps its begin, what is new begins now, None ends it."""
    kept: dict[str, Any] = {}
    for action, one in said.items():
        if one is not None:
            begun = before.get(action, {}).get("since")
            kept[action] = {**one, "since": begun or now.astimezone(UTC).isoformat()}
    return kept
