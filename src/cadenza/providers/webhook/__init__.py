"""Signed webhooks to anyone's address. Start with publish.py; facts and limits are in README.md."""

from cadenza.providers.webhook.auth import WebhookConnector
from cadenza.providers.webhook.publish import Webhook

PROVIDER = Webhook()
CONNECTOR = WebhookConnector()
