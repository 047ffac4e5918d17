"""Slack, by incoming webhooks. Start with publish.py; facts and limits are in README.md."""

from cadenza.providers.slack.auth import SlackConnector
from cadenza.providers.slack.publish import Slack

PROVIDER = Slack()
CONNECTOR = SlackConnector()
