"""Connect LinkedIn: one sign-in brings the profile and, where the app may, the organisations it runs.

Tokens live 60 days. Refresh tokens exist for approved apps only and keep the end they were born with;
without one the person signs in again. LinkedIn has no PKCE for apps with a secret, so `state` alone
binds the way back.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from cadenza.providers.base import AttemptContext
from cadenza.providers.connect import Connected, Connecting, Field, Redirect
from cadenza.providers.http.redact import Secret
from cadenza.providers.http.request import Form, Request
from cadenza.providers.linkedin.errors import SIGN_IN, TABLE
from cadenza.providers.linkedin.speak import api_url, headers, sign_in_url
from cadenza.providers.message import App, Tokens
from cadenza.providers.outcome import (
    NOTHING_TO_RENEW,
    Disconnected,
    Outcome,
    Rejected,
    Transient,
    Unconfirmed,
)
from cadenza.providers.read_tokens import read_tokens
from cadenza.providers.reply import HttpSuccess, ask, ask_through

PROFILE_SCOPES = "openid profile w_member_social"
ORGANISATION_SCOPES = "r_organization_social w_organization_social rw_organization_admin"
# LinkedIn's pages spell the second role in both ways.
MAY_POST = frozenset(
    {
        "ADMINISTRATOR",
        "CONTENT_ADMIN",
        "CONTENT_ADMINISTRATOR",
        "DIRECT_SPONSORED_CONTENT_POSTER",
    }
)
A_LIST, LISTS_AT_MOST = 100, 20
TOKEN_PATH = "/oauth/v2/accessToken"  # noqa: S105 - a path


class LinkedInConnector:
    """Sign in with LinkedIn."""

    fields: tuple[Field, ...] = ()

    async def begin(self, connecting: Connecting) -> Redirect | tuple[Connected, ...] | Outcome:
        """Say where to send the person."""
        app = connecting.app
        if not app.client_id or app.client_secret is None:
            return Rejected("LinkedIn needs an app: set its id and secret.", "no_app")
        query = {
            "response_type": "code",
            "client_id": app.client_id,
            "redirect_uri": connecting.redirect_uri,
            "state": connecting.state,
            "scope": scopes(app),
        }
        return Redirect(f"{sign_in_url(app)}/oauth/v2/authorization?{urlencode(query)}")

    async def complete(
        self, connecting: Connecting, keep: Mapping[str, Secret], code: Secret
    ) -> tuple[Connected, ...] | Outcome:
        """Exchange the code, then ask who it is and which organisations they run."""
        app = connecting.app
        form = {"code": code, "redirect_uri": connecting.redirect_uri}
        request = _token_request(app, "authorization_code", form)
        got = await ask_through(
            connecting.http, request, SIGN_IN, now=connecting.now, secrets=(code,)
        )
        if isinstance(got, Unconfirmed):
            return Transient("LinkedIn did not answer; start the sign-in again.")
        if not isinstance(got, HttpSuccess):
            return got
        tokens = read_tokens(got, connecting.now)
        if tokens is None:
            return Rejected("LinkedIn gave no token.", "no_token")
        person = await _person(connecting, tokens)
        if not isinstance(person, Connected) or not _runs_pages(app):
            return (person,) if isinstance(person, Connected) else person
        return (person, *await _organisations(connecting, tokens))


def scopes(app: App) -> str:
    """Return what is asked for: organisations only where LinkedIn lets the app ask."""
    return f"{PROFILE_SCOPES} {ORGANISATION_SCOPES}" if _runs_pages(app) else PROFILE_SCOPES


async def renew(call: AttemptContext) -> Tokens | Outcome:
    """Exchange a refresh token; a lost answer does no harm, since the token keeps its value."""
    if call.tokens.refresh is None:
        message = "LinkedIn gave no refresh token; connect the account again."
        return Disconnected(message, NOTHING_TO_RENEW)
    form = {"refresh_token": call.tokens.refresh}
    got = await ask(call, _token_request(call.app, "refresh_token", form), SIGN_IN)
    if not isinstance(got, HttpSuccess):
        return got
    return read_tokens(got, call.now, before=call.tokens) or Transient("LinkedIn gave no token.")


def _token_request(app: App, grant: str, form: Mapping[str, str | Secret]) -> Request:
    body: dict[str, str | Secret] = {"grant_type": grant, **form, "client_id": app.client_id}
    if app.client_secret is not None:
        body["client_secret"] = app.client_secret
    # A code is good once; a refresh token may be used again.
    repeatable = grant == "refresh_token"
    url = sign_in_url(app) + TOKEN_PATH
    return Request("POST", url, body=Form(body), idempotent=repeatable)


async def _person(connecting: Connecting, tokens: Tokens) -> Connected | Outcome:
    got = await _get(connecting, "/v2/userinfo", tokens)
    if not isinstance(got, HttpSuccess):
        return got
    sub = got.text("sub")
    if sub is None:
        return Rejected("LinkedIn did not say who signed in.", "no_account")
    name = got.text("name") or "LinkedIn profile"
    return Connected(
        remote_id=f"urn:li:person:{sub}", handle=name, name=name, tokens=tokens, kind="profile"
    )


async def _organisations(connecting: Connecting, tokens: Tokens) -> list[Connected]:
    """Name the pages; that LinkedIn does not list them is no reason to lose the profile."""
    found: list[Connected] = []
    for urn in await _run(connecting, tokens):
        about = await _get(connecting, f"/rest/organizations/{urn.rpartition(':')[2]}", tokens)
        name = about.text("localizedName") if isinstance(about, HttpSuccess) else None
        handle = about.text("vanityName") if isinstance(about, HttpSuccess) else None
        found.append(
            Connected(
                remote_id=urn,
                handle=handle or name or urn,
                name=name or urn,
                tokens=tokens,
                kind="organisation",
            )
        )
    return found


async def _run(connecting: Connecting, tokens: Tokens) -> list[str]:
    """List the pages that the person may post for; LinkedIn shows ten at a time unless asked for more."""
    roles: dict[str, set[str]] = {}
    start = 0
    for _ in range(LISTS_AT_MOST):
        query = f"q=roleAssignee&state=APPROVED&start={start}&count={A_LIST}"
        got = await _get(connecting, f"/rest/organizationAcls?{query}", tokens)
        listed: Any = got.at("elements") if isinstance(got, HttpSuccess) else None
        if not isinstance(listed, list) or not listed:
            break
        start += len(listed)
        for each in listed:
            urn = each.get("organization") if isinstance(each, dict) else None
            if isinstance(urn, str):
                roles.setdefault(urn, set()).add(str(each.get("role")))
    return [urn for urn, held in roles.items() if held & MAY_POST]


async def _get(connecting: Connecting, path: str, tokens: Tokens) -> HttpSuccess | Outcome:
    url = api_url(connecting.app) + path
    carried = headers(connecting.app, tokens.access)
    request = Request("GET", url, carried, secrets=(tokens.access,))
    return await ask_through(
        connecting.http, request, TABLE, now=connecting.now, secrets=(tokens.access,)
    )


def _runs_pages(app: App) -> bool:
    return app.options.get("organisations", "") in {"yes", "true", "1"}
