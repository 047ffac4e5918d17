"""Secrets are not printed, logged, pickled or encoded, and are blotted out of every text."""

from __future__ import annotations

import copy
import json
import logging
import pickle
import ssl
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.core.clock import SystemClock
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.outcome import MayHaveArrived, NotSent, Reason, Reply
from cadenza.providers.http.policy import HostRule, Policy
from cadenza.providers.http.redact import Secret, redact
from cadenza.providers.http.request import Form, Json, Request, Timeouts
from tests.providers.http.rude import Rude, Visit

CANARY = "canary-7Hq2/x+Zp9"
SECRET = Secret(CANARY)
QUICK = Timeouts(connect=1, read=1, total=3)


def test_a_secret_shows_itself_to_nobody_who_only_prints() -> None:
    for text in (str(SECRET), repr(SECRET), f"{SECRET}", f"{SECRET!r:>40}", f"{SECRET:>40}"):
        assert CANARY not in text
    assert CANARY not in repr({"token": SECRET, "list": [SECRET]})
    assert CANARY not in "%s %r" % (SECRET, SECRET)  # noqa: UP031 - old code prints so
    assert not hasattr(SECRET, "__dict__")


def test_a_secret_cannot_be_serialised() -> None:
    for dump in (json.dumps, pickle.dumps, msgspec.json.encode, msgspec.msgpack.encode):
        with pytest.raises(TypeError):
            dump(SECRET)
        with pytest.raises(TypeError):
            dump({"token": SECRET})
    with pytest.raises(TypeError):
        "".join([SECRET, SECRET])  # pyright: ignore[reportArgumentType, reportCallIssue]  # noqa: FLY002


def test_a_secret_is_a_value() -> None:
    assert Secret("a") == Secret("a")
    assert Secret("a") != Secret("b")
    assert Secret("a") != "a"
    assert len({Secret("a"), Secret("a")}) == 1
    assert Secret(SECRET).reveal() == copy.deepcopy(SECRET).reveal() == CANARY
    assert not Secret("")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (
            "https://graph.facebook.com/v26.0/me?access_token=EAAB12345&x=1",
            "https://graph.facebook.com/v26.0/me?access_token=[secret]&x=1",
        ),
        (
            "https://api.telegram.org/bot123456:AAE-x_y/sendMessage",
            "https://api.telegram.org/bot[secret]/sendMessage",
        ),
        (
            "https://api.telegram.org/file/bot123456%3AAAE-x_y/a.jpg",
            "https://api.telegram.org/file/bot[secret]/a.jpg",
        ),
        (
            "https://hooks.slack.com/services/T0/B0/xyz",
            "https://hooks.slack.com/services/[secret]",
        ),
        (
            "https://discord.com/api/webhooks/12/abc-DEF?wait=true",
            "https://discord.com/api/webhooks/12/[secret]?wait=true",
        ),
        ("https://a:b@host/x", "https://[secret]@host/x"),
        ("https://a:b@c@host/@ada", "https://[secret]@host/@ada"),
        ("https://social.example/@ada", "https://social.example/@ada"),
        ("postgresql://ada:p@ss@db/cadenza", "postgresql://[secret]@db/cadenza"),
        ("'redis://:a/b?c#d@[::1]:6379/0' is", "'redis://[secret]@[::1]:6379/0' is"),
        ("mongodb+srv://ada:a/b@db/x", "mongodb+srv://[secret]@db/x"),
        ("Authorization: Bearer abcdefgh12345", "Authorization: Bearer [secret]"),
        ("https://s3/x?X-Amz-Signature=ab12&y=2", "https://s3/x?X-Amz-Signature=[secret]&y=2"),
        ("https://x/cb?code=abc&state=1", "https://x/cb?code=[secret]&state=1"),
        ("nothing to hide here", "nothing to hide here"),
    ],
)
def test_what_looks_like_a_secret_is_blotted_out(text: str, left: str) -> None:
    assert redact(text) == left


@given(st.text(min_size=4), st.text(), st.text())
def test_a_known_secret_is_blotted_out_wherever_it_stands(
    value: str, before: str, after: str
) -> None:
    blotted = redact(f"{before}{value}{after}", [Secret(value)])
    if value not in "[secret]":
        assert value not in blotted.replace("[secret]", "")


async def test_nothing_in_the_logs_or_results_shows_a_secret(
    caplog: pytest.LogCaptureFixture, server_tls: ssl.SSLContext, certificate: Path
) -> None:
    """At DEBUG, with everything that every library wants to say."""
    caplog.set_level(logging.DEBUG)

    async def echo(visit: Visit) -> None:
        """Answer with the secret in a header, as a pool at DEBUG would write down."""
        while True:
            await visit.request()
            await visit.reply(b"{}", f"x-echo: {CANARY}", f"location: /{CANARY}")

    async def close(visit: Visit) -> None:
        await visit.request()

    seen: list[str] = []
    for manner in (echo, close):
        for tls in (None, server_tls):
            async with Rude(manner, tls=tls) as server:
                policy = Policy(
                    allow=(HostRule("127.0.0.1", server.port),), ca_file=str(certificate)
                )
                async with OutboundClient(policy, clock=SystemClock()) as client:
                    for url in (f"{server.url}/bot{CANARY}/send?access_token={CANARY}", "bad:x"):
                        for body in (Json({"a": [SECRET]}), Form({"a": SECRET}), None):
                            request = Request(
                                "POST" if body else "GET",
                                url,
                                headers={"Authorization": Secret(f"Bearer {CANARY}")},
                                body=body,
                                timeout=QUICK,
                                secrets=(SECRET,),
                            )
                            outcome = await client.send(request)
                            seen += [repr(outcome), str(outcome), repr(request)]
                            if isinstance(outcome, Reply):
                                seen.append(outcome.url)
                assert CANARY in server.heads[0], "the server does get it"
    seen += [f"{record.__dict__}" for record in caplog.records]
    assert any("did not come to an answer" in each for each in seen)
    assert "7Hq2" not in "".join(seen)


async def test_a_tenant_learns_nothing_about_what_stands_behind_an_address() -> None:
    """Closed, forbidden, unknown: one sentence, so that it is no map of the inner network."""
    said: set[str] = set()

    class Book:
        async def resolve(self, host: str, port: int) -> list[str]:
            if host == "unknown.test":
                raise OSError("no such name")
            return ["10.0.0.7"] if host == "inner.test" else ["127.0.0.1"]

    policy = Policy(allow=(HostRule("closed.test", 80),))
    async with OutboundClient(policy, clock=SystemClock(), resolver=Book()) as client:
        for host in ("closed.test", "inner.test", "unknown.test", "lo.test"):
            outcome = await client.send(Request("GET", f"http://{host}/", timeout=QUICK))
            assert isinstance(outcome, NotSent)
            said |= {outcome.message, str(outcome)}
    assert said == {"The address could not be reached."}
    for reason in Reason:
        assert "10." not in MayHaveArrived(reason).message


async def test_a_secret_is_not_sent_in_the_clear_to_the_world() -> None:
    async with OutboundClient(Policy(), clock=SystemClock()) as client:
        outcome = await client.send(
            Request("GET", "http://good.example/", headers={"Authorization": SECRET})
        )
    assert isinstance(outcome, NotSent)
    assert outcome.reason == Reason.BAD_ADDRESS
    assert "https" in outcome.message
