"""Requests as LinkedIn's versioned API wants them: version and protocol named on every one.

The version is a setting of the app (`version`), since each lives for about a year only.
"""

from typing import Any
from urllib.parse import quote

from cadenza.providers.base import AttemptContext
from cadenza.providers.http.redact import Secret
from cadenza.providers.http.request import Json, Request, Timeouts
from cadenza.providers.message import App
from cadenza.providers.reply import bearer

API = "https://api.linkedin.com"
SIGN_IN = "https://www.linkedin.com"
VERSION = "202606"


def api_url(app: App) -> str:
    """Return where the API lives."""
    return (app.base_url or API).rstrip("/")


def sign_in_url(app: App) -> str:
    """Return where people sign in and tokens are handed out."""
    return (app.options.get("sign_in_url") or SIGN_IN).rstrip("/")


def headers(app: App, token: Secret) -> dict[str, str | Secret]:
    """Return what every call carries."""
    return {
        "authorization": bearer(token),
        "linkedin-version": app.options.get("version") or VERSION,
        "x-restli-protocol-version": "2.0.0",
    }


def read(call: AttemptContext, path: str) -> Request:
    """Make a request that reads."""
    token = call.tokens.access
    return Request("GET", api_url(call.app) + path, headers(call.app, token), secrets=(token,))


def write(call: AttemptContext, path: str, body: dict[str, Any], *, repeatable: bool) -> Request:
    """Make a request that writes; only what stays invisible is repeatable."""
    token = call.tokens.access
    return Request(
        "POST",
        api_url(call.app) + path,
        headers(call.app, token),
        Json(body),
        timeout=Timeouts(connect=10, read=30, total=30),
        idempotent=repeatable,
        secrets=(token,),
    )


def encoded(urn: str) -> str:
    """Write a URN as it stands in paths and queries."""
    return quote(urn, safe="")
