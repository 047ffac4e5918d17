"""From an HTTP result to an outcome: what may have happened is never called "nothing happened"."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from cadenza.demo.simulator.faults import Kind, gateway_page
from cadenza.demo.simulator.network import SimulatedNetwork, route
from cadenza.demo.simulator.serve import simulate
from cadenza.demo.simulator.wire import Answer, Received, say
from cadenza.providers.errors import Refusal, Row, Table, rejected, transient
from cadenza.providers.http.outcome import Reply
from cadenza.providers.http.redact import Secret
from cadenza.providers.http.request import Request
from cadenza.providers.outcome import (
    Forbidden,
    Rejected,
    Sent,
    Transient,
    TryLater,
    Unconfirmed,
    WaitScope,
)
from cadenza.providers.reply import HttpSuccess, ask_through, sent
from cadenza.providers.waits import retry_after, until_epoch, until_iso
from tests.providers.contract import bare, open_client

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def _read(reply: Reply, now: datetime) -> Refusal | None:
    body = reply.json()
    if not isinstance(body, dict) or "code" not in body:
        return None
    wait = retry_after(reply, now)
    return Refusal(status=reply.status, code=body["code"], words=body.get("words", ""), wait=wait)


TABLE = Table(
    network="Echo",
    read=_read,
    rows=(
        Row(400, 7, None, rejected, "Seven is not taken"),
        Row(503, 8, None, transient, "Not now"),
    ),
)


class Echo(SimulatedNetwork):
    name = "echo"

    @route("POST", "/")
    async def post(self, call: Received) -> Answer:
        return say(200, {"id": 17})


async def _send(
    *, idempotent: bool, kind: Kind | None = None, answer: Answer | None = None
) -> object:
    echo = Echo()
    async with simulate(echo, start=NOW) as shared, open_client(echo) as http:
        if kind:
            echo.faults.plan(kind, answer=answer, seconds=1)
        request = Request(
            "POST", f"{echo.url()}/", idempotent=idempotent, secrets=(Secret("hush-hush"),)
        )
        got = await ask_through(http, request, TABLE, now=NOW)
        await shared.quiet()
        return got


async def test_a_success_is_got_and_ids_are_text() -> None:
    got = await _send(idempotent=False)
    assert isinstance(got, HttpSuccess)
    assert (got.text("id"), got.text("nothing", "here"), got.at("id")) == ("17", None, 17)


@pytest.mark.parametrize(
    "kind",
    [Kind.DROP_BEFORE, Kind.DROP_AFTER, Kind.RESET_AFTER, Kind.TRUNCATE_AFTER, Kind.SILENCE_AFTER],
)
async def test_no_whole_answer_is_unconfirmed_only_where_repeating_does_harm(kind: Kind) -> None:
    assert isinstance(await _send(idempotent=False, kind=kind), Unconfirmed)
    assert isinstance(await _send(idempotent=True, kind=kind), Transient)


@pytest.mark.parametrize("status", [408, 499, 500, 502, 503, 504, 520])
async def test_a_gateways_page_is_unconfirmed_only_where_repeating_does_harm(status: int) -> None:
    page = gateway_page(status)
    for idempotent, expected in ((False, Unconfirmed), (True, Transient)):
        answer = await _send(idempotent=idempotent, kind=Kind.ERROR_BEFORE, answer=page)
        assert isinstance(answer, expected)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (say(400, {"code": 7}), Rejected("", "7")),
        (say(400, {"code": 9}), Rejected("", "unknown:9")),
        (say(503, {"code": 8}), Transient("", out_of_order=True)),
        (say(500, {"code": 9}), Unconfirmed("")),
        (say(429, {"code": 9}), TryLater(timedelta(minutes=1), WaitScope.ACCOUNT, "", named=False)),
        (
            Answer(429, b"slow", (("retry-after", "7"),)),
            TryLater(timedelta(seconds=7), WaitScope.APP, ""),
        ),
        (
            Answer(503, b"soon", (("retry-after", "7"),)),
            Transient("", wait=timedelta(seconds=7), out_of_order=True),
        ),
        (
            say(503, {"code": 8}, (("retry-after", "7"),)),
            Transient("", wait=timedelta(seconds=7), out_of_order=True),
        ),
        (Answer(403, b"<html>no"), Transient("")),
        (Answer(308, b"", (("location", "https://example.org"),)), Forbidden("", "redirect")),
    ],
)
async def test_an_answer_means_what_its_shape_and_codes_say(
    answer: Answer, expected: object
) -> None:
    got = await _send(idempotent=False, kind=Kind.ERROR_BEFORE, answer=answer)
    assert bare(got) == bare(expected)


async def test_an_address_that_cannot_be_called_is_a_persons_matter() -> None:
    echo = Echo()
    async with simulate(echo), open_client(echo) as http:
        got = await ask_through(http, Request("POST", "ftp://example.org"), TABLE, now=NOW)
        assert isinstance(got, Forbidden)


async def test_the_networks_words_come_without_secrets_and_cut_to_size() -> None:
    words = "hush-hush " + "x" * 5000
    answer = say(400, {"code": 7, "words": words})
    got = await _send(idempotent=False, kind=Kind.ERROR_BEFORE, answer=answer)
    assert isinstance(got, Rejected)
    assert "hush-hush" not in got.message
    assert len(got.message) < 400


async def test_a_success_without_an_id_is_a_success() -> None:
    got = await _send(idempotent=False, kind=Kind.HTML_AFTER)
    assert isinstance(got, HttpSuccess)
    assert sent(got, got.text("id")) == Sent(None, None, sent(got, None).note)
    assert sent(got, None).note


@pytest.mark.parametrize(
    ("value", "wait"),
    [
        ("120", timedelta(minutes=2)),
        ("0.65", timedelta(seconds=1)),
        ("0", timedelta(seconds=1)),
        ("-5", timedelta(seconds=1)),
        ("999999999", timedelta(days=1)),
        ("Mon, 02 Mar 2026 09:00:30 GMT", timedelta(seconds=30)),
        ("soon", None),
        ("nan", None),
        ("", None),
    ],
)
def test_retry_after_is_read_in_all_its_spellings(value: str, wait: timedelta | None) -> None:
    assert retry_after(_reply({"retry-after": value}), NOW) == wait


def test_instants_are_read_as_epoch_and_as_iso() -> None:
    epoch = {"reset": str(int(NOW.timestamp()) + 90)}
    assert until_epoch(_reply(epoch), "reset", NOW) == timedelta(seconds=90)
    iso = {"reset": "2026-03-02T09:05:00.000000Z"}
    assert until_iso(_reply(iso), "reset", NOW) == timedelta(minutes=5)
    assert until_iso(_reply({}), "reset", NOW) is None
    assert until_epoch(_reply({"reset": "later"}), "reset", NOW) is None


def _reply(headers: dict[str, str]) -> Reply:
    return Reply(429, headers, b"", "https://example.org", 0.0)
