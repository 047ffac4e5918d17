"""Gives an account its lane and the limits that its actions start with.

Limits are rows, so that a person can change them; posts and broadcasts have none to start with.
"""

from datetime import datetime

from cadenza.accounts.model import read_account
from cadenza.deliveries import lanes
from cadenza.deliveries.model import account_scope
from cadenza.sql.tx import Tx

# action -> (a day, minimum seconds between two)
DEFAULTS = {
    "email": (20, 360),
    "message": (50, 360),
    "connection_request": (20, 360),
    "inmail": (30, 360),
}


def init_account(
    tx: Tx, now: datetime, *, workspace_id: str, account_id: str, in_flight_limit: int = 1
) -> None:
    """Open the account's lane and write its first limits; what is there already stays."""
    scope = account_scope(account_id)
    lanes.open_lane(
        tx,
        workspace_id=workspace_id,
        scope=scope,
        account_id=account_id,
        in_flight_limit=in_flight_limit,
    )
    tx.run(
        """
        INSERT INTO budget (workspace_id, scope, action, kind, amount)
        SELECT :workspace_id, :scope, action, kind, amount
        FROM TABLE(:rules) AS rules (action text, kind text, amount integer) WHERE true
        ON CONFLICT (workspace_id, scope, action, kind) DO NOTHING
        """,
        workspace_id=workspace_id,
        scope=scope,
        rules=[
            (action, kind, amount)
            for action, (a_day, gap) in DEFAULTS.items()
            for kind, amount in (("day", a_day), ("gap", gap))
        ],
    )
    set_width(tx, workspace_id, account_id, at_least=in_flight_limit)


def set_width(tx: Tx, workspace_id: str, account_id: str, *, at_least: int = 1) -> None:
    """Let an account that is made to write to many have many calls at once, over all its lanes; others one."""
    account = read_account(tx, workspace_id, account_id)
    tx.run(
        "UPDATE lane SET width = :width WHERE workspace_id = :workspace_id AND id = :id",
        width=max(at_least, lanes.WIDTH if account is not None and account.is_bulk else 1),
        workspace_id=workspace_id,
        id=account_scope(account_id),
    )
