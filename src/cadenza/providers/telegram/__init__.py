"""Telegram, by bot. Start with publish.py; facts and limits are in README.md."""

from cadenza.providers.telegram.auth import TelegramConnector
from cadenza.providers.telegram.options import OPTIONS
from cadenza.providers.telegram.publish import Telegram

__all__ = ["CONNECTOR", "OPTIONS", "PROVIDER"]

PROVIDER = Telegram()
CONNECTOR = TelegramConnector()
