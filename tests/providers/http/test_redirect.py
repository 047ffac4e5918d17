"""Redirects are followed only where asked, only for harmless calls, and without credentials."""

from __future__ import annotations

import ssl

import pytest

from cadenza.core.clock import SystemClock
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.outcome import MayHaveArrived, Outcome, Reason, Reply
from cadenza.providers.http.policy import HostRule, Policy
from cadenza.providers.http.redact import Secret
from cadenza.providers.http.request import Request, Timeouts
from tests.providers.http.rude import Rude, Visit, polite

QUICK = Timeouts(connect=2, read=2, total=5)
TOKEN = Secret("tok-4f1e77aa")


async def countdown(visit: Visit) -> None:
    """/3 leads to /2, /1, and /0, which answers."""
    while True:
        head = await visit.request()
        left = int(head.split(b" ")[1][1:])
        if left:
            await visit.reply(b"", f"location: /{left - 1}", status="302 Found")
        else:
            await visit.reply(b"there")


async def send(request: Request, *servers: Rude) -> Outcome:
    policy = Policy(allow=tuple(HostRule(each.host, each.port) for each in servers))
    async with OutboundClient(policy, clock=SystemClock()) as client:
        return await client.send(request)


async def test_a_redirect_is_an_answer_unless_following_was_asked() -> None:
    async with Rude(countdown) as server:
        outcome = await send(Request("GET", server.url + "/1", timeout=QUICK), server)
        assert isinstance(outcome, Reply)
        assert (outcome.status, outcome.header("location")) == (302, "/0")


async def test_three_redirects_are_followed_and_the_fourth_is_not() -> None:
    async with Rude(countdown) as server:
        near = await send(Request("GET", server.url + "/3", redirects=3, timeout=QUICK), server)
        assert isinstance(near, Reply)
        assert (near.body, near.url) == (b"there", server.url + "/0")
        far = await send(Request("GET", server.url + "/4", redirects=3, timeout=QUICK), server)
        assert far == MayHaveArrived(Reason.REDIRECTS)


def test_more_than_three_redirects_cannot_be_asked_for() -> None:
    with pytest.raises(ValueError, match="0 to 3"):
        Request("GET", "https://good.example/", redirects=4)


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See", "307 Same", "308 Same"])
async def test_a_post_is_never_sent_on(status: str) -> None:
    async def send_on(visit: Visit) -> None:
        await visit.request()
        await visit.reply(b"", "location: /elsewhere", status=status)

    async with Rude(send_on) as server:
        request = Request("POST", server.url, body=b"x", redirects=3, timeout=QUICK)
        outcome = await send(request, server)
        assert isinstance(outcome, Reply)
        assert outcome.status == int(status[:3])
        assert len(server.heads) == 1


def credentials(url: str) -> Request:
    return Request(
        "GET",
        url,
        headers={
            "Authorization": Secret(f"Bearer {TOKEN.reveal()}"),
            "X-API-KEY": TOKEN,
            "Cookie": "session=1",
            "Accept-Language": "en",
        },
        redirects=3,
        timeout=QUICK,
    )


async def test_credentials_go_to_the_same_origin_only() -> None:
    async with Rude(polite, host="127.0.0.2") as other:

        async def send_on(visit: Visit) -> None:
            while True:
                head = await visit.request()
                here = head.startswith(b"GET /first")
                to = "/second" if here else f"{other.url}/third"
                await visit.reply(b"", f"location: {to}", status="302 Found")

        async with Rude(send_on) as server:
            outcome = await send(credentials(server.url + "/first"), server, other)
            assert isinstance(outcome, Reply)
            first, second = server.heads
            assert TOKEN.reveal() in first
            assert TOKEN.reveal() in second
        (third,) = other.heads
        assert TOKEN.reveal() not in third
        assert "cookie" not in third.lower()
        assert "referer" not in third.lower()
        assert "accept-language: en" in third.lower()


async def test_credentials_do_not_go_to_another_port_of_the_host() -> None:
    async with Rude(polite) as other:

        async def send_on(visit: Visit) -> None:
            await visit.request()
            await visit.reply(b"", f"location: {other.url}", status="307 Other")

        async with Rude(send_on) as server:
            assert isinstance(await send(credentials(server.url), server, other), Reply)
        assert TOKEN.reveal() not in other.heads[0]


async def test_a_redirect_to_a_bad_certificate_is_not_followed(server_tls: ssl.SSLContext) -> None:
    async with Rude(polite, tls=server_tls) as bad:

        async def send_on(visit: Visit) -> None:
            await visit.request()
            await visit.reply(b"", f"location: {bad.url}", status="301 Moved")

        async with Rude(send_on) as server:
            request = Request("GET", server.url, redirects=3, timeout=QUICK)
            assert await send(request, server, bad) == MayHaveArrived(Reason.TLS)
        assert bad.heads == []


async def test_there_is_no_way_back_from_https_to_http(
    server_tls: ssl.SSLContext, certificate: object
) -> None:
    async with Rude(polite) as plain:

        async def send_on(visit: Visit) -> None:
            await visit.request()
            await visit.reply(b"", f"location: {plain.url}", status="301 Moved")

        async with Rude(send_on, tls=server_tls) as server:
            rules = (HostRule("127.0.0.1", server.port), HostRule("127.0.0.1", plain.port))
            policy = Policy(allow=rules, ca_file=str(certificate))
            async with OutboundClient(policy, clock=SystemClock()) as client:
                request = Request("GET", server.url, redirects=3, timeout=QUICK)
                assert await client.send(request) == MayHaveArrived(Reason.REFUSED)
        assert plain.visits == 0
