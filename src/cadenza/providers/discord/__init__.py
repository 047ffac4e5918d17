"""Discord, by webhooks. Start with publish.py; facts and limits are in README.md."""

from cadenza.providers.discord.auth import DiscordConnector
from cadenza.providers.discord.publish import Discord

PROVIDER = Discord()
CONNECTOR = DiscordConnector()
