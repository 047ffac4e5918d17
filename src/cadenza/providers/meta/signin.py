"""Sign in with Facebook: the person's long token, and the tokens of the pages that it opens.

A code becomes a token of hours, that one a token of sixty days, and with it every page hands out its
own token, which has no date of expiry but dies with the person's. The person's token is kept beside it
(`extra["user"]`): renewing means exchanging that one and reading the page's again. `/me/accounts` may
hide pages of a business, so the page ids that the sign-in granted are read one by one as well.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from cadenza.providers.connect import Connecting
from cadenza.providers.errors import Table
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.redact import Secret
from cadenza.providers.http.request import Request
from cadenza.providers.message import App, Tokens
from cadenza.providers.meta.graph import FACEBOOK, QUICK, VERSION, graph
from cadenza.providers.outcome import (
    NOTHING_TO_RENEW,
    Disconnected,
    Outcome,
    Rejected,
    Transient,
)
from cadenza.providers.read_tokens import lasts
from cadenza.providers.reply import HttpSuccess, ask_through

WWW = "https://www.facebook.com"
USER = "user"  # where the person's token lies among a page's
PAGES_AT_MOST = 20  # of the list, a hundred entries each
NO_APP = "Name the app's id and secret in the settings first."


@dataclass(frozen=True, slots=True)
class SignInDialog:
    """What every step of a sign-in needs."""

    http: OutboundClient
    app: App
    now: datetime
    table: Table
    base: str = FACEBOOK

    @property
    def version(self) -> str:
        return self.app.options.get("version") or VERSION

    async def ask(self, request: Request) -> HttpSuccess | Outcome:
        app_secret = (self.app.client_secret,) if self.app.client_secret else ()
        secrets = (*request.secrets, *app_secret)
        return await ask_through(self.http, request, self.table, now=self.now, secrets=secrets)

    async def read(
        self, token: Secret, path: str, query: Mapping[str, str]
    ) -> HttpSuccess | Outcome:
        return await self.ask(graph(self.app, token, base=self.base).get(path, query))

    async def exchange(self, path: str, query: Mapping[str, str | Secret]) -> HttpSuccess | Outcome:
        """Ask for a token; secrets stand in the address here, so they are named."""
        plain = {k: v.reveal() if isinstance(v, Secret) else v for k, v in query.items()}
        secrets = tuple(value for value in query.values() if isinstance(value, Secret))
        url = f"{self.base.rstrip('/')}/{path}?{urlencode(plain)}"
        return await self.ask(Request("GET", url, timeout=QUICK, secrets=secrets))


def dialog(connecting: Connecting, page: str, scopes: tuple[str, ...]) -> str:
    """Return where the person is sent."""
    query = {
        "client_id": connecting.app.client_id,
        "redirect_uri": connecting.redirect_uri,
        "response_type": "code",
        "scope": ",".join(scopes),
        "state": connecting.state,
    }
    return f"{page}?{urlencode(query)}"


def facebook_dialog(connecting: Connecting, scopes: tuple[str, ...]) -> str:
    """Return Facebook's own page for that."""
    www = connecting.app.options.get("www") or WWW
    version = connecting.app.options.get("version") or VERSION
    return dialog(connecting, f"{www.rstrip('/')}/{version}/dialog/oauth", scopes)


def token_of(got: HttpSuccess, now: datetime) -> Tokens | None:
    """Read a token and its end from an answer; without a named end it has none."""
    token = got.text("access_token")
    life = lasts(got.at("expires_in"))
    ends = now + life if life else None
    return Tokens(access=Secret(token), expires_at=ends, refreshed_at=now) if token else None


async def user_token(door: SignInDialog, code: Secret, redirect_uri: str) -> Tokens | Outcome:
    """Exchange a code for the person's token of sixty days."""
    app = door.app
    if app.client_secret is None or not app.client_id:
        return Rejected(NO_APP, "no_app")
    query = {
        "client_id": app.client_id,
        "client_secret": app.client_secret,
        "redirect_uri": redirect_uri,
        "code": code,
    }
    got = await door.exchange(f"{door.version}/oauth/access_token", query)
    if not isinstance(got, HttpSuccess):
        return got
    short = token_of(got, door.now)
    return await lengthen(door, short.access) if short else _no_token()


async def lengthen(door: SignInDialog, token: Secret) -> Tokens | Outcome:
    """Exchange a person's token for one that lives sixty days from now; an expired one is refused."""
    app = door.app
    if app.client_secret is None or not app.client_id:
        return Rejected(NO_APP, "no_app")
    query = {
        "grant_type": "fb_exchange_token",
        "client_id": app.client_id,
        "client_secret": app.client_secret,
        "fb_exchange_token": token,
    }
    got = await door.exchange(f"{door.version}/oauth/access_token", query)
    if not isinstance(got, HttpSuccess):
        return got
    return token_of(got, door.now) or _no_token()


async def renew_page(door: SignInDialog, tokens: Tokens, page: str) -> Tokens | Outcome:
    """Renew the person's token and read the page's own again with it."""
    user = tokens.extra.get(USER)
    if user is None:
        message = "The person's token is not known; connect the page again."
        return Disconnected(message, NOTHING_TO_RENEW)
    fresh = await lengthen(door, user)
    if isinstance(fresh, Rejected) and fresh.code == "no_token":
        # A success without a token is no word of Meta's: something in between spoke, and it passes.
        return Transient(fresh.message)
    if not isinstance(fresh, Tokens):
        return fresh
    got = await door.read(fresh.access, page, {"fields": "access_token"})
    if not isinstance(got, HttpSuccess):
        return got
    token = got.text("access_token")
    if token is None and got.text("id") is None:
        return Transient("Meta did not show the page.")
    if token is None:
        return Disconnected("The page gave no token: the person has no role there any more.")
    return page_tokens(fresh, Secret(token))


def page_tokens(user: Tokens, page: Secret) -> Tokens:
    """Put a page's token and the person's together; the end is that of the person's."""
    return Tokens(
        access=page,
        expires_at=user.expires_at,
        refreshed_at=user.refreshed_at,
        extra={USER: user.access},
    )


async def pages(door: SignInDialog, user: Secret, fields: str) -> list[dict[str, Any]] | Outcome:
    """List the pages that a person opened to us, with their tokens."""
    found: dict[str, dict[str, Any]] = {}
    async for got in _listed(door, user, fields):
        if not isinstance(got, HttpSuccess):
            return got
        for each in _dicts(got.at("data")):
            found[str(each.get("id"))] = each
    for page in await _granted(door, user):
        if page not in found:
            got = await door.read(user, page, {"fields": fields})
            if isinstance(got, HttpSuccess) and isinstance(got.data, dict):
                found[page] = got.data
    return [each for each in found.values() if each.get("id") and each.get("access_token")]


async def _listed(
    door: SignInDialog, user: Secret, fields: str
) -> AsyncIterator[HttpSuccess | Outcome]:
    after = ""
    for _ in range(PAGES_AT_MOST):
        query = {"fields": fields, "limit": "100", **({"after": after} if after else {})}
        got = await door.read(user, "me/accounts", query)
        yield got
        after = got.text("paging", "cursors", "after") or "" if isinstance(got, HttpSuccess) else ""
        if not after or (isinstance(got, HttpSuccess) and not got.at("paging", "next")):
            return


async def _granted(door: SignInDialog, user: Secret) -> list[str]:
    """Return the ids that the sign-in named, also those that the list hides."""
    app = door.app
    if app.client_secret is None:
        return []
    ours = Secret(f"{app.client_id}|{app.client_secret.reveal()}")
    query = {"input_token": user, "access_token": ours}
    got = await door.exchange(f"{door.version}/debug_token", query)
    scopes = got.at("data", "granular_scopes") if isinstance(got, HttpSuccess) else None
    targets = [each.get("target_ids") for each in _dicts(scopes)]
    ids = [str(one) for each in targets if isinstance(each, list) for one in each]
    return list(dict.fromkeys(ids))


def _dicts(value: object) -> list[dict[str, Any]]:
    """Take what is an object out of what should be a list of them."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _no_token() -> Outcome:
    return Rejected("Meta gave no token; start the sign-in again.", "no_token")
