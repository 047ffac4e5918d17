"""API keys: made and shown once; bound to scopes, accounts and a daily budget."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from cadenza.api.problems import Problem, invalid, not_found, refuse
from cadenza.api.request_context import Reader, Writer
from cadenza.api.routes import KEY, Resource
from cadenza.api.schemas import Answer, Id, IdField, InputModel, Instant, Line, SecretView
from cadenza.core.suggest import did_you_mean
from cadenza.people import keys, workspaces
from cadenza.people.daily_limits import Addition
from cadenza.people.model import Done, Role
from cadenza.people.tokens import draw_key
from cadenza.sql.tx import Row, Tx

routes = Resource("keys", "/workspaces/{workspace_id}/keys")
own = Resource("key", "/key")
ScopeName = Annotated[str, StringConstraints(max_length=40)]


class NewKey(InputModel):
    """A key to make."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "name": "the newsletter script",
                    "role": "editor",
                    "scopes": ["deliveries:read", "deliveries:write"],
                    "publish_per_day": 10,
                }
            ]
        }
    )
    name: Line
    role: Role = Role.EDITOR
    scopes: list[ScopeName] = Field(min_length=1, max_length=50)
    accounts: list[IdField] | None = Field(
        default=None, max_length=200, description="The accounts it may use; all, if not given"
    )
    publish_per_day: int | None = Field(default=None, ge=0, le=1_000_000, strict=True)
    ends_at: Instant | None = None


class KeyView(BaseModel):
    """A key, without what proves it."""

    id: str
    name: str
    prefix: str
    role: Role
    scopes: list[str]
    accounts: list[str] | None
    publish_per_day: int | None
    member_id: str
    created_at: datetime
    ends_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None


class KeyCreated(SecretView):
    """The new key: `key` is shown this once."""

    key: str
    shown: KeyView


class KeyEnded(Answer):
    """The key is revoked."""

    id: str


class OwnKey(BaseModel):
    """The key that asks, and where it belongs."""

    workspace_id: str
    workspace_name: str
    key: KeyView


@own.get(needs=KEY)
async def show_own(ask: Reader) -> OwnKey:
    """Show the key that asks: its workspace, and what it may do there."""
    home = ask.caller.key_of or ""

    def look(tx: Tx, now: datetime) -> OwnKey:
        found = workspaces.show_workspace(tx, now, workspace_id=home)
        rows = keys.list_keys(tx, now, workspace_id=home)
        shown = next((_show(row) for row in rows if row["id"] == ask.caller.key_id), None)
        if found is None or shown is None:
            raise not_found("key")
        return OwnKey(workspace_id=home, workspace_name=found["name"], key=shown)

    return await ask.read(look)


@routes.get(needs=Role.ADMIN)
async def list_keys(ask: Reader, workspace_id: Id) -> list[KeyView]:
    """List the keys, also those that ended."""
    rows = await ask.read(lambda tx, now: keys.list_keys(tx, now, workspace_id=workspace_id))
    return [_show(row) for row in rows]


@routes.post(needs=Role.ADMIN, status_code=201)
async def make_key(act: Writer, workspace_id: Id, body: NewKey) -> KeyCreated:
    """Make a key; it is shown once."""
    from cadenza.api.resources import installation_scopes, known_scopes  # they name this file, too

    known = known_scopes()
    unknown = sorted(set(body.scopes) - known)
    if unknown:
        guess = did_you_mean(unknown[0], sorted(known))
        message = f"{unknown[0]!r} is no scope.{guess} There are {', '.join(sorted(known))}."
        raise invalid("body.scopes", message, "unknown_scope")
    given = sorted(installation_scopes().intersection(body.scopes))
    if given and not act.caller.instance_owner:
        raise Problem(403, "owner_needed", f"Only an owner of this installation gives {given[0]}.")
    token = draw_key()

    def operation(tx: Tx, now: datetime) -> KeyCreated:
        assert act.caller.member_id is not None
        assert act.caller.role is not None
        act.count_addition(tx, now, Addition.KEY)
        answer = keys.make_key(
            tx,
            now,
            workspace_id=workspace_id,
            new=keys.NewKey(
                name=body.name,
                role=body.role,
                scopes=body.scopes,
                accounts=body.accounts,
                publish_per_day=body.publish_per_day,
                ends_at=body.ends_at,
            ),
            prefix=token.prefix,
            secret_hash=token.hash,
            member_id=act.caller.member_id,
            own=act.caller.role,
            by=act.by,
        )
        if not isinstance(answer, Done):
            refuse(answer)
        rows = keys.list_keys(tx, now, workspace_id=workspace_id)
        return KeyCreated(
            key=token.text, shown=next(_show(row) for row in rows if row["id"] == answer.id)
        )

    return await act.write(operation)


@routes.delete("/{key_id}", needs=Role.ADMIN)
async def revoke_key(act: Writer, workspace_id: Id, key_id: Id) -> KeyEnded:
    """End a key at once."""

    def operation(tx: Tx, now: datetime) -> KeyEnded:
        answer = keys.revoke_key(tx, now, workspace_id=workspace_id, id=key_id, by=act.by)
        if not isinstance(answer, Done):
            refuse(answer, "key")
        return KeyEnded(id=key_id)

    return await act.write(operation)


def _show(row: Row) -> KeyView:
    accounts = None if row["accounts"] is None else row["accounts"].split()
    return KeyView(**row | {"scopes": row["scopes"].split(), "accounts": accounts})
