"""Whom this instance may call: public hosts, and what its owner set by name.

An address that stands in the settings (a network's, the mail server's, the bucket's) is vouched for by
its owner; addresses that people type into forms are not, unless `outbound.allow` lists their host.
"""

from urllib.parse import urlsplit

from cadenza.config.load import BadSettings
from cadenza.config.model import Settings
from cadenza.notices.mail import Mail, SmtpMail
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.policy import HostRule, Policy
from cadenza.providers.smtp.session import Server

_PORTS = {"http": 80, "https": 443}


def policy_of(settings: Settings) -> Policy:
    """Return the rules of the guarded client."""
    rules = [_rule(place) for place in settings.outbound.allow]
    for network in settings.providers.values():
        rules += [
            rule
            for address in (network.base_url, *network.options.values())
            if (rule := _of_address(address)) is not None
        ]
    if settings.mail.host:
        rules.append(HostRule(settings.mail.host, settings.mail.port))
    endpoint = _of_address(settings.media.endpoint)
    if endpoint is not None:
        rules.append(endpoint)
    return Policy(allow=tuple(rules), ca_file=settings.outbound.ca_file or None)


def open_mail(settings: Settings, http: OutboundClient) -> Mail | None:
    """Return the way out for notices, or None where no mail server is set."""
    mail = settings.mail
    if not mail.host:
        return None
    if not mail.sender:
        raise BadSettings(["mail.host is set, but mail.sender is not: say whom notices come from"])
    server = Server(
        host=mail.host,
        port=mail.port,
        security=mail.security,
        username=mail.username,
        secret=mail.password,
    )
    return SmtpMail(http, server, mail.sender, mail.sender_name)


def _rule(place: str) -> HostRule:
    """Read `host` or `host:port`; an IPv6 address with a port stands in brackets."""
    parts = urlsplit(f"//{place}")
    try:
        return HostRule(parts.hostname or "", parts.port)
    except ValueError as error:
        raise BadSettings([f"outbound.allow: {place!r} names no host: {error}"]) from error


def _of_address(address: str) -> HostRule | None:
    parts = urlsplit(address)
    if parts.scheme not in _PORTS or not parts.hostname:
        return None
    return HostRule(parts.hostname, parts.port or _PORTS[parts.scheme])
