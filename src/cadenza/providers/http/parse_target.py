"""Read an address strictly: where does this URL lead, with no two ways to understand it?

Parsers differ on userinfo, backslashes, control characters, odd numbers and empty labels, and every
such difference has been an attack; so all of these are refused, not repaired. A host that ends in a
number must be a plain IPv4. What the name resolves to is judged later, where the connection is made.
"""

import re
from dataclasses import dataclass
from ipaddress import ip_address

import httpx2

from cadenza.providers.http.policy import Policy

LONGEST = 8192
DEFAULT_PORTS = {"http": 80, "https": 443}
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_NUMBER = re.compile(r"\d+|0x[0-9a-f]*")


class BadAddress(ValueError):
    """The address cannot be called; the text depends only on what was typed, so it may be shown."""


@dataclass(frozen=True, slots=True)
class Target:
    """An address that was read, and where it leads."""

    url: httpx2.URL
    scheme: str
    host: str
    port: int

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port


def parse_target(text: str, policy: Policy) -> Target:
    """Read `text`, or raise `BadAddress` with what is wrong and what would be right."""
    url = _parse(text)
    if url.scheme not in DEFAULT_PORTS:
        raise BadAddress("only http:// and https:// addresses can be called")
    host = _host(url)
    port = DEFAULT_PORTS[url.scheme] if url.port is None else url.port
    if not 0 < port < 65536:
        raise BadAddress("the port must be between 1 and 65535")
    if not policy.opens(host, port):
        ports = ", ".join(str(each) for each in sorted(policy.ports))
        raise BadAddress(f"port {port} is not open here (open: {ports}); ask the owner to allow it")
    return Target(url.copy_with(host=host, fragment=None), url.scheme, host, port)


def parse_host(host: str, port: int, policy: Policy, ports: frozenset[int]) -> str:
    """Read the host of another protocol as strictly; `ports` are that protocol's own."""
    if "/" in host or "?" in host or "#" in host:
        raise BadAddress("name the host alone, like mail.example.com")
    url = _parse(f"https://[{host}]" if host.count(":") > 1 else f"https://{host}")
    if url.port is not None:
        raise BadAddress("name the host alone; the port is given beside it")
    name = _host(url)
    if not 0 < port < 65536:
        raise BadAddress("the port must be between 1 and 65535")
    if port not in ports and not any(rule.port == port for rule in policy.rules(name, port)):
        known = ", ".join(str(each) for each in sorted(ports))
        raise BadAddress(f"port {port} is not open here (open: {known}); ask the owner to allow it")
    return name


def spell(host: str) -> str:
    """Write a host as it stands in addresses once they are read: small letters, ASCII, without a last dot."""
    return _host(_parse(f"https://[{host}]" if ":" in host else f"https://{host}"))


def _parse(text: str) -> httpx2.URL:
    if len(text) > LONGEST:
        raise BadAddress(f"the address is longer than {LONGEST} characters")
    if any(character <= " " or character == "\x7f" for character in text):
        raise BadAddress("the address holds a blank or a control character; encode it")
    authority = re.split(r"[/?#]", text.partition("//")[2], maxsplit=1)[0]
    if "\\" in authority or "@" in authority:
        raise BadAddress("the address holds a user name or a backslash; leave it out")
    try:
        return httpx2.URL(text)
    except httpx2.InvalidURL:
        raise BadAddress("this is not a complete address like https://example.com/path") from None


def _host(url: httpx2.URL) -> str:
    host = url.raw_host.decode("ascii").lower()
    host = host.removesuffix(".")
    if not host:
        raise BadAddress("the address names no host")
    try:
        address = ip_address(host)
    except ValueError:
        return _name(host)
    if "%" in host:
        raise BadAddress("the address is bound to a network interface; leave out %")
    return str(address)


def _name(host: str) -> str:
    labels = host.split(".")
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise BadAddress("the host's name is not well formed")
    if _NUMBER.fullmatch(labels[-1]):
        raise BadAddress("a numeric host must be written as four plain numbers, like 192.0.2.1")
    return host
