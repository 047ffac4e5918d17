"""Reads what the gates ask about, for many deliveries in a few statements, all in one transaction.

A permit reads with `hold`: what it saw of a delivery, its lane, account and workspace cannot change until it
has committed, so a pause, a cancel or an edit comes wholly before it or wholly after. Held in one order
(deliveries, then lanes, accounts, workspaces), so that nobody waits in a ring.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from cadenza.accounts.hours import hours_of, recipient_hours
from cadenza.accounts.model import COLUMNS as ACCOUNT
from cadenza.accounts.model import Account
from cadenza.deliveries.erased_hash import erased_hash, read_salts
from cadenza.deliveries.gates import HURRY, Facts
from cadenza.deliveries.model import (
    ALSO,
    Action,
    Delivery,
    Lane,
    ProviderRate,
    Workspace,
    account_scope,
)
from cadenza.deliveries.rate_limit_waits import read_waits
from cadenza.deliveries.read_budgets import BudgetRequest, read_budgets
from cadenza.deliveries.read_day import Day, DayRequest, read_days
from cadenza.deliveries.read_recipients import (
    fold_recipient,
    read_channels,
    read_contacts,
    read_zones,
)
from cadenza.sql.tx import Tx
from cadenza.sql.values import Key, read_value, select

_WORKSPACE = f"""
SELECT workspace.id, workspace.stopped_at, workspace.stop_reason, workspace.max_per_day,
    workspace.recipient_cap, workspace.recipient_cap_days, installation.held_at,
    installation.hold_reason || coalesce('{ALSO}' || installation.jump_reason, '') AS hold_reason,
    installation.beat_at
FROM TABLE(:ids) AS asked (id text) JOIN workspace ON workspace.id = asked.id
LEFT JOIN installation ON installation.id = 'this'
"""  # noqa: S608 - put together from constants


def read_facts(
    tx: Tx,
    now: datetime,
    keys: Sequence[Key],
    *,
    epochs: Mapping[Key, int | None] | None = None,
    problems: Mapping[Key, tuple[str, ...]] | None = None,
    leased: Mapping[Key, bool] | None = None,
    hold: bool = False,
) -> dict[Key, Facts]:
    """Return the facts of deliveries (workspace, id); what does not exist is left out."""
    share = "SHARE" if hold else None
    deliveries = select(tx, Delivery, "delivery", keys, hold="UPDATE" if hold else None)
    lanes = select(tx, Lane, "lane", _lane_keys(deliveries.values()), hold=share)
    accounts, maxima = _accounts(tx, (each.account_key for each in deliveries.values()), hold=hold)
    workspaces = _workspaces(tx, {workspace_id for workspace_id, _ in deliveries}, hold=hold)
    suppressed = {**_left_lists(tx, deliveries), **_suppressed(tx, deliveries)}
    rates = _rates(tx, {account.provider for account in accounts.values()})
    budgets = read_budgets(
        tx,
        now,
        [BudgetRequest(accounts[each.account_key], each) for each in deliveries.values()],
    )
    days = _days(tx, now, deliveries.values(), accounts, maxima, workspaces)
    waits = read_waits(tx, now, deliveries, accounts)
    channels = read_channels(tx, deliveries, accounts)
    contacts = read_contacts(tx, now, deliveries, accounts, workspaces)
    zones = read_zones(tx, deliveries)
    found: dict[Key, Facts] = {}
    for key, delivery in deliveries.items():
        account = accounts[delivery.account_key]
        hours = hours_of(account, delivery.action)
        found[key] = Facts(
            now=now,
            delivery=delivery,
            workspace=workspaces[key[0]],
            account=account,
            lane=lanes[delivery.lane_key],
            account_lane=lanes.get(own_lane(delivery), lanes[delivery.lane_key]),
            suppressed=suppressed.get(key),
            channel=channels.get(key),
            contacts=contacts.get(key),
            problems=(problems or {}).get(key, ()),
            hours=hours,
            recipient_hours=recipient_hours(hours, zones.get(key)),
            day=days.get(key),
            budgets=budgets[key],
            wait=waits.get(key),
            claimed_epoch=(epochs or {}).get(key),
            provider_rate=rates.get(account.provider),
            leased=(leased or {}).get(key),
        )
    return found


def own_lane(delivery: Delivery) -> Key:
    """Name the lane of the delivery's account, which a pause of the account closes."""
    return delivery.workspace_id, account_scope(delivery.account_id)


def _lane_keys(deliveries: Iterable[Delivery]) -> set[Key]:
    return {key for each in deliveries for key in (each.lane_key, own_lane(each))}


def _days(
    tx: Tx,
    now: datetime,
    deliveries: Iterable[Delivery],
    accounts: Mapping[Key, Account],
    maxima: Mapping[Key, int | None],
    workspaces: Mapping[str, Workspace],
) -> dict[Key, Day]:
    """Count the days of posts whose account has a maximum; what a person sends by hand passes it."""
    requested: list[DayRequest] = []
    for each in deliveries:
        is_post = each.action is Action.POST and each.priority > HURRY
        if not is_post or each.account_key not in maxima:
            continue
        own = maxima[each.account_key]
        cap = own if own is not None else workspaces[each.workspace_id].max_per_day
        if cap is not None:
            requested.append(
                DayRequest(
                    workspace_id=each.workspace_id,
                    id=each.id,
                    account_id=each.account_id,
                    post_id=each.post_id,
                    due_at=each.due_at,
                    zone=accounts[each.account_key].zone,
                    cap=cap,
                )
            )
    return read_days(tx, now, requested)


def _accounts(
    tx: Tx, keys: Iterable[Key], *, hold: bool
) -> tuple[dict[Key, Account], dict[Key, int | None]]:
    """Read accounts, and the maximum per day of those that have a queue; None: the workspace's."""
    lock = "FOR SHARE OF account" if hold and tx.dialect == "postgresql" else ""
    rows = tx.all(
        f"""
        SELECT {ACCOUNT}, queue.max_per_day AS queue_max, queue.account_id AS queue_of
        FROM TABLE(:keys) AS asked (workspace_id text, id text)
        JOIN account ON account.workspace_id = asked.workspace_id AND account.id = asked.id
        LEFT JOIN queue ON queue.workspace_id = asked.workspace_id AND queue.account_id = asked.id
        ORDER BY account.workspace_id, account.id {lock}
        """,  # noqa: S608 - put together from constants
        keys=sorted(set(keys)),
    )
    accounts = {(row["workspace_id"], row["id"]): read_value(Account, row) for row in rows}
    queued = [row for row in rows if row["queue_of"] is not None]
    return accounts, {(row["workspace_id"], row["id"]): row["queue_max"] for row in queued}


def _workspaces(tx: Tx, ids: set[str], *, hold: bool) -> dict[str, Workspace]:
    lock = " FOR SHARE OF workspace" if hold and tx.dialect == "postgresql" else ""
    rows = tx.all(_WORKSPACE + lock, ids=[(id_,) for id_ in sorted(ids)])
    return {row["id"]: read_value(Workspace, row) for row in rows}


def _rates(tx: Tx, providers: set[str]) -> dict[str, ProviderRate]:
    rows = tx.all(
        """
        SELECT provider_rate.* FROM TABLE(:providers) AS asked (provider text)
        JOIN provider_rate ON provider_rate.provider = asked.provider
        """,
        providers=[(provider,) for provider in sorted(providers)],
    )
    return {row["provider"]: read_value(ProviderRate, row) for row in rows}


def _suppressed(tx: Tx, deliveries: Mapping[Key, Delivery]) -> dict[Key, str]:
    """Say for which deliveries the recipient must not be written to on their channel, and why."""
    values: dict[Key, list[tuple[str, str]]] = {}
    written = {key[0] for key, each in deliveries.items() if each.recipient is not None}
    salts = read_salts(tx, written) if written else {}
    for key, each in deliveries.items():
        if each.recipient is not None:
            address = each.recipient.strip().casefold()
            domain = address.rpartition("@")[2]
            handle = address.removeprefix("@")
            values[key] = [("address", address), ("handle", handle), ("domain", domain)]
            if (salt := salts.get(key[0])) is not None:
                erased = erased_hash(salt, address)
                values[key] += [("address", erased), ("handle", erased)]
    if not values:
        return {}
    reasons: dict[tuple[str, str, str, str], str] = {}
    for row in tx.all(
        """
        SELECT suppression.* FROM TABLE(:requested) AS asked (workspace_id text, kind text, value text)
        JOIN suppression ON suppression.workspace_id = asked.workspace_id
            AND suppression.kind = asked.kind AND suppression.value = asked.value
        ORDER BY suppression.created_at, suppression.reason
        """,
        requested=sorted({(key[0], *pair) for key, pairs in values.items() for pair in pairs}),
    ):
        known = (row["workspace_id"], row["kind"], row["value"], row["channel"])
        reasons.setdefault(known, row["reason"])
    return {
        key: reasons[key[0], *pair, channel]
        for key, pairs in values.items()
        for pair in reversed(pairs)
        for channel in (_network(deliveries[key]), "all")
        if (key[0], *pair, channel) in reasons
    }


def _left_lists(tx: Tx, deliveries: Mapping[Key, Delivery]) -> dict[Key, str]:
    """Say which deliveries go to a list that their recipient left."""
    requested = {
        key: (key[0], _network(each), fold_recipient(each.recipient), each.audience_id)
        for key, each in deliveries.items()
        if each.audience_id is not None and each.recipient is not None
    }
    if not requested:
        return {}
    rows = tx.all(
        """
        SELECT gone.workspace_id, gone.channel, gone.address, gone.audience_id
        FROM TABLE(:requested) AS asked (workspace_id text, channel text, address text, audience_id text)
        JOIN audience_unsubscribe gone ON gone.workspace_id = asked.workspace_id
            AND gone.channel = asked.channel AND gone.address = asked.address
            AND gone.audience_id = asked.audience_id
        """,
        requested=sorted(set(requested.values())),
    )
    gone = {
        (row["workspace_id"], row["channel"], row["address"], row["audience_id"]) for row in rows
    }
    return {key: "unsubscribed from this list" for key, asked in requested.items() if asked in gone}


def _network(delivery: Delivery) -> str:
    """Name the channel as contacts' addresses do: linkedin for linkedin_message."""
    return delivery.channel.partition("_")[0]
