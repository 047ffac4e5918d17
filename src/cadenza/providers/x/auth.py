"""Connect an X account: OAuth 2 with PKCE; tokens of two hours, renewed by tokens that are good once.

A refresh that got no answer may have used its token up: that is `Unconfirmed`, and the caller asks for
a reconnect instead of playing the token again. An answer of 5xx is trouble that passes, and disconnects
nobody. The caller keeps the new pair before using it, one refresh at a time.
"""

import base64
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import quote, urlencode

from cadenza.providers.base import AttemptContext
from cadenza.providers.connect import Connected, Connecting, Field, Redirect
from cadenza.providers.http.outcome import MayHaveArrived
from cadenza.providers.http.redact import Secret
from cadenza.providers.http.request import Form, Request
from cadenza.providers.message import App, Tokens
from cadenza.providers.outcome import (
    NOTHING_TO_RENEW,
    Disconnected,
    Outcome,
    Rejected,
    Transient,
    Unconfirmed,
)
from cadenza.providers.pkce import challenged
from cadenza.providers.read_tokens import read_tokens
from cadenza.providers.reply import HttpSuccess, ask_through, bearer, judge, secrets_of
from cadenza.providers.x.errors import SIGN_IN, TABLE
from cadenza.providers.x.requests import SIGN_IN as SIGN_IN_HOST
from cadenza.providers.x.requests import api_url

SCOPES = "tweet.read tweet.write users.read media.write offline.access"
NO_ANSWER = "X did not answer."


class XConnector:
    """Sign in with X."""

    fields: tuple[Field, ...] = ()

    async def begin(self, connecting: Connecting) -> Redirect | tuple[Connected, ...] | Outcome:
        """Say where to send the person; the verifier waits here for them."""
        app = connecting.app
        if not app.client_id or not connecting.verifier:
            return Rejected("X needs an app: set its id.", "no_app")
        query = {
            "response_type": "code",
            "client_id": app.client_id,
            "redirect_uri": connecting.redirect_uri,
            "scope": SCOPES,
            "state": connecting.state,
            **challenged(connecting.verifier),
        }
        host = (app.options.get("sign_in_url") or SIGN_IN_HOST).rstrip("/")
        url = f"{host}/i/oauth2/authorize?{urlencode(query, quote_via=quote)}"
        return Redirect(url, {"verifier": Secret(connecting.verifier)})

    async def complete(
        self, connecting: Connecting, keep: Mapping[str, Secret], code: Secret
    ) -> tuple[Connected, ...] | Outcome:
        """Exchange the code, which lives for half a minute, and ask who it is."""
        form = {
            "code": code,
            "redirect_uri": connecting.redirect_uri,
            "code_verifier": keep["verifier"],
        }
        request = _token_request(connecting.app, "authorization_code", form)
        secrets = (code, keep["verifier"])
        got = await ask_through(
            connecting.http, request, SIGN_IN, now=connecting.now, secrets=secrets
        )
        if isinstance(got, Unconfirmed):
            return Transient(f"{NO_ANSWER} Start the sign-in again.")
        if not isinstance(got, HttpSuccess):
            return got
        tokens = read_tokens(got, connecting.now)
        if tokens is None:
            return Rejected("X gave no token.", "no_token")
        return await _who(connecting, tokens)


async def renew(call: AttemptContext) -> Tokens | Outcome:
    """Exchange the refresh token; silence may have used it up, an answer of trouble has not."""
    if call.tokens.refresh is None:
        message = "X gave no refresh token; connect the account again."
        return Disconnected(message, NOTHING_TO_RENEW)
    request = _token_request(call.app, "refresh_token", {"refresh_token": call.tokens.refresh})
    result = await call.http.send(request)
    if isinstance(result, MayHaveArrived):
        return Unconfirmed(f"{NO_ANSWER} Its refresh token may be used up.")
    # What was answered is not lost: a 5xx may be tried again, so it is judged as repeatable.
    answered = replace(request, idempotent=True)
    got = judge(result, answered, SIGN_IN, now=call.now, secrets=secrets_of(call))
    if not isinstance(got, HttpSuccess):
        return got
    return read_tokens(got, call.now, before=call.tokens) or Unconfirmed("X gave no token.")


def _token_request(app: App, grant: str, form: Mapping[str, str | Secret]) -> Request:
    """Write the exchange: an app with a secret names itself in the header, one without in the form."""
    body: dict[str, str | Secret] = {"grant_type": grant, **form}
    headers: dict[str, str | Secret] = {}
    if app.client_secret is None:
        body["client_id"] = app.client_id
    else:
        pair = f"{quote(app.client_id, safe='')}:{quote(app.client_secret.reveal(), safe='')}"
        headers["authorization"] = Secret(f"Basic {base64.b64encode(pair.encode()).decode()}")
    return Request("POST", f"{api_url(app)}/2/oauth2/token", headers, Form(body))


async def _who(connecting: Connecting, tokens: Tokens) -> tuple[Connected, ...] | Outcome:
    url = f"{api_url(connecting.app)}/2/users/me"
    request = Request("GET", url, {"authorization": bearer(tokens.access)})
    got = await ask_through(
        connecting.http, request, TABLE, now=connecting.now, secrets=(tokens.access,)
    )
    if not isinstance(got, HttpSuccess):
        return got
    remote_id, name = got.text("data", "id"), got.text("data", "username")
    if remote_id is None or name is None:
        return Rejected("X did not say who signed in.", "no_account")
    shown = got.text("data", "name") or name
    return (Connected(remote_id=remote_id, handle=f"@{name}", name=shown, tokens=tokens),)
