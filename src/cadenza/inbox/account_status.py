"""A network says how an account is: signed out, or signed in again.

An account that is signed out is held at once, before a message fails; one that is back may send again, and what came
due meanwhile waits for a resume choice. Trouble that may pass changes nothing: sending will tell.
"""

from datetime import datetime
from typing import Any

from msgspec import Struct

from cadenza.accounts.recover import recover
from cadenza.accounts.require_reconnect import require_reconnect
from cadenza.db.audit import record
from cadenza.deliveries import resume_plan
from cadenza.sql.tx import Tx

SIGNED_OUT = frozenset({"CREDENTIALS", "PERMISSIONS", "DELETED"})
SIGNED_IN = frozenset({"OK", "RECONNECTED", "CREATION_SUCCESS", "SYNC_SUCCESS"})


class AccountStatus(Struct, frozen=True):
    """What Unipile says of one account, by its own names."""

    remote_id: str
    status: str


def read_status(data: Any) -> AccountStatus | None:
    """Read a call of the source `account_status`; None: it is about something else."""
    said = data.get("AccountStatus") if isinstance(data, dict) else None
    if not isinstance(said, dict) or not said.get("account_id"):
        return None
    return AccountStatus(str(said["account_id"]), str(said.get("message") or "").upper())


def note_status(
    tx: Tx, now: datetime, *, workspace_id: str, account_id: str, status: str, by: str
) -> bool:
    """Hold an account that is signed out, let one go on that is back; say whether anything changed."""
    about = {"workspace_id": workspace_id, "account_id": account_id}
    if status in SIGNED_OUT:
        message = f"it is signed out at Unipile ({status.lower()}): sign in again"
        return require_reconnect(
            tx, now, workspace_id=workspace_id, account_id=account_id, message=message
        )
    if status not in SIGNED_IN or not recover(tx, now, **about):
        return False
    resume_plan.reopen(tx, now, **about)
    record(
        tx, now, workspace_id=workspace_id, by=by, action="account.recover", subject_id=account_id
    )
    return True
