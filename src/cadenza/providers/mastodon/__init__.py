"""Mastodon and servers that speak its API. Start with publish.py; facts and limits are in README.md."""

from cadenza.providers.mastodon.auth import MastodonConnector
from cadenza.providers.mastodon.options import OPTIONS
from cadenza.providers.mastodon.publish import Mastodon

__all__ = ["CONNECTOR", "OPTIONS", "PROVIDER"]

PROVIDER = Mastodon()
CONNECTOR = MastodonConnector()
