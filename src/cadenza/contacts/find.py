"""Finds contacts: pages of a filtered list, its size, and all of it in chunks, fast at a million.

No statistics are trusted. A condition that few people meet is asked for all of them (at most `FEW`); otherwise one
that has an index in order of id leads, or the contacts themselves do, and the other conditions judge each person
along the way, in windows that grow. So a page costs a bounded amount of work. Limit: where every condition is common
and all together are rare, a page may come back with fewer people than it could hold, and with a cursor to go on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cadenza.contacts import fields, store
from cadenza.contacts.filters import Clause, Condition, Filter, compile_filter
from cadenza.contacts.model import Contact, Invalid, NoSuchContact
from cadenza.sql.tx import Row, Tx

FEW = 2_000
WINDOWS = (200, 2_000, 20_000)
FIRST = "zzzz"  # above every id: lists begin with the newest


@dataclass(frozen=True, slots=True)
class Found:
    """Some of a list; `next` is the id to go on after, None at the end."""

    contacts: tuple[Contact, ...]
    next: str | None


def find_contact(tx: Tx, workspace_id: str, contact_id: str) -> Contact | NoSuchContact:
    """Return one person; an id that was merged into another leads there."""
    found = store.load(tx, workspace_id, [contact_id])
    if not found:
        merged = tx.value(
            """
            SELECT contact_id FROM contact_merge
            WHERE workspace_id = :workspace_id AND merged_id = :id
            """,
            workspace_id=workspace_id,
            id=contact_id,
        )
        if merged is not None:
            found = store.load(tx, workspace_id, [merged])
    return next(iter(found.values()), NoSuchContact(contact_id))


def list_contacts(
    tx: Tx, *, workspace_id: str, conditions: Filter = (), after: str | None = None, limit: int = 50
) -> Found | Invalid:
    """Return the newest people that the conditions hold for, behind `after`."""
    clauses = compile_filter(conditions, fields.list_fields(tx, workspace_id))
    if isinstance(clauses, Invalid):
        return clauses
    rows, then = _page(tx, workspace_id, clauses, after or FIRST, limit)
    return Found(tuple(store.complete(tx, workspace_id, rows)), then)


def count_contacts(tx: Tx, *, workspace_id: str, conditions: Filter = ()) -> int | Invalid:
    """Count the people that the conditions hold for."""
    clauses = compile_filter(conditions, fields.list_fields(tx, workspace_id))
    if isinstance(clauses, Invalid):
        return clauses
    params = _params(workspace_id, clauses)
    leading = _rare(tx, clauses, params)
    if leading is not None:
        return len(_judge(tx, workspace_id, clauses, leading, params))
    if len(clauses) == 1 and clauses[0].ordered and clauses[0].after == "contact_id":
        sql = f"SELECT count(*) FROM (SELECT DISTINCT id FROM ({clauses[0].ids}) AS i) AS n"  # noqa: S608 - compiled
        return tx.value(sql, **params)
    return tx.value(f"SELECT count(*) FROM ({matching(clauses)}) AS n", **params)  # noqa: S608 - compiled


def matching(clauses: Sequence[Clause]) -> str:
    """Write the SELECT of the ids of everybody that the clauses hold for."""
    tests = "".join(f" AND {each.probe}" for each in clauses)
    return f"SELECT c.id FROM contact c WHERE c.workspace_id = :workspace_id{tests}"  # noqa: S608 - compiled


def walk_ids(
    tx: Tx, *, workspace_id: str, conditions: Filter, after: str, limit: int
) -> list[str] | Invalid:
    """Return the next ids in rising order, for what goes through all of them in chunks."""
    clauses = compile_filter(conditions, fields.list_fields(tx, workspace_id))
    if isinstance(clauses, Invalid):
        return clauses
    rows = tx.all(
        f"{matching(clauses)} AND c.id > :after ORDER BY c.id LIMIT :most",
        **_params(workspace_id, clauses),
        after=after,
        most=limit,
    )
    return [row["id"] for row in rows]


def is_search(text: str) -> tuple[Condition, ...]:
    """Return the condition of a search box; none where it is empty."""
    return (Condition("search", "is", text),) if text.strip() else ()


def _params(workspace_id: str, clauses: Sequence[Clause]) -> dict[str, Any]:
    params: dict[str, Any] = {"workspace_id": workspace_id}
    for each in clauses:
        params |= each.params
    return params


def _rare(tx: Tx, clauses: Sequence[Clause], params: dict[str, Any]) -> list[str] | None:
    """Return the ids of the rarest condition, if few meet it."""
    best: list[str] | None = None
    most = FEW
    for each in clauses:
        if each.ids is None:
            continue
        names = {**each.params, "workspace_id": params["workspace_id"], "most": most + 1}
        sql = f"SELECT id FROM ({each.ids}) AS i LIMIT :most"  # noqa: S608 - compiled
        found = [row["id"] for row in tx.all(sql, **names)]
        if len(found) <= most:
            best, most = sorted(set(found), reverse=True), len(found)
    return best


def _judge(
    tx: Tx, workspace_id: str, clauses: Sequence[Clause], ids: Sequence[str], params: dict[str, Any]
) -> list[Row]:
    """Return those of these people that every condition holds for, newest first."""
    tests = "".join(f" AND {each.probe}" for each in clauses)
    rows = tx.all(
        f"""
        SELECT c.* FROM TABLE(:requested) AS asked (id text)
        JOIN contact c ON c.workspace_id = :workspace_id AND c.id = asked.id
        WHERE c.workspace_id = :workspace_id{tests}
        """,  # noqa: S608 - compiled
        **params,
        requested=[(id_,) for id_ in ids],
    )
    return sorted(rows, key=lambda row: row["id"], reverse=True)


def _page(
    tx: Tx, workspace_id: str, clauses: Sequence[Clause], after: str, limit: int
) -> tuple[list[Row], str | None]:
    params = _params(workspace_id, clauses)
    rare = _rare(tx, clauses, params)
    if rare is not None:
        behind = [id_ for id_ in rare if id_ < after]
        rows: list[Row] = []
        size = 2 * limit
        for start in range(0, len(behind), size):
            rows += _judge(tx, workspace_id, clauses, behind[start : start + size], params)
            if len(rows) > limit:
                return rows[:limit], rows[limit - 1]["id"]
        return rows, None
    lead = next((each for each in clauses if each.ordered), _ALL)
    others = [each for each in clauses if each is not lead]
    found: list[Row] = []
    judged = 0
    for window in WINDOWS:
        size = max(limit + 1, window)
        if (
            found and window != WINDOWS[-1]
        ):  # as many as will do, if people are spread as they were so far
            size = min(size, 2 * (limit + 1 - len(found)) * judged // len(found) + 1)
        ids = _window(tx, lead, after, size, params)
        if ids:
            found += _judge(tx, workspace_id, others, list(dict.fromkeys(ids)), params)
            judged += len(ids)
        if len(found) > limit:
            return found[:limit], found[limit - 1]["id"]
        if len(ids) < size:
            return found, None
        after = ids[-1]
    return found, after


_ALL = Clause("", {}, "SELECT id FROM contact WHERE workspace_id = :workspace_id", ordered=True)


def _window(tx: Tx, lead: Clause, after: str, size: int, params: dict[str, Any]) -> list[str]:
    """Return the next people that the leading condition holds for, newest first."""
    rows = tx.all(
        f"{lead.ids} AND {lead.after} < :after ORDER BY {lead.after} DESC LIMIT :size",
        **lead.params,
        workspace_id=params["workspace_id"],
        after=after,
        size=size,
    )
    return [row["id"] for row in rows]
