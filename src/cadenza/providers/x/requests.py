"""Requests as X's second API wants them."""

from cadenza.providers.base import AttemptContext
from cadenza.providers.http.request import Body, Json, Request, Timeouts
from cadenza.providers.message import App
from cadenza.providers.reply import bearer

API = "https://api.x.com"
SIGN_IN = "https://x.com"
PIECE_TIME = Timeouts(connect=10, read=60, total=300)


def api_url(app: App) -> str:
    """Return where the API lives."""
    return (app.base_url or API).rstrip("/")


def read(call: AttemptContext, path: str) -> Request:
    """Make a request that reads."""
    token = call.tokens.access
    headers = {"authorization": bearer(token)}
    return Request("GET", api_url(call.app) + path, headers, secrets=(token,))


def write(call: AttemptContext, path: str, body: Body, *, repeatable: bool) -> Request:
    """Make a request that writes; only what stays invisible is repeatable."""
    token = call.tokens.access
    quick = Timeouts(connect=10, read=30, total=30)
    return Request(
        "POST",
        api_url(call.app) + path,
        {"authorization": bearer(token)},
        body,
        timeout=quick if isinstance(body, Json) else PIECE_TIME,
        idempotent=repeatable,
        secrets=(token,),
    )
