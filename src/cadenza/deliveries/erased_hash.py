"""The hash that stands for an erased person's address, so that they are still not written to.

Salted with a secret of the workspace: without the database nobody can try addresses against it.
"""

from collections.abc import Iterable
from hashlib import sha256

from cadenza.sql.tx import Tx

MARK = "erased:"


def erased_hash(salt: str, recipient: str) -> str:
    """Return what stands for an address, a chat or a profile."""
    folded = recipient.strip().casefold().removeprefix("@")
    digest = sha256(f"{salt} {folded}".encode()).hexdigest()
    return f"{MARK}{digest[:40]}"


def read_salts(tx: Tx, workspaces: Iterable[str]) -> dict[str, str]:
    """Return the salts of those workspaces that erased somebody."""
    rows = tx.all(
        """
        SELECT erasure_salt.workspace_id, salt FROM TABLE(:requested) AS asked (workspace_id text)
        JOIN erasure_salt ON erasure_salt.workspace_id = asked.workspace_id
        """,
        requested=[(each,) for each in sorted(set(workspaces))],
    )
    return {row["workspace_id"]: row["salt"] for row in rows}
