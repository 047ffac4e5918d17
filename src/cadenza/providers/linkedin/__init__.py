"""LinkedIn, for profiles and organisations. Start with publish.py; facts and limits are in README.md."""

from cadenza.providers.linkedin.auth import LinkedInConnector
from cadenza.providers.linkedin.options import OPTIONS
from cadenza.providers.linkedin.publish import LinkedIn

__all__ = ["CONNECTOR", "OPTIONS", "PROVIDER"]

PROVIDER = LinkedIn()
CONNECTOR = LinkedInConnector()
