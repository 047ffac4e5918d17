"""Facebook pages. Start with publish.py; facts and limits are in README.md."""

from cadenza.providers.facebook.auth import FacebookConnector
from cadenza.providers.facebook.publish import Facebook

PROVIDER = Facebook()
CONNECTOR = FacebookConnector()
