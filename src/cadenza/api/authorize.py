"""The one gate of every route: who is it, may they, does a browser mean it; only then is the body read.

Person, membership and role are read from the database for each request. A workspace that one is not in
does not exist (404). Cookies count only for requests that our own pages can make: same origin, and on
writes a header that no form can send. Keys come in the Authorization header, never in an address.
"""

import math
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from fastapi import Request, Response
from fastapi.routing import APIRoute

from cadenza.api.cookies import read_cookie
from cadenza.api.problems import Problem, invalid, not_found
from cadenza.api.rate_limit import PATIENCE, FairQueue, TokenBucket
from cadenza.api.read_body import announces_too_much, read_body
from cadenza.api.request_context import Replayed, WriteContext
from cadenza.api.route_lookup import INSIDE
from cadenza.api.routes import Access, Route, declaration_of
from cadenza.bootstrap.model import Runtime
from cadenza.core.addresses import owner_of
from cadenza.engine.errors import EngineError
from cadenza.people.identify import IdentifiedCaller, identify_key, identify_session
from cadenza.people.model import Caller, Role
from cadenza.people.sessions import CSRF
from cadenza.people.tokens import hash_token, split_key
from cadenza.sql.transactions import Peek

_KEY_WORDS = frozenset({"key", "api_key", "apikey", "access_token", "token_key"})


class Guarded(APIRoute):
    """A route that lets nobody in who was not declared."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Put the gate in front of the handler."""
        handle = super().get_route_handler()
        has_dry_run = takes_dry_run(self)

        async def guarded(request: Request) -> Response:
            declared = declaration_of(self.endpoint)
            async with take_turn(request, declared):
                return await serve(request, declared)

        async def serve(request: Request, declared: Route) -> Response:
            runtime: Runtime = request.app.state.runtime
            workspace_id = request.path_params.get("workspace_id", "")
            check_browser(request, declared, runtime.settings.public_url)
            account_id = request.path_params.get("account_id") if workspace_id else None
            try:
                known = await identify(request, runtime, workspace_id, account_id)
            except Problem:
                await limit_caller(
                    request, None
                )  # a key that opens nothing counts as its sender's address
                raise
            caller = None if known is None else known.caller
            await limit_caller(request, caller)
            admit(declared, caller, workspace_id)
            await limit_workspace(request, caller, workspace_id)
            ask = WriteContext(
                runtime=runtime,
                request=request,
                passwords=request.app.state.passwords,
                known=caller,
                # A body may take its time to come, so a write reads the clock when it begins.
                asked_at=None if known is None or declared.writes else known.asked_at,
                workspace_id=workspace_id,
            )
            request.state.ask = ask
            check_account(known, account_id)
            if declared.changes and not has_dry_run:
                check_dry_run(request)
            ask.body = await read_body(request, declared)
            try:
                async with take_shared_turn(request, declared, caller, workspace_id):
                    response = await handle(request)
            except Replayed as kept:
                replayed = {"idempotency-replayed": "true"}
                return Response(kept.body, kept.status, replayed, "application/json")
            except (Problem, EngineError):
                await ask.release_key()
                raise
            response.headers.update(ask.headers)
            for cookie in ask.cookies:
                response.headers.append("set-cookie", cookie)
            return response

        return guarded


def take_turn(request: Request, declared: Route) -> AbstractAsyncContextManager[None]:
    """Let a caller have a few requests in hand at once; an upload may take minutes, so it does not count."""
    token = _read_token(request)
    refused = token is None and announces_too_much(request, declared)
    if (token is None or _needs_no_turn(request, declared)) and not refused:
        return nullcontext()
    who = _address(request) if token is None else hash_token(token)
    fair_queue: FairQueue = request.app.state.fair_queue
    if fair_queue.is_full(who):
        raise _too_many(1, "Too many of your requests wait in line")
    if refused:  # nobody waits for its body, so it holds up no one but its own like
        return fair_queue.take(who, hasty=True)
    haste_bucket: TokenBucket = request.app.state.haste_bucket
    return fair_queue.take(who, hasty=haste_bucket.take(who) > 0)


def take_shared_turn(
    request: Request, declared: Route, caller: Caller | None, workspace_id: str
) -> AbstractAsyncContextManager[None]:
    """Serve a workspace that asks hastily, by however many keys, one request at a time."""
    if not _shares(caller, workspace_id) or _needs_no_turn(request, declared):
        return nullcontext()
    haste_bucket: TokenBucket = request.app.state.haste_bucket
    if not haste_bucket.take_shared(workspace_id):
        return nullcontext()
    fair_queue: FairQueue = request.app.state.fair_queue
    return fair_queue.take_single(f"workspace:{workspace_id}")


def _needs_no_turn(request: Request, declared: Route) -> bool:
    return declared.takes == "upload" or INSIDE in request.scope


def _read_token(request: Request) -> str | None:
    """Return what names the caller before anybody is asked, and nothing that they could vary."""
    given = request.headers.get("authorization")
    if given is None:
        return read_cookie(request, request.app.state.runtime.settings.public_url)
    return given.partition(" ")[2].strip()


def takes_dry_run(route: APIRoute) -> bool:
    """Say whether a route has a dry run."""
    requested = (route.dependant, *route.dependant.dependencies)
    return any(each.alias == "dry_run" for part in requested for each in part.query_params)


def check_dry_run(request: Request) -> None:
    """Refuse a dry run that the route does not have, instead of doing the real thing."""
    if request.query_params.get("dry_run", "false").lower() not in ("false", "0", "no", "off"):
        raise invalid("query.dry_run", "this cannot be tried without doing it", "no_dry_run")


async def identify(
    request: Request, runtime: Runtime, workspace_id: str, account_id: str | None = None
) -> IdentifiedCaller | None:
    """Say who is asking; a key that is wrong is refused, not taken for nobody."""
    given = request.headers.get("authorization")
    if given is not None:
        look = _by_key(given, workspace_id, account_id)
    else:
        token = read_cookie(request, runtime.settings.public_url)
        if token is None:
            return None
        look = partial(
            identify_session,
            token_hash=hash_token(token),
            workspace_id=workspace_id,
            account_id=account_id,
        )
    known = await runtime.operations.peek(look)
    if known is None:
        if given is not None:
            raise _unknown_key()
        return None
    if known.workspace_id is not None and workspace_id not in ("", known.workspace_id):
        raise not_found("workspace")
    if known.touch is not None:
        await runtime.operations.run(known.touch)
    return known


def _by_key(given: str, workspace_id: str, account_id: str | None) -> Peek[IdentifiedCaller | None]:
    kind, _, text = given.partition(" ")
    parts = split_key(text.strip()) if kind.lower() == "bearer" else None
    if parts is None:
        raise _unknown_key()
    prefix, secret = parts
    return partial(
        identify_key,
        prefix=prefix,
        secret_hash=hash_token(secret),
        workspace_id=workspace_id,
        account_id=account_id,
    )


async def limit_caller(request: Request, caller: Caller | None) -> None:
    """Let a caller who asks too much at once wait, or refuse, so that others are served."""
    who = _address(request) if caller is None else caller.person_id or caller.by
    bucket: TokenBucket = request.app.state.bucket
    await _wait(request, bucket.take(who), "That is too much at once")


def _address(request: Request) -> str:
    """Name a stranger: by whom their address belongs to."""
    return f"from:{owner_of(request.client.host if request.client else 'unknown')}"


async def limit_workspace(request: Request, caller: Caller | None, workspace_id: str) -> None:
    """Let a workspace that asks too much at once wait, or refuse; only those who belong to it count."""
    if _shares(caller, workspace_id):
        bucket: TokenBucket = request.app.state.bucket
        await _wait(
            request, bucket.take_shared(workspace_id), "This workspace asks too much at once"
        )


def _shares(caller: Caller | None, workspace_id: str) -> bool:
    return bool(workspace_id) and caller is not None and caller.role is not None


async def _wait(request: Request, seconds: float, message: str) -> None:
    """Wait in the caller's turn, so that whoever does not heed a refusal asks no faster either."""
    if seconds:
        await request.app.state.runtime.clock.sleep(min(seconds, PATIENCE))
    if seconds > PATIENCE:
        raise _too_many(math.ceil(seconds), message)


def _too_many(seconds: int, message: str) -> Problem:
    after = {"retry-after": str(seconds)}
    return Problem(429, "too_many", f"{message}: go on in {seconds} seconds.", headers=after)


def admit(declared: Route, caller: Caller | None, workspace_id: str) -> None:
    """Let the caller in, or refuse."""
    needs = declared.needs
    if needs is Access.ANYONE:
        return
    if caller is None:
        raise Problem(
            401,
            "not_signed_in",
            "Sign in first, or send an API key as a bearer.",
            headers={"www-authenticate": "Bearer"},
        )
    if needs is Access.KEY:
        if caller.key_id is None:
            raise Problem(403, "key_needed", "This is about a key: send one as Bearer.")
        return
    if isinstance(needs, Role) and caller.role is None:
        raise not_found("workspace")
    if caller.scopes is not None and (
        declared.scope is None or declared.scope not in caller.scopes
    ):
        wanted = declared.scope or "a person instead of a key"
        raise Problem(403, "scope_needed", f"This key may not do this: it needs {wanted}.")
    if needs is Access.INSTANCE and not caller.instance_owner:
        raise Problem(403, "owner_needed", "Only an owner of this installation may do this.")
    if needs is Access.INSTANCE and declared.changes and caller.key_id is not None:
        needs = Role.EDITOR  # a key that may only look changes nothing, whoever made it
    if isinstance(needs, Role):
        assert caller.role is not None
        if not caller.role.covers(needs):
            raise Problem(
                403, "role_needed", f"You are {caller.role} here; this needs {needs}.", needs=needs
            )


def check_account(known: IdentifiedCaller | None, account_id: str | None) -> None:
    """Refuse a path about an account that is not in this workspace, or not on the caller's list."""
    if account_id is None:
        return
    if known is None or not (known.account_there and known.caller.may_use(account_id)):
        raise not_found("account")


def check_browser(request: Request, declared: Route, public_url: str) -> None:
    """Refuse what another site made a browser send, and keys in addresses."""
    requested = request.query_params
    named = _KEY_WORDS & {name.lower() for name in requested}
    if named or any(split_key(value) for value in requested.values()):
        raise Problem(400, "key_in_address", "Send a key in the Authorization header, never here.")
    if not declared.writes or declared.from_any_site or "authorization" in request.headers:
        return
    site = request.headers.get("sec-fetch-site", "same-origin")
    origin = request.headers.get("origin")
    strange = origin is not None and _origin(origin) != _own_origin(request, public_url)
    if site not in ("same-origin", "none") or strange:
        raise Problem(403, "cross_site", "Another site may not do this for you.")
    has_cookie = read_cookie(request, public_url) is not None
    if has_cookie and declared.needs is not Access.ANYONE and not request.headers.get(CSRF):
        raise Problem(403, "csrf_header", f"Send the header {CSRF} with every write.")


def _own_origin(request: Request, public_url: str) -> tuple[str, str]:
    return _origin(public_url or f"{request.url.scheme}://{request.headers.get('host', '')}")


def _origin(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return ("", "")
    return parts.scheme, parts.netloc.lower()


def _unknown_key() -> Problem:
    return Problem(
        401,
        "unknown_key",
        "The key is unknown, was revoked or has ended.",
        headers={"www-authenticate": "Bearer"},
    )
