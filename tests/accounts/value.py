"""An account as a value, for tests that need no database."""

from datetime import UTC, datetime
from typing import Any

from cadenza.accounts.model import Account


def an_account(**changes: Any) -> Account:
    """Return Ada's account, changed as a test needs it."""
    fields: dict[str, Any] = {
        **dict.fromkeys(Account.__struct_fields__),
        "workspace_id": "home",
        "id": "ada",
        "provider": "mastodon",
        "remote_id": "r",
        "handle": "@ada",
        "zone": "UTC",
        "state": "connected",
        "refresh_lease": 0,
        "grace_minutes": 60,
        "unconfirmed_policy": "ask",
        "settings": "{}",
        "created_at": datetime(2026, 1, 1, tzinfo=UTC),
    }
    return Account(**(fields | changes))
