"""Connecting accounts: where a person is sent, and what they come back with.

The state that goes round is random, kept as a hash, good once, for ten minutes, for the person who began and
in one workspace, which it names (see `accounts/pending.py`); verifier and what the network's adapter keeps are
sealed. The page that the network sends the person back to hands code, state and issuer to `complete`: a code of
another server than the one that the person was sent to is not taken. What a network asks for on the way, such
as a code that it sent, goes to `complete` too. A network that tells us itself who signed in does so at
`/connect/notify/…`, an address that it alone was given, good once. Tokens never leave this side.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import msgspec
from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from cadenza.accounts import pending
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
from cadenza.api.request_context import ReadContext, Reader, WriteContext, Writer, WriterOnce
from cadenza.api.routes import ANYONE, Resource
from cadenza.api.schemas import Answer, Id, IdField, InputModel, loads
from cadenza.bootstrap.describe import readiness
from cadenza.bootstrap.model import Runtime
from cadenza.db.audit import record
from cadenza.deliveries import resume_plan
from cadenza.deliveries.init_account import init_account
from cadenza.deliveries.recheck_fit import recheck_fit
from cadenza.people.model import Role
from cadenza.people.tokens import draw_token, hash_token
from cadenza.providers.base import use_of
from cadenza.providers.connect import Ask, Connected, Connecting, Connector, Redirect
from cadenza.providers.connect import Field as AskedField
from cadenza.providers.http.redact import Secret
from cadenza.providers.registry import all_connectors
from cadenza.sql.tx import Tx

routes = Resource("connect", "/workspaces/{workspace_id}/connect")
CALLBACK = "/connect/callback"
NOTIFY = "/connect/notify"
notices = Resource("connect_notices", NOTIFY)
NOTICE = "notice:"
NoticeState = Annotated[str, Path(min_length=1, max_length=300)]
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
    message: str = Field(description="What to do if not; else what a person is asked for")


class ConnectInput(InputModel):
    """What the person typed; `account_id` connects one again."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"fields": {"instance": "https://mastodon.example"}}]}
    )
    fields: dict[str, Typed] = Field(default_factory=dict[str, str], max_length=20)
    account_id: IdField | None = None


class Complete(InputModel):
    """What the network sent the person back with, or the answer to what it asked for."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"state": "as-it-came", "code": "as-it-came"}]}
    )
    state: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    code: Annotated[str, StringConstraints(min_length=1, max_length=4000)]
    iss: Annotated[str, StringConstraints(max_length=2000)] | None = Field(
        default=None, description="Who sent the person back, if it came along (RFC 9207)"
    )


class Question(BaseModel):
    """One more thing that the network asks for, such as a code that it sent."""

    state: str = Field(description="For `complete`, with the answer as the code")
    message: str
    field: FieldView


class Connection(Answer):
    """Where to send the person, what to ask them for, or the accounts that are connected now."""

    redirect: str | None = None
    question: Question | None = Field(
        default=None, description="Complete with its state, and the person's answer as the code"
    )
    id: str | None = Field(
        default=None, description="Of what was begun and is not finished: ask with it how it went"
    )
    accounts: list[Account] = Field(default_factory=list[Account])
    held: list[str] = Field(
        default_factory=list[str], description="Deliveries that want a resume choice"
    )


class BegunConnection(BaseModel):
    """How a connection goes that was begun."""

    state: Literal["waiting", "connected", "failed"]
    reason: str | None = Field(default=None, description="Why it failed")
    accounts: list[Account] = Field(default_factory=list[Account])


class Notified(BaseModel):
    """What a network told was taken."""

    connected: int = Field(description="Accounts that are connected now")


@routes.get(needs=Role.VIEWER, scope="accounts:read")
async def list_networks(ask: Reader, workspace_id: Id) -> list[Network]:
    """List the networks, and what a person is asked for."""
    ready = {each.provider: each for each in readiness(ask.runtime.settings)}
    return [
        Network(
            provider=name,
            ready=ready[name].ready,
            message=ready[name].message,
            fields=[_show_field(each) for each in connector.fields],
        )
        for name, connector in sorted(all_connectors().items())
    ]


@routes.get("/begun/{connection_id}", needs=Role.ADMIN)
async def show_begun(ask: Reader, workspace_id: Id, connection_id: Id) -> BegunConnection:
    """Tell how a connection goes that one began, perhaps elsewhere; it is known for ten minutes."""

    def operation(tx: Tx, now: datetime) -> BegunConnection:
        row = pending.look(
            tx,
            now,
            workspace_id=workspace_id,
            state_hash=connection_id,
            person_id=ask.person_id,
        )
        if row is None:
            raise not_found("connection")
        if row["reason"] is not None:
            return BegunConnection(state="failed", reason=row["reason"])
        if row["connected"] is None:
            return BegunConnection(state="waiting")
        accounts = [one(ask, tx, each) for each in loads(row["connected"])]
        return BegunConnection(state="connected", accounts=accounts)

    return await ask.read(operation)


@routes.post("/complete", needs=Role.ADMIN)
async def complete(act: WriterOnce, workspace_id: Id, body: Complete) -> Connection:
    """Finish what one began, with what the network sent back or asked for; it cannot be tried."""
    await act.claim_key()
    begun = await _take(act, body.state, act.person_id)
    try:
        return await _complete(act, begun, body)
    except Problem as problem:
        await _fail(act, begun, problem.detail)
        raise


@notices.post("/{state}", needs=ANYONE, takes="upload")
async def notify_signed_in(ask: Reader, state: NoticeState) -> Notified:
    """Take what a network tells of a sign-in on its own page; the address is good once."""
    said = b"".join([piece async for piece in ask.request.stream()])
    begun = await _take(ask, _notice_state(state), None)
    try:
        brought = await _exchange(ask, begun, Secret(said.decode("utf-8", "replace")), state)
        if isinstance(brought, Ask):
            raise Problem(422, "unexpected_question", "The network asks for more: start again.")
        kept = await ask.change(lambda tx, now: _take_in(tx, now, begun.home, begun, brought))
    except Problem as problem:
        await _fail(ask, begun, problem.detail)
        raise
    return Notified(connected=len(kept.ids))


@dataclass(frozen=True, slots=True)
class _Begun:
    """A state that was just used up, with what was kept for it."""

    home: "_Home"
    provider: str
    account_id: str | None
    state_hash: str
    sealed: str
    tries: int
    now: datetime
    kept: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Home:
    """Where accounts are connected, and by whom."""

    runtime: Runtime
    workspace_id: str
    by: str


async def _take(ask: ReadContext, state: str, person_id: str | None) -> _Begun:
    """Use up a state of the caller's; without a person, one that only the network was given."""
    state_hash = hash_token(state)
    # A network names no workspace in its path: its state does.
    workspace_id = (
        state.partition(".")[0].removeprefix(NOTICE) if person_id is None else ask.workspace_id
    )
    row, now = await ask.change(
        lambda tx, now: (
            pending.take(
                tx,
                now,
                workspace_id=workspace_id,
                state_hash=state_hash,
                person_id=person_id,
            ),
            now,
        )
    )
    if row is None:
        raise Problem(
            403,
            "unknown_state",
            "You did not begin this, or it took too long: start again, signed in as the same person.",
        )
    kept = ask.runtime.keyring.open(row["sealed"], row=connecting_row(workspace_id, state_hash))
    return _Begun(
        home=_Home(ask.runtime, workspace_id, f"person:{row['person_id']}"),
        provider=row["provider"],
        account_id=row["account_id"],
        state_hash=state_hash,
        sealed=row["sealed"],
        tries=row["tries"],
        now=now,
        kept=msgspec.json.decode(kept),
    )


async def _complete(act: WriteContext, begun: _Begun, body: Complete) -> Connection:
    if body.iss is not None and _origin(body.iss) != begun.kept["sent_to"]:
        raise Problem(
            403, "other_issuer", "Another server sent you back than you were sent to: start again."
        )
    match await _exchange(act, begun, Secret(body.code), body.state):
        case Ask() as asks:
            return await _ask(act, begun.provider, begun.account_id, asks)
        case brought:
            return await _answer(act, begun, brought)


async def _exchange(
    ask: ReadContext, begun: _Begun, code: Secret, state: str
) -> Ask | tuple[Connected, ...]:
    connecting = _connecting(
        ask, begun.provider, begun.now, state=state, verifier=begun.kept["verifier"]
    )
    keep = {name: Secret(value) for name, value in begun.kept["keep"].items()}
    answer = await all_connectors()[begun.provider].complete(connecting, keep, code)
    if not isinstance(answer, tuple | Ask):
        raise _refused(answer)
    return answer


async def _fail(ask: ReadContext, begun: _Begun, reason: str) -> None:
    """Let a mistyped answer be typed again; else tell whoever waits elsewhere that it is over."""
    place = {"workspace_id": begun.home.workspace_id, "state_hash": begun.state_hash}
    if begun.kept["requested"] and begun.tries + 1 < pending.TRIES:
        await ask.change(lambda tx, _: pending.put_back(tx, **place, sealed=begun.sealed))
    else:
        await ask.change(lambda tx, _: pending.note_failed(tx, **place, reason=reason))


@routes.post("/{provider}", needs=Role.ADMIN)
async def begin(act: Writer, workspace_id: Id, provider: Id, body: ConnectInput) -> Connection:
    """Start connecting: it is done at once, or the person is sent to the network or asked for more."""
    connector = all_connectors().get(provider)
    if connector is None:
        raise not_found("network")
    again, now = await act.read(lambda tx, now: (_again(act, tx, provider, body), now))
    await act.claim_key()
    state, notice, verifier = _draw_state(act), _draw_state(act), draw_token().text
    answer = await connector.begin(
        _connecting(
            act,
            provider,
            now,
            typed=_typed(connector, body),
            state=state,
            verifier=verifier,
            notify_uri=f"{act.runtime.settings.home}{NOTIFY}/{notice}",
            return_uri=f"{act.runtime.settings.home}/w/{workspace_id}/accounts",
            again=again,
        )
    )
    match answer:
        case Redirect(url, keep, notified):
            kept = _Kept(verifier=verifier, keep=keep, sent_to=_origin(url))
            expected = _notice_state(notice) if notified else state
            begun = Connection(redirect=url, id=hash_token(expected))
            return await _expect(act, provider, body.account_id, expected, kept, begun)
        case Ask():
            return await _ask(act, provider, body.account_id, answer)
        case tuple():
            typed = _Typed(provider, body.account_id)
            return await _answer(act, typed, answer)
        case refused:
            raise _refused(refused)


def _connecting(ask: ReadContext, provider: str, now: datetime, **more: Any) -> Connecting:
    return Connecting(
        http=ask.runtime.http.for_use(use_of(provider)),
        app=ask.runtime.app_of(provider),
        now=now,
        redirect_uri=ask.runtime.settings.home + CALLBACK,
        **more,
    )


def _draw_state(act: WriteContext) -> str:
    """Draw a state; it names the workspace, because the network's answer names nothing else."""
    return f"{act.workspace_id}.{draw_token().text}"


def _notice_state(state: str) -> str:
    """Tell states of networks from those of people: neither can use up the other's."""
    return f"{NOTICE}{state}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """What is sealed until the next step."""

    keep: Mapping[str, Secret]
    verifier: str = ""
    sent_to: str = ""
    requested: bool = False  # the next step brings what the person types

    def encode(self) -> str:
        keep = {name: secret.reveal() for name, secret in self.keep.items()}
        said = {"verifier": self.verifier, "sent_to": self.sent_to, "requested": self.requested}
        return msgspec.json.encode(said | {"keep": keep}).decode()


async def _ask(act: WriteContext, provider: str, account_id: str | None, asks: Ask) -> Connection:
    """Hand on what the network asks for, under a state of its own."""
    state = _draw_state(act)
    question = Question(state=state, message=asks.message, field=_show_field(asks.fields[0]))
    begun = Connection(question=question, id=hash_token(state))
    kept = _Kept(keep=asks.keep, requested=True)
    return await _expect(act, provider, account_id, state, kept, begun)


async def _expect(
    act: WriteContext,
    provider: str,
    account_id: str | None,
    state: str,
    kept: _Kept,
    begun: Connection,
) -> Connection:
    state_hash = hash_token(state)
    sealed = act.runtime.keyring.seal(
        kept.encode(), row=connecting_row(act.workspace_id, state_hash)
    )
    new = pending.Pending(
        workspace_id=act.workspace_id,
        state_hash=state_hash,
        person_id=act.person_id,
        provider=provider,
        account_id=account_id,
        sealed=sealed,
    )

    def operation(tx: Tx, now: datetime) -> Connection:
        pending.expect(tx, now, new)
        return begun

    return await act.write(operation)


def _show_field(field: AskedField) -> FieldView:
    return FieldView(
        name=field.name,
        label=field.label,
        secret=field.secret,
        hint=field.hint,
        required=field.required,
    )


def _again(act: WriteContext, tx: Tx, provider: str, body: ConnectInput) -> str | None:
    """Return who is connected again, as the network knows them."""
    if body.account_id is None:
        return None
    known = one(act, tx, body.account_id)
    if known.provider != provider:
        raise invalid("body.account_id", f"that account is of {known.provider}")
    return known.remote_id


def _typed(connector: Connector, body: ConnectInput) -> dict[str, str | Secret]:
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


@dataclass(frozen=True, slots=True)
class _Typed:
    """What was connected at once, by what a person typed."""

    provider: str
    account_id: str | None
    state_hash: str | None = None


@dataclass(frozen=True, slots=True)
class _TakenIn:
    """Accounts that are connected now, and deliveries that want a resume choice."""

    ids: tuple[str, ...]
    held: tuple[str, ...]


async def _answer(
    act: WriteContext, begun: _Begun | _Typed, brought: Sequence[Connected]
) -> Connection:
    home = _Home(act.runtime, act.workspace_id, act.by)

    def operation(tx: Tx, now: datetime) -> Connection:
        taken = _take_in(tx, now, home, begun, brought)
        accounts = [one(act, tx, each) for each in taken.ids]
        return Connection(accounts=accounts, held=list(taken.held))

    return await act.write(operation)


def _take_in(
    tx: Tx, now: datetime, home: _Home, begun: _Begun | _Typed, brought: Sequence[Connected]
) -> _TakenIn:
    ids: list[str] = []
    held: list[str] = []
    for each in brought:
        kept = _keep(tx, now, home, begun, each)
        held += _reopen(tx, now, home, kept) if isinstance(kept, Reconnected) else ()
        # Flag what the limits that were brought along no longer take; the hourly job does the rest.
        recheck_fit(tx, account=(home.workspace_id, kept.id), files=home.runtime.files)
        record(
            tx,
            now,
            workspace_id=home.workspace_id,
            by=home.by,
            action="account.connect",
            subject_id=kept.id,
            after={"provider": begun.provider, "handle": each.handle},
        )
        ids.append(kept.id)
    if begun.state_hash is not None:
        pending.note_connected(
            tx, workspace_id=home.workspace_id, state_hash=begun.state_hash, ids=ids
        )
    return _TakenIn(tuple(ids), tuple(held))


def _reopen(tx: Tx, now: datetime, home: _Home, back: Reconnected) -> tuple[str, ...]:
    """Let an account that could not send go on; name what came due meanwhile."""
    if back.was in resume_plan.CAN_SEND:
        return ()
    offer = resume_plan.reopen(tx, now, workspace_id=home.workspace_id, account_id=back.id)
    return offer.held if isinstance(offer, resume_plan.HeldDeliveries) else ()


def _keep(
    tx: Tx, now: datetime, home: _Home, begun: _Begun | _Typed, brought: Connected
) -> NewAccount | Reconnected:
    workspace_id, ring = home.workspace_id, home.runtime.keyring
    if begun.account_id is not None:
        answer = reconnect(
            tx,
            now,
            workspace_id=workspace_id,
            account_id=begun.account_id,
            connected=brought,
            ring=ring,
        )
        if isinstance(answer, NoSuchAccount):
            raise not_found("account")
        if isinstance(answer, OtherIdentity):
            raise conflict("other_identity", answer.message)
        return answer
    made = connect(
        tx,
        now,
        workspace_id=workspace_id,
        new_id=tx.new_id(),
        provider=begun.provider,
        connected=brought,
        ring=ring,
    )
    if isinstance(made, NewAccount):
        init_account(tx, now, workspace_id=workspace_id, account_id=made.id)
    return made


def _origin(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc}".lower()


def _refused(outcome: Any) -> Problem:
    """Tell what the network said, as far as it is fit to be told."""
    message = str(getattr(outcome, "message", "") or "it did not work")
    return Problem(422, "network_refused", f"The network says: {message}"[:500])
