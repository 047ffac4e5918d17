"""Saves, finds, lists and deletes templates: each save is a new version, and a version is only ever added.

Saving the same content again adds none. A deleted template is gone from lists and its name is free; its versions
stay, and so do their files, for what was planned with them.
"""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from cadenza.db.audit import record
from cadenza.media.model import Media, NoSuchMedia
from cadenza.media.use import keep
from cadenza.sql.tx import Row, Tx
from cadenza.templates.compile import CompiledContent, compile_content
from cadenza.templates.language import TemplateFault
from cadenza.templates.model import (
    CHANNELS,
    NameTaken,
    NoSuchTemplate,
    Template,
    TemplateChanged,
    TemplateContent,
    TemplateVersion,
    UnreadableTemplate,
    version_of,
)

MOST_MEDIA = 10
_JOINED = """
    SELECT template_version.*, template.name, template.created_at, template.updated_at
    FROM template JOIN template_version
        ON template_version.workspace_id = template.workspace_id
        AND template_version.template_id = template.id AND template_version.number = template.newest
    WHERE template.workspace_id = :workspace_id AND template.deleted_at IS NULL
"""


def create_template(
    tx: Tx, now: datetime, content: TemplateContent, *, workspace_id: str, name: str, by: str
) -> Template | NameTaken | UnreadableTemplate | NoSuchMedia:
    """Make a template with its first version; run it under `template_locks`."""
    if _is_taken(tx, workspace_id, name):
        return NameTaken(name)
    id_, version_id = tx.new_id(), tx.new_id()
    made = _compile(tx, content, workspace_id, version_id)
    if not isinstance(made, CompiledContent):
        return made
    tx.run(
        """
        INSERT INTO template (workspace_id, id, name, newest, created_at, updated_at)
        VALUES (:workspace_id, :id, :name, 1, :now, :now)
        """,
        workspace_id=workspace_id,
        id=id_,
        name=name,
        now=now,
    )
    _insert(tx, now, content, made, (workspace_id, id_, version_id), number=1, by=by)
    record(
        tx, now, workspace_id=workspace_id, by=by, action="template.create", subject_id=id_,
        after={"name": name, "version": 1},
    )  # fmt: skip
    return _read(tx, workspace_id, id_)


def save_template(
    tx: Tx,
    now: datetime,
    content: TemplateContent,
    *,
    workspace_id: str,
    id: str,
    by: str,
    name: str | None = None,
    version: int | None = None,
) -> Template | NoSuchTemplate | NameTaken | TemplateChanged | UnreadableTemplate | NoSuchMedia:
    """Save a new version, and a new name if one is given; `version` is the one that its author saw."""
    old = find_template(tx, workspace_id, id)
    if isinstance(old, NoSuchTemplate):
        return old
    if version is not None and version != old.version.number:
        return TemplateChanged(old.version.number)
    wanted = old.name if name is None else name
    if wanted != old.name and _is_taken(tx, workspace_id, wanted):
        return NameTaken(wanted)
    number = old.version.number
    if content != old.version.content:
        version_id = tx.new_id()
        made = _compile(tx, content, workspace_id, version_id)
        if not isinstance(made, CompiledContent):
            return made
        number += 1
        _insert(tx, now, content, made, (workspace_id, id, version_id), number=number, by=by)
    elif wanted == old.name:
        return old
    tx.run(
        """
        UPDATE template SET name = :name, newest = :number, updated_at = :now
        WHERE workspace_id = :workspace_id AND id = :id
        """,
        workspace_id=workspace_id,
        id=id,
        name=wanted,
        number=number,
        now=now,
    )
    record(
        tx, now, workspace_id=workspace_id, by=by, action="template.edit", subject_id=id,
        before={"name": old.name, "version": old.version.number},
        after={"name": wanted, "version": number},
    )  # fmt: skip
    return _read(tx, workspace_id, id)


def delete_template(
    tx: Tx, now: datetime, *, workspace_id: str, id: str, by: str
) -> Template | NoSuchTemplate:
    """Delete a template; what was planned with its versions is still sent."""
    old = find_template(tx, workspace_id, id)
    if isinstance(old, NoSuchTemplate):
        return old
    tx.run(
        "UPDATE template SET deleted_at = :now WHERE workspace_id = :workspace_id AND id = :id",
        workspace_id=workspace_id,
        id=id,
        now=now,
    )
    record(
        tx, now, workspace_id=workspace_id, by=by, action="template.delete", subject_id=id,
        before={"name": old.name, "version": old.version.number},
    )  # fmt: skip
    return old


def find_template(tx: Tx, workspace_id: str, id: str) -> Template | NoSuchTemplate:
    """Return a template with its newest version."""
    row = tx.one(f"{_JOINED} AND template.id = :id", workspace_id=workspace_id, id=id)
    return NoSuchTemplate() if row is None else _template(row)


def list_templates(
    tx: Tx, *, workspace_id: str, limit: int, before: tuple[datetime, str] | None = None
) -> list[Template]:
    """Return templates, those saved last first."""
    older = "" if before is None else "AND (template.updated_at, template.id) < (:at, :last)"
    at, last = before or (None, None)
    rows = tx.all(
        f"{_JOINED} {older} ORDER BY template.updated_at DESC, template.id DESC LIMIT :limit",
        workspace_id=workspace_id,
        limit=limit,
        **({} if before is None else {"at": at, "last": last}),
    )
    return [_template(row) for row in rows]


def find_version(
    tx: Tx, workspace_id: str, id: str, number: int | None = None
) -> TemplateVersion | NoSuchTemplate:
    """Return a version of a template by its number, the newest without one; also of a deleted template."""
    row = tx.one(
        """
        SELECT template_version.* FROM template JOIN template_version
            ON template_version.workspace_id = template.workspace_id
            AND template_version.template_id = template.id
        WHERE template.workspace_id = :workspace_id AND template.id = :id
            AND template_version.number = COALESCE(:number, template.newest)
        """,
        workspace_id=workspace_id,
        id=id,
        number=number,
    )
    return (
        NoSuchTemplate("there is no such version of that template")
        if row is None
        else version_of(row)
    )


def load_versions(tx: Tx, workspace_id: str, ids: Sequence[str]) -> dict[str, TemplateVersion]:
    """Return frozen versions by their own ids, for planners that keep them as references."""
    rows = tx.all(
        """
        SELECT template_version.* FROM TABLE(:ids) AS asked (id text)
        JOIN template_version ON template_version.workspace_id = :workspace_id
            AND template_version.id = asked.id
        """,
        workspace_id=workspace_id,
        ids=[(id_,) for id_ in sorted(set(ids))],
    )
    return {row["id"]: version_of(row) for row in rows}


def list_versions(tx: Tx, workspace_id: str, id: str, *, limit: int = 200) -> list[TemplateVersion]:
    """Return the versions of a template, the newest first."""
    rows = tx.all(
        """
        SELECT * FROM template_version WHERE workspace_id = :workspace_id AND template_id = :id
        ORDER BY number DESC LIMIT :limit
        """,
        workspace_id=workspace_id,
        id=id,
        limit=limit,
    )
    return [version_of(row) for row in rows]


def why_unreadable(content: TemplateContent) -> UnreadableTemplate | None:
    """Say what of the content can never be saved, before anything is compiled."""
    unknown = [each for each in content.variants if each not in CHANNELS]
    if unknown:
        known = ", ".join(each.value for each in CHANNELS)
        return UnreadableTemplate("variants", f"templates go to {known}, not to {unknown[0].value}")
    if len(content.media_ids) > MOST_MEDIA:
        return UnreadableTemplate("media", f"a template has at most {MOST_MEDIA} files")
    return None


def compile_unsaved(
    content: TemplateContent, media: Sequence[Media] = ()
) -> CompiledContent | UnreadableTemplate:
    """Compile content at hand, or say where it cannot be read."""
    if (wrong := why_unreadable(content)) is not None:
        return wrong
    try:
        return compile_content(content, {each.id: each.as_content() for each in media})
    except TemplateFault as fault:
        return UnreadableTemplate(fault.field or "body", fault.message, fault.line, fault.column)


def _compile(
    tx: Tx, content: TemplateContent, workspace_id: str, version_id: str
) -> CompiledContent | UnreadableTemplate | NoSuchMedia:
    if (wrong := why_unreadable(content)) is not None:
        return wrong
    media = keep(tx, workspace_id, f"template:{version_id}", content.media_ids)
    return media if isinstance(media, NoSuchMedia) else compile_unsaved(content, media)


def _insert(
    tx: Tx,
    now: datetime,
    content: TemplateContent,
    made: CompiledContent,
    key: tuple[str, str, str],
    *,
    number: int,
    by: str,
) -> None:
    workspace_id, template_id, id_ = key
    tx.run(
        """
        INSERT INTO template_version (
            workspace_id, id, template_id, number, content, compiled, variables, removed, saved_by, saved_at
        ) VALUES (
            :workspace_id, :id, :template_id, :number, :content, :compiled, :variables, :removed, :by, :now
        )
        """,
        workspace_id=workspace_id,
        id=id_,
        template_id=template_id,
        number=number,
        content=msgspec.json.encode(content).decode(),
        compiled=msgspec.json.encode(made.compiled).decode(),
        variables=msgspec.json.encode(made.variables).decode(),
        removed=msgspec.json.encode(made.removed).decode(),
        by=by,
        now=now,
    )


def _is_taken(tx: Tx, workspace_id: str, name: str) -> bool:
    found = tx.value(
        "SELECT id FROM template WHERE workspace_id = :workspace_id AND name = :name AND deleted_at IS NULL",
        workspace_id=workspace_id,
        name=name,
    )
    return found is not None


def _read(tx: Tx, workspace_id: str, id_: str) -> Template:
    found = find_template(tx, workspace_id, id_)
    assert isinstance(found, Template), "it was just written"
    return found


def _template(row: Row) -> Template:
    return Template(
        workspace_id=row["workspace_id"],
        id=row["template_id"],
        name=row["name"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        version=version_of(row),
    )
