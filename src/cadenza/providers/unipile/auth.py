"""Connect accounts that are signed in at Unipile: take address and key, list what is there.

People sign in to LinkedIn or their mail at Unipile; here only its accounts are taken over, all that
can send, or the one that was named. Limit: Unipile's hosted sign-in page is not opened from here.
"""

from collections.abc import Mapping
from typing import Any

from cadenza.providers.connect import Connected, Connecting, Field, Redirect
from cadenza.providers.http.redact import Secret
from cadenza.providers.http.request import Request
from cadenza.providers.message import Tokens
from cadenza.providers.outcome import Disconnected, Outcome, Rejected
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


class UnipileConnector:
    """An address and a key, typed."""

    fields = (
        Field("dsn", "API address", hint="for example api1.unipile.com:13111"),
        Field("api_key", "API key", secret=True),
        Field("account", "Account id", hint="empty: all", required=False),
    )

    async def begin(self, connecting: Connecting) -> Redirect | tuple[Connected, ...] | Outcome:
        """List the accounts that can send."""
        dsn = str(connecting.typed.get("dsn") or connecting.app.base_url).strip().rstrip("/")
        key = Secret(connecting.typed.get("api_key") or "")
        wanted = str(connecting.typed.get("account") or "").strip()
        if not dsn or not key or split_address(whole(dsn)) is None:
            return Rejected("Name Unipile's address for you and your API key.", "dsn")
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
        """Refuse: nobody is sent anywhere."""
        return Rejected("Unipile's accounts are connected by its API key.", "no_code")


def _works(item: dict[str, Any]) -> bool:
    sources = item.get("sources") or []
    return any(isinstance(each, dict) and each.get("status") == "OK" for each in sources)


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
