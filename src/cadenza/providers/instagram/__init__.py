"""Instagram's professional accounts: feed and story. Start with publish.py; facts are in README.md."""

from cadenza.providers.instagram.auth import InstagramConnector
from cadenza.providers.instagram.options import OPTIONS
from cadenza.providers.instagram.publish import Instagram

__all__ = ["CONNECTOR", "OPTIONS", "PROVIDER"]

PROVIDER = Instagram()
CONNECTOR = InstagramConnector()
