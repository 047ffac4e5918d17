"""Opens an account for a call: its adapter, its credentials, our app with that network.

The one place of the pipeline where credentials are unsealed; they live as long as the call.
"""

from collections.abc import Callable

from cadenza.accounts.open import open_account_tokens, refer
from cadenza.accounts.seal import Keyring
from cadenza.deliveries.publish import Sender
from cadenza.providers.base import Provider
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import App, Tokens
from cadenza.sql.tx import Row


def sender_opener(
    ring: Keyring, *, provider_of: Callable[[str], Provider], app_of: Callable[[str], App]
) -> Callable[[Row, Row], Sender]:
    """Return what a `Publisher` opens senders with; wiped credentials are empty, and refused."""

    def open_sender(account: Row, _delivery: Row) -> Sender:
        tokens = open_account_tokens(ring, account) or Tokens(access=Secret(""))
        name = account["provider"]
        return Sender(provider_of(name), refer(account), tokens, app_of(name))

    return open_sender
