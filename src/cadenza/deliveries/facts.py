"""Reads what the gates ask about, for many deliveries in a few statements, all in one transaction.

A permit reads with `hold`: what it saw of a delivery, its lane, account and workspace cannot change until it
has committed, so a pause, a cancel or an edit comes wholly before it or wholly after. Held in one order
(deliveries, then lanes, accounts, workspaces), so that nobody waits in a ring.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TypeAlias

from cadenza.accounts.hours import hours_of
from cadenza.deliveries.gates import HURRY, Facts
from cadenza.deliveries.rate_limit_waits import read_waits
from cadenza.deliveries.read_budgets import BudgetRequest, read_budgets
from cadenza.deliveries.read_day import Day, read_days
from cadenza.deliveries.read_day import DayRequest as AskedDay
from cadenza.deliveries.read_recipients import read_channels, read_contacts
from cadenza.sql.tx import Row, Tx

Key: TypeAlias = tuple[str, str]  # a workspace, and an id in it

_WORKSPACE = """
SELECT workspace.*, installation.held_at AS house_held_at,
    installation.hold_reason AS house_hold_reason, installation.beat_at AS house_beat_at
FROM TABLE(:ids) AS asked (id text) JOIN workspace ON workspace.id = asked.id
LEFT JOIN installation ON installation.id = 'this'
"""


def read_facts(
    tx: Tx,
    now: datetime,
    keys: Sequence[Key],
    *,
    epochs: Mapping[Key, int] | None = None,
    problems: Mapping[Key, tuple[str, ...]] | None = None,
    leased: Mapping[Key, bool] | None = None,
    hold: bool = False,
) -> dict[Key, Facts]:
    """Return the facts of deliveries (workspace, id); what does not exist is left out."""
    deliveries = select(tx, "delivery", keys, hold="UPDATE" if hold else None)
    share = "SHARE" if hold else None
    lanes = select(tx, "lane", _named(deliveries, "lane_id"), hold=share)
    accounts = _accounts(tx, _named(deliveries, "account_id"), hold=hold)
    workspaces = _workspaces(tx, {workspace_id for workspace_id, _ in deliveries}, hold=hold)
    suppressed = _suppressed(tx, deliveries)
    rates = _rates(tx, {account["provider"] for account in accounts.values()})
    budgets = read_budgets(
        tx,
        now,
        [
            BudgetRequest(accounts[row["workspace_id"], row["account_id"]], row)
            for row in deliveries.values()
        ],
    )
    days = _days(tx, now, deliveries, accounts, workspaces)
    waits = read_waits(tx, now, deliveries, accounts)
    channels = read_channels(tx, deliveries, accounts)
    contacts = read_contacts(tx, now, deliveries, accounts, workspaces)
    found: dict[Key, Facts] = {}
    for key, delivery in deliveries.items():
        account = accounts[key[0], delivery["account_id"]]
        found[key] = Facts(
            now=now,
            delivery=delivery,
            workspace=workspaces[key[0]],
            account=account,
            lane=lanes[key[0], delivery["lane_id"]],
            suppressed=suppressed.get(key),
            channel=channels.get(key),
            contacts=contacts.get(key),
            problems=(problems or {}).get(key, ()),
            hours=hours_of(account, delivery["action"]),
            day=days.get(key),
            budgets=budgets[key],
            wait=waits.get(key),
            claimed_epoch=(epochs or {}).get(key),
            provider_rate=rates.get(account["provider"]),
            leased=(leased or {}).get(key),
        )
    return found


def select(tx: Tx, table: str, keys: Iterable[Key], *, hold: str | None = None) -> dict[Key, Row]:
    """Read rows by workspace and id, in one order; `hold` keeps them as they are until the end."""
    lock = f"FOR {hold} OF {table}" if hold and tx.dialect == "postgresql" else ""
    rows = tx.all(
        f"""
        SELECT {table}.* FROM TABLE(:keys) AS asked (workspace_id text, id text)
        JOIN {table} ON {table}.workspace_id = asked.workspace_id AND {table}.id = asked.id
        ORDER BY {table}.workspace_id, {table}.id {lock}
        """,  # noqa: S608 - put together from constants
        keys=sorted(set(keys)),
    )
    return {(row["workspace_id"], row["id"]): row for row in rows}


def _named(deliveries: Mapping[Key, Row], column: str) -> list[Key]:
    return [(workspace_id, row[column]) for (workspace_id, _), row in deliveries.items()]


def _accounts(tx: Tx, keys: Iterable[Key], *, hold: bool) -> dict[Key, Row]:
    """Read accounts, with the maximum per day of those that have a queue."""
    lock = "FOR SHARE OF account" if hold and tx.dialect == "postgresql" else ""
    rows = tx.all(
        f"""
        SELECT account.*, queue.max_per_day AS queue_max, queue.account_id AS queue_of
        FROM TABLE(:keys) AS asked (workspace_id text, id text)
        JOIN account ON account.workspace_id = asked.workspace_id AND account.id = asked.id
        LEFT JOIN queue ON queue.workspace_id = asked.workspace_id AND queue.account_id = asked.id
        ORDER BY account.workspace_id, account.id {lock}
        """,  # noqa: S608 - put together from constants
        keys=sorted(set(keys)),
    )
    return {(row["workspace_id"], row["id"]): row for row in rows}


def _days(
    tx: Tx,
    now: datetime,
    deliveries: Mapping[Key, Row],
    accounts: Mapping[Key, Row],
    workspaces: Mapping[str, Row],
) -> dict[Key, Day]:
    """Count the days of posts whose account has a maximum; what a person sends by hand passes it."""
    asked: list[AskedDay] = []
    for (workspace_id, _), row in deliveries.items():
        account = accounts[workspace_id, row["account_id"]]
        if row["action"] != "post" or row["priority"] <= HURRY or account["queue_of"] is None:
            continue
        own: int | None = account["queue_max"]
        cap = own if own is not None else workspaces[workspace_id]["max_per_day"]
        if cap is not None:
            asked.append(AskedDay(row, account["zone"], cap))
    return read_days(tx, now, asked)


def _workspaces(tx: Tx, ids: set[str], *, hold: bool) -> dict[str, Row]:
    lock = " FOR SHARE OF workspace" if hold and tx.dialect == "postgresql" else ""
    rows = tx.all(_WORKSPACE + lock, ids=[(id_,) for id_ in sorted(ids)])
    return {row["id"]: row for row in rows}


def _rates(tx: Tx, providers: set[str]) -> dict[str, Row]:
    rows = tx.all(
        """
        SELECT provider_rate.* FROM TABLE(:providers) AS asked (provider text)
        JOIN provider_rate ON provider_rate.provider = asked.provider
        """,
        providers=[(provider,) for provider in sorted(providers)],
    )
    return {row["provider"]: row for row in rows}


def _suppressed(tx: Tx, deliveries: Mapping[Key, Row]) -> dict[Key, str]:
    """Say for which deliveries the recipient must not be written to, and why."""
    values: dict[Key, list[tuple[str, str]]] = {}
    for key, row in deliveries.items():
        if row["recipient"] is not None:
            address = row["recipient"].strip().casefold()
            domain = address.rpartition("@")[2]
            values[key] = [("address", address), ("handle", address), ("domain", domain)]
    if not values:
        return {}
    reasons = {
        (row["workspace_id"], row["kind"], row["value"]): row["reason"]
        for row in tx.all(
            """
            SELECT suppression.* FROM TABLE(:asked) AS asked (workspace_id text, kind text, value text)
            JOIN suppression ON suppression.workspace_id = asked.workspace_id
                AND suppression.kind = asked.kind AND suppression.value = asked.value
            """,
            asked=sorted({(key[0], *pair) for key, pairs in values.items() for pair in pairs}),
        )
    }
    return {
        key: reasons[key[0], *pair]
        for key, pairs in values.items()
        for pair in reversed(pairs)
        if (key[0], *pair) in reasons
    }
