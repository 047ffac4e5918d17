"""Whom a network address belongs to, for counting: one IPv4 address, or one IPv6 network of /64.

A household or a server has a whole /64, so counting single IPv6 addresses would count nothing.
"""

from ipaddress import IPv6Address, ip_address, ip_network


def owner_of(address: str) -> str:
    """Name the owner of an address; what is no address is its own."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ip_network((int(found) >> 64 << 64, 64)))
