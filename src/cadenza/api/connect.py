"""Connecting accounts: where a person is sent, and what they come back with.

The state that goes round is random, kept as a hash, good once, for ten minutes, in the same session and
workspace; verifier and what the network's adapter keeps are sealed. The page that the network sends the
person back to hands code, state and issuer to `complete`: a code of another server than the one that the
person was sent to is not taken. Tokens never leave this side.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any
from urllib.parse import urlsplit

import msgspec
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from cadenza.accounts.connect import (
    NewAccount,
    NoSuchAccount,
    OtherIdentity,
    Reconnected,
    connect,
    reconnect,
)
from cadenza.accounts.open import connecting_row
from cadenza.api.accounts import Account, one
from cadenza.api.problems import Problem, conflict, invalid, not_found
from cadenza.api.request_context import Reader, WriteContext, Writer, WriterOnce
from cadenza.api.routes import Resource
from cadenza.api.schemas import Answer, Id, IdField, InputModel
from cadenza.bootstrap.describe import readiness
from cadenza.db.audit import record
from cadenza.deliveries import resume_plan
from cadenza.deliveries.init_account import init_account
from cadenza.deliveries.recheck_fit import recheck_fit
from cadenza.people.model import Role
from cadenza.people.tokens import draw_token, hash_token
from cadenza.providers.base import use_of
from cadenza.providers.connect import Connected, Connecting, Connector, Redirect
from cadenza.providers.http.redact import Secret
from cadenza.providers.registry import all_connectors
from cadenza.sql.tx import Row, Tx

routes = Resource("connect", "/workspaces/{workspace_id}/connect")
LIFE = timedelta(minutes=10)
CALLBACK = "/connect/callback"
Typed = Annotated[str, StringConstraints(max_length=4000)]


class FieldView(BaseModel):
    """Something that a person is asked for."""

    name: str
    label: str
    secret: bool
    hint: str
    required: bool


class Network(BaseModel):
    """A network that accounts can be connected of."""

    provider: str
    fields: list[FieldView]
    ready: bool = Field(description="Whether the installation has what connecting one needs")
    says: str = Field(description="What to do if not; else what a person is asked for")


class Begin(InputModel):
    """What the person typed; `account_id` connects one again."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"fields": {"instance": "https://mastodon.example"}}]}
    )
    fields: dict[str, Typed] = Field(default_factory=dict[str, str], max_length=20)
    account_id: IdField | None = None


class Complete(InputModel):
    """What the network sent the person back with."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"state": "as-it-came", "code": "as-it-came"}]}
    )
    state: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    code: Annotated[str, StringConstraints(min_length=1, max_length=4000)]
    iss: Annotated[str, StringConstraints(max_length=2000)] | None = Field(
        default=None, description="Who sent the person back, if it came along (RFC 9207)"
    )


class Connection(Answer):
    """Where to send the person, or the accounts that are connected now."""

    redirect: str | None = None
    accounts: list[Account] = Field(default_factory=list[Account])
    held: list[str] = Field(
        default_factory=list[str], description="Deliveries that want a resume choice"
    )


@routes.get(needs=Role.VIEWER, scope="accounts:read")
async def list_networks(ask: Reader, workspace_id: Id) -> list[Network]:
    """List the networks, and what a person is asked for."""
    ready = {each.provider: each for each in readiness(ask.runtime.settings)}
    return [
        Network(
            provider=name,
            ready=ready[name].ready,
            says=ready[name].says,
            fields=[
                FieldView(
                    name=each.name,
                    label=each.label,
                    secret=each.secret,
                    hint=each.hint,
                    required=each.required,
                )
                for each in connector.fields
            ],
        )
        for name, connector in sorted(all_connectors().items())
    ]


@routes.post("/complete", needs=Role.ADMIN)
async def complete(act: WriterOnce, workspace_id: Id, body: Complete) -> Connection:
    """Finish what was begun in this session, with what the network sent back; it cannot be tried."""
    state_hash = hash_token(body.state)
    await act.claim_key()
    row, now = await act.change(lambda tx, now: (_take(act, tx, now, state_hash), now))
    if row is None:
        raise Problem(
            403, "unknown_state", "This was not begun here, or it took too long: start again."
        )
    said: dict[str, Any] = msgspec.json.decode(
        act.runtime.keyring.open(row["sealed"], row=connecting_row(workspace_id, state_hash))
    )
    if body.iss is not None and _origin(body.iss) != said["sent_to"]:
        raise Problem(
            403, "other_issuer", "Another server sent you back than you were sent to: start again."
        )
    connector = all_connectors()[row["provider"]]
    answer = await connector.complete(
        Connecting(
            http=act.runtime.http.for_use(use_of(row["provider"])),
            app=act.runtime.app_of(row["provider"]),
            now=now,
            redirect_uri=act.runtime.settings.home + CALLBACK,
            state=body.state,
            verifier=said["verifier"],
        ),
        {name: Secret(value) for name, value in said["keep"].items()},
        Secret(body.code),
    )
    if not isinstance(answer, tuple):
        raise _refused(answer)
    return await _take_in(act, row["provider"], answer, row["account_id"])


@routes.post("/{provider}", needs=Role.ADMIN)
async def begin(act: Writer, workspace_id: Id, provider: Id, body: Begin) -> Connection:
    """Start connecting: it is done at once, or the person is sent to the network."""
    connector = all_connectors().get(provider)
    if connector is None:
        raise not_found("network")
    now = await act.read(lambda tx, now: _check(act, tx, now, provider, body))
    await act.claim_key()
    state, verifier = draw_token(), draw_token()
    answer = await connector.begin(
        Connecting(
            http=act.runtime.http.for_use(use_of(provider)),
            app=act.runtime.app_of(provider),
            now=now,
            typed=_typed(connector, body),
            redirect_uri=act.runtime.settings.home + CALLBACK,
            state=state.text,
            verifier=verifier.text,
        )
    )
    match answer:
        case Redirect(url, keep):
            said = {
                "verifier": verifier.text,
                "keep": {n: s.reveal() for n, s in keep.items()},
                "sent_to": _origin(url),
            }
            sealed = act.runtime.keyring.seal(
                msgspec.json.encode(said).decode(), row=connecting_row(workspace_id, state.hash)
            )
            return await act.write(
                lambda tx, now: _expect(act, tx, now, provider, body, state.hash, sealed, url)
            )
        case tuple():
            return await _take_in(act, provider, answer, body.account_id)
        case refused:
            raise _refused(refused)


def _check(act: WriteContext, tx: Tx, now: datetime, provider: str, body: Begin) -> datetime:
    if body.account_id is not None:
        known = one(act, tx, body.account_id)
        if known.provider != provider:
            raise invalid("body.account_id", f"that account is of {known.provider}")
    return now


def _typed(connector: Connector, body: Begin) -> dict[str, str | Secret]:
    known = {each.name: each for each in connector.fields}
    for name in body.fields:
        if name not in known:
            raise invalid(f"body.fields.{name}", "the network does not ask for this", "unknown")
    for name, each in known.items():
        if each.required and not body.fields.get(name, "").strip():
            raise invalid(f"body.fields.{name}", f"{each.label} is needed", "missing")
    return {
        name: Secret(value) if known[name].secret else value for name, value in body.fields.items()
    }


def _expect(
    act: WriteContext,
    tx: Tx,
    now: datetime,
    provider: str,
    body: Begin,
    state_hash: str,
    sealed: str,
    url: str,
) -> Connection:
    tx.run("DELETE FROM connecting WHERE ends_at <= :now", now=now)
    tx.run(
        """
        INSERT INTO connecting (workspace_id, state_hash, session_id, provider, account_id, sealed, created_at,
            ends_at)
        VALUES (:workspace_id, :hash, :session_id, :provider, :account_id, :sealed, :now, :ends)
        """,
        workspace_id=act.workspace_id,
        hash=state_hash,
        session_id=act.caller.session_id or "",
        provider=provider,
        account_id=body.account_id,
        sealed=sealed,
        now=now,
        ends=now + LIFE,
    )
    return Connection(redirect=url)


def _take(act: WriteContext, tx: Tx, now: datetime, state_hash: str) -> Row | None:
    """Use the state up, be it for better or worse: a code is tried once."""
    return tx.one(
        """
        DELETE FROM connecting
        WHERE workspace_id = :workspace_id AND state_hash = :hash AND session_id = :session_id AND ends_at > :now
        RETURNING provider, account_id, sealed
        """,
        workspace_id=act.workspace_id,
        hash=state_hash,
        session_id=act.caller.session_id or "",
        now=now,
    )


async def _take_in(
    act: WriteContext, provider: str, brought: Sequence[Connected], account_id: str | None
) -> Connection:
    def operation(tx: Tx, now: datetime) -> Connection:
        accounts: list[Account] = []
        held: list[str] = []
        for each in brought:
            kept = _keep(act, tx, now, provider, each, account_id)
            id_ = kept.id
            held += _reopen(act, tx, now, kept) if isinstance(kept, Reconnected) else ()
            _check_planned(act, tx, id_)
            record(
                tx,
                now,
                workspace_id=act.workspace_id,
                by=act.by,
                action="account.connect",
                subject_id=id_,
                after={"provider": provider, "handle": each.handle},
            )
            accounts.append(one(act, tx, id_))
        return Connection(accounts=accounts, held=held)

    return await act.write(operation)


def _reopen(act: WriteContext, tx: Tx, now: datetime, back: Reconnected) -> tuple[str, ...]:
    """Let an account that could not send go on; name what came due meanwhile."""
    if back.was in resume_plan.CAN_SEND:
        return ()
    offer = resume_plan.reopen(tx, now, workspace_id=act.workspace_id, account_id=back.id)
    return offer.held if isinstance(offer, resume_plan.Offer) else ()


def _keep(
    act: WriteContext,
    tx: Tx,
    now: datetime,
    provider: str,
    brought: Connected,
    account_id: str | None,
) -> NewAccount | Reconnected:
    home, ring = act.workspace_id, act.runtime.keyring
    if account_id is not None:
        answer = reconnect(
            tx, now, workspace_id=home, account_id=account_id, connected=brought, ring=ring
        )
        if isinstance(answer, NoSuchAccount):
            raise not_found("account")
        if isinstance(answer, OtherIdentity):
            raise conflict("other_identity", answer.says)
        return answer
    made = connect(
        tx,
        now,
        workspace_id=home,
        new_id=tx.new_id(),
        provider=provider,
        connected=brought,
        ring=ring,
    )
    if isinstance(made, NewAccount):
        init_account(tx, now, workspace_id=home, account_id=made.id)
    return made


def _check_planned(act: WriteContext, tx: Tx, account_id: str) -> None:
    """Flag what the account's limits, as they were brought along, no longer take; the hourly job does the rest."""
    recheck_fit(tx, account=(act.workspace_id, account_id), files=act.runtime.files)


def _origin(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc}".lower()


def _refused(outcome: Any) -> Problem:
    """Tell what the network said, as far as it is fit to be told."""
    says = str(getattr(outcome, "says", "") or "it did not work")
    return Problem(422, "network_refused", f"The network says: {says}"[:500])
