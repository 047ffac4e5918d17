"""Tells people and programs what became of things: mails and signed webhooks from outbox rows."""
