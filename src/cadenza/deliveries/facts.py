"""Reads what the gates ask about, for many deliveries in a few statements, all in one transaction."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from cadenza.accounts.hours import hours_of
from cadenza.core.budgets import Budget, Counted, MinGap, Period, Rate, Rolling, period_key
from cadenza.core.zones import Zone, get_zone
from cadenza.deliveries.gates import Facts
from cadenza.sql.tx import Row, Tx

_DAY = timedelta(days=1)
_WORKSPACE = """
SELECT workspace.*, installation.held_at AS house_held_at,
    installation.hold_reason AS house_hold_reason, installation.beat_at AS house_beat_at
FROM workspace LEFT JOIN installation ON installation.id = 'this'
WHERE workspace.id = :id
"""


def read_facts(
    tx: Tx,
    now: datetime,
    keys: Sequence[tuple[str, str]],
    *,
    epochs: dict[tuple[str, str], int] | None = None,
    problems: dict[tuple[str, str], tuple[str, ...]] | None = None,
) -> dict[tuple[str, str], Facts]:
    """Return the facts of deliveries (workspace, id); what does not exist is left out."""
    found: dict[tuple[str, str], Facts] = {}
    for workspace_id, ids in _by_workspace(keys).items():
        deliveries = select(tx, "delivery", workspace_id, ids)
        accounts = select(
            tx, "account", workspace_id, {d["account_id"] for d in deliveries.values()}
        )
        lanes = select(tx, "lane", workspace_id, {d["lane_id"] for d in deliveries.values()})
        workspace = tx.one(_WORKSPACE, id=workspace_id)
        if workspace is None:
            continue
        for id_, delivery in deliveries.items():
            account = accounts[delivery["account_id"]]
            key = (workspace_id, id_)
            found[key] = Facts(
                now=now,
                delivery=delivery,
                workspace=workspace,
                account=account,
                lane=lanes[delivery["lane_id"]],
                suppressed=_suppression(tx, delivery),
                problems=(problems or {}).get(key, ()),
                hours=hours_of(account, delivery["action"]),
                budgets=read_budgets(tx, now, account, delivery["action"], delivery["mode"]),
                claimed_epoch=(epochs or {}).get(key),
            )
    return found


def select(tx: Tx, table: str, workspace_id: str, ids: Iterable[str]) -> dict[str, Row]:
    """Read rows of a workspace by id."""
    rows = [
        tx.one(
            f"SELECT * FROM {table} WHERE workspace_id = :workspace_id AND id = :id",  # noqa: S608 - a constant
            workspace_id=workspace_id,
            id=id_,
        )
        for id_ in sorted(set(ids))
    ]
    return {row["id"]: row for row in rows if row is not None}


def read_budgets(tx: Tx, now: datetime, account: Row, action: str, mode: str) -> tuple[Budget, ...]:
    """Read the budgets that one call of this action takes from, with what is used of them."""
    rules = tx.all(
        """
        SELECT action, kind, amount, per_seconds FROM budget
        WHERE workspace_id = :workspace_id AND account_id = :account_id AND action IN (:action, '*')
        """,
        workspace_id=account["workspace_id"],
        account_id=account["id"],
        action=action,
    )
    zone = get_zone(account["zone"])
    return tuple(_budget(tx, now, account, rule, mode, zone) for rule in rules)


def _budget(tx: Tx, now: datetime, account: Row, rule: Row, mode: str, zone: Zone) -> Budget:
    kind, amount = rule["kind"], rule["amount"]
    key = f"{rule['action']}:{kind}"
    period = period_key(Period(kind), now, zone) if kind in set(Period) else ""
    bucket = tx.one(
        """
        SELECT taken, free_at FROM bucket
        WHERE workspace_id = :workspace_id AND account_id = :account_id AND action = :action
            AND mode = :mode AND kind = :kind AND period = :period
        """,
        workspace_id=account["workspace_id"],
        account_id=account["id"],
        action=rule["action"],
        mode=mode,
        kind=kind,
        period=period,
    )
    taken = 0 if bucket is None else bucket["taken"]
    free_at = None if bucket is None else bucket["free_at"]
    match kind:
        case "gap":
            return MinGap(key, timedelta(seconds=amount), free_at)
        case "rate":
            every = timedelta(seconds=rule["per_seconds"] or 60) / amount
            return Rate(key, every, due=free_at)
        case "rolling_day":
            return Rolling(key, amount, taken=_recent(tx, now, account, rule["action"], mode))
        case _:
            return Counted(key, amount, Period(kind), zone, used=taken, used_in=period)


def _recent(tx: Tx, now: datetime, account: Row, action: str, mode: str) -> tuple[datetime, ...]:
    rows = tx.all(
        """
        SELECT reserved_at FROM activity
        WHERE workspace_id = :workspace_id AND account_id = :account_id AND mode = :mode AND counts
            AND (action = :action OR :action = '*') AND reserved_at > :since
        ORDER BY reserved_at
        """,
        workspace_id=account["workspace_id"],
        account_id=account["id"],
        action=action,
        mode=mode,
        since=now - _DAY,
    )
    return tuple(row["reserved_at"].astimezone(UTC) for row in rows)


def _suppression(tx: Tx, delivery: Row) -> str | None:
    recipient: str | None = delivery["recipient"]
    if recipient is None:
        return None
    address = recipient.strip().casefold()
    found: Any = tx.value(
        """
        SELECT reason FROM suppression
        WHERE workspace_id = :workspace_id
            AND ((kind IN ('address', 'handle') AND value = :address) OR (kind = 'domain' AND value = :domain))
        LIMIT 1
        """,
        workspace_id=delivery["workspace_id"],
        address=address,
        domain=address.rpartition("@")[2],
    )
    return found


def _by_workspace(keys: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for workspace_id, id_ in keys:
        grouped.setdefault(workspace_id, []).append(id_)
    return grouped
