"""Seals webhook addresses that older versions kept in plain text, when the application starts.

A migration cannot do it: the key isn't in the database. A row that is sealed is not found again, so this costs
one look at each start. Each change depends on what was read: of two that start at once, one wins. Credentials
that no key at hand opens stay as they are; `cadenza key rotate` names them.
"""

from dataclasses import replace
from datetime import datetime

import msgspec

from cadenza.accounts.open import row_name
from cadenza.accounts.seal import CannotOpen, Keyring, open_tokens, seal_tokens
from cadenza.notices.preferences import webhook_url_row
from cadenza.providers.http.redact import Secret
from cadenza.providers.split_address import cut_address
from cadenza.providers.webhook.sign import address_id
from cadenza.sql.transactions import Operations
from cadenza.sql.tx import Row, Tx

_PLAIN_WEBHOOKS = "SELECT workspace_id, id, url FROM webhook WHERE sealed_url IS NULL"
_PLAIN_ACCOUNTS = (
    "SELECT * FROM account WHERE provider = 'webhook' AND remote_id LIKE 'http%' "
    "ORDER BY workspace_id, id"
)


async def seal_addresses(operations: Operations, ring: Keyring) -> int:
    """Seal every address that is kept in plain text; return how many were."""
    plain = await operations.read(
        lambda tx, _: bool(
            tx.one(f"{_PLAIN_WEBHOOKS} LIMIT 1") or tx.one(f"{_PLAIN_ACCOUNTS} LIMIT 1")
        )
    )
    if not plain:
        return 0
    return await operations.run(lambda tx, now: seal_plain(tx, now, ring=ring))


def seal_plain(tx: Tx, now: datetime, *, ring: Keyring) -> int:
    """Seal the addresses of all webhooks and webhook accounts."""
    webhooks = sum(_seal_webhook(tx, row, ring) for row in tx.all(_PLAIN_WEBHOOKS))
    return webhooks + sum(_seal_account(tx, row, ring) for row in tx.all(_PLAIN_ACCOUNTS))


def _seal_webhook(tx: Tx, row: Row, ring: Keyring) -> int:
    return tx.run(
        """
        UPDATE webhook SET url = :shown, sealed_url = :sealed_url
        WHERE workspace_id = :workspace_id AND id = :id AND sealed_url IS NULL AND url = :url
        """,
        shown=cut_address(row["url"]),
        sealed_url=ring.seal(row["url"], row=webhook_url_row(row["workspace_id"], row["id"])),
        **row,
    )


def _seal_account(tx: Tx, row: Row, ring: Keyring) -> int:
    url: str = row["remote_id"]
    name, sealed = row_name(row["workspace_id"], row["id"]), row["sealed"]
    if sealed is not None:  # else they were wiped, and the address goes with them
        try:
            tokens = open_tokens(ring, sealed, row=name)
        except CannotOpen:
            return 0
        whole = replace(tokens, extra={**tokens.extra, "url": Secret(url)})
        sealed = seal_tokens(ring, whole, row=name)
    settings = {**msgspec.json.decode(row["settings"]), "url": cut_address(url)}
    return tx.run(
        """
        UPDATE account SET remote_id = :name, settings = :settings, sealed = :sealed
        WHERE workspace_id = :workspace_id AND id = :id AND remote_id = :url
            AND coalesce(sealed, '') = :before
        """,
        name=address_id(url),
        settings=msgspec.json.encode(settings).decode(),
        sealed=sealed,
        workspace_id=row["workspace_id"],
        id=row["id"],
        url=url,
        before=row["sealed"] or "",
    )
