"""Mailboxes that are signed in to with OAuth 2 instead of a password: Google's and Microsoft's (SASL XOAUTH2).

One sign-in on the provider's page (code flow with PKCE) brings a token of about an hour and one to renew it with. Mails
go out by SMTP as from any mailbox; the same token reads the mailbox by IMAP. Who signed in is read from the ID token,
which comes straight from the provider over TLS, so its signature proves nothing more. A whole sign-in at the mail
server proves the token before the account is connected. Limit: shared mailboxes and app-only access are not offered.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from cadenza.providers.base import AttemptContext
from cadenza.providers.connect import Connected, Connecting, Field, Redirect
from cadenza.providers.errors import (
    Refusal,
    Row,
    Table,
    disconnected,
    forbidden,
    transient,
    try_later,
)
from cadenza.providers.http.outcome import MayHaveArrived, Reply
from cadenza.providers.http.redact import Secret
from cadenza.providers.http.request import Form, Request
from cadenza.providers.mail_address import is_address
from cadenza.providers.message import AccountRef, App, Tokens
from cadenza.providers.outcome import (
    NOTHING_TO_RENEW,
    Disconnected,
    Outcome,
    Rejected,
    Transient,
    Unconfirmed,
    WaitScope,
)
from cadenza.providers.pkce import challenged
from cadenza.providers.read_tokens import read_tokens
from cadenza.providers.reply import HttpSuccess, ask_through, judge, secrets_of
from cadenza.providers.smtp.publish import Smtp, failure, server_of
from cadenza.providers.smtp.session import MailAccepted, deliver
from cadenza.providers.waits import retry_after

APP_CODES = ("invalid_client", "unauthorized_client")
CODES = frozenset(
    {
        *("invalid_request", "invalid_grant", *APP_CODES),
        *("interaction_required", "consent_required", "temporarily_unavailable"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MailIssuer:
    """Who hands out tokens for mailboxes, and where its mail servers are."""

    name: str
    title: str
    sign_in_url: str  # with {tenant}, where there is one
    sign_in_path: str
    exchange_url: str
    exchange_path: str
    scopes: str
    query: Mapping[str, str] = field(default_factory=dict[str, str])
    smtp_host: str
    smtp_port: int
    smtp_security: str
    imap_host: str


class OAuthMail(Smtp):
    """Mail by SMTP, with a token that is renewed."""

    def __init__(self, issuer: MailIssuer) -> None:
        super().__init__(issuer.name)
        self._issuer = issuer

    async def refresh(self, call: AttemptContext) -> Tokens | Outcome:
        """Exchange the refresh token; silence may have used it up, an answer of trouble has not."""
        title = self._issuer.title
        if call.tokens.refresh is None:
            message = f"{title} gave no refresh token; connect the account again."
            return Disconnected(message, NOTHING_TO_RENEW)
        form = {"refresh_token": call.tokens.refresh, "scope": self._issuer.scopes}
        request = _token_request(self._issuer, call.app, "refresh_token", form)
        result = await call.http.send(request)
        if isinstance(result, MayHaveArrived):
            # Google's refresh tokens keep their value, Microsoft's old ones too: asking again does no harm.
            return Transient(f"{title} did not answer.")
        got = judge(result, request, _table(title), now=call.now, secrets=secrets_of(call))
        if not isinstance(got, HttpSuccess):
            return got
        fresh = read_tokens(got, call.now, before=call.tokens)
        return fresh or Transient(f"{title} gave no token.")


class MailSignIn:
    """Sign in on the provider's page."""

    fields = (Field("from_name", "Name to send from", required=False),)

    def __init__(self, issuer: MailIssuer) -> None:
        self._issuer = issuer

    async def begin(self, connecting: Connecting) -> Redirect | tuple[Connected, ...] | Outcome:
        """Say where to send the person; the verifier waits here for them."""
        app, issuer = connecting.app, self._issuer
        if not app.client_id or app.client_secret is None or not connecting.verifier:
            return Rejected(f"{issuer.title} needs an app: set its id and secret.", "no_app")
        query = {
            "response_type": "code",
            "client_id": app.client_id,
            "redirect_uri": connecting.redirect_uri,
            "scope": issuer.scopes,
            "state": connecting.state,
            **challenged(connecting.verifier),
            **issuer.query,
        }
        host = app.options.get("sign_in_url") or issuer.sign_in_url
        url = f"{host.rstrip('/')}{_path(issuer.sign_in_path, app)}?"
        name = str(connecting.typed.get("from_name") or "").strip()
        keep = {"verifier": Secret(connecting.verifier), "from_name": Secret(name)}
        return Redirect(url + urlencode(query, quote_via=quote), keep)

    async def complete(
        self, connecting: Connecting, keep: Mapping[str, Secret], code: Secret
    ) -> tuple[Connected, ...] | Outcome:
        """Exchange the code, read who it is, and sign in once at the mail server."""
        issuer = self._issuer
        form = {
            "code": code,
            "redirect_uri": connecting.redirect_uri,
            "code_verifier": keep["verifier"],
        }
        request = _token_request(issuer, connecting.app, "authorization_code", form)
        secrets = (code, keep["verifier"])
        table = _table(issuer.title)
        got = await ask_through(
            connecting.http, request, table, now=connecting.now, secrets=secrets
        )
        if isinstance(got, Unconfirmed):
            return Transient(f"{issuer.title} did not answer; start the sign-in again.")
        if not isinstance(got, HttpSuccess):
            return got
        tokens = read_tokens(got, connecting.now)
        address = _address_in(got.text("id_token") or "")
        if tokens is None or address is None:
            return Rejected(f"{issuer.title} did not say whose mailbox it is.", "no_account")
        if tokens.refresh is None:
            message = f"{issuer.title} gave nothing to renew the sign-in with."
            advice = "Take back the app's access there, then sign in again."
            return Rejected(f"{message} {advice}", "no_refresh_token")
        return await self._prove(connecting, tokens, address, keep["from_name"].reveal())

    async def _prove(
        self, connecting: Connecting, tokens: Tokens, address: str, name: str
    ) -> tuple[Connected, ...] | Outcome:
        settings = {**_servers(self._issuer, connecting.app), "auth": "oauth"}
        settings |= {"username": address, "from_address": address}
        if name:
            settings["from_name"] = name
        server = server_of(AccountRef(id="", remote_id=address, settings=settings), tokens)
        ending = await deliver(connecting.http, server, None)
        if not isinstance(ending, MailAccepted):
            return failure(ending, server)
        return (
            Connected(
                remote_id=address.lower(),
                handle=address,
                name=name or address,
                tokens=tokens,
                settings=settings,
                kind="mail",
            ),
        )


def _servers(issuer: MailIssuer, app: App) -> dict[str, Any]:
    options = app.options
    return {
        "host": options.get("smtp_host") or issuer.smtp_host,
        "port": int(options.get("smtp_port") or issuer.smtp_port),
        "security": options.get("smtp_security") or issuer.smtp_security,
        "imap_host": options.get("imap_host") or issuer.imap_host,
    }


def _token_request(
    issuer: MailIssuer, app: App, grant: str, form: Mapping[str, str | Secret]
) -> Request:
    body: dict[str, str | Secret] = {"grant_type": grant, **form, "client_id": app.client_id}
    if app.client_secret is not None:
        body["client_secret"] = app.client_secret
    host = (app.base_url or issuer.exchange_url).rstrip("/")
    # A code is good once; a refresh token may be used again.
    repeatable = grant == "refresh_token"
    url = host + _path(issuer.exchange_path, app)
    return Request("POST", url, body=Form(body), idempotent=repeatable)


def _path(path: str, app: App) -> str:
    return path.replace("{tenant}", quote(app.options.get("tenant") or "common", safe=""))


def _address_in(id_token: str) -> str | None:
    """Read the mailbox's address from an ID token."""
    piece = id_token.split(".")[1] if id_token.count(".") == 2 else ""
    try:
        said = msgspec.json.decode(base64.urlsafe_b64decode(piece + "=" * (-len(piece) % 4)))
    except (msgspec.DecodeError, ValueError):
        return None
    if not isinstance(said, dict):
        return None
    found = (said.get(name) for name in ("email", "preferred_username"))
    return next((str(each) for each in found if isinstance(each, str) and is_address(each)), None)


def _read(reply: Reply, now: datetime) -> Refusal | None:
    body = reply.json()
    code = body.get("error") if isinstance(body, dict) else None
    if not isinstance(code, str):
        return None
    words = body.get("error_description")
    return Refusal(
        status=reply.status,
        code=code if code in CODES else None,
        words=words if isinstance(words, str) else "",
        wait=retry_after(reply, now),
    )


def _table(title: str) -> Table:
    over = f"The sign-in at {title} is over; connect the account again"
    unknown = f"{title} does not know our app: check its id and secret"
    return Table(
        network=title,
        read=_read,
        rows=(
            *(Row(None, code, None, forbidden, unknown) for code in APP_CODES),
            Row(None, "temporarily_unavailable", None, transient, f"{title} is not ready"),
            Row(400, None, None, disconnected, over),
            Row(401, None, None, disconnected, over),
            Row(429, None, None, try_later(WaitScope.APP), f"{title} asks us to slow down"),
            Row(500, None, None, transient, f"{title} had trouble"),
            Row(503, None, None, transient, f"{title} is not ready"),
        ),
    )
