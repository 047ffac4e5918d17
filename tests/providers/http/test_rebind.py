"""A name that changes its mind cannot lead the client anywhere that was not judged."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

import httpcore2

from cadenza.core.clock import SystemClock
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.outcome import MayHaveArrived, NotSent, Reason, Reply
from cadenza.providers.http.policy import HostRule, Policy
from cadenza.providers.http.request import Request, Timeouts
from tests.providers.http.names import NameServer
from tests.providers.http.rude import Rude, Visit, polite

PUBLIC = "93.184.216.34"
QUICK = Timeouts(connect=2, read=2, total=5)


class Internet(httpcore2.AsyncNetworkBackend):
    """The last hop, where one public address leads to a local server and others to themselves."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.called: list[str] = []

    async def connect_tcp(self, host: str, port: int, *_: object, **__: object) -> Any:
        self.called.append(host)
        at = ("127.0.0.1", self.port) if host == PUBLIC else (host, port)
        return await httpcore2.AnyIOBackend().connect_tcp(*at)  # pyright: ignore[reportAttributeAccessIssue]


def post(url: str) -> Request:
    return Request("POST", url, timeout=QUICK)


async def test_a_name_that_turns_private_after_the_check_leads_to_the_checked_address() -> None:
    """The classic attack: public for the check, loopback for the connection."""
    async with (
        Rude(polite) as good,
        Rude(polite, host="127.0.0.2", port=0) as victim,
        NameServer({"rebind.test": [[PUBLIC], ["127.0.0.2"]]}) as names,
    ):
        net = Internet(good.port)
        policy = Policy(ports=frozenset({victim.port}), reuse=0)
        async with OutboundClient(
            policy, clock=SystemClock(), resolver=names.resolver, network=net
        ) as client:
            first = await client.send(post(f"http://rebind.test:{victim.port}/"))
            assert isinstance(first, Reply)
            assert net.called == [PUBLIC]
            assert names.requested == ["rebind.test"], "one look-up for one connection"
            second = await client.send(post(f"http://rebind.test:{victim.port}/"))
            assert second == NotSent(Reason.REFUSED)
        assert net.called == [PUBLIC]
        assert names.requested == ["rebind.test"] * 2
        assert (good.visits, victim.visits) == (1, 0)


async def test_a_pinned_private_name_that_moves_is_refused() -> None:
    async with Rude(polite) as good, Rude(polite, host="127.0.0.2", port=good.port) as victim:
        rule = HostRule("mastodon.lan", good.port, networks=("127.0.0.1/32",))
        turns = [["127.0.0.1"], ["127.0.0.2"]]
        async with (
            NameServer({"mastodon.lan": turns}) as names,
            OutboundClient(
                Policy(allow=(rule,), reuse=0), clock=SystemClock(), resolver=names.resolver
            ) as client,
        ):
            url = f"http://mastodon.lan:{good.port}/"
            assert isinstance(await client.send(post(url)), Reply)
            assert await client.send(post(url)) == NotSent(Reason.REFUSED)
        assert (good.visits, victim.visits) == (1, 0)


async def test_a_kept_connection_stays_with_the_address_that_was_judged() -> None:
    async with Rude(polite) as good, NameServer({"kept.test": [[PUBLIC], ["127.0.0.2"]]}) as names:
        net = Internet(good.port)
        policy = Policy(ports=frozenset({good.port}))
        async with OutboundClient(
            policy, clock=SystemClock(), resolver=names.resolver, network=net
        ) as client:
            for _ in range(3):
                request = Request("GET", f"http://kept.test:{good.port}/", timeout=QUICK)
                assert isinstance(await client.send(request), Reply)
        assert (good.visits, net.called, names.requested) == (1, [PUBLIC], ["kept.test"])


async def test_one_private_address_among_public_ones_refuses_the_name() -> None:
    turns = [[PUBLIC, "127.0.0.1"], ["127.0.0.1", PUBLIC], [PUBLIC, "::1"]]
    async with NameServer({"mixed.test": turns}) as names:
        net = Internet(1)
        async with OutboundClient(
            Policy(), clock=SystemClock(), resolver=names.resolver, network=net
        ) as client:
            for _ in range(3):
                assert await client.send(post("http://mixed.test/")) == NotSent(Reason.REFUSED)
        assert net.called == []


async def test_a_redirect_to_a_name_that_turned_private_is_refused() -> None:
    async def send_on(visit: Visit) -> None:
        await visit.request()
        to = f"location: http://rebind.test:{visit.server.port}/secret"
        await visit.reply(b"", to, "connection: close", status="302 Found")

    async with (
        Rude(send_on) as good,
        Rude(polite, host="127.0.0.2", port=good.port) as victim,
        NameServer({"rebind.test": [[PUBLIC], ["127.0.0.2"]]}) as names,
    ):
        net = Internet(good.port)
        policy = Policy(ports=frozenset({good.port}))
        async with OutboundClient(
            policy, clock=SystemClock(), resolver=names.resolver, network=net
        ) as client:
            url = f"http://rebind.test:{good.port}/"
            # The server closes, so the second hop needs a new connection and a new look-up.
            outcome = await client.send(Request("GET", url, redirects=3, timeout=QUICK))
            assert outcome == MayHaveArrived(Reason.REFUSED)
        assert victim.visits == 0


async def test_an_unknown_name_never_leaves() -> None:
    async with (
        NameServer({}) as names,
        OutboundClient(Policy(), clock=SystemClock(), resolver=names.resolver) as client,
    ):
        assert await client.send(post("https://nobody.test/")) == NotSent(Reason.DNS)


async def test_tls_is_for_the_name_that_was_asked_not_for_the_address(
    certificate: Path, server_tls: ssl.SSLContext
) -> None:
    requested: list[str] = []

    def note(_: object, name: str | None, __: object) -> None:
        requested.append(str(name))

    server_tls.sni_callback = note
    async with (
        Rude(polite, tls=server_tls) as server,
        NameServer({"good.test": [["127.0.0.1"]], "other.test": [["127.0.0.1"]]}) as names,
    ):
        rules = tuple(HostRule(name, server.port) for name in ("good.test", "other.test"))
        policy = Policy(allow=rules, ca_file=str(certificate))
        async with OutboundClient(policy, clock=SystemClock(), resolver=names.resolver) as client:
            good = await client.send(post(f"https://good.test:{server.port}/"))
            assert isinstance(good, Reply)
            other = await client.send(post(f"https://other.test:{server.port}/"))
            assert other == NotSent(Reason.TLS)
    assert requested == ["good.test", "other.test"]
    assert len(server.heads) == 1
