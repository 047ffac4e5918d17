"""The application: every resource of `resources.py`, behind one gate, with one shape of errors.

The OpenAPI document is made from the same declarations that are enforced.
"""

import asyncio
from typing import Any

from fastapi import FastAPI

from cadenza.api.middleware import RequestGuard
from cadenza.api.problems import HANDLERS, ProblemView
from cadenza.api.rate_limit import (
    HASTE,
    SHARED,
    SHARED_HASTE,
    SIGN_UPS,
    FairQueue,
    Pace,
    TokenBucket,
)
from cadenza.api.resources import all_routes, indexed_routes
from cadenza.api.route_lookup import Finder
from cadenza.api.web_app import pages_route
from cadenza.bootstrap.model import Runtime
from cadenza.people.passwords import Passwords

_SECURITY = {
    "session": {"type": "apiKey", "in": "cookie", "name": "cadenza"},
    "key": {"type": "http", "scheme": "bearer"},
}


def create_app(
    runtime: Runtime,
    *,
    stop: asyncio.Event | None = None,
    pace: Pace | None = None,
    shared: Pace = SHARED,
) -> FastAPI:
    """Make the application; when `stop` is set, streams end and it is no longer ready.

    `pace` is how fast one caller may ask, `shared` how fast all of one workspace may.
    """
    app = FastAPI(
        title="Cadenza",
        version="1",
        summary="Schedules and publishes, once.",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.router = Finder(all_routes, indexed=indexed_routes(), last=pages_route())
    app.state.runtime = runtime
    app.state.stop = stop or asyncio.Event()
    app.state.passwords = Passwords()
    app.state.bucket = TokenBucket(runtime.clock, pace or Pace(), shared)
    app.state.fair_queue = FairQueue(clock=runtime.clock)
    app.state.haste_bucket = TokenBucket(runtime.clock, HASTE, SHARED_HASTE)
    app.state.signup_bucket = TokenBucket(runtime.clock, SIGN_UPS)
    app.state.sns_certificates = {}  # of Amazon, by address
    for kind, handler in HANDLERS.items():
        app.add_exception_handler(kind, handler)
    app.add_middleware(RequestGuard, runtime=runtime)
    _describe(app)
    return app


def _describe(app: FastAPI) -> None:
    """Add to the OpenAPI document what all routes share."""
    write = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = write()
            parts = document.setdefault("components", {})
            shape = ProblemView.model_json_schema(ref_template="#/components/schemas/{model}")
            definitions: dict[str, Any] = shape.pop("$defs", {})
            parts.setdefault("schemas", {}).update({"Problem": shape, **definitions})
            parts["securitySchemes"] = _SECURITY
        return app.openapi_schema or write()

    app.openapi = openapi  # FastAPI's own way to extend it
