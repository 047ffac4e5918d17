"""What a handler holds: who asks, where, and the two ways to the database: `read` and `write`.

`write` runs one operation in one transaction. With `dry_run` it is rolled back and the same answer comes
marked. With an `Idempotency-Key` the answer is kept in the operation's own transaction: a repetition gets
the stored answer, the same key with another request is refused. A handler that speaks to the world
between transactions calls `claim_key` first; a second one meanwhile gets a 409.

A handler asks for what its route has: `Act` for all of this, `Once` for a write that has no dry run, `Ask` for
looks and for what a repetition does not harm. Only what is asked for is offered; a `dry_run` that a route does
not have is refused at the gate.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Annotated, TypeVar

from fastapi import Depends, Header, Query, Request
from pydantic import BaseModel

from cadenza.api.problems import Problem, conflict, too_often
from cadenza.api.schemas import Answer, SecretView, etag_of
from cadenza.bootstrap.model import Runtime
from cadenza.db import idempotency
from cadenza.db.idempotency import Name
from cadenza.people.daily_limits import Addition, count_addition
from cadenza.people.keys import spend_publish
from cadenza.people.model import Caller
from cadenza.people.passwords import Passwords
from cadenza.sql.transactions import Operation
from cadenza.sql.tx import Tx

Result = TypeVar("Result")
Shown = TypeVar("Shown", bound=BaseModel)


class Replayed(Exception):
    """The answer of the first request of this key, to be given again."""

    def __init__(self, status: int, body: str) -> None:
        super().__init__(status)
        self.status = status
        self.body = body


class _RolledBack(Exception):
    """A dry run ends: its transaction is rolled back."""

    def __init__(self, result: Answer | None) -> None:
        super().__init__()
        self.result = result


@dataclass(slots=True, kw_only=True)
class ReadContext:
    """One request that was let in."""

    runtime: Runtime
    request: Request
    passwords: Passwords
    known: Caller | None
    workspace_id: str
    asked_at: datetime | None = None  # by the database's clock, until it is no longer now
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict[str, str])  # added to the answer
    cookies: list[str] = field(default_factory=list[str])

    @property
    def caller(self) -> Caller:
        """Who asks; routes for anyone may have nobody."""
        if self.known is None:
            raise Problem(401, "not_signed_in", "Sign in first, or send an API key as a bearer.")
        return self.known

    @property
    def by(self) -> str:
        """Who asks, for the audit."""
        return self.caller.by

    @property
    def address(self) -> str:
        """Where the request comes from."""
        return self.request.client.host if self.request.client else "unknown"

    @property
    def person_id(self) -> str:
        """The person who asks; keys are no persons."""
        if self.caller.person_id is None:
            raise Problem(403, "person_needed", "A person has to do this, not a key.")
        return self.caller.person_id

    async def read(self, operation: Operation[Result]) -> Result:
        """Look, on one snapshot; the first look takes place when the caller was identified."""
        now, self.asked_at = self.asked_at, None
        return await self.runtime.operations.read(operation, now=now)

    async def change(self, operation: Operation[Result], *, locks: Sequence[str] = ()) -> Result:
        """Write without dry run and idempotency key: signing in, passwords, sessions."""
        return await self.runtime.operations.run(operation, locks=locks)

    def check_account(self, account_id: str) -> None:
        """Refuse an account that is not on the key's list, as if it were not there."""
        if not self.caller.may_use(account_id):
            raise Problem(404, "not_found", "There is no account of that id here.")

    def tag(self, shown: Shown) -> Shown:
        """Answer with the name of this state, for `If-Match`."""
        self.headers["etag"] = etag_of(shown)
        return shown


@dataclass(slots=True, kw_only=True)
class WriteContext(ReadContext):
    """One request that may change something."""

    dry_run: bool = False
    key: str | None = None
    if_match: str | None = None
    _claimed: bool = False

    async def write(
        self, operation: Operation[Result], *, locks: Sequence[str] = (), status: int | None = None
    ) -> Result:
        """Run the operation; raise a `Problem` in it to refuse, and nothing of it stays."""
        try:
            return await self.runtime.operations.run(
                lambda tx, now: self._run(tx, now, operation, status), locks=locks
            )
        except _RolledBack as rolled_back:
            return rolled_back.result  # pyright: ignore[reportReturnType] - what the operation returned

    def check_match(self, current: BaseModel) -> None:
        """Refuse to change what is no longer as the caller saw it; call it inside the operation."""
        if self.if_match not in (None, "*", etag_of(current)):
            raise Problem(
                412,
                "changed_meanwhile",
                "It was changed by somebody else: read it again, then decide.",
                current=current.model_dump(mode="json"),
            )

    def spend(self, tx: Tx, now: datetime, count: int = 1) -> None:
        """Take from the key's daily budget of publishings; call it inside the operation."""
        refused = spend_publish(
            tx, now, workspace_id=self.workspace_id, caller=self.caller, count=count
        )
        if refused is not None:
            raise too_often(refused, now)

    def count_addition(
        self, tx: Tx, now: datetime, what: Addition, *, email: str | None = None
    ) -> None:
        """Take from what one person can add in a day; call it inside the operation."""
        over = count_addition(tx, now, person_id=self.person_id, what=what, email=email)
        if over is not None:
            raise too_often(over.refused, now, f"{over.message} This was one more:")

    async def claim_key(self) -> None:
        """Hold the Idempotency-Key while something happens between transactions."""
        if self.key is not None and not self.dry_run:
            await self.runtime.operations.run(self._hold)
            self._claimed = True

    async def save_response(self, answer: Result) -> Result:
        """Keep what was answered to a held key; what it was about is done."""
        if not self._claimed:
            return answer
        return await self.write(lambda tx, now: answer)

    async def release_key(self) -> None:
        """Let a held key go after a refusal, so that it can be tried again."""
        if self._claimed:
            self._claimed = False
            name = self._name()
            await self.runtime.operations.run(lambda tx, _: idempotency.release(tx, name))

    def _run(
        self, tx: Tx, now: datetime, operation: Operation[Result], status: int | None
    ) -> Result:
        keep = self.key is not None and not self.dry_run
        if keep and not self._claimed:
            self._hold(tx, now)
        result = operation(tx, now)
        if self.dry_run:
            marked = isinstance(result, Answer)
            raise _RolledBack(result.model_copy(update={"dry_run": True}) if marked else None)
        if keep:
            self._keep(tx, result, status)
        return result

    def _hold(self, tx: Tx, now: datetime) -> None:
        mine = self._fingerprint()
        found = idempotency.hold(tx, now, self._name(), request_hash=mine)
        if found is None:
            return
        if found.request_hash != mine:
            raise Problem(
                422,
                "key_reused",
                "This Idempotency-Key belongs to another request: take a new one.",
            )
        if found.status is None:
            raise conflict("under_way", "The first request of this key is still under way.")
        if found.body is None:
            raise conflict(
                "answer_not_kept",
                "This was done already; its answer held a secret and was not kept.",
            )
        raise Replayed(found.status, found.body)

    def _keep(self, tx: Tx, result: object, status: int | None) -> None:
        route = self.request.scope["route"]
        if isinstance(result, SecretView):
            body = None
        else:
            body = result.model_dump_json() if isinstance(result, BaseModel) else ""
        idempotency.keep(tx, self._name(), status=status or route.status_code or 200, body=body)

    def _name(self) -> Name:
        return Name(workspace_id=self.workspace_id, actor=self.by, key=self.key or "")

    def _fingerprint(self) -> str:
        url = self.request.url
        said = f"{self.request.method} {url.path}?{url.query}\n".encode() + self.body
        return sha256(said).hexdigest()


IdempotencyKey = Annotated[
    str | None,
    Header(
        min_length=1,
        max_length=255,
        pattern=r"^[\x21-\x7e]+$",
        description="A repetition with the same key gets the first one's answer",
    ),
]


# All are `async` although they wait for nothing: plain functions would each be sent to a thread.
async def _reader(request: Request) -> ReadContext:
    return request.state.ask


async def _once(request: Request, idempotency_key: IdempotencyKey = None) -> WriteContext:
    ask: WriteContext = request.state.ask
    ask.key = idempotency_key if ask.known is not None else None
    return ask


async def _writer(
    request: Request,
    *,
    dry_run: Annotated[
        bool, Query(description="Try it, answer as if it were done, and change nothing")
    ] = False,
    idempotency_key: IdempotencyKey = None,
    if_match: Annotated[
        str | None, Header(max_length=200, description="Change it only if it is still so: its ETag")
    ] = None,
) -> WriteContext:
    ask = await _once(request, idempotency_key)
    ask.dry_run = dry_run
    ask.if_match = if_match
    return ask


Reader = Annotated[ReadContext, Depends(_reader)]
WriterOnce = Annotated[WriteContext, Depends(_once)]
Writer = Annotated[WriteContext, Depends(_writer)]
