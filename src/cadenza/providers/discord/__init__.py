"""Discord, by webhooks. Start with publish.py; facts and limits are in README.md."""

from cadenza.providers.discord.auth import DiscordConnector
from cadenza.providers.discord.options import OPTIONS
from cadenza.providers.discord.publish import Discord

__all__ = ["CONNECTOR", "OPTIONS", "PROVIDER"]

PROVIDER = Discord()
CONNECTOR = DiscordConnector()
