"""What is known of recipients: whether their channel is active, and how often they were written to.

Asked only for deliveries that have a recipient; contacts are counted only where a workspace or an account
limits them, along the ledger's index of recipients, over all accounts of the workspace: a person does not
care which of them writes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import msgspec
from msgspec import Struct

from cadenza.accounts.hours import OUTREACH
from cadenza.accounts.model import Account
from cadenza.deliveries.model import Delivery, Workspace
from cadenza.sql.tx import Tx
from cadenza.sql.values import Key, read_value


@dataclass(frozen=True, slots=True)
class Contacts:
    """How often a recipient was written to in the last `days`, how often that may be, and until when."""

    count: int
    cap: int
    days: int
    free_at: datetime | None  # when the next may go; None: now


def fold_recipient(recipient: str) -> str:
    """Return the one spelling of an address, a chat or a profile."""
    return recipient.strip().casefold()


def cap_of(account: Account, workspace: Workspace) -> tuple[int, int] | None:
    """Return how many contacts in how many days; an account's `recipient_cap` wins over the workspace's."""
    settings: dict[str, Any] = msgspec.json.decode(account.settings)
    own: dict[str, int] | None = settings.get("recipient_cap")
    if own is not None:
        return own["amount"], own["days"]
    amount, days = workspace.recipient_cap, workspace.recipient_cap_days
    return None if amount is None or days is None else (amount, days)


class RecipientChannel(Struct, frozen=True):
    """A row of `recipient_channel`: whether the recipient can be reached, by what failed before."""

    active: bool
    reason: str | None


def read_zones(tx: Tx, deliveries: Mapping[Key, Delivery]) -> dict[Key, str]:
    """Return the zones of recipients whose hours a sequence keeps; who has no zone is left out."""
    asked = [(*key, each.sequence_id, each.contact_id) for key, each in deliveries.items()]
    asked = [each for each in asked if None not in each]
    if not asked:
        return {}
    rows = tx.all(
        """
        SELECT asked.workspace_id, asked.id, contact.zone
        FROM TABLE(:asked) AS asked (workspace_id text, id text, sequence_id text, contact_id text)
        JOIN sequence ON sequence.workspace_id = asked.workspace_id AND sequence.id = asked.sequence_id
            AND sequence.recipient_hours
        JOIN contact ON contact.workspace_id = asked.workspace_id AND contact.id = asked.contact_id
            AND contact.zone IS NOT NULL
        """,
        asked=sorted(asked),
    )
    return {(row["workspace_id"], row["id"]): row["zone"] for row in rows}


def read_channels(
    tx: Tx, deliveries: Mapping[Key, Delivery], accounts: Mapping[Key, Account]
) -> dict[Key, RecipientChannel]:
    """Return what is known of recipients' channels, by delivery; of most nothing is."""
    wanted = {
        key: (key[0], accounts[each.account_key].provider, fold_recipient(each.recipient))
        for key, each in deliveries.items()
        if each.recipient is not None
    }
    if not wanted:
        return {}
    found = {
        (row["workspace_id"], row["provider"], row["id"]): read_value(RecipientChannel, row)
        for row in tx.all(
            """
            SELECT recipient_channel.* FROM TABLE(:requested) AS asked (workspace_id text, provider text, id text)
            JOIN recipient_channel ON recipient_channel.workspace_id = asked.workspace_id
                AND recipient_channel.provider = asked.provider AND recipient_channel.id = asked.id
            """,
            requested=sorted(set(wanted.values())),
        )
    }
    return {key: found[name] for key, name in wanted.items() if name in found}


def read_contacts(
    tx: Tx,
    now: datetime,
    deliveries: Mapping[Key, Delivery],
    accounts: Mapping[Key, Account],
    workspaces: Mapping[str, Workspace],
) -> dict[Key, Contacts]:
    """Return how often recipients were written to, for outreach that is limited."""
    wanted: dict[Key, tuple[str, int, int]] = {}
    for key, each in deliveries.items():
        if each.recipient is None or each.action not in OUTREACH:
            continue
        cap = cap_of(accounts[each.account_key], workspaces[key[0]])
        if cap is not None:
            wanted[key] = (fold_recipient(each.recipient), *cap)
    if not wanted:
        return {}
    times: dict[tuple[Key, str], list[datetime]] = {}
    for row in tx.all(
        """
        SELECT asked.workspace_id, asked.id, activity.mode, activity.reserved_at
        FROM TABLE(:requested) AS asked (workspace_id text, id text, recipient text, since_at timestamptz)
        JOIN activity ON activity.workspace_id = asked.workspace_id
            AND activity.recipient = asked.recipient AND activity.reserved_at > asked.since_at
        WHERE activity.recipient IS NOT NULL AND activity.counts
        ORDER BY activity.reserved_at
        """,
        requested=[
            (*key, recipient, now - timedelta(days=days))
            for key, (recipient, _, days) in sorted(wanted.items())
        ],
    ):
        key = (row["workspace_id"], row["id"])
        times.setdefault((key, row["mode"]), []).append(row["reserved_at"])
    return {
        key: _contacts(times.get((key, deliveries[key].mode), []), cap, days)
        for key, (_, cap, days) in wanted.items()
    }


def _contacts(times: list[datetime], cap: int, days: int) -> Contacts:
    """The next may go when so many are left that one more is allowed."""
    free = times[len(times) - cap] + timedelta(days=days) if len(times) >= cap else None
    return Contacts(len(times), cap, days, free)
