"""What this instance may call: public hosts on web ports, plus what its owner named.

There is no global switch to private networks: the owner lists hosts one by one, as they stand in
addresses (`mastodon.lan`, `10.0.0.5`), and may pin the networks that a name must resolve into. A rule
by name never opens the machine's own key service (169.254.169.254 and kin); only its literal does. A host that
stands in a setting for one purpose (the mail server, the bucket, a network's address) is vouched for that use alone:
an address that people type elsewhere does not reach it.
"""

from dataclasses import dataclass, replace
from ipaddress import ip_address, ip_network
from typing import Self

from cadenza.providers.http.judge import JudgedAddress, guards_keys, within

WEB_PORTS = frozenset({80, 443, 8443})
REUSE = 4.0  # seconds; servers keep idle connections for five and more


@dataclass(frozen=True, slots=True)
class HostRule:
    """A host that the owner vouches for; `port` None means the policy's ports."""

    host: str
    port: int | None = None
    networks: tuple[str, ...] = ()  # a name must resolve into these; empty: any but key services
    use: str | None = None  # None: for every use, also for what people type

    def __post_init__(self) -> None:
        host = self.host.strip("[]").rstrip(".").lower()
        if not host or "*" in host or "/" in host:
            raise ValueError(f"HostRule host {self.host!r}: name one host, without * or a mask")
        object.__setattr__(self, "host", _plain(host))
        for network in self.networks:
            ip_network(network)

    def covers(self, host: str, port: int) -> bool:
        return self.host == host and self.port in {None, port}

    def allows_address(self, judged: JudgedAddress) -> bool:
        """Say whether the owner meant this address when allowing the host."""
        if judged.inner is None:
            return False
        if _plain(judged.address) == self.host:
            return True
        if self.networks:
            return within(judged.inner, self.networks)
        return not (
            guards_keys(judged.inner) or judged.inner.is_multicast or judged.inner.is_unspecified
        )


@dataclass(frozen=True, slots=True)
class Policy:
    """The owner's say. The default serves a public instance."""

    allow: tuple[HostRule, ...] = ()
    ports: frozenset[int] = WEB_PORTS
    ca_file: str | None = None  # besides the system's certificates, e.g. a company's own
    nameserver: str = ""  # address:port that is asked for published texts; empty: the machine's
    # Seconds after its last use in which an open connection may carry a call that must not happen twice; 0: never.
    reuse: float = REUSE
    reuse_of: tuple[tuple[str, float], ...] = ()  # the same, by use

    def __post_init__(self) -> None:
        object.__setattr__(self, "allow", tuple(self.allow))
        object.__setattr__(self, "ports", frozenset(self.ports))

    def for_use(self, use: str | None) -> Self:
        """Return what holds for one use; None: for addresses that people type."""
        rules = tuple(rule for rule in self.allow if rule.use in {None, use})
        reuse = dict(self.reuse_of).get(use or "", self.reuse)
        return replace(self, allow=rules, reuse=reuse, reuse_of=())

    def rules(self, host: str, port: int) -> tuple[HostRule, ...]:
        """Return the rules that name this host and port."""
        return tuple(rule for rule in self.allow if rule.covers(host, port))

    def opens(self, host: str, port: int) -> bool:
        """Say whether the port may be called at all on this host."""
        return port in self.ports or any(rule.port == port for rule in self.rules(host, port))

    def against(self, judged: JudgedAddress, host: str, port: int) -> str | None:
        """Say what speaks against connecting to a resolved address, or None."""
        if judged.public or any(rule.allows_address(judged) for rule in self.rules(host, port)):
            return None
        return judged.why


def _plain(host: str) -> str:
    """Write an address in its one canonical way, so that rules and hosts compare as text."""
    try:
        return str(ip_address(host))
    except ValueError:
        return host
