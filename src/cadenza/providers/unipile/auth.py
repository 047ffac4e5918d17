"""Connect accounts of Unipile: take over those that are signed in there, or open its page to sign in.

With `sign_in` Unipile makes a link to its own page (good once, for a few minutes). It then tells us who signed in;
that call is unsigned, so it must come to a secret address, name a token that only Unipile was given, and name an
account that Unipile confirms. Without it, all accounts that can send are taken over, or the one that was named.
"""

import hmac
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from cadenza.providers.connect import Connected, Connecting, Field, Redirect
from cadenza.providers.http.redact import Secret
from cadenza.providers.http.request import Json, Request
from cadenza.providers.message import Tokens
from cadenza.providers.outcome import Disconnected, Outcome, Rejected
from cadenza.providers.pkce import challenge
from cadenza.providers.reply import HttpSuccess, ask_through
from cadenza.providers.split_address import split_address
from cadenza.providers.unipile.errors import TABLE
from cadenza.providers.unipile.request import headers, url, whole

KINDS = {
    "LINKEDIN": "linkedin",
    "MAIL": "mail",
    "GOOGLE_OAUTH": "mail",
    "OUTLOOK": "mail",
    "ICLOUD": "mail",
}
PAGES = 10
# What a person may sign in to on Unipile's page, by its own names.
SIGN_IN = {"linkedin": "LINKEDIN", "google": "GOOGLE", "outlook": "OUTLOOK", "mail": "MAIL"}
LINK_LIFE = timedelta(minutes=10)  # as long as we wait for an answer
SIGNED_IN = ("CREATION_SUCCESS", "RECONNECTED")
STARTING = ("OK", "CONNECTING")  # a moment after the sign-in


class _Notice(msgspec.Struct):
    """What Unipile posts when somebody has signed in."""

    status: str
    account_id: str
    name: str


class UnipileConnector:
    """An address and a key, typed."""

    fields = (
        Field("dsn", "API address", hint="for example api1.unipile.com:13111"),
        Field("api_key", "API key", secret=True),
        Field(
            "sign_in",
            "Sign in to",
            hint="linkedin, google, outlook or mail; empty: take what is signed in at Unipile",
            required=False,
        ),
        Field("account", "Account id", hint="empty: all", required=False),
    )

    async def begin(self, connecting: Connecting) -> Redirect | tuple[Connected, ...] | Outcome:
        """Open Unipile's page to sign in, or list the accounts that can send."""
        dsn = str(connecting.typed.get("dsn") or connecting.app.base_url).strip().rstrip("/")
        key = Secret(connecting.typed.get("api_key") or "")
        wanted = str(connecting.typed.get("account") or "").strip()
        if not dsn or not key or split_address(whole(dsn)) is None:
            return Rejected("Name Unipile's address for you and your API key.", "dsn")
        network = str(connecting.typed.get("sign_in") or "").strip().lower()
        if network:
            return await _link(connecting, dsn, key, network)
        items = await _accounts(connecting, dsn, key)
        if not isinstance(items, list):
            return items
        mine = [item for item in items if wanted in {"", item.get("id")}]
        found = tuple(
            _account(item, dsn, key, connecting)
            for item in mine
            if item.get("type") in KINDS and _works(item)
        )
        if found:
            return found
        if mine:
            return Disconnected("The account is signed out at Unipile; sign in there first.")
        return Rejected("Unipile has no such account for this key.", "no_account")

    async def complete(
        self, connecting: Connecting, keep: Mapping[str, Secret], code: Secret
    ) -> tuple[Connected, ...] | Outcome:
        """Take what Unipile posted; believe it once Unipile itself confirms the account."""
        dsn, key = keep.get("dsn"), keep.get("api_key")
        if dsn is None or key is None:
            return Rejected("Unipile's accounts are connected by its API key.", "no_code")
        try:
            notice = msgspec.json.decode(code.reveal(), type=_Notice)
        except (msgspec.MsgspecError, UnicodeError):
            return Rejected("This is not what Unipile posts after a sign-in.", "bad_notice")
        expected = challenge(connecting.verifier).encode()
        if not hmac.compare_digest(notice.name.encode(), expected):
            return Rejected("This is about another sign-in.", "other_sign_in")
        if notice.status not in SIGNED_IN:
            return Rejected("The sign-in at Unipile did not succeed.", "not_signed_in")
        return await _confirm(connecting, dsn.reveal(), key, notice.account_id)


async def _link(connecting: Connecting, dsn: str, key: Secret, network: str) -> Redirect | Outcome:
    """Let Unipile make a link to its page; one for each click, as all of them end at its daily restart."""
    if network not in SIGN_IN:
        names = ", ".join(SIGN_IN)
        return Rejected(f"Unipile's page signs in to one of these: {names}.", "sign_in")
    again = connecting.again
    said = {"error": "access_denied", "error_description": "The sign-in was not completed."}
    failed = f"{connecting.redirect_uri}?{urlencode({**said, 'state': connecting.state})}"
    body: dict[str, Any] = {
        "type": "reconnect" if again else "create",
        "providers": [SIGN_IN[network]],
        "api_url": whole(dsn),
        "expiresOn": _iso(connecting.now + LINK_LIFE),
        "name": challenge(connecting.verifier),
        "notify_url": Secret(connecting.notify_uri),
        "success_redirect_url": connecting.return_uri,
        "failure_redirect_url": failed,
        **({"reconnect_account": again} if again else {}),
    }
    place = url(dsn, "/hosted/accounts/link")
    request = Request("POST", place, headers(key), Json(body), idempotent=True)
    got = await ask_through(connecting.http, request, TABLE, now=connecting.now, secrets=(key,))
    if not isinstance(got, HttpSuccess):
        return got
    link = got.text("url")
    if link is None or split_address(link) is None:
        return Rejected("Unipile gave no link to its sign-in page.", "no_link")
    return Redirect(link, {"dsn": Secret(dsn), "api_key": key}, notified=True)


async def _confirm(
    connecting: Connecting, dsn: str, key: Secret, account: str
) -> tuple[Connected, ...] | Outcome:
    request = Request("GET", url(dsn, f"/accounts/{quote(account, safe='')}"), headers(key))
    got = await ask_through(connecting.http, request, TABLE, now=connecting.now, secrets=(key,))
    if not isinstance(got, HttpSuccess):
        return got
    item = {name: got.at(name) for name in ("id", "name", "type", "sources")}
    if item["id"] != account or item["type"] not in KINDS:
        return Rejected("Unipile has no such account that can send.", "no_account")
    if not _works(item, STARTING):
        return Disconnected("The account is signed out at Unipile; sign in again.")
    return (_account(item, dsn, key, connecting),)


def _iso(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _works(item: Mapping[str, Any], well: tuple[str, ...] = ("OK",)) -> bool:
    sources = item.get("sources")
    listed = sources if isinstance(sources, list) else []
    return any(isinstance(each, dict) and each.get("status") in well for each in listed)


def _account(item: dict[str, Any], dsn: str, key: Secret, connecting: Connecting) -> Connected:
    name = str(item.get("name") or item["id"])
    return Connected(
        remote_id=str(item["id"]),
        handle=name,
        name=name,
        tokens=Tokens(access=key, refreshed_at=connecting.now),
        settings={"dsn": dsn},
        kind=KINDS[item["type"]],
    )


async def _accounts(
    connecting: Connecting, dsn: str, key: Secret
) -> list[dict[str, Any]] | Outcome:
    items: list[dict[str, Any]] = []
    cursor: str | None = None
    for _ in range(PAGES):
        query = {"limit": "250", **({"cursor": cursor} if cursor else {})}
        request = Request("GET", url(dsn, "/accounts", query), headers(key))
        got = await ask_through(connecting.http, request, TABLE, now=connecting.now, secrets=(key,))
        if not isinstance(got, HttpSuccess):
            return got
        page = got.at("items")
        if not isinstance(page, list):
            return Rejected("This address does not speak Unipile's API.", "dsn")
        items += [each for each in page if isinstance(each, dict) and each.get("id")]
        cursor = got.text("cursor")
        if cursor is None:
            break
    return items
