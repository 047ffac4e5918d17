"""Changes what people wrote about a file: its description for those who cannot see it, and its name.

Posts that described it in their own words keep them; what is in the pipeline keeps what it was composed with.
"""

from datetime import datetime

from cadenza.db.audit import record
from cadenza.media.model import Media, NoSuchMedia, no_such
from cadenza.media.name import safe_name
from cadenza.media.read import read
from cadenza.sql.tx import Tx


def describe(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    id: str,
    by: str,
    alt: str | None = None,
    name: str | None = None,
) -> Media | NoSuchMedia:
    """Write a new description or name; None leaves it as it is."""
    known = read(tx, workspace_id=workspace_id, id=id)
    if isinstance(known, NoSuchMedia):
        return known
    changes = {
        "alt": known.alt if alt is None else alt.strip(),
        "name": known.name if name is None else safe_name(name, known.file.rpartition(".")[2]),
    }
    before = {"alt": known.alt, "name": known.name}
    if changes == before:
        return known
    written = tx.run(
        """
        UPDATE media SET alt = :alt, name = :name
        WHERE workspace_id = :workspace_id AND id = :id AND deleted_at IS NULL
        """,
        workspace_id=workspace_id,
        id=id,
        **changes,
    )
    if not written:  # deleted in this very moment
        return no_such([id])
    changed = [field for field in changes if changes[field] != before[field]]
    record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="media.describe",
        subject_id=id,
        after={"changed": changed},
    )
    after = read(tx, workspace_id=workspace_id, id=id)
    assert isinstance(after, Media), "it was written above"
    return after
