"""Every row of Unipile's table of refusals, met over the wire."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from cadenza.core.budgets import Period
from cadenza.demo.networks.unipile_lists import problem
from cadenza.demo.simulator.faults import Kind
from cadenza.providers.errors import A_MINUTE, UNKNOWN, Refusal
from cadenza.providers.outcome import (
    Disconnected,
    Forbidden,
    Outcome,
    RecipientGone,
    Rejected,
    Sent,
    Transient,
    TryLater,
    Unconfirmed,
    WaitScope,
)
from cadenza.providers.unipile import errors
from tests.providers.contract import drive
from tests.providers.unipile.fixtures import CHATS, unipile

DAY = TryLater(errors.A_DAY, WaitScope.ACCOUNT, "")
SOON = TryLater(A_MINUTE, WaitScope.ACCOUNT, "", named=False)
WEEK = TryLater(timedelta(), WaitScope.ACTION, "", period=Period.WEEK)


def _all(
    status: int, codes: tuple[str, ...], make: Callable[[str, str], Outcome]
) -> list[tuple[int, str, Outcome]]:
    return [(status, code, make("", code)) for code in codes]


CASES: list[tuple[int, str, Outcome]] = [
    *_all(400, errors.CONTENT, Rejected),
    *_all(401, ("missing_credentials", *errors.SIGNED_OUT), Disconnected),
    *_all(403, ("account_restricted",), Disconnected),
    *_all(403, errors.NOT_ALLOWED, Forbidden),
    *_all(404, ("resource_not_found", "invalid_resource_identifier"), RecipientGone),
    *_all(422, errors.GONE, RecipientGone),
    (422, "blocked_recipient", RecipientGone("", "blocked_recipient", shut_out=True)),
    *((422, code, Sent(None)) for code in errors.DONE),
    *((422, code, DAY) for code in errors.THROTTLED),
    *((422, code, WEEK) for code in errors.USED_UP),
    *_all(422, (*errors.UNPAID, *errors.SENDER), Forbidden),
    *_all(422, errors.UNFIT, Rejected),
    (422, "provider_unreachable", Transient("", out_of_order=True)),
    (429, "too_many_requests", SOON),
    *((503, code, Transient("", out_of_order=True)) for code in errors.AWAY),
    (408, "request_timeout", Unconfirmed("")),
    (504, "request_timeout", Unconfirmed("")),
    (500, "provider_error", Unconfirmed("")),
    (500, "unexpected_error", Unconfirmed("")),
    (501, "feature_not_implemented", Forbidden("", "501")),
    (415, "unsupported_media_type", Rejected("", "415")),
    (400, "something_new", Rejected("", "400")),
    (401, "something_new", Disconnected("", "401")),
    (403, "something_new", Forbidden("", "403")),
    (404, "something_new", RecipientGone("", "404")),
    (422, "something_new", Rejected("", "422")),
    (418, "something_new", Rejected("", "unknown:418")),
]


@pytest.mark.parametrize(("status", "code", "expected"), CASES)
async def test_a_refusal_means_what_its_row_says(status: int, code: str, expected: Outcome) -> None:
    async with unipile("chat") as (scene, simulated):
        answer = problem(status, code, "because of this")
        simulated.faults.plan(Kind.ERROR_BEFORE, CHATS, answer=answer)
        ended = await drive(scene)
        first = ended.trail[1]
        assert _bare(first) == _bare(expected)
        told = getattr(first, "message", None) or getattr(first, "note", "")
        assert "because of this" in told


def test_every_row_is_met_by_a_case() -> None:
    met = [
        errors.TABLE.row(Refusal(status=status, code=code if code in errors.KNOWN else None))
        for status, code, _ in CASES
    ]
    assert [row for row in errors.TABLE.rows if row not in met] == []
    assert UNKNOWN in met


def _bare(outcome: object) -> dict[str, object]:
    fields = {name: getattr(outcome, name) for name in type(outcome).__dataclass_fields__}  # pyright: ignore[reportAttributeAccessIssue]
    return {
        "kind": type(outcome),
        **{k: v for k, v in fields.items() if k not in {"message", "note"}},
    }
