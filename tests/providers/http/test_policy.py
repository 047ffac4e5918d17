"""The owner opens single hosts to private networks, and nothing else."""

from __future__ import annotations

import pytest

from cadenza.core.clock import SystemClock
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.judge import judge
from cadenza.providers.http.outcome import NotSent, Reply
from cadenza.providers.http.parse_target import BadAddress, parse_target
from cadenza.providers.http.policy import HostRule, Policy
from cadenza.providers.http.request import Request
from tests.providers.http.rude import Rude, Visit


def allowed(policy: Policy, host: str, port: int, address: str) -> bool:
    return policy.against(judge(address), host, port) is None


def test_a_rule_opens_its_host_and_port_and_no_other() -> None:
    policy = Policy(allow=(HostRule("127.0.0.1", 9000),))
    assert allowed(policy, "127.0.0.1", 9000, "127.0.0.1")
    assert not allowed(policy, "127.0.0.1", 80, "127.0.0.1")
    assert not allowed(policy, "127.0.0.2", 9000, "127.0.0.2")
    assert not allowed(policy, "evil.example", 9000, "127.0.0.1")


def test_a_rule_without_port_keeps_to_the_web_ports() -> None:
    policy = Policy(allow=(HostRule("mastodon.lan"),))
    assert parse_target("https://mastodon.lan/", policy).port == 443
    with pytest.raises(BadAddress, match="port 5432"):
        parse_target("https://mastodon.lan:5432/", policy)


def test_a_rule_by_name_opens_private_networks_but_never_key_services() -> None:
    policy = Policy(allow=(HostRule("mastodon.lan"),))
    for address in ("10.0.0.5", "192.168.1.4", "127.0.0.1", "::1", "fd12::5", "8.8.8.8"):
        assert allowed(policy, "mastodon.lan", 443, address)
    for address in ("169.254.169.254", "fe80::1", "fd00:ec2::254", "224.0.0.1", "0.0.0.0", "::"):
        assert not allowed(policy, "mastodon.lan", 443, address)
    for coat in ("::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::"):
        assert not allowed(policy, "mastodon.lan", 443, coat)


def test_a_pinned_rule_holds_the_name_to_its_networks() -> None:
    policy = Policy(allow=(HostRule("mastodon.lan", networks=("10.0.0.0/24",)),))
    assert allowed(policy, "mastodon.lan", 443, "10.0.0.5")
    assert not allowed(policy, "mastodon.lan", 443, "10.0.1.5")
    assert not allowed(policy, "mastodon.lan", 443, "127.0.0.1")


def test_hosts_are_compared_in_one_spelling() -> None:
    policy = Policy(allow=(HostRule("Mastodon.LAN."), HostRule("[0:0::1]", 9000)))
    assert parse_target("https://MASTODON.lan./x", policy).host == "mastodon.lan"
    assert policy.rules("mastodon.lan", 443)
    assert allowed(policy, parse_target("http://[::1]:9000/", policy).host, 9000, "::1")


@pytest.mark.parametrize("host", ["*", "*.lan", "10.0.0.0/8", ""])
def test_a_rule_names_one_host(host: str) -> None:
    with pytest.raises(ValueError, match="name one host"):
        HostRule(host)


def test_a_pin_must_be_a_network() -> None:
    with pytest.raises(ValueError, match=r"10\.0\.0\.0/99"):
        HostRule("a.lan", networks=("10.0.0.0/99",))


def test_a_rule_for_one_use_is_none_for_another() -> None:
    policy = Policy(allow=(HostRule("10.0.0.5", 25, use="mail"), HostRule("10.0.0.6", 80)))
    mail, typed = policy.for_use("mail"), policy.for_use(None)
    assert allowed(mail, "10.0.0.5", 25, "10.0.0.5")
    assert not allowed(typed, "10.0.0.5", 25, "10.0.0.5")
    assert not allowed(policy.for_use("media"), "10.0.0.5", 25, "10.0.0.5")
    for each in (mail, typed):
        assert allowed(each, "10.0.0.6", 80, "10.0.0.6"), "named by the owner for every use"


async def test_a_connection_that_one_use_opened_serves_no_other() -> None:
    async with Rude(twice) as server:
        rule = HostRule("127.0.0.1", server.port, use="media")
        async with OutboundClient(Policy(allow=(rule,)), clock=SystemClock()) as client:
            look = Request("GET", f"{server.url}/secret")
            assert isinstance(await client.for_use("media").send(look), Reply)
            for use in (None, "mail"):
                refused = await client.for_use(use).send(look)
                assert isinstance(refused, NotSent), use
            assert isinstance(await client.for_use("media").send(look), Reply)
        assert (server.visits, len(server.heads)) == (1, 2)


async def twice(visit: Visit) -> None:
    """Answer twice on one connection."""
    for _ in range(2):
        await visit.request()
        await visit.reply()
