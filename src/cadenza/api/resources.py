"""Every resource of the API, by name; a resource is imported when one of its routes is asked for.

To add a resource, write its file and name it in `RESOURCES`; nothing else knows of it. Importing all of them takes a
second. A server needs them all; a command that works without a server needs two or three. `route_index.py`, which
is generated, says which file has the route. Limit: a route that it lacks is still found, but all are imported first.
"""

from collections.abc import Sequence
from functools import cache
from importlib import import_module

from fastapi.routing import APIRoute

from cadenza.api.authorize import Guarded
from cadenza.api.route_index import INDEX
from cadenza.api.route_lookup import Planned
from cadenza.api.routes import Access, Resource, Route, make_route

V1 = "/api/v1"
RESOURCES = (
    "account_holidays.routes",
    "account_use.routes",
    "external_sends.routes",
    "accounts.routes",
    "activity.routes",
    "attention.routes",
    "audiences.routes",
    "campaigns.routes",
    "audit.routes",
    "auth.routes",
    "calendar.routes",
    "categories.routes",
    "connect.routes",
    "contact_exports.routes",
    "contact_fields.routes",
    "contact_imports.routes",
    "contacts.routes",
    "attempts.routes",
    "deliveries.routes",
    "domain_check.routes",
    "events.routes",
    "exports.routes",
    "imports.routes",
    "inbound.routes",
    "inbox.routes",
    "jobs.routes",
    "keys.own",
    "keys.routes",
    "mailbox_imports.routes",
    "mailboxes.routes",
    "mcp.routes",
    "me.routes",
    "media.routes",
    "notices.routes",
    "cron_hooks.routes",
    "outreach.routes",
    "people.routes",
    "post_check.channels",
    "post_check.routes",
    "post_compose.routes",
    "posts.routes",
    "post_actions.routes",
    "queue_actions.routes",
    "queue_order.routes",
    "queues.routes",
    "recipient_channels.routes",
    "rules.routes",
    "sequences.routes",
    "signup_forms.routes",
    "suppression.routes",
    "system.routes",
    "templates.messages",
    "templates.routes",
    "workspaces.routes",
)
PLACES = (
    *((V1, name) for name in RESOURCES),
    ("", "health.routes"),
    ("", "public_media.routes"),
    ("", "unsubscribe.routes"),
    ("", "sign_up.routes"),
    ("", "inbound.intake"),
    ("", "connect.notices"),
)


def load_resource(name: str) -> Resource:
    """Import one."""
    module, _, resource = name.partition(".")
    return getattr(import_module(f"cadenza.api.{module}"), resource)


@cache
def declared_routes() -> Sequence[tuple[str, str, Route]]:
    """Import all; return each route in the order that decides, with its prefix and its resource's name."""
    return tuple(
        (prefix, name, each) for prefix, name in PLACES for each in load_resource(name).declared
    )


@cache
def known_scopes() -> frozenset[str]:
    """Return what keys may hold."""
    return frozenset(each.scope for _, _, each in declared_routes() if each.scope is not None)


@cache
def installation_scopes() -> frozenset[str]:
    """Return what only a key of an owner of the installation may hold."""
    return frozenset(
        each.scope
        for _, _, each in declared_routes()
        if each.scope is not None and each.needs is Access.INSTANCE
    )


@cache
def all_routes() -> Sequence[Planned]:
    """List the routes as they are declared; all are imported for it."""
    return tuple(
        Planned(
            each.method,
            prefix + each.path,
            lambda each=each, prefix=prefix, name=name: _make(each, prefix, name),
        )
        for prefix, name, each in declared_routes()
    )


@cache
def indexed_routes() -> Sequence[Planned]:
    """List the routes by the index; nothing is imported for it."""
    return tuple(
        Planned(method, prefix + path, lambda words=(method, path, prefix, name): _find(*words))
        for method, path, prefix, name in INDEX
    )


def _find(method: str, path: str, prefix: str, name: str) -> APIRoute | None:
    """Import the resource that the index names; None where it has no such route any more."""
    for each in load_resource(name).declared:
        if (each.method, each.path) == (method, path):
            return _make(each, prefix, name)
    return None


_made: dict[tuple[str, str], APIRoute] = {}  # they know no application but that of the request


def _make(each: Route, prefix: str, name: str) -> APIRoute:
    key = (each.method, prefix + each.path)
    if key not in _made:
        tag = load_resource(name).tag
        _made[key] = make_route(tag, each, prefix=prefix, route_class=Guarded)
    return _made[key]
