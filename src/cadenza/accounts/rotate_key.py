"""Seals every account's credentials with the newest key, in batches, so that an old key can be dropped.

Conditional on the sealed text that was read: a refresh that wrote meanwhile wins, and it sealed with the
newest key anyway. Run `rotate_batch` until it answers 0; then no row needs the older keys.
"""

from datetime import datetime

from cadenza.accounts.open import row_name
from cadenza.accounts.seal import Keyring
from cadenza.sql.operate import Operations
from cadenza.sql.tx import Tx

BATCH = 200


def rotate_batch(tx: Tx, now: datetime, *, ring: Keyring, limit: int = BATCH) -> int:
    """Seal up to `limit` accounts anew; return how many were."""
    newest = next(iter(ring.keys))
    rows = tx.all(
        """
        SELECT workspace_id, id, sealed FROM account
        WHERE sealed IS NOT NULL AND substr(sealed, 1, :length) <> :prefix
        ORDER BY workspace_id, id LIMIT :limit
        """,
        length=len(newest) + 1,
        prefix=f"{newest}.",
        limit=limit,
    )
    return tx.run_each(
        """
        UPDATE account SET sealed = :sealed
        WHERE workspace_id = :workspace_id AND id = :id AND sealed = :before
        """,
        [
            {
                "sealed": ring.seal(
                    ring.open(
                        row["sealed"], row=(name := row_name(row["workspace_id"], row["id"]))
                    ),
                    row=name,
                ),
                "before": row["sealed"],
                "workspace_id": row["workspace_id"],
                "id": row["id"],
            }
            for row in rows
        ],
    )


async def rotate_all(operations: Operations, ring: Keyring) -> int:
    """Seal every account anew, a batch a transaction; return how many were."""
    total = 0
    while done := await operations.run(lambda tx, now: rotate_batch(tx, now, ring=ring)):
        total += done
    return total
