"""Tokens of sixty days, as Instagram's and Threads' own sign-ins hand them out.

A code becomes a token of an hour, that one a token of sixty days, and this one its successor, if it is
at least a day old and still alive. There is no refresh token: what has run out is connected again.
"""

from collections.abc import Mapping
from datetime import timedelta

from cadenza.providers.http.redact import Secret
from cadenza.providers.http.request import Form, Request
from cadenza.providers.message import Tokens
from cadenza.providers.meta.graph import QUICK
from cadenza.providers.meta.signin import NO_APP, SignInDialog, token_of
from cadenza.providers.outcome import Disconnected, Outcome, Rejected, Transient, Unconfirmed
from cadenza.providers.reply import HttpSuccess

NO_TOKEN = "No token was given; start again."  # noqa: S105 - words for a person
YOUNGEST = timedelta(hours=24)


async def exchange_code(
    door: SignInDialog, url: str, code: Secret, redirect_uri: str
) -> Secret | Outcome:
    """Exchange a code for the short token; the browser brings it with `#_` at its end."""
    app = door.app
    if app.client_secret is None or not app.client_id:
        return Rejected(NO_APP, "no_app")
    bare = Secret(code.reveal().removesuffix("#_"))
    fields: Mapping[str, str | Secret] = {
        "client_id": app.client_id,
        "client_secret": app.client_secret,
        "grant_type": "authorization_code",
        "redirect_uri": redirect_uri,
        "code": bare,
    }
    got = await door.ask(
        Request("POST", url, body=Form(fields), timeout=QUICK, secrets=(bare, app.client_secret))
    )
    if isinstance(got, Unconfirmed):
        return Transient("No answer came; start the sign-in again.")
    if not isinstance(got, HttpSuccess):
        return got
    listed = got.at("data")
    first = listed[0] if isinstance(listed, list) and listed else got.data
    token = first.get("access_token") if isinstance(first, dict) else None
    return Secret(str(token)) if token else Rejected(NO_TOKEN, "no_token")


async def lengthen(door: SignInDialog, token: Secret, grant: str) -> Tokens | Outcome:
    """Exchange the short token for the long one."""
    if door.app.client_secret is None:
        return Rejected(NO_APP, "no_app")
    query = {
        "grant_type": grant,
        "client_secret": door.app.client_secret,
        "access_token": token,
    }
    return _read(await door.exchange("access_token", query), door)


async def renew(door: SignInDialog, tokens: Tokens, grant: str) -> Tokens | Outcome:
    """Exchange the long token for its successor."""
    age = door.now - tokens.refreshed_at if tokens.refreshed_at else YOUNGEST
    if age < YOUNGEST:
        # Nobody renews so young a token but because it was refused: it was revoked.
        return Disconnected("The token is not accepted, and too young to be renewed.", "young")
    query = {"grant_type": grant, "access_token": tokens.access}
    renewed = _read(await door.exchange("refresh_access_token", query), door)
    # A success without a token is no word of Meta's: something in between spoke, and it passes.
    missing = isinstance(renewed, Rejected) and renewed.code == "no_token"
    return Transient(NO_TOKEN) if missing else renewed


def _read(got: HttpSuccess | Outcome, door: SignInDialog) -> Tokens | Outcome:
    if not isinstance(got, HttpSuccess):
        return got
    return token_of(got, door.now) or Rejected(NO_TOKEN, "no_token")
