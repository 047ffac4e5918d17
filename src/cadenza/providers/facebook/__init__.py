"""Facebook pages. Start with publish.py; facts and limits are in README.md."""

from cadenza.providers.facebook.auth import FacebookConnector
from cadenza.providers.facebook.options import OPTIONS
from cadenza.providers.facebook.publish import Facebook

__all__ = ["CONNECTOR", "OPTIONS", "PROVIDER"]

PROVIDER = Facebook()
CONNECTOR = FacebookConnector()
