"""Every row of X's table of refusals, met over the wire."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from cadenza.demo.networks import x_model
from cadenza.demo.simulator.faults import Kind
from cadenza.demo.simulator.wire import say
from cadenza.providers.errors import UNKNOWN, Row
from cadenza.providers.http.outcome import Reply
from cadenza.providers.outcome import (
    Disconnected,
    Forbidden,
    Outcome,
    Rejected,
    Transient,
    TryLater,
    Unconfirmed,
    WaitScope,
)
from cadenza.providers.x import errors
from tests.providers.contract import bare, drive
from tests.providers.x.fixtures import POSTS, START, x


def _problem(kind: str, detail: str = "No") -> dict[str, Any]:
    return {"title": "No", "detail": detail, "type": x_model.PROBLEMS + kind}


def _blank(detail: str) -> dict[str, Any]:
    return {"title": "No", "detail": detail, "type": "about:blank"}


CASES: list[tuple[int, dict[str, Any], Outcome]] = [
    (
        403,
        _problem("unsupported-authentication"),
        Disconnected("", "unsupported-authentication"),
    ),
    (401, _blank("Unauthorized"), Disconnected("", "401")),
    (429, _problem("usage-capped"), TryLater(timedelta(hours=6), WaitScope.APP, "")),
    (403, _problem("usage-capped"), TryLater(timedelta(hours=6), WaitScope.APP, "")),
    (403, _blank(x_model.DUPLICATE), Transient("")),  # as nothing like it is shown
    (403, _blank(x_model.NOT_PERMITTED), Forbidden("", "not-permitted")),
    (403, _problem("client-forbidden"), Forbidden("", "client-forbidden")),
    (403, _blank("User is suspended"), Forbidden("", "403")),
    (400, _problem("invalid-request", x_model.BAD_MEDIA), Transient("", restart=True)),
    (400, _problem("invalid-request"), Rejected("", "invalid-request")),
    (404, _problem("resource-not-found"), Rejected("", "resource-not-found")),
    (413, _blank("Too large"), Rejected("", "413")),
    (
        429,
        _problem("rate-limit-exceeded"),
        TryLater(timedelta(minutes=15), WaitScope.ACCOUNT, ""),
    ),
    (500, _blank("Internal"), Unconfirmed("")),
    (502, _blank("Bad gateway"), Unconfirmed("")),
    (503, _blank("Over capacity"), Unconfirmed("")),
    (504, _blank("Too slow"), Unconfirmed("")),
    (418, _blank("I'm a teapot"), Rejected("", "unknown:418")),
]


@pytest.mark.parametrize(("status", "body", "expected"), CASES)
async def test_a_refusal_means_what_its_row_says(
    status: int, body: dict[str, Any], expected: Outcome
) -> None:
    async with x() as (scene, simulated):
        simulated.faults.plan(Kind.ERROR_BEFORE, POSTS, answer=say(status, body))
        ended = await drive(scene)
        assert bare(ended.trail[1]) == bare(expected)


def test_every_row_is_met_by_a_case() -> None:
    met = [_row(status, body) for status, body, _ in CASES]
    assert [row for row in errors.TABLE.rows if row not in met] == []
    assert UNKNOWN in met


def test_the_simulated_network_speaks_the_sentences_that_the_table_knows() -> None:
    spoken = {x_model.DUPLICATE, x_model.NOT_PERMITTED, x_model.BAD_MEDIA}
    assert spoken == set(errors.SENTENCES)


def _row(status: int, body: dict[str, Any]) -> Row:
    refusal = errors.read(Reply(status, {}, say(status, body).body, "", 0), START)
    assert refusal is not None
    return errors.TABLE.row(refusal)
