"""Connect a Bluesky account with its handle and an app password.

The password is used once, for a session, and not kept. It goes to Bluesky's own server or to the one that the
person names, as Bluesky knows only its own accounts. The session's document names the server that holds the
account; all later calls go there. Limit: sign-in by OAuth is not done.
"""

from collections.abc import Mapping
from typing import Any

from cadenza.providers.bluesky.errors import TABLE
from cadenza.providers.bluesky.session import tokens_of
from cadenza.providers.connect import Connected, Connecting, Field, Redirect
from cadenza.providers.http.redact import Secret
from cadenza.providers.http.request import Json, Request
from cadenza.providers.outcome import Outcome, Rejected
from cadenza.providers.reply import HttpSuccess, ask_through
from cadenza.providers.split_address import server_address

ENTRY = "https://bsky.social"


class BlueskyConnector:
    """Sign in with an app password."""

    fields = (
        Field("handle", "Your handle", hint="for example ada.bsky.social"),
        Field("password", "App password", secret=True, hint="Settings, App passwords"),
        Field("server", "Your server", hint="only if it is not bsky.social", required=False),
    )

    async def begin(self, connecting: Connecting) -> Redirect | tuple[Connected, ...] | Outcome:
        """Begin a session and learn whose it is and where it lives."""
        handle = str(connecting.typed.get("handle") or "").strip().removeprefix("@")
        password = Secret(connecting.typed.get("password") or "")
        if not handle or not password:
            return Rejected("Give your handle and an app password.", "missing")
        named = str(connecting.typed.get("server") or "").strip()
        entry = server_address(named or connecting.app.base_url or ENTRY)
        if entry is None:
            return Rejected("Name your server, like pds.example.org, or leave it out.", "server")
        request = Request(
            "POST",
            f"{entry}/xrpc/com.atproto.server.createSession",
            body=Json({"identifier": handle, "password": password}),
            idempotent=True,
            secrets=(password,),
        )
        got = await ask_through(
            connecting.http, request, TABLE, now=connecting.now, secrets=(password,)
        )
        if not isinstance(got, HttpSuccess):
            return got
        tokens, did = tokens_of(got, connecting.now), got.text("did")
        if tokens is None or did is None:
            return Rejected("This server gave no session.", "no_session")
        name = got.text("handle") or handle
        settings = {"pds": server_of(got.at("didDoc")) or entry}
        return (
            Connected(
                remote_id=did, handle=f"@{name}", name=name, tokens=tokens, settings=settings
            ),
        )

    async def complete(
        self, connecting: Connecting, keep: Mapping[str, Secret], code: Secret
    ) -> tuple[Connected, ...] | Outcome:
        """Refuse: nobody is sent away to sign in."""
        return Rejected("Bluesky accounts are connected with an app password.", "no_code")


def server_of(document: Any) -> str | None:
    """Return the server that a did document names."""
    services = document.get("service") if isinstance(document, dict) else None
    for service in services if isinstance(services, list) else ():
        if isinstance(service, dict) and str(service.get("id", "")).endswith("#atproto_pds"):
            place = service.get("serviceEndpoint")
            return place.rstrip("/") if isinstance(place, str) else None
    return None
