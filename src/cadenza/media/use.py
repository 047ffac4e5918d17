"""Which posts show a file, and who else wants it kept: written by the packages above, in their transaction.

`use` says the whole truth for a post each time: what is not named any more is let go. A file that is
used or kept is never cleaned up. The files' rows are held to the end of the transaction, and a delete
holds its row too: of a use and a delete at once, the second sees the first, with no lock to declare.
"""

from collections.abc import Mapping, Sequence

from cadenza.media.model import Media, NoSuchMedia, in_order, media_of
from cadenza.sql.tx import Tx


def use(
    tx: Tx, workspace_id: str, post_id: str, media_ids: Sequence[str]
) -> list[Media] | NoSuchMedia:
    """Write that the post shows exactly these; return them in order, or refuse and change nothing."""
    found = _take(tx, workspace_id, media_ids)
    if isinstance(found, NoSuchMedia):
        return found
    _replace(tx, "media_use", "post_id", workspace_id, post_id, media_ids)
    return found


def keep(
    tx: Tx, workspace_id: str, keeper: str, media_ids: Sequence[str]
) -> list[Media] | NoSuchMedia:
    """Write that `keeper` (such as `asset:<id>`) wants exactly these kept; an empty list lets go."""
    found = _take(tx, workspace_id, media_ids)
    if isinstance(found, NoSuchMedia):
        return found
    _replace(tx, "media_keep", "keeper", workspace_id, keeper, media_ids)
    return found


def _take(tx: Tx, workspace_id: str, ids: Sequence[str]) -> list[Media] | NoSuchMedia:
    """Read the files and hold their rows: they are not idle now, and nobody deletes them meanwhile."""
    if not ids:
        return []
    places = {f"id_{place}": id_ for place, id_ in enumerate(dict.fromkeys(ids))}
    listed = ", ".join(f":{place}" for place in places)
    rows = tx.all(
        f"""
        UPDATE media SET idle_at = NULL
        WHERE workspace_id = :workspace_id AND id IN ({listed})
            AND stored_at IS NOT NULL AND deleted_at IS NULL
        RETURNING *
        """,  # noqa: S608 - only the names of parameters are put in
        workspace_id=workspace_id,
        **places,
    )
    return in_order(ids, [media_of(row) for row in rows])


def _replace(
    tx: Tx, table: str, column: str, workspace_id: str, user: str, media_ids: Sequence[str]
) -> None:
    places: Mapping[str, str] = {
        f"id_{place}": id_ for place, id_ in enumerate(dict.fromkeys(media_ids))
    }
    listed = ", ".join(f":{place}" for place in places)
    others = f"AND media_id NOT IN ({listed})" if places else ""
    tx.run(
        f"DELETE FROM {table} WHERE workspace_id = :workspace_id AND {column} = :used_by {others}",  # noqa: S608 - fixed names
        workspace_id=workspace_id,
        used_by=user,
        **places,
    )
    if not places:
        return
    values = ", ".join(f"(:workspace_id, :{place}, :used_by)" for place in places)
    tx.run(
        f"""
        INSERT INTO {table} (workspace_id, media_id, {column}) VALUES {values}
        ON CONFLICT DO NOTHING
        """,  # noqa: S608 - fixed names
        workspace_id=workspace_id,
        used_by=user,
        **places,
    )
