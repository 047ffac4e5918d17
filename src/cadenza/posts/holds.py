"""What keeps a scheduled delivery from going: read off its lane, its account and its workspace.

What only a person ends (a stop, a pause, a lost connection) holds what is due later too, unless the pause ends
before: a post of a paused account does not look as if it went out at its time. Other waits hold what is due.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from cadenza.core.rollup import DeliveryState as State
from cadenza.sql.tx import Row, Tx

# What `held_by` needs of a delivery's surroundings, for a query that joins them.
HOLDS = """
    account.state AS account_state, account.state_reason, lane.paused, lane.pause_reason, lane.paused_until,
    lane.parked_until, lane.park_reason, lane.unresumed_until, workspace.stopped_at, workspace.stop_reason
"""
ACCOUNTS = {
    "needs_reconnect": "has to be connected again",
    "disconnected": "is disconnected: connect it again",
}


class Hold(StrEnum):
    """What kind of thing holds it."""

    ACCOUNT = "account"  # it cannot send
    STOPPED = "stopped"
    PAUSED = "paused"
    CAME_DUE = "came_due"  # while the account was disconnected
    WAIT = "wait"


@dataclass(frozen=True, slots=True)
class Held:
    """Why something does not go, and when it may; None: when a person lets it."""

    code: Hold
    message: str
    until: datetime | None = None


def account_state(state: str) -> str:
    """Say what keeps an account from sending, after its name."""
    return ACCOUNTS.get(state, f"is {state.replace('_', ' ')}")


def held_by(row: Row, now: datetime) -> Held | None:
    """Say what holds a scheduled delivery."""
    if row["state"] != State.SCHEDULED:
        return None
    return _by_person(row) or (_by_wait(row, now) if row["due_at"] <= now else None)


def _by_person(row: Row) -> Held | None:
    """Say what nobody but a person ends, or what lasts beyond its time."""
    if row["account_state"] not in ("connected", "expiring"):
        reason = f": {row['state_reason']}" if row["state_reason"] else ""
        return Held(Hold.ACCOUNT, f"the account {account_state(row['account_state'])}{reason}")
    if row["leased_until"] is not None:
        return None
    if row["stopped_at"] is not None:
        reason = row["stop_reason"] or "no reason given"
        return Held(Hold.STOPPED, f"the workspace is stopped: {reason}")
    until: datetime | None = row["paused_until"]
    if row["paused"] and (until is None or row["due_at"] <= until):
        return Held(Hold.PAUSED, row["pause_reason"] or "no reason given", until)
    return None


def _by_wait(row: Row, now: datetime) -> Held | None:
    if row["leased_until"] is not None:
        return None
    if row["unresumed_until"] is not None and row["due_at"] < row["unresumed_until"]:
        return Held(Hold.CAME_DUE, "it came due while the account was disconnected")
    if row["parked_until"] is not None and row["parked_until"] > now:
        message = row["park_reason"] or "the network wants a wait"
        return Held(Hold.WAIT, message, row["parked_until"])
    return None


def read_holds(
    tx: Tx, now: datetime, *, workspace_id: str, deliveries: Iterable[Row]
) -> dict[str, Held]:
    """Say of deliveries, by id, what holds them; those that nothing holds are left out."""
    waiting = [row for row in deliveries if row["state"] == State.SCHEDULED]
    if not waiting:
        return {}
    found = tx.all(
        f"""
        SELECT lane.id AS lane_id, account.id AS account_id, {HOLDS}
        FROM TABLE(:places) AS asked (lane_id text, account_id text)
        JOIN lane ON lane.workspace_id = :workspace_id AND lane.id = asked.lane_id
        JOIN account ON account.workspace_id = lane.workspace_id AND account.id = asked.account_id
        JOIN workspace ON workspace.id = lane.workspace_id
        """,  # noqa: S608 - a constant
        workspace_id=workspace_id,
        places=sorted({(row["lane_id"], row["account_id"]) for row in waiting}),
    )
    around = {(row["lane_id"], row["account_id"]): row for row in found}
    held = {
        row["id"]: held_by({**row, **around[row["lane_id"], row["account_id"]]}, now)
        for row in waiting
        if (row["lane_id"], row["account_id"]) in around
    }
    return {id_: each for id_, each in held.items() if each is not None}
