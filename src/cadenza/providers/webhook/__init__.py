"""Signed webhooks to anyone's address. Start with publish.py; facts and limits are in README.md."""

from cadenza.providers.webhook.auth import WebhookConnector
from cadenza.providers.webhook.options import OPTIONS
from cadenza.providers.webhook.publish import Webhook

__all__ = ["CONNECTOR", "OPTIONS", "PROVIDER"]

PROVIDER = Webhook()
CONNECTOR = WebhookConnector()
