"""Connect a Mastodon account: register with the server, send the person there, exchange the code.

Every server is its own; we register an app with the one that the person names (no key of ours is
needed in settings) and keep its id and secret with the account. Tokens live until revoked.
"""

from collections.abc import Mapping
from urllib.parse import urlencode, urlsplit

from cadenza.providers.connect import Connected, Connecting, Field, Redirect
from cadenza.providers.http.redact import Secret
from cadenza.providers.http.request import Form, Request
from cadenza.providers.mastodon.errors import TABLE
from cadenza.providers.mastodon.limits import SETTING, from_instance, to_settings
from cadenza.providers.message import Tokens
from cadenza.providers.outcome import Outcome, Rejected, Transient, Unconfirmed
from cadenza.providers.pkce import challenged
from cadenza.providers.reply import HttpSuccess, ask_through, bearer
from cadenza.providers.split_address import server_address

SCOPES = "read:accounts read:statuses write:statuses write:media"
APP_NAME = "Cadenza"


class MastodonConnector:
    """Sign in on the person's own server."""

    fields = (Field("instance", "Your server", hint="for example mastodon.social"),)

    async def begin(self, connecting: Connecting) -> Redirect | tuple[Connected, ...] | Outcome:
        """Register with the server and say where to send the person."""
        instance = server_address(str(connecting.typed.get("instance") or connecting.app.base_url))
        if instance is None:
            return Rejected("Name your server, like mastodon.social.", "instance")
        form = Form(
            {
                "client_name": APP_NAME,
                "redirect_uris": connecting.redirect_uri,
                "scopes": SCOPES,
            }
        )
        request = Request("POST", f"{instance}/api/v1/apps", body=form, idempotent=True)
        got = await ask_through(connecting.http, request, TABLE, now=connecting.now)
        if not isinstance(got, HttpSuccess):
            return got
        client_id, secret = got.text("client_id"), got.text("client_secret")
        if client_id is None or secret is None:
            return Rejected("This address does not speak Mastodon's API.", "instance")
        query = {
            "response_type": "code",
            "client_id": client_id,
            "redirect_uri": connecting.redirect_uri,
            "scope": SCOPES,
            "state": connecting.state,
            **challenged(connecting.verifier),
        }
        keep = {
            "instance": Secret(instance),
            "client_id": Secret(client_id),
            "client_secret": Secret(secret),
            "verifier": Secret(connecting.verifier),
        }
        return Redirect(f"{instance}/oauth/authorize?{urlencode(query)}", keep)

    async def complete(
        self, connecting: Connecting, keep: Mapping[str, Secret], code: Secret
    ) -> tuple[Connected, ...] | Outcome:
        """Exchange the code, then ask who it is and what the server takes."""
        instance = keep["instance"].reveal()
        form: dict[str, str | Secret] = {
            "grant_type": "authorization_code",
            "code": code,
            "client_id": keep["client_id"],
            "client_secret": keep["client_secret"],
            "redirect_uri": connecting.redirect_uri,
        }
        if keep.get("verifier"):
            form["code_verifier"] = keep["verifier"]
        request = Request("POST", f"{instance}/oauth/token", body=Form(form))
        got = await ask_through(
            connecting.http, request, TABLE, now=connecting.now, secrets=(code, *keep.values())
        )
        if isinstance(got, Unconfirmed):
            return Transient("The server did not answer; start the sign-in again.")
        if not isinstance(got, HttpSuccess):
            return got
        token = got.text("access_token")
        if token is None:
            return Rejected("The server gave no token.", "no_token")
        return await _who(connecting, instance, Secret(token), keep)


async def _who(
    connecting: Connecting, instance: str, token: Secret, keep: Mapping[str, Secret]
) -> tuple[Connected, ...] | Outcome:
    got = await _get(connecting, f"{instance}/api/v1/accounts/verify_credentials", token)
    if not isinstance(got, HttpSuccess):
        return got
    remote_id, handle = got.text("id"), got.text("acct")
    if remote_id is None or handle is None:
        return Rejected("The server did not say who signed in.", "no_account")
    about = await _get(connecting, f"{instance}/api/v2/instance", token)
    if not isinstance(about, HttpSuccess):  # servers of other makes know only the older one
        about = await _get(connecting, f"{instance}/api/v1/instance", token)
    limits = from_instance(about.data if isinstance(about, HttpSuccess) else None)
    extra = {name: keep[name] for name in ("client_id", "client_secret")}
    return (
        Connected(
            remote_id=remote_id,
            handle=f"@{handle}@{urlsplit(instance).hostname}",
            name=got.text("display_name") or handle,
            tokens=Tokens(access=token, refreshed_at=connecting.now, extra=extra),
            settings={"instance": instance, SETTING: to_settings(limits)},
        ),
    )


async def _get(connecting: Connecting, url: str, token: Secret) -> HttpSuccess | Outcome:
    request = Request("GET", url, {"authorization": bearer(token)}, secrets=(token,))
    return await ask_through(connecting.http, request, TABLE, now=connecting.now, secrets=(token,))
