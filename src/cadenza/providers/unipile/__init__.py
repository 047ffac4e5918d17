"""LinkedIn messages, invitations, InMails, and mail, by Unipile. Start with publish.py; facts: README.md."""

from cadenza.providers.unipile.auth import UnipileConnector
from cadenza.providers.unipile.poll import UnipilePoller
from cadenza.providers.unipile.publish import Unipile

PROVIDER = Unipile()
CONNECTOR = UnipileConnector()
POLLER = UnipilePoller()
