"""Erases a recipient from the pipeline: what waits is canceled, what was sent keeps its times and counts alone.

Recipient and content, remote ids, refusals and exchanges go; the ledger keeps a salted hash, so that limits and their
audit still hold. Limit: what is being sent in this moment cannot be erased; the caller tries again.
"""

from collections.abc import Sequence
from datetime import datetime

from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries import lanes
from cadenza.deliveries.erased_hash import erased_hash
from cadenza.deliveries.model import COLUMNS, Delivery
from cadenza.deliveries.read_recipients import fold_recipient
from cadenza.deliveries.reasons import Code, Reason
from cadenza.deliveries.transition import WAITING, Changes, Move, move
from cadenza.sql.tx import Tx
from cadenza.sql.values import read_values

ERASED = Reason.of(Code.ERASED)
EMPTY = '{"text":""}'


def find_deliveries(tx: Tx, workspace_id: str, recipients: Sequence[str]) -> list[Delivery]:
    """Return everything that went or goes to these addresses, however they were written."""
    spellings = {each.strip() for each in recipients} | {fold_recipient(r) for r in recipients}
    rows = tx.all(
        f"""
        SELECT {COLUMNS} FROM delivery
        WHERE workspace_id = :workspace_id AND recipient IS NOT NULL AND (
            recipient IN (SELECT text FROM TABLE(:spellings) AS asked (text text))
            OR lower(recipient) IN (SELECT text FROM TABLE(:spellings) AS other (text text))
        )
        ORDER BY id
        """,  # noqa: S608 - put together from constants
        workspace_id=workspace_id,
        spellings=[(each,) for each in sorted(spellings)],
    )
    return read_values(Delivery, rows)


def erase_recipient(
    tx: Tx, now: datetime, *, workspace_id: str, recipients: Sequence[str], salt: str
) -> list[str] | None:
    """Erase addresses; return the deliveries' ids. None: a message is on its way in this moment."""
    found = find_deliveries(tx, workspace_id, recipients)
    if any(each.state is State.SENDING or each.leased_until is not None for each in found):
        return None
    move(tx, now, [_erased(each, salt) for each in found])
    lanes.refresh(tx, {each.lane_key for each in found if each.state in WAITING})
    ids = [each.id for each in found]
    about = {"workspace_id": workspace_id, "ids": [(each,) for each in ids]}
    tx.run(
        """
        UPDATE attempt SET message = NULL, remote_id = NULL, url = NULL
        WHERE workspace_id = :workspace_id
            AND delivery_id IN (SELECT id FROM TABLE(:ids) AS asked (id text))
        """,
        **about,
    )
    tx.run(
        """
        DELETE FROM exchange
        WHERE workspace_id = :workspace_id
            AND delivery_id IN (SELECT id FROM TABLE(:ids) AS asked (id text))
        """,
        **about,
    )
    _erase_counts(tx, workspace_id, recipients, salt)
    return ids


def _erased(delivery: Delivery, salt: str) -> Move:
    waits = delivery.state in WAITING
    changes = Changes(
        reason=ERASED if waits or delivery.reason else None,
        recipient=erased_hash(salt, delivery.recipient or ""),
        content=EMPTY,
        erased=True,
    )
    return Move(delivery, State.CANCELED if waits else delivery.state, changes)


def _erase_counts(tx: Tx, workspace_id: str, recipients: Sequence[str], salt: str) -> None:
    folded = sorted({fold_recipient(each) for each in recipients})
    names = sorted({*folded, *(each.removeprefix("@") for each in folded)})
    tx.run(
        """
        UPDATE activity SET recipient = new.hash
        FROM TABLE(:new) AS new (recipient text, hash text)
        WHERE activity.workspace_id = :workspace_id AND activity.recipient = new.recipient
        """,
        new=[(each, erased_hash(salt, each)) for each in names],
        workspace_id=workspace_id,
    )
    about = {"workspace_id": workspace_id, "ids": [(each,) for each in names]}
    tx.run(
        """
        DELETE FROM recipient_channel
        WHERE workspace_id = :workspace_id AND id IN (SELECT id FROM TABLE(:ids) AS asked (id text))
        """,
        **about,
    )
    tx.run(
        """
        DELETE FROM recipient_failure
        WHERE workspace_id = :workspace_id AND id IN (SELECT id FROM TABLE(:ids) AS asked (id text))
        """,
        **about,
    )
