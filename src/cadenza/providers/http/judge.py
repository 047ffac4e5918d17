"""Is this address on the public internet? Pure arithmetic, no look-up.

`ipaddress.is_global` alone says yes to NAT64, 6to4 and IPv4-compatible forms of loopback, to
multicast and to 192.0.0.8, differently from one Python to the next. So: unwrap every IPv4 that hides
in an IPv6, allow IPv6 only in 2000::/3, refuse what is reserved, and ask `is_global` last. Limit: a
network that routes public addresses inside, or has a NAT64 prefix of its own, cannot be told from here.
"""

from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

IP = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

UNICAST = IPv6Network("2000::/3")
COMPATIBLE = IPv6Network("::/96")
PROTOCOLS = IPv6Network("2001::/23")  # Teredo, ORCHID and other tunnels
DOCUMENTATION = IPv6Network("3fff::/20")  # younger than some Pythons
SIX_TO_FOUR = IPv6Network("2002::/16")
NAT64 = IPv6Network("64:ff9b::/96")
NAT64_LOCAL = IPv6Network("64:ff9b:1::/48")
IETF = IPv4Network("192.0.0.0/24")
RELAYS = IPv4Network("192.88.99.0/24")  # 6to4 relays, given up, still routed here and there
# Where clouds keep the machine's own keys. No name may lead there, whoever allowed the name.
METADATA = (
    IPv4Network("169.254.0.0/16"),
    IPv4Network("100.100.100.200/32"),
    IPv4Network("192.0.0.192/32"),
    IPv4Network("168.63.129.16/32"),  # public by its number, yet answered by the machine's host
    IPv6Network("fe80::/10"),
    IPv6Network("fd00:ec2::/32"),
    IPv6Network("fd20:ce::/32"),
)


@dataclass(frozen=True, slots=True)
class JudgedAddress:
    """An address and what speaks against it: `why` is None for a public one."""

    address: str
    inner: IP | None
    why: str | None

    @property
    def public(self) -> bool:
        return self.why is None


def judge(address: str) -> JudgedAddress:
    """Say whether `address` may be called because anyone asks for it; for operators, say why not."""
    try:
        outer = ip_address(address)
    except ValueError:
        return JudgedAddress(address, None, "not an address")
    if isinstance(outer, IPv6Address) and outer.scope_id is not None:
        return JudgedAddress(address, None, "bound to an interface")
    inner = unwrap(outer)
    return JudgedAddress(address, inner, _against(outer, inner))


def unwrap(address: IP) -> IP:
    """Return the IPv4 that a mapped, compatible, 6to4 or NAT64 address leads to, else the address."""
    if isinstance(address, IPv4Address):
        return address
    bits = int(address)
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address in NAT64 or address in NAT64_LOCAL or (address in COMPATIBLE and bits > 1):
        return IPv4Address(bits & 0xFFFFFFFF)
    if address in SIX_TO_FOUR:
        return IPv4Address((bits >> 80) & 0xFFFFFFFF)
    return address


def guards_keys(address: IP) -> bool:
    """Say whether clouds serve a machine's own credentials there (link-local and the like)."""
    return any(address in network for network in METADATA if network.version == address.version)


def within(address: IP, networks: tuple[str, ...]) -> bool:
    """Say whether one of `networks` holds the address."""
    held = (ip_network(network) for network in networks)
    return any(address in network for network in held if network.version == address.version)


def _against(outer: IP, inner: IP) -> str | None:
    # `in` is False between the two families, so each line speaks of its own.
    if outer in PROTOCOLS or outer in DOCUMENTATION:
        return "Teredo or the like: leads anywhere"
    if outer in NAT64_LOCAL or outer in COMPATIBLE:
        return "NAT64 of a local network, or a form given up long ago"
    if isinstance(inner, IPv6Address) and inner not in UNICAST:
        return "not IPv6 unicast"
    if inner.is_multicast or inner.is_reserved or inner.is_unspecified:
        return "multicast, reserved or unspecified"
    if inner in IETF or inner in RELAYS or guards_keys(inner):
        return "set aside for protocols"
    if not inner.is_global or inner.is_private:
        return "private, loopback or documentation"
    return None
