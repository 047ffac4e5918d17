"""A large body costs its sender more than us: it is refused early, and the answer stays small."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from fastapi import Request

from cadenza.api import authorize
from cadenza.api.problems import MOST_FAULTS, Problem
from cadenza.api.read_body import MOST_KEYS, MOST_VALUES, judge_json, read_body
from cadenza.api.routes import ANONYMOUS, Access, Route
from tests.api.conftest import Place
from tests.api.walk import steps

SIGN_IN = "/api/v1/auth/sign-in"
HOME = "/api/v1/workspaces/home-of-ada"
JSON = {"content-type": "application/json"}
SMALL = 2000  # bytes of a refusal


def unknown_keys(count: int) -> bytes:
    made = {f"k{number}": 1 for number in range(count)}
    return json.dumps(made, separators=(",", ":")).encode()


async def test_a_stranger_may_send_no_more_than_a_form_needs(small: Place) -> None:
    stranger = await small.client()
    answer = await stranger.post(SIGN_IN, content=unknown_keys(90_000), headers=JSON)
    assert answer.status_code == 413
    assert len(answer.content) < SMALL
    few = await stranger.post(SIGN_IN, content=unknown_keys(500), headers=JSON)
    assert (few.status_code, few.json()["type"]) == (400, "urn:cadenza:problem:too_many_keys")
    assert len(few.content) < SMALL


async def test_a_body_without_a_length_is_read_no_further_than_its_bound(small: Place) -> None:
    requested = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal requested
        while requested < 1000:
            requested += 1
            yield b" " * 1024

    stranger = await small.client()
    answer = await stranger.post(SIGN_IN, content=endless(), headers=JSON)
    assert answer.status_code == 413
    assert requested <= ANONYMOUS // 1024 + 1


def test_every_route_for_anyone_takes_little(small: Place) -> None:
    for step in steps(small.app):
        events = (
            step.path == "/in/{source_id}"
        )  # mails come in whole, signed or with a secret in their path
        if step.declared.needs is Access.ANYONE and step.declared.writes and not events:
            assert step.declared.most == ANONYMOUS, step.name


async def test_a_member_is_told_of_the_first_faults_and_of_their_number(small: Place) -> None:
    editor = await small.client("editor")
    for count, status in ((90_000, 400), (3_000, 422)):
        answer = await editor.post(f"{HOME}/posts", content=unknown_keys(count), headers=JSON)
        assert answer.status_code == status, answer.text[:300]
        said = answer.json()
        assert len(said["errors"]) <= MOST_FAULTS
        assert len(answer.content) < 20_000
    assert "3000 fields are wrong" in said["detail"]


async def test_a_long_name_is_not_sent_back(small: Place) -> None:
    editor = await small.client("editor")
    body = json.dumps({"x" * 500_000: 1}).encode()
    answer = await editor.post(f"{HOME}/posts", content=body, headers=JSON)
    assert (answer.status_code, len(answer.content) < SMALL) == (422, True)


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (unknown_keys(MOST_KEYS + 1), "too_many_keys"),
        (json.dumps([0] * (MOST_VALUES + 1)).encode(), "too_many_values"),
        (b"[" + b",".join([b"[]"] * (MOST_VALUES // 2 + 1)) + b"]", "too_many_values"),
        (b"[" * 40_000, "too_deep"),
        (b'"' + rb"\"" * 400_000 + b"\\", "not_json"),  # each quote could begin a text
        (b'"' * 400_001, "not_json"),
        (b"{" * 30 + b"]" * 400_000, "not_json"),
    ],
    ids=range(7),
)
def test_a_body_that_is_made_to_cost_much_is_refused(bad: bytes, code: str) -> None:
    with pytest.raises(Problem) as refused:
        judge_json(bad)
    assert refused.value.code == code


@pytest.mark.parametrize(
    "good",
    [
        {"text": '{"a":[1,2,3]}\\"' * 20_000},
        {"text": "a, b: c " * 40_000},
        {"ids": [f"id-{number}" for number in range(20_000)]},
        [[[["deep"]]] * 100],
    ],
    ids=["brackets in texts", "commas in texts", "many ids", "some depth"],
)
def test_what_stands_inside_a_text_is_not_counted(good: Any) -> None:
    judge_json(json.dumps(good).encode())


async def test_refused_bodies_of_one_address_are_answered_one_by_one(
    small: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four at once would be four that everybody else waits behind."""
    at_once, most = 0, 0

    async def slowly(request: Request, declared: Route) -> bytes:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0.01)
        at_once -= 1
        return await read_body(request, declared)

    monkeypatch.setattr(authorize, "read_body", slowly)
    stranger = await small.client()
    large = unknown_keys(90_000)
    asked = (stranger.post(SIGN_IN, content=large, headers=JSON) for _ in range(4))
    answers = await asyncio.gather(*asked)
    assert [each.status_code for each in answers] == [413] * 4
    assert most == 1
