"""The application: every resource of one list, behind one gate, with one shape of errors.

To add a resource, write its file and name it in `RESOURCES`; nothing else knows of it. The OpenAPI
document is made from the same declarations that are enforced.
"""

import asyncio
from collections.abc import Sequence
from functools import cache, partial
from typing import Any

from fastapi import FastAPI

from cadenza.api import (
    account_holidays,
    account_use,
    accounts,
    activity,
    attempts,
    attention,
    audiences,
    audit,
    auth,
    calendar,
    campaigns,
    categories,
    connect,
    contact_exports,
    contact_fields,
    contact_imports,
    contacts,
    cron_hooks,
    deliveries,
    domain_check,
    events,
    exports,
    external_sends,
    health,
    imports,
    inbound,
    inbox,
    jobs,
    keys,
    mailboxes,
    mcp,
    me,
    media,
    notices,
    outreach,
    people,
    post_actions,
    post_check,
    post_compose,
    posts,
    public_media,
    queue_actions,
    queue_order,
    queues,
    recipient_channels,
    rules,
    sequences,
    sign_up,
    signup_forms,
    suppression,
    system,
    templates,
    unsubscribe,
    workspaces,
)
from cadenza.api.authorize import Guarded
from cadenza.api.middleware import RequestGuard
from cadenza.api.problems import HANDLERS, ProblemView
from cadenza.api.rate_limit import HASTE, SHARED, SHARED_HASTE, FairQueue, Pace, TokenBucket
from cadenza.api.route_lookup import Finder, Planned
from cadenza.api.routes import Access, Resource, make_route
from cadenza.api.web_app import pages_route
from cadenza.bootstrap.model import Runtime
from cadenza.people.passwords import Passwords

V1 = "/api/v1"
RESOURCES: tuple[Resource, ...] = (
    account_holidays.routes,
    account_use.routes,
    external_sends.routes,
    accounts.routes,
    activity.routes,
    attention.routes,
    audiences.routes,
    campaigns.routes,
    audit.routes,
    auth.routes,
    calendar.routes,
    categories.routes,
    connect.routes,
    contact_exports.routes,
    contact_fields.routes,
    contact_imports.routes,
    contacts.routes,
    attempts.routes,
    deliveries.routes,
    domain_check.routes,
    events.routes,
    exports.routes,
    imports.routes,
    inbound.routes,
    inbox.routes,
    jobs.routes,
    keys.own,
    keys.routes,
    mailboxes.routes,
    mcp.routes,
    me.routes,
    media.routes,
    notices.routes,
    cron_hooks.routes,
    outreach.routes,
    people.routes,
    post_check.channels,
    post_check.routes,
    post_compose.routes,
    posts.routes,
    post_actions.routes,
    queue_actions.routes,
    queue_order.routes,
    queues.routes,
    recipient_channels.routes,
    rules.routes,
    sequences.routes,
    signup_forms.routes,
    suppression.routes,
    system.routes,
    templates.messages,
    templates.routes,
    workspaces.routes,
)
PLACES: tuple[tuple[str, Resource], ...] = (
    *((V1, resource) for resource in RESOURCES),
    ("", health.routes),
    ("", public_media.routes),
    ("", unsubscribe.routes),
    ("", sign_up.routes),
    ("", inbound.intake),
    ("", connect.notices),
)
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
    app.router = Finder(_planned(), last=pages_route())
    app.state.runtime = runtime
    app.state.stop = stop or asyncio.Event()
    app.state.passwords = Passwords()
    app.state.bucket = TokenBucket(runtime.clock, pace or Pace(), shared)
    app.state.fair_queue = FairQueue(clock=runtime.clock)
    app.state.haste_bucket = TokenBucket(runtime.clock, HASTE, SHARED_HASTE)
    app.state.signup_bucket = TokenBucket(runtime.clock, sign_up.PACE)
    app.state.sns_certificates = {}  # of Amazon, by address
    app.state.declared = {
        each.handler: each for _, resource in PLACES for each in resource.declared
    }
    declared = app.state.declared.values()
    app.state.scopes = frozenset(each.scope for each in declared if each.scope is not None)
    app.state.installation_scopes = frozenset(
        each.scope for each in declared if each.scope is not None and each.needs is Access.INSTANCE
    )
    for kind, handler in HANDLERS.items():
        app.add_exception_handler(kind, handler)
    app.add_middleware(RequestGuard, runtime=runtime)
    _describe(app)
    return app


@cache
def _planned() -> Sequence[Planned]:
    """List the routes: made once for a process, since they know no application but that of the request."""
    return tuple(
        Planned(
            each.method,
            prefix + each.path,
            cache(partial(make_route, resource.tag, each, prefix=prefix, route_class=Guarded)),
        )
        for prefix, resource in PLACES
        for each in resource.declared
    )


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
