"""Is it alive, is it ready, what are its numbers, and what does it offer?

`/healthz` says that the process answers; `/readyz` that the database does and nothing is stopping. Both
are open and say no more, and so is whom to tell of a fault (`/.well-known/security.txt`, RFC 9116), once
somebody is named in the settings. Numbers and the OpenAPI document are for those who may see them.
"""

import asyncio
from datetime import timedelta
from typing import Any

from fastapi import Request, Response
from pydantic import BaseModel

from cadenza.api.problems import Problem, not_found
from cadenza.api.request_context import Reader
from cadenza.api.routes import ANYONE, INSTANCE, PERSON, Resource
from cadenza.sql.errors import SqlError

routes = Resource("health")
PATIENCE = 5.0
GOOD_FOR = timedelta(days=90)  # it is written again for each who asks


class Health(BaseModel):
    """All is well, or it was a problem."""

    status: str = "ok"


@routes.get("/healthz", needs=ANYONE)
async def alive(ask: Reader) -> Health:
    """Say that the process answers."""
    return Health()


@routes.get("/readyz", needs=ANYONE)
async def ready(ask: Reader) -> Health:
    """Say that the database answers and that nothing is stopping."""
    if ask.request.app.state.stop.is_set():
        raise Problem(503, "stopping", "This process is stopping.")
    try:
        async with asyncio.timeout(PATIENCE):
            await ask.read(lambda tx, _: tx.value("SELECT 1 AS one"))
    except (SqlError, TimeoutError, OSError) as error:
        raise Problem(503, "unavailable", "The database does not answer.") from error
    return Health()


@routes.get("/.well-known/security.txt", needs=ANYONE, include_in_schema=False)
async def security_contact(ask: Reader) -> Response:
    """Say whom to tell of a fault in this installation."""
    settings = ask.runtime.settings
    if not settings.security_contact:
        raise not_found("page")
    until = (ask.runtime.clock.now() + GOOD_FOR).strftime("%Y-%m-%dT%H:%M:%SZ")
    lines = [f"Contact: {settings.security_contact}", f"Expires: {until}"]
    if settings.public_url.startswith("https://"):
        lines.append(f"Canonical: {settings.home}/.well-known/security.txt")
    return Response("\n".join([*lines, ""]), media_type="text/plain; charset=utf-8")


@routes.get("/api/v1/openapi.json", needs=PERSON, scope="system:read", include_in_schema=False)
async def openapi(ask: Reader, request: Request) -> dict[str, Any]:
    """Show what this API offers."""
    return request.app.openapi()


@routes.get("/metrics", needs=INSTANCE, scope="system:read", include_in_schema=False)
async def metrics(ask: Reader) -> Response:
    """Show the numbers, for Prometheus."""
    from cadenza.api.metrics import render

    return Response(await render(ask), media_type="text/plain; version=0.0.4; charset=utf-8")
