"""X, by its second API. Start with publish.py; facts and limits are in README.md."""

from cadenza.providers.x.auth import XConnector
from cadenza.providers.x.options import OPTIONS
from cadenza.providers.x.publish import X

__all__ = ["CONNECTOR", "OPTIONS", "PROVIDER"]

PROVIDER = X()
CONNECTOR = XConnector()
