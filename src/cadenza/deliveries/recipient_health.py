"""Keeps count of recipients that fail for good, in the transaction that settles the call.

One more with each permanent failure of the recipient, none after a success; at five, or at once when the
recipient blocked us, its channel is inactive and what else waits for it is skipped. Blame guard: five
different recipients in a row with one account say more about the account than about them, so the account
is suspended, told about, and those counts are undone. Limit: what is skipped is found by the same spelling
of the recipient; other spellings are stopped by the gate when their time comes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries import lanes
from cadenza.deliveries.model import COLUMNS, Delivery
from cadenza.deliveries.read_recipients import fold_recipient
from cadenza.deliveries.reasons import Code, Reason
from cadenza.deliveries.suspend_account import suspend_account
from cadenza.deliveries.transition import Changes, Move, as_approved, end_waiting, move
from cadenza.sql.tx import Tx
from cadenza.sql.values import read_values

LIMIT = 5  # failures in a row that make a channel inactive
BLAME = 5  # different recipients in a row that make it the account's fault
SKIPPED = Reason.of(Code.RECIPIENT_LOST)
BLAMED = f"{BLAME} different recipients in a row could not be reached: look at the account"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """How one call to a recipient ended: it got there, or the recipient cannot be reached."""

    workspace_id: str
    account_id: str
    provider: str
    recipient: str
    reached: bool
    message: str = ""
    blocked: bool = False  # the other side blocked us or is closed: once is enough


def update_recipients(tx: Tx, now: datetime, ends: Sequence[Contact]) -> None:
    """Write how calls to recipients ended; each account's calls in their order."""
    reached = [end for end in ends if end.reached]
    _reset_counts(tx, now, reached)
    for end in ends:
        if not end.reached:
            _failed(tx, now, end)


def _reset_counts(tx: Tx, now: datetime, reached: Sequence[Contact]) -> None:
    if not reached:
        return
    tx.run(
        """
        UPDATE recipient_channel SET error_count = 0, active = true, reason = NULL, changed_at = :now
        FROM TABLE(:reached) AS asked (workspace_id text, provider text, id text)
        WHERE recipient_channel.workspace_id = asked.workspace_id
            AND recipient_channel.provider = asked.provider AND recipient_channel.id = asked.id
            AND error_count > 0
        """,
        reached=sorted(
            {(e.workspace_id, e.provider, fold_recipient(e.recipient)) for e in reached}
        ),
        now=now,
    )
    _forget_run(tx, {(end.workspace_id, end.account_id) for end in reached})


def _forget_run(tx: Tx, accounts: Iterable[tuple[str, str]]) -> None:
    tx.run(
        """
        DELETE FROM recipient_failure WHERE (workspace_id, account_id) IN (
            SELECT workspace_id, account_id FROM TABLE(:accounts) AS asked (workspace_id text, account_id text)
        )
        """,
        accounts=sorted(accounts),
    )


def _failed(tx: Tx, now: datetime, end: Contact) -> None:
    channel = {
        "workspace_id": end.workspace_id,
        "provider": end.provider,
        "id": fold_recipient(end.recipient),
    }
    active = tx.value(
        """
        INSERT INTO recipient_channel (workspace_id, provider, id, written, active, error_count, reason, created_at,
            changed_at)
        VALUES (:workspace_id, :provider, :id, :written, NOT :blocked, 1, :message, :now, :now)
        ON CONFLICT (workspace_id, provider, id) DO UPDATE SET
            error_count = recipient_channel.error_count + 1, reason = excluded.reason,
            active = recipient_channel.active AND excluded.active
                AND recipient_channel.error_count + 1 < :limit,
            changed_at = excluded.changed_at
        RETURNING active
        """,
        written=end.recipient.strip(),
        blocked=end.blocked,
        message=end.message,
        limit=LIMIT,
        now=now,
        **channel,
    )
    if not active:
        _skip_waiting(tx, now, end)
    tx.run(
        """
        INSERT INTO recipient_failure (workspace_id, account_id, id) VALUES (:workspace_id, :account_id, :id)
        ON CONFLICT (workspace_id, account_id, id) DO UPDATE SET times = recipient_failure.times + 1
        """,
        workspace_id=end.workspace_id,
        account_id=end.account_id,
        id=channel["id"],
    )
    _blame(tx, now, end)


def _skip_waiting(tx: Tx, now: datetime, end: Contact) -> None:
    """Skip what else waits for this recipient in this network and is in nobody's hands."""
    lock = "FOR UPDATE" if tx.dialect == "postgresql" else ""
    rows = tx.all(
        f"""
        SELECT {COLUMNS} FROM delivery
        WHERE workspace_id = :workspace_id AND recipient = :recipient AND recipient IS NOT NULL
            AND state IN ('draft', 'scheduled') AND leased_until IS NULL
            AND account_id IN (
                SELECT id FROM account WHERE workspace_id = :workspace_id AND provider = :provider
            )
        {lock}
        """,  # noqa: S608 - put together from constants
        workspace_id=end.workspace_id,
        recipient=end.recipient,
        provider=end.provider,
    )
    skipped = end_waiting(tx, now, read_values(Delivery, rows), State.SKIPPED, SKIPPED)
    lanes.refresh(tx, {each.delivery.lane_key for each in skipped})


def _blame(tx: Tx, now: datetime, end: Contact) -> None:
    """Suspend an account that fails with one recipient after the other, and undo what was counted."""
    account: dict[str, Any] = {"workspace_id": end.workspace_id, "account_id": end.account_id}
    run = tx.all(
        """
        SELECT id, times FROM recipient_failure
        WHERE workspace_id = :workspace_id AND account_id = :account_id
        """,
        **account,
    )
    if len(run) < BLAME:
        return
    tx.run(
        """
        UPDATE recipient_channel SET changed_at = :now, active = true, reason = NULL,
            error_count = CASE WHEN error_count > asked.times THEN error_count - asked.times ELSE 0 END
        FROM TABLE(:run) AS asked (id text, times integer)
        WHERE recipient_channel.workspace_id = :workspace_id
            AND recipient_channel.provider = :provider AND recipient_channel.id = asked.id
        """,
        run=[(row["id"], row["times"]) for row in run],
        workspace_id=end.workspace_id,
        provider=end.provider,
        now=now,
    )
    _reactivate(tx, now, end, {row["id"] for row in run})
    _forget_run(tx, [(end.workspace_id, end.account_id)])
    suspend_account(tx, now, reason=BLAMED, **account)


def _reactivate(tx: Tx, now: datetime, end: Contact, recipients: set[str]) -> None:
    """Let what was skipped for these recipients wait again."""
    rows = tx.all(
        f"""
        SELECT {COLUMNS} FROM delivery
        JOIN account ON account.workspace_id = delivery.workspace_id AND account.id = delivery.account_id
        WHERE delivery.workspace_id = :workspace_id AND account.provider = :provider
            AND delivery.state = 'skipped' AND delivery.reason_code = :code
        """,  # noqa: S608 - put together from constants
        workspace_id=end.workspace_id,
        provider=end.provider,
        code=SKIPPED.code.value,
    )
    skipped = read_values(Delivery, rows)
    back = [each for each in skipped if fold_recipient(each.recipient or "") in recipients]
    moved = move(tx, now, [Move(each, as_approved(each), Changes(reason=None)) for each in back])
    lanes.refresh(tx, {each.delivery.lane_key for each in moved})
