"""Every row of Meta's table of refusals, met over the wire on a page's irreversible call."""

from __future__ import annotations

from datetime import timedelta

import pytest

from cadenza.demo.networks.meta_model import envelope
from cadenza.demo.simulator.faults import Kind
from cadenza.demo.simulator.wire import Answer, say
from cadenza.providers.errors import UNKNOWN, Refusal
from cadenza.providers.meta import errors
from cadenza.providers.outcome import (
    Disconnected,
    Forbidden,
    NotReady,
    Outcome,
    RecipientGone,
    Rejected,
    Transient,
    TryLater,
    Unconfirmed,
    WaitScope,
)
from tests.providers.contract import bare, drive
from tests.providers.facebook.fixtures import FEED, SWITCH, facebook

QUARTER, HOUR = timedelta(minutes=15), timedelta(hours=1)
ACCOUNT, APP = WaitScope.ACCOUNT, WaitScope.APP
Case = tuple[int, int, Outcome]

CASES: list[Case] = [
    (190, 0, Disconnected("", "190")),
    *((190, sub, Disconnected("", f"190/{sub}")) for sub in (458, 459, 460, 463, 464, 467)),
    *((190, sub, Forbidden("", f"190/{sub}")) for sub in (492, 2069032)),
    *((code, 0, Disconnected("", f"{code}")) for code in (102, 104, 2500, 400)),
    *((100, sub, Disconnected("", f"100/{sub}")) for sub in (36007, 36008, 36009)),
    (101, 0, Forbidden("", "101")),
    (4, 2207051, Forbidden("", "4/2207051")),
    (25, 2207050, Forbidden("", "25/2207050")),
    *((10, sub, Forbidden("", f"10/{sub}")) for sub in (4279013, 1404078, 4854002)),
    (368, 0, TryLater(timedelta(hours=12), ACCOUNT, "", block=True)),
    (9, 2207042, TryLater(HOUR, ACCOUNT, "")),
    (9, 0, TryLater(HOUR, ACCOUNT, "")),
    (100, 1390008, TryLater(QUARTER, ACCOUNT, "")),
    (4, 0, TryLater(QUARTER, APP, "")),
    (341, 0, TryLater(HOUR, APP, "")),
    *((code, 0, TryLater(QUARTER, ACCOUNT, "")) for code in (17, 32, 613)),
    *((code, 0, TryLater(HOUR, ACCOUNT, "")) for code in range(80000, 80015)),
    (9007, 2207027, NotReady(timedelta(seconds=30))),
    (9007, 0, NotReady(timedelta(seconds=30))),
    (-2, 2207003, Unconfirmed("")),
    (-2, 2207020, Transient("", restart=True)),
    *((-1, sub, Transient("", restart=True)) for sub in (2207001, 2207032, 2207053)),
    *((1, sub, Transient("", restart=True)) for sub in (2207077, 2207082)),
    *((24, sub, Transient("", restart=True)) for sub in (2207006, 2207008, 0)),
    *((9004, sub, Rejected("", f"9004/{sub}")) for sub in (2207052,)),
    (9004, 0, Rejected("", "9004")),
    (25, 0, Forbidden("", "25")),
    (1, 2207057, Rejected("", "1/2207057")),
    *(
        (100, sub, Rejected("", f"100/{sub}"))
        for sub in (2207023, 2207028, 2207035, 2207036, 2207037, 2207040)
    ),
    (352, 2207026, Rejected("", "352/2207026")),
    (352, 0, Rejected("", "352")),
    (324, 0, Rejected("", "324")),
    (36000, 2207004, Rejected("", "36000/2207004")),
    (36001, 2207005, Rejected("", "36001/2207005")),
    (36003, 2207009, Rejected("", "36003/2207009")),
    (36004, 2207010, Rejected("", "36004/2207010")),
    *((code, 0, Rejected("", f"{code}")) for code in (36000, 36001, 36003, 36004)),
    (506, 0, Rejected("", "506")),
    (1609005, 0, Rejected("", "1609005")),
    *((100, sub, Rejected("", f"100/{sub}")) for sub in (1366046, 1366051, 1346003, 1404102)),
    *((2, sub, Unconfirmed("")) for sub in (1363047, 1609010)),
    (100, 0, Rejected("", "100")),
    *((code, 0, RecipientGone("", f"{code}")) for code in (551, 1545041)),
    *((code, 0, Forbidden("", f"{code}")) for code in (3, 10, *range(200, 300))),
    *((code, 0, Unconfirmed("")) for code in (1, 2, -1, -2)),
    (7777, 0, Rejected("", "unknown:7777")),
]
# A few of a long range are enough on the wire; the table is held to all of them below.
ON_THE_WIRE = [case for case in CASES if case[0] not in {*range(202, 299), *range(80002, 80014)}]


@pytest.mark.parametrize(("code", "subcode", "expected"), ON_THE_WIRE)
async def test_a_refusal_means_what_its_row_says(
    code: int, subcode: int, expected: Outcome
) -> None:
    said = await _said(envelope(code, "Words of Meta", subcode))
    assert bare(said) == bare(expected)
    assert "Words of Meta" in str(getattr(said, "message", ""))


@pytest.mark.parametrize(("code", "subcode", "expected"), CASES)
def test_a_row_decides_the_same_at_the_table(code: int, subcode: int, expected: Outcome) -> None:
    refusal = Refusal(status=400, code=code, subcode=subcode or None, irreversible=True)
    assert bare(errors.table("Meta").judge(refusal)) == bare(expected)


def test_every_row_is_met_by_a_case() -> None:
    table = errors.table("Meta")
    met = [table.row(Refusal(status=400, code=c, subcode=s or None)) for c, s, _ in CASES]
    met.append(table.row(Refusal(status=400, code=100, subcode=33)))
    assert [row for row in table.rows if row not in met] == []
    assert UNKNOWN in met


async def test_a_missing_object_is_a_right_elsewhere_and_a_fresh_start_for_our_own() -> None:
    missing = envelope(100, "Object does not exist", 33)
    assert bare(await _said(missing)) == bare(Transient("", restart=True))
    assert bare(await _said(missing, FEED)) == bare(Forbidden("", "100/33"))


@pytest.mark.parametrize("code", [7777, 100])
async def test_what_meta_itself_calls_passing_is_not_taken_for_a_verdict(code: int) -> None:
    assert bare(await _said(envelope(code, "Hm", transient=True))) == bare(Unconfirmed(""))
    assert bare(await _said(envelope(code, "Hm", transient=True), FEED)) == bare(Transient(""))


async def test_the_words_for_people_come_before_the_words_for_us() -> None:
    said = await _said(envelope(100, "Invalid parameter", user_words="The link is broken"))
    assert "The link is broken" in str(getattr(said, "message", ""))


async def test_numbers_may_come_as_text() -> None:
    body = {"error": {"message": "m", "code": "190", "error_subcode": "463"}}
    assert bare(await _said(say(400, body))) == bare(Disconnected("", "190/463"))


async def _said(answer: Answer, route: str = SWITCH) -> object:
    """Return what the first call to a route comes to when it is answered so."""
    async with facebook() as (scene, simulated):
        fault = simulated.faults.plan(Kind.ERROR_BEFORE, route, answer=answer)
        ended = await drive(scene)
        assert fault.met
        return ended.trail[0 if route == FEED else 1]
