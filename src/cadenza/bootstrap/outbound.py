"""Whom this instance may call: public hosts, and what its owner set by name.

An address that stands in the settings (a network's, the mail server's, the bucket's) is vouched for by its
owner, for that use alone; addresses that people type into forms are not, unless `outbound.allow` lists their host.
"""

import ssl
from dataclasses import replace
from ipaddress import ip_address
from urllib.parse import urlsplit

from cadenza.config.load import BadSettings
from cadenza.config.model import Settings
from cadenza.notices.mail import Mail, SmtpMail
from cadenza.providers.base import use_of
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.parse_target import spell
from cadenza.providers.http.policy import HostRule, Policy
from cadenza.providers.smtp.session import Server

_PORTS = {"http": 80, "https": 443}
MAIL = "mail"
MEDIA = "media"


def policy_of(settings: Settings) -> Policy:
    """Return the rules of the guarded client, or say which setting names nobody."""
    rules = [_rule("outbound.allow", f"//{place}") for place in settings.outbound.allow]
    named = [(MEDIA, "media.endpoint", settings.media.endpoint)]
    for name, network in settings.providers.items():
        use, key = use_of(name), f"providers.{name}"
        named.append((use, f"{key}.base_url", network.base_url))
        named += [(use, f"{key}.options.{each}", said) for each, said in network.options.items()]
    rules += [
        _rule(key, address, use)
        for use, key, address in named
        if address.lower().startswith(tuple(f"{scheme}://" for scheme in _PORTS))
    ]
    if settings.mail.host:
        host = settings.mail.host
        place = f"[{host}]" if ":" in host else host
        rules.append(_rule("mail.host", f"//{place}:{settings.mail.port}", MAIL))
    reuse = tuple((use_of(name), net.reuse_seconds) for name, net in settings.providers.items())
    ca_file = _certificates(settings.outbound.ca_file)
    return Policy(
        allow=tuple(rules),
        ca_file=ca_file,
        nameserver=_nameserver(settings.outbound.nameserver),
        reuse_of=reuse,
    )


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
    return SmtpMail(http.for_use(MAIL), server, mail.sender, mail.sender_name)


def _rule(key: str, address: str, use: str | None = None) -> HostRule:
    """Vouch for the host of an address, on its port; without a scheme (`//host`) for the web's ports."""
    try:
        parts = urlsplit(address)
        if not parts.scheme and f"//{parts.netloc}" != address:
            raise ValueError("write the host alone, or host:port; networks cannot be named")
        rule = HostRule(parts.hostname or "", parts.port or _PORTS.get(parts.scheme), use=use)
        # A name with letters of its own is called by its ASCII form.
        return replace(rule, host=spell(rule.host))
    except ValueError as error:
        said = address.removeprefix("//")
        raise BadSettings([f"{key}: {said!r} names no host: {error}"]) from error


def _nameserver(said: str) -> str:
    host, _, port = said.rpartition(":")
    try:
        if said:
            ip_address(host.strip("[]"))
        if said and not 0 < int(port) < 65_536:
            raise ValueError(port)
    except ValueError as error:
        message = f"outbound.nameserver: {said!r} is no ADDRESS:PORT, like 127.0.0.1:53"
        raise BadSettings([message]) from error
    return f"{host.strip('[]')}:{port}" if said else ""


def _certificates(path: str) -> str | None:
    try:
        if path:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(path)
    except OSError as error:
        raise BadSettings(
            [f"outbound.ca_file: {path} holds no certificates in PEM ({error.strerror or error})"]
        ) from error
    return path or None
