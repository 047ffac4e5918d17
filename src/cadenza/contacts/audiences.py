"""Audiences: lists of contacts and recipient channels in their order, and filters that are saved.

A list's size is kept beside it and changed with its members, so it is shown at once; a saved filter is counted when
it is asked, and evaluated when something starts. `walk_members` goes through either in chunks, in a fixed order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

from cadenza.contacts import fields, find
from cadenza.contacts.filters import Filter, compile_filter, decode_filter, encode_filter
from cadenza.contacts.model import Invalid
from cadenza.db.audit import record
from cadenza.sql.tx import Row, Tx

Kind: TypeAlias = Literal["list", "filter"]
Side: TypeAlias = Literal["only_here", "only_there", "both"]
CHUNK = 5_000


@dataclass(frozen=True, slots=True, order=True)
class Member:
    """A contact, or a recipient channel of a provider."""

    kind: Literal["contact", "channel"]
    id: str
    provider: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """A named set of recipients."""

    id: str
    name: str
    kind: Kind
    filter: Filter
    size: int
    revision: int
    created_at: datetime
    updated_at: datetime
    public_name: str | None = None  # as recipients see it; None: they don't


@dataclass(frozen=True, slots=True)
class NoSuchAudience:
    """The workspace has no such audience."""

    id: str


@dataclass(frozen=True, slots=True)
class NameTaken:
    """Another audience has this name."""

    name: str


@dataclass(frozen=True, slots=True)
class NotAList:
    """Members of a saved filter are those that it finds: change the filter."""


@dataclass(frozen=True, slots=True)
class MembersChanged:
    """What became of those who were named."""

    changed: int
    there_already: int
    unknown: tuple[Member, ...]
    size: int


@dataclass(frozen=True, slots=True)
class Difference:
    """How two audiences overlap."""

    only_here: int
    only_there: int
    both: int


def create_audience(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    name: str,
    by: str,
    conditions: Filter | None = None,
) -> Audience | NameTaken | Invalid:
    """Make a list, or save a filter."""
    wrong = _wrong(tx, workspace_id, conditions)
    if wrong is not None:
        return wrong
    if _named(tx, workspace_id, name) is not None:
        return NameTaken(name)
    id_ = tx.new_id()
    tx.run(
        """
        INSERT INTO audience (workspace_id, id, name, kind, filter, created_by, created_at, updated_at)
        VALUES (:workspace_id, :id, :name, :kind, :filter, :by, :now, :now)
        """,
        workspace_id=workspace_id,
        id=id_,
        name=name,
        kind="list" if conditions is None else "filter",
        filter=None if conditions is None else encode_filter(conditions),
        by=by,
        now=now,
    )
    record(tx, now, workspace_id=workspace_id, by=by, action="audience.create", subject_id=id_)
    made = find_audience(tx, workspace_id, id_)
    assert isinstance(made, Audience), "it was written right now"
    return made


def change_audience(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    audience_id: str,
    by: str,
    name: str | None = None,
    conditions: Filter | None = None,
    public_name: str | None = None,
) -> Audience | NoSuchAudience | NameTaken | Invalid:
    """Give an audience another name, a saved filter other conditions; a public name of '' hides it."""
    there = find_audience(tx, workspace_id, audience_id)
    if isinstance(there, NoSuchAudience):
        return there
    if conditions is not None and there.kind == "list":
        return Invalid("filter", "a_list", "a list has members, not conditions")
    if public_name and there.kind == "filter":
        return Invalid("public_name", "a_filter", "people can't leave a filter: show a list")
    wrong = _wrong(tx, workspace_id, conditions)
    if wrong is not None:
        return wrong
    if name is not None and _named(tx, workspace_id, name) not in (None, there.id):
        return NameTaken(name)
    tx.run(
        """
        UPDATE audience SET name = :name, filter = :filter, public_name = :public_name,
            revision = revision + 1, updated_at = :now
        WHERE workspace_id = :workspace_id AND id = :id
        """,
        name=name or there.name,
        public_name=there.public_name if public_name is None else public_name.strip() or None,
        filter=None
        if there.kind == "list"
        else encode_filter(there.filter if conditions is None else conditions),
        now=now,
        workspace_id=workspace_id,
        id=there.id,
    )
    record(tx, now, workspace_id=workspace_id, by=by, action="audience.change", subject_id=there.id)
    changed = find_audience(tx, workspace_id, there.id)
    assert isinstance(changed, Audience), "it was there right now"
    return changed


def delete_audience(
    tx: Tx, now: datetime, *, workspace_id: str, audience_id: str, by: str
) -> Audience | NoSuchAudience:
    """Delete an audience; its contacts and channels stay."""
    there = find_audience(tx, workspace_id, audience_id)
    if isinstance(there, NoSuchAudience):
        return there
    about = {"workspace_id": workspace_id, "id": there.id}
    tx.run(
        "DELETE FROM audience_member WHERE workspace_id = :workspace_id AND audience_id = :id",
        **about,
    )
    tx.run("DELETE FROM audience WHERE workspace_id = :workspace_id AND id = :id", **about)
    record(tx, now, workspace_id=workspace_id, by=by, action="audience.delete", subject_id=there.id)
    return there


def find_audience(tx: Tx, workspace_id: str, audience_id: str) -> Audience | NoSuchAudience:
    """Return one audience; the size of a saved filter is counted."""
    row = tx.one(
        "SELECT * FROM audience WHERE workspace_id = :workspace_id AND id = :id",
        workspace_id=workspace_id,
        id=audience_id,
    )
    return NoSuchAudience(audience_id) if row is None else _audience(tx, row)


def list_audiences(tx: Tx, *, workspace_id: str) -> list[Audience]:
    """Return the workspace's audiences by name."""
    rows = tx.all(
        "SELECT * FROM audience WHERE workspace_id = :workspace_id ORDER BY name, id LIMIT 500",
        workspace_id=workspace_id,
    )
    return [_audience(tx, row) for row in rows]


def add_members(
    tx: Tx, now: datetime, *, workspace_id: str, audience_id: str, members: Sequence[Member]
) -> MembersChanged | NoSuchAudience | NotAList:
    """Put up to 5,000 recipients at the end of a list, in this order; who is there keeps the place."""
    there = _list(tx, workspace_id, audience_id)
    if not isinstance(there, dict):
        return there
    requested = list(dict.fromkeys(members))
    known = _known(tx, workspace_id, requested)
    inside = inside_of(tx, workspace_id, audience_id, requested)
    new = [each for each in requested if each in known and each not in inside]
    first: int = there["next_position"]
    if new:
        tx.run(
            """
            INSERT INTO audience_member (workspace_id, audience_id, kind, provider, member_id, position, added_at)
            SELECT :workspace_id, :audience_id, kind, provider, member_id, position, :now
            FROM TABLE(:new) AS new (kind text, provider text, member_id text, position bigint)
            """,
            workspace_id=workspace_id,
            audience_id=audience_id,
            now=now,
            new=[(each.kind, each.provider, each.id, first + n) for n, each in enumerate(new)],
        )
        _resize(tx, now, workspace_id, audience_id, len(new), next_position=first + len(new))
    unknown = tuple(each for each in requested if each not in known)
    return MembersChanged(len(new), len(inside), unknown, there["size"] + len(new))


def remove_members(
    tx: Tx, now: datetime, *, workspace_id: str, audience_id: str, members: Sequence[Member]
) -> MembersChanged | NoSuchAudience | NotAList:
    """Take recipients off a list."""
    there = _list(tx, workspace_id, audience_id)
    if not isinstance(there, dict):
        return there
    inside = inside_of(tx, workspace_id, audience_id, list(dict.fromkeys(members)))
    tx.run(
        """
        DELETE FROM audience_member WHERE workspace_id = :workspace_id AND audience_id = :audience_id
            AND (kind, provider, member_id) IN (
                SELECT kind, provider, member_id
                FROM TABLE(:gone) AS gone (kind text, provider text, member_id text)
            )
        """,
        workspace_id=workspace_id,
        audience_id=audience_id,
        gone=[(each.kind, each.provider, each.id) for each in sorted(inside)],
    )
    if inside:
        _resize(tx, now, workspace_id, audience_id, -len(inside))
    unknown = tuple(each for each in dict.fromkeys(members) if each not in inside)
    return MembersChanged(len(inside), 0, unknown, there["size"] - len(inside))


def leave_all(tx: Tx, workspace_id: str, contact_ids: Sequence[str]) -> None:
    """Take contacts off every list, because they go."""
    _leave(tx, workspace_id, [Member("contact", id_) for id_ in contact_ids])


def leave_all_channels(tx: Tx, workspace_id: str, keys: Sequence[tuple[str, str]]) -> None:
    """Take recipient channels off every list, because they go."""
    _leave(tx, workspace_id, [Member("channel", id_, provider) for provider, id_ in keys])


def _leave(tx: Tx, workspace_id: str, members: Sequence[Member]) -> None:
    rows = tx.all(
        """
        DELETE FROM audience_member WHERE workspace_id = :workspace_id
            AND (kind, provider, member_id) IN (
                SELECT kind, provider, member_id
                FROM TABLE(:gone) AS gone (kind text, provider text, member_id text)
            )
        RETURNING audience_id
        """,
        workspace_id=workspace_id,
        gone=[(each.kind, each.provider, each.id) for each in members],
    )
    left: dict[str, int] = {}
    for row in rows:
        left[row["audience_id"]] = left.get(row["audience_id"], 0) + 1
    tx.run(
        """
        UPDATE audience SET size = size - asked.gone
        FROM TABLE(:left) AS asked (id text, gone bigint)
        WHERE audience.workspace_id = :workspace_id AND audience.id = asked.id
        """,
        workspace_id=workspace_id,
        left=sorted(left.items()),
    )


def hand_over(
    tx: Tx, now: datetime, *, workspace_id: str, others: Sequence[str], kept: str
) -> None:
    """Let the kept contact of a merge stand in the lists of the others."""
    rows = tx.all(
        """
        SELECT DISTINCT m.audience_id FROM TABLE(:requested) AS asked (id text)
        JOIN audience_member m ON m.workspace_id = :workspace_id AND m.kind = 'contact'
            AND m.provider = '' AND m.member_id = asked.id
        """,
        workspace_id=workspace_id,
        requested=[(id_,) for id_ in others],
    )
    leave_all(tx, workspace_id, others)
    for row in rows:
        add_members(
            tx,
            now,
            workspace_id=workspace_id,
            audience_id=row["audience_id"],
            members=[Member("contact", kept)],
        )


def walk_members(
    tx: Tx, *, workspace_id: str, audience_id: str, after: str = "", limit: int = CHUNK
) -> tuple[list[Member], str | None] | NoSuchAudience | Invalid:
    """Return the next members in order, and what to go on after; None at the end."""
    there = tx.one(
        "SELECT * FROM audience WHERE workspace_id = :workspace_id AND id = :id",
        workspace_id=workspace_id,
        id=audience_id,
    )
    if there is None:
        return NoSuchAudience(audience_id)
    if there["kind"] == "filter":
        conditions = decode_filter(there["filter"])
        ids = find.walk_ids(
            tx, workspace_id=workspace_id, conditions=conditions, after=after, limit=limit
        )
        if isinstance(ids, Invalid):
            return ids
        return [Member("contact", id_) for id_ in ids], ids[-1] if len(ids) == limit else None
    rows = tx.all(
        """
        SELECT kind, provider, member_id, position FROM audience_member
        WHERE workspace_id = :workspace_id AND audience_id = :audience_id AND position > :after
        ORDER BY position LIMIT :limit
        """,
        workspace_id=workspace_id,
        audience_id=audience_id,
        after=int(after) if after.isdecimal() else -1,
        limit=limit,
    )
    members = [Member(row["kind"], row["member_id"], row["provider"]) for row in rows]
    return members, str(rows[-1]["position"]) if len(rows) == limit else None


def compare_audiences(
    tx: Tx, *, workspace_id: str, here_id: str, there_id: str
) -> Difference | NoSuchAudience | Invalid:
    """Count who is only in the one, only in the other, and in both."""
    sources = _sources(tx, workspace_id, here_id, there_id)
    if not isinstance(sources, tuple):
        return sources
    here, there, params = sources
    row = tx.one(
        f"""
        SELECT (SELECT count(*) FROM ({here}) AS h) AS here, (SELECT count(*) FROM ({there}) AS t) AS there,
            (SELECT count(*) FROM ({here} INTERSECT {there}) AS b) AS both_sides
        """,  # noqa: S608 - compiled
        **params,
    )
    assert row is not None, "counts are always one row"
    both = row["both_sides"]
    return Difference(row["here"] - both, row["there"] - both, both)


def list_difference(
    tx: Tx,
    *,
    workspace_id: str,
    here_id: str,
    there_id: str,
    side: Side,
    after: Member | None = None,
    limit: int = 50,
) -> list[Member] | NoSuchAudience | Invalid:
    """Return who is on one side, in order of kind and id, behind `after`."""
    sources = _sources(tx, workspace_id, here_id, there_id)
    if not isinstance(sources, tuple):
        return sources
    here, there, params = sources
    first, word, second = {
        "only_here": (here, "EXCEPT", there),
        "only_there": (there, "EXCEPT", here),
        "both": (here, "INTERSECT", there),
    }[side]
    behind = "" if after is None else "WHERE (kind, provider, id) > (:kind, :provider, :id)"
    rows = tx.all(
        f"""
        SELECT kind, provider, id FROM ({first} {word} {second}) AS d {behind}
        ORDER BY kind, provider, id LIMIT :limit
        """,  # noqa: S608 - compiled
        limit=limit,
        **params,
        **(
            {}
            if after is None
            else {"kind": after.kind, "provider": after.provider, "id": after.id}
        ),
    )
    return [Member(row["kind"], row["id"], row["provider"]) for row in rows]


def _sources(
    tx: Tx, workspace_id: str, here_id: str, there_id: str
) -> tuple[str, str, dict[str, Any]] | NoSuchAudience | Invalid:
    params: dict[str, Any] = {"workspace_id": workspace_id}
    found: list[str] = []
    known = fields.list_fields(tx, workspace_id)
    for number, id_ in enumerate((here_id, there_id)):
        row = tx.one(
            "SELECT * FROM audience WHERE workspace_id = :workspace_id AND id = :id",
            workspace_id=workspace_id,
            id=id_,
        )
        if row is None:
            return NoSuchAudience(id_)
        if row["kind"] == "list":
            params[f"audience_{number}"] = id_
            found.append(
                "SELECT kind, provider, member_id AS id FROM audience_member WHERE"  # noqa: S608 - a number of ours
                f" workspace_id = :workspace_id AND audience_id = :audience_{number}"
            )
            continue
        clauses = compile_filter(decode_filter(row["filter"]), known)
        if isinstance(clauses, Invalid):
            return clauses
        named = [clause.renamed(f"s{number}_") for clause in clauses]
        for clause in named:
            params |= clause.params
        found.append(
            f"SELECT 'contact' AS kind, '' AS provider, id FROM ({find.matching(named)}) AS f{number}"  # noqa: S608 - compiled
        )
    return found[0], found[1], params


def _list(tx: Tx, workspace_id: str, audience_id: str) -> Row | NoSuchAudience | NotAList:
    row = tx.one(
        "SELECT * FROM audience WHERE workspace_id = :workspace_id AND id = :id",
        workspace_id=workspace_id,
        id=audience_id,
    )
    if row is None:
        return NoSuchAudience(audience_id)
    return row if row["kind"] == "list" else NotAList()


def _known(tx: Tx, workspace_id: str, members: Sequence[Member]) -> set[Member]:
    """Return those who are there at all."""
    contacts = tx.all(
        """
        SELECT c.id FROM TABLE(:requested) AS asked (id text)
        JOIN contact c ON c.workspace_id = :workspace_id AND c.id = asked.id
        """,
        requested=[(each.id,) for each in members if each.kind == "contact"],
        workspace_id=workspace_id,
    )
    channels = tx.all(
        """
        SELECT r.provider, r.id FROM TABLE(:requested) AS asked (provider text, id text)
        JOIN recipient_channel r ON r.workspace_id = :workspace_id
            AND r.provider = asked.provider AND r.id = asked.id
        """,
        requested=[(each.provider, each.id) for each in members if each.kind == "channel"],
        workspace_id=workspace_id,
    )
    found = {Member("contact", row["id"]) for row in contacts}
    return found | {Member("channel", row["id"], row["provider"]) for row in channels}


def inside_of(
    tx: Tx, workspace_id: str, audience_id: str, members: Sequence[Member]
) -> set[Member]:
    """Return those of these who are on the list."""
    rows = tx.all(
        """
        SELECT m.kind, m.provider, m.member_id
        FROM TABLE(:requested) AS asked (kind text, provider text, member_id text)
        JOIN audience_member m ON m.workspace_id = :workspace_id AND m.audience_id = :audience_id
            AND m.kind = asked.kind AND m.provider = asked.provider AND m.member_id = asked.member_id
        """,
        requested=[(each.kind, each.provider, each.id) for each in members],
        workspace_id=workspace_id,
        audience_id=audience_id,
    )
    return {Member(row["kind"], row["member_id"], row["provider"]) for row in rows}


def _resize(
    tx: Tx,
    now: datetime,
    workspace_id: str,
    audience_id: str,
    more: int,
    *,
    next_position: int | None = None,
) -> None:
    tx.run(
        """
        UPDATE audience SET size = size + :more, updated_at = :now, revision = revision + 1,
            next_position = coalesce(:next_position, next_position)
        WHERE workspace_id = :workspace_id AND id = :id
        """,
        more=more,
        now=now,
        next_position=next_position,
        workspace_id=workspace_id,
        id=audience_id,
    )


def _named(tx: Tx, workspace_id: str, name: str) -> str | None:
    return tx.value(
        "SELECT id FROM audience WHERE workspace_id = :workspace_id AND name = :name",
        workspace_id=workspace_id,
        name=name,
    )


def _wrong(tx: Tx, workspace_id: str, conditions: Filter | None) -> Invalid | None:
    if conditions is None:
        return None
    compiled = compile_filter(conditions, fields.list_fields(tx, workspace_id))
    return compiled if isinstance(compiled, Invalid) else None


def _audience(tx: Tx, row: Row) -> Audience:
    conditions = () if row["filter"] is None else decode_filter(row["filter"])
    size = row["size"]
    if row["kind"] == "filter":
        counted = find.count_contacts(tx, workspace_id=row["workspace_id"], conditions=conditions)
        size = 0 if isinstance(counted, Invalid) else counted
    return Audience(
        id=row["id"],
        name=row["name"],
        kind=row["kind"],
        filter=conditions,
        size=size,
        revision=row["revision"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        public_name=row["public_name"],
    )
