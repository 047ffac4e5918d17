"""Telegram, by bot. Start with publish.py; facts and limits are in README.md."""

from cadenza.providers.telegram.auth import TelegramConnector
from cadenza.providers.telegram.publish import Telegram

PROVIDER = Telegram()
CONNECTOR = TelegramConnector()
