"""What a person sets for an account: zone, how late it may send, hours, holidays, how its mails are signed.

Hours and holidays live in the account's settings; the gates read them at the next look. The caller lets
lanes that waited for hours look again, and counts again after a change of the zone (`deliveries/set_limit.py`,
where limits are set too). What the network told of the account (name, kind) is never taken from here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from cadenza.accounts.warm_up import begin_warm_up
from cadenza.core.zones import get_zone
from cadenza.db.audit import record
from cadenza.sql.tx import Row, Tx

SETTINGS = (  # written as they are given
    *("hours", "holidays", "holiday_names", "holiday_calendars", "labels", "bulk"),
    *("from_name", "reply_to", "signature", "health"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What is to be changed; None leaves a thing as it is."""

    zone: str | None = None
    grace_minutes: int | None = None
    unconfirmed_policy: str | None = None
    hours: Mapping[str, Any] | None = None  # as `accounts/hours.py` reads them
    holidays: Sequence[str] | None = None
    holiday_names: Mapping[str, str] | None = None  # of dates that have one
    holiday_calendars: Sequence[str] | None = None  # countries, such as DE-BY
    labels: Sequence[str] | None = None  # by which sequences choose accounts
    warm_up: Mapping[str, Mapping[str, int] | None] | None = (
        None  # per action; None ends it, and what is not named ends too
    )
    bulk: bool | None = (
        None  # made for many: campaigns count as broadcasts, without the limits of mail by hand
    )
    from_name: str | None = None
    reply_to: str | None = None
    signature: str | None = None
    health: Mapping[str, Any] | None = None  # as `inbox/health.py` reads them


def lock_of(workspace_id: str, account_id: str) -> str:
    """Name the lock that permits of the account take too."""
    return f"account:{workspace_id}:{account_id}"


def find_account(tx: Tx, workspace_id: str, account_id: str) -> Row | None:
    """Return an account of a workspace."""
    return tx.one(
        "SELECT * FROM account WHERE workspace_id = :workspace_id AND id = :id",
        workspace_id=workspace_id,
        id=account_id,
    )


def configure(
    tx: Tx, now: datetime, *, workspace_id: str, account_id: str, change: Change, by: str
) -> bool:
    """Change what is given; say whether the account is there."""
    row = find_account(tx, workspace_id, account_id)
    if row is None:
        return False
    zone = row["zone"] if change.zone is None else change.zone
    get_zone(zone)
    settings: dict[str, Any] = msgspec.json.decode(row["settings"])
    for name in SETTINGS:
        said = getattr(change, name)
        if said is not None:
            settings[name] = said
    if change.warm_up is not None:
        settings["warm_up"] = begin_warm_up(change.warm_up, settings.get("warm_up", {}), now)
    grace = row["grace_minutes"] if change.grace_minutes is None else change.grace_minutes
    policy = change.unconfirmed_policy or row["unconfirmed_policy"]
    tx.run(
        """
        UPDATE account SET zone = :zone, grace_minutes = :grace, unconfirmed_policy = :policy, settings = :settings
        WHERE workspace_id = :workspace_id AND id = :id
        """,
        zone=zone,
        grace=grace,
        policy=policy,
        settings=msgspec.json.encode(settings).decode(),
        workspace_id=workspace_id,
        id=account_id,
    )
    record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="account.configure",
        subject_id=account_id,
        before={"zone": row["zone"], "grace_minutes": row["grace_minutes"]},
        after={
            "zone": zone,
            "grace_minutes": grace,
            "unconfirmed_policy": policy,
            "hours": settings.get("hours", {}),
            "holidays": settings.get("holidays", []),
            "holiday_calendars": settings.get("holiday_calendars", []),
            "warm_up": settings.get("warm_up", {}),
            "bulk": settings.get("bulk", False),
            **{name: settings.get(name) for name in ("from_name", "reply_to", "health")},
        },
    )
    return True
