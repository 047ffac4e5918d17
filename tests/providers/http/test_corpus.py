"""The hostile corpus: none of these addresses is ever connected to."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import httpcore2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.core.clock import SystemClock
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.judge import judge
from cadenza.providers.http.outcome import MayHaveArrived, NotSent, Reason, Reply
from cadenza.providers.http.policy import Policy
from cadenza.providers.http.request import Request, Timeouts
from cadenza.providers.http.resolve import SystemResolver
from tests.providers.http.rude import Rude, Visit, polite

CORPUS = Path(__file__).parent / "corpus"
QUICK = Timeouts(connect=2, read=2, total=5)


def corpus(name: str) -> dict[str, Any]:
    return tomllib.loads((CORPUS / name).read_text("utf-8"))


class Recorder(httpcore2.AsyncNetworkBackend):
    """The last hop: notes whom the client would connect to, and connects to nobody."""

    def __init__(self) -> None:
        self.called: list[str] = []

    async def connect_tcp(self, host: str, port: int, *_: object, **__: object) -> Any:
        self.called.append(host)
        raise httpcore2.ConnectError("not connected: a test")


class Book:
    """Answers from a case, or asks the machine."""

    def __init__(self, answers: list[str] | None) -> None:
        self.answers = answers

    async def resolve(self, host: str, port: int) -> list[str]:
        if self.answers is not None:
            return self.answers
        return await SystemResolver().resolve(host, port)


ADDRESSES = corpus("addresses.toml")
URLS: list[dict[str, Any]] = corpus("urls.toml")["cases"]
REDIRECTS: list[dict[str, str]] = corpus("redirects.toml")["cases"]


def test_the_corpus_is_not_shrunk() -> None:
    assert len(ADDRESSES["refused"]) >= 80
    assert len(URLS) >= 90
    assert len(REDIRECTS) >= 20


@pytest.mark.parametrize("address", ADDRESSES["refused"])
def test_an_address_that_is_not_public_is_refused(address: str) -> None:
    assert not judge(address).public


@pytest.mark.parametrize("address", ADDRESSES["public"])
def test_a_public_address_is_let_through(address: str) -> None:
    assert judge(address).public


@pytest.mark.parametrize("case", URLS, ids=lambda case: ascii(case["url"])[:60])
async def test_a_hostile_url_stops_before_any_connection(case: dict[str, Any]) -> None:
    last_hop = Recorder()
    async with OutboundClient(
        Policy(), clock=SystemClock(), resolver=Book(case.get("resolves")), network=last_hop
    ) as client:
        outcome = await client.send(Request("GET", case["url"], timeout=QUICK))
    assert isinstance(outcome, NotSent)
    assert outcome.reason == Reason(case["ends"])
    assert last_hop.called == []


async def test_a_good_url_does_reach_its_judged_address() -> None:
    last_hop = Recorder()
    book = Book(["93.184.216.34", "2606:4700::1111"])
    async with OutboundClient(
        Policy(), clock=SystemClock(), resolver=book, network=last_hop
    ) as client:
        outcome = await client.send(Request("GET", "https://good.example/x", timeout=QUICK))
    assert outcome == NotSent(Reason.CONNECT)
    assert last_hop.called == ["93.184.216.34", "2606:4700::1111"]


@pytest.mark.parametrize(
    "host", ["2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0", "①②⑦.⓪.⓪.①", "localhost"]
)
async def test_what_the_machine_makes_of_odd_numbers_is_refused_too(host: str) -> None:
    """Should the text ever pass, the resolved address does not."""
    try:
        found = await SystemResolver().resolve(host, 80)
    except OSError:
        return  # this machine does not know such numbers
    assert found
    assert not any(judge(address).public for address in found)


@pytest.mark.parametrize("case", REDIRECTS, ids=lambda case: ascii(case["location"])[:60])
async def test_a_hostile_redirect_never_reaches_its_victim(case: dict[str, str]) -> None:
    async def send_on(visit: Visit) -> None:
        while True:
            await visit.request()
            location = case["location"].replace("PORT", str(visit.server.port))
            await visit.reply(b"", f"location: {location}", status="302 Found")

    async with Rude(send_on) as server, Rude(polite, host="127.0.0.2", port=server.port) as victim:
        request = Request("GET", server.url, redirects=3, timeout=QUICK)
        async with OutboundClient(server.policy, clock=SystemClock()) as client:
            outcome = await client.send(request)
        assert outcome == MayHaveArrived(Reason(case["ends"]))
        assert victim.visits == 0


async def test_the_victim_of_the_redirects_does_answer_those_who_may_call() -> None:
    async with (
        Rude(polite, host="127.0.0.2") as victim,
        OutboundClient(victim.policy, clock=SystemClock()) as client,
    ):
        assert isinstance(await client.send(Request("GET", victim.url)), Reply)


PRIVATE = st.sampled_from(
    [
        "10.0.0.0/8",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "224.0.0.0/4",
    ]
).flatmap(lambda network: st.ip_addresses(network=network))


@given(PRIVATE)
def test_no_coat_makes_a_private_address_public(address: Any) -> None:
    number = int(address)
    high, low = f"{number >> 16:x}", f"{number & 0xFFFF:x}"
    coats = [
        f"{address}",
        f"::ffff:{address}",
        f"::ffff:{high}:{low}",
        f"::{address}",
        f"64:ff9b::{high}:{low}",
        f"64:ff9b:1::{high}:{low}",
        f"2002:{high}:{low}::",
        f"2002:{high}:{low}:1:2:3:4:5",
    ]
    assert [coat for coat in coats if judge(coat).public] == []


@given(st.ip_addresses(v=6))
def test_only_unicast_and_coats_of_the_public_are_let_through(address: Any) -> None:
    judged = judge(str(address))
    if judged.public:
        assert judged.inner is not None
        assert judged.inner.version == 4 or int(address) >> 125 == 0b001


@given(st.text(max_size=60))
def test_no_text_makes_reading_an_address_fail_in_another_way(text: str) -> None:
    from cadenza.providers.http.parse_target import BadAddress, parse_target

    for url in (text, f"http://{text}", f"http://{text}/", f"https://good.example/{text}"):
        try:
            target = parse_target(url, Policy())
        except BadAddress:
            continue
        assert target.host == target.host.lower()
        assert target.url.userinfo == b""
        assert target.port in {80, 443, 8443}
