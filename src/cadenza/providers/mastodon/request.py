"""Requests to the account's own server."""

from datetime import timedelta

from cadenza.providers.base import AttemptContext
from cadenza.providers.http.request import Request
from cadenza.providers.reply import bearer

AGAIN = timedelta(minutes=1)  # before a server that did not answer is asked once more


def base_url(call: AttemptContext) -> str:
    """Return the account's own server."""
    return str(call.account.settings.get("instance") or call.app.base_url).rstrip("/")


def read(call: AttemptContext, path: str) -> Request:
    """Make a request that reads."""
    headers = {"authorization": bearer(call.tokens.access), "accept-language": "en"}
    return Request("GET", base_url(call) + path, headers, secrets=(call.tokens.access,))
