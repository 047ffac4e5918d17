"""Every row of Bluesky's table of refusals, met over the wire."""

from __future__ import annotations

from datetime import timedelta

import pytest

from cadenza.demo.simulator.faults import Kind
from cadenza.demo.simulator.wire import say
from cadenza.providers.bluesky import errors
from cadenza.providers.errors import UNKNOWN, Refusal
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
from tests.providers.bluesky.fixtures import PUTS, bluesky
from tests.providers.contract import bare, drive

CASES: list[tuple[int, str, Outcome]] = [
    (400, "ExpiredToken", Disconnected("", "ExpiredToken")),
    (400, "InvalidToken", Disconnected("", "InvalidToken")),
    (401, "AuthMissing", Disconnected("", "AuthMissing")),
    (401, "AuthenticationRequired", Disconnected("", "AuthenticationRequired")),
    (401, "AuthFactorTokenRequired", Forbidden("", "AuthFactorTokenRequired")),
    (401, "AccountTakedown", Forbidden("", "AccountTakedown")),
    (401, "AccountDeactivated", Forbidden("", "AccountDeactivated")),
    (403, "AccountNotFound", Disconnected("", "AccountNotFound")),
    (401, "SomethingNew", Disconnected("", "SomethingNew")),
    (400, "InvalidSwap", Unconfirmed("")),
    (400, "BlobNotFound", Transient("", restart=True)),
    (400, "RecordNotFound", Rejected("", "RecordNotFound")),
    (400, "InvalidRequest", Rejected("", "InvalidRequest")),
    (413, "PayloadTooLarge", Rejected("", "PayloadTooLarge")),
    (429, "RateLimitExceeded", TryLater(timedelta(minutes=5), WaitScope.ACCOUNT, "")),
    (500, "InternalServerError", Unconfirmed("")),
    (502, "UpstreamFailure", Unconfirmed("")),
    (400, "NeverHeardOf", Rejected("", "unknown:NeverHeardOf")),
]


@pytest.mark.parametrize(("status", "name", "expected"), CASES)
async def test_a_refusal_means_what_its_row_says(status: int, name: str, expected: Outcome) -> None:
    async with bluesky() as (scene, simulated):
        answer = say(status, {"error": name, "message": f"words about {name}"})
        simulated.faults.plan(Kind.ERROR_BEFORE, PUTS, answer=answer)
        ended = await drive(scene)
        first = ended.trail[1]
        assert bare(first) == bare(expected)
        assert f"words about {name}" in str(getattr(first, "message", ""))


def test_every_row_is_met_by_a_case() -> None:
    met = [errors.TABLE.row(Refusal(status=status, code=name)) for status, name, _ in CASES]
    assert [row for row in errors.TABLE.rows if row not in met] == []
    assert UNKNOWN in met
