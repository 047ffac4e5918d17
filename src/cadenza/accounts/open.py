"""An account's row as an adapter may know it: who it is over there, its tokens opened for the moment.

Credentials are bound to the row's name (`row_name`); whoever seals for an account uses the same.
"""

import msgspec

from cadenza.accounts.model import Account
from cadenza.accounts.seal import Keyring, open_tokens
from cadenza.providers.message import AccountRef, Tokens


def row_name(workspace_id: str, account_id: str) -> str:
    """Name the row that credentials are sealed for."""
    return f"account:{workspace_id}:{account_id}"


def connecting_row(workspace_id: str, state_hash: str) -> str:
    """Name the row that is sealed while a person is expected back from a network."""
    return f"connecting:{workspace_id}:{state_hash}"


def mailbox_row(workspace_id: str, account_id: str) -> str:
    """Name the row that the password of an account's incoming mail is sealed for."""
    return f"mailbox:{workspace_id}:{account_id}"


def import_row(workspace_id: str, import_id: str, number: int) -> str:
    """Name the row that the passwords of an imported mailbox are sealed for, until it was tried."""
    return f"mailbox_import:{workspace_id}:{import_id}:{number}"


def inbound_row(workspace_id: str, source_id: str) -> str:
    """Name the row that the secret of an inbound source is sealed for."""
    return f"inbound:{workspace_id}:{source_id}"


def refer(account: Account) -> AccountRef:
    """Return what an adapter may know of the account."""
    return AccountRef(
        id=account.id,
        remote_id=account.remote_id,
        handle=account.handle,
        settings=msgspec.json.decode(account.settings),
    )


def open_account_tokens(ring: Keyring, account: Account) -> Tokens | None:
    """Open the account's tokens; None: they were wiped."""
    if account.sealed is None:
        return None
    row = row_name(account.workspace_id, account.id)
    return open_tokens(ring, account.sealed, row=row)
