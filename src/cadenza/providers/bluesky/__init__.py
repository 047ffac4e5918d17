"""Bluesky and other servers of the AT Protocol. Start with publish.py; facts are in README.md."""

from cadenza.providers.bluesky.auth import BlueskyConnector
from cadenza.providers.bluesky.options import OPTIONS
from cadenza.providers.bluesky.publish import Bluesky

__all__ = ["CONNECTOR", "OPTIONS", "PROVIDER"]

PROVIDER = Bluesky()
CONNECTOR = BlueskyConnector()
