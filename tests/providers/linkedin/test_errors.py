"""Every row of LinkedIn's table of refusals, met over the wire."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from cadenza.demo.simulator.faults import Kind
from cadenza.demo.simulator.wire import say
from cadenza.providers.errors import UNKNOWN, Row
from cadenza.providers.http.outcome import Reply
from cadenza.providers.linkedin import errors
from cadenza.providers.outcome import (
    Disconnected,
    Forbidden,
    NotReady,
    Outcome,
    Rejected,
    Sent,
    Transient,
    TryLater,
    Unconfirmed,
    WaitScope,
)
from tests.providers.contract import drive
from tests.providers.linkedin.fixtures import POSTS, START, linkedin

DAY = timedelta(hours=15, minutes=1)
URN = "urn:li:share:7000000000000000001"
SAME = f"Content is a duplicate of {URN}"
THROTTLE = "Resource level throttle {} DAY limit for calls to this resource is reached."
CASES: list[tuple[int, dict[str, Any], Outcome]] = [
    (
        401,
        {"serviceErrorCode": 65601, "code": "REVOKED_ACCESS_TOKEN", "message": "revoked"},
        Disconnected("", "REVOKED_ACCESS_TOKEN/65601"),
    ),
    (401, {"code": "EXPIRED_ACCESS_TOKEN"}, Disconnected("", "EXPIRED_ACCESS_TOKEN")),
    (401, {"code": "EMPTY_ACCESS_TOKEN"}, Disconnected("", "EMPTY_ACCESS_TOKEN")),
    (403, {"code": "ACCESS_DENIED", "message": "no"}, Forbidden("", "ACCESS_DENIED")),
    (
        403,
        {"serviceErrorCode": 100, "message": "Not enough permissions"},
        Forbidden("", "403/100"),
    ),
    (400, {"code": "MEDIA_ASSET_WAITING_UPLOAD"}, NotReady(timedelta(seconds=20))),
    (
        400,
        {"code": "MEDIA_ASSET_PROCESSING_FAILED"},
        Rejected("", "MEDIA_ASSET_PROCESSING_FAILED"),
    ),
    (400, {"code": "EXPIRED_UPLOAD_URL"}, Transient("", restart=True)),
    (400, {"code": "FIELD_LENGTH_TOO_LONG"}, Rejected("", "FIELD_LENGTH_TOO_LONG")),
    (400, {"code": "MISSING_FIELD"}, Rejected("", "MISSING_FIELD")),
    (400, {"code": "INVALID_URN_ID"}, Rejected("", "INVALID_URN_ID")),
    (404, {"code": "RESOURCE_NOT_FOUND"}, Rejected("", "RESOURCE_NOT_FOUND")),
    (409, {"message": SAME}, Sent(URN, errors.POST_URL.format(URN))),
    (422, {"message": SAME}, Sent(URN, errors.POST_URL.format(URN))),
    (
        422,
        {"message": "Twice", "errorDetails": {"inputErrors": [{"code": "DUPLICATE_POST"}]}},
        Rejected("", "DUPLICATE_POST"),
    ),
    (409, {"message": "Conflict"}, Rejected("", "409")),
    (422, {"message": "No"}, Rejected("", "422")),
    (
        426,
        {"code": "NONEXISTENT_VERSION"},
        TryLater(timedelta(hours=1), WaitScope.APP, ""),
    ),
    (
        429,
        {"serviceErrorCode": 101, "message": THROTTLE.format("APPLICATION")},
        TryLater(DAY, WaitScope.APP, ""),
    ),
    (
        429,
        {"serviceErrorCode": 101, "message": THROTTLE.format("MEMBER")},
        TryLater(DAY, WaitScope.ACCOUNT, ""),
    ),
    (500, {"message": "Internal Server Error"}, Unconfirmed("")),
    (503, {"message": "Service Unavailable"}, Unconfirmed("")),
    (504, {"message": "Gateway Timeout"}, Unconfirmed("")),
    (418, {"message": "I'm a teapot"}, Rejected("", "unknown:418")),
]


@pytest.mark.parametrize(("status", "body", "expected"), CASES)
async def test_a_refusal_means_what_its_row_says(
    status: int, body: dict[str, Any], expected: Outcome
) -> None:
    async with linkedin() as (scene, simulated):
        answer = say(status, {"status": status, **body})
        simulated.faults.plan(Kind.ERROR_BEFORE, POSTS, answer=answer)
        ended = await drive(scene)
        assert _bare(ended.trail[1]) == _bare(expected)


def test_every_row_is_met_by_a_case() -> None:
    met = [_row(status, body) for status, body, _ in CASES]
    assert [row for row in errors.TABLE.rows if row not in met] == []
    assert UNKNOWN in met


def _row(status: int, body: dict[str, Any]) -> Row:
    answer = say(status, body)
    refusal = errors.read(Reply(status, {}, answer.body, "", 0), START)
    assert refusal is not None
    return errors.TABLE.row(refusal)


def _bare(outcome: object) -> dict[str, object]:
    fields = {name: getattr(outcome, name) for name in type(outcome).__dataclass_fields__}  # pyright: ignore[reportAttributeAccessIssue]
    told = {"message", "note"}
    return {"kind": type(outcome), **{k: v for k, v in fields.items() if k not in told}}
