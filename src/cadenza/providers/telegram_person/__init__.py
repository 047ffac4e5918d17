"""Telegram as a person, over MTProto; needs the extra `telegram`. Start with publish.py."""

from cadenza.providers.telegram_person.auth import PersonConnector
from cadenza.providers.telegram_person.options import OPTIONS
from cadenza.providers.telegram_person.publish import TelegramPerson

__all__ = ["CONNECTOR", "OPTIONS", "PROVIDER"]

PROVIDER = TelegramPerson()
CONNECTOR = PersonConnector()
