"""Opens an account for a call: its adapter, its credentials, our app with that network.

The one place of the pipeline where credentials are unsealed; they live as long as the call.
"""

from collections.abc import Callable

from cadenza.accounts.open import open_account_tokens, refer
from cadenza.accounts.seal import Keyring
from cadenza.deliveries.model import ClaimedDelivery
from cadenza.deliveries.publish import Sender
from cadenza.providers.base import Provider
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import App, Tokens
from cadenza.providers.sink import Sink


def sender_opener(
    ring: Keyring, *, provider_of: Callable[[str], Provider], app_of: Callable[[str], App]
) -> Callable[[ClaimedDelivery], Sender]:
    """Return what a `Publisher` opens senders with; wiped credentials are empty, and refused."""

    def open_sender(ticket: ClaimedDelivery) -> Sender:
        account = ticket.account
        tokens = open_account_tokens(ring, account) or Tokens(access=Secret(""))
        name = account.provider
        network = provider_of(name)
        if ticket.delivery.mode == "test":
            network = Sink(network)
        return Sender(network, refer(account), tokens, app_of(name))

    return open_sender
