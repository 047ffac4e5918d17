"""E-mail by SMTP. Start with publish.py; facts and limits are in README.md."""

from cadenza.providers.smtp.auth import SmtpConnector
from cadenza.providers.smtp.publish import Smtp

PROVIDER = Smtp()
CONNECTOR = SmtpConnector()
