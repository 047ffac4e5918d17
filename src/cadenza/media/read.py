"""Reading media: one, some by their ids in the order asked, or the library page by page.

Deleted files and uploads that did not end are not shown; a page goes on after the last row's place.
"""

from collections.abc import Sequence
from datetime import datetime

from cadenza.media.model import Media, NoSuchMedia, in_order, media_of
from cadenza.sql.tx import Tx

MOST = 200  # of one page


def read(tx: Tx, *, workspace_id: str, id: str) -> Media | NoSuchMedia:
    """Return one file that can be used."""
    found = read_all(tx, workspace_id=workspace_id, ids=[id])
    return found if isinstance(found, NoSuchMedia) else found[0]


def read_all(tx: Tx, *, workspace_id: str, ids: Sequence[str]) -> list[Media] | NoSuchMedia:
    """Return these files in the order asked, or say which of them are not there."""
    if not ids:
        return []
    places = {f"id_{place}": id_ for place, id_ in enumerate(dict.fromkeys(ids))}
    listed = ", ".join(f":{place}" for place in places)
    rows = tx.all(
        f"""
        SELECT * FROM media
        WHERE workspace_id = :workspace_id AND id IN ({listed})
            AND stored_at IS NOT NULL AND deleted_at IS NULL
        """,  # noqa: S608 - only the names of parameters are put in
        workspace_id=workspace_id,
        **places,
    )
    return in_order(ids, [media_of(row) for row in rows])


def browse(
    tx: Tx,
    *,
    workspace_id: str,
    limit: int = 50,
    before: tuple[datetime, str] | None = None,
    kind: str | None = None,
) -> list[Media]:
    """Return the library, newest first; `before` is (created_at, id) of the last row of the page before."""
    after = "AND (created_at, id) < (:before_at, :before_id)" if before else ""
    of_kind = "AND kind = :kind" if kind else ""
    params = {"before_at": before[0], "before_id": before[1]} if before else {}
    if kind:
        params["kind"] = kind
    rows = tx.all(
        f"""
        SELECT * FROM media
        WHERE workspace_id = :workspace_id AND stored_at IS NOT NULL AND deleted_at IS NULL
            {after} {of_kind}
        ORDER BY created_at DESC, id DESC LIMIT :limit
        """,  # noqa: S608 - only the fixed words above are put in
        workspace_id=workspace_id,
        limit=min(limit, MOST + 1),  # one more tells that there is more
        **params,
    )
    return [media_of(row) for row in rows]
