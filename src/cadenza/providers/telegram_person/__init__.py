"""Telegram as a person, over MTProto; needs the extra `telegram`. Start with publish.py."""

from cadenza.providers.telegram_person.auth import PersonConnector
from cadenza.providers.telegram_person.publish import TelegramPerson

PROVIDER = TelegramPerson()
CONNECTOR = PersonConnector()
