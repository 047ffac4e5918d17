"""100,000 planned messages in twelve zones over nights when clocks change, judged by a checker of its own."""

from datetime import UTC, date, datetime, time, timedelta
from itertools import count
from typing import Any

import pytest

from cadenza.accounts.model import Account
from cadenza.core.channels import Channel
from cadenza.outreach.model import (
    Assignment,
    ContactState,
    Enrolled,
    Sequence,
    SequenceState,
    Step,
    StepVariant,
)
from cadenza.outreach.plan import lay_out
from cadenza.sql.tx import Tx
from tests.outreach.checker import Rules, broken

ZONES = (
    "America/New_York", "Europe/Berlin", "Europe/London", "Australia/Sydney", "Australia/Lord_Howe",
    "America/Santiago", "Africa/Casablanca", "Asia/Kathmandu", "Asia/Tokyo", "America/St_Johns",
    "Pacific/Auckland", "Pacific/Apia",
)  # fmt: skip
STARTS = (datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 9, 20, tzinfo=UTC))
HOLIDAY = date(2026, 4, 6)
MESSAGES = 100_000


class NoRows(Tx):
    """A database with nothing in it but limits."""

    def __init__(self, limits: list[dict[str, Any]]) -> None:
        super().__init__("sqlite", lambda sql, params: (limits if "FROM budget" in sql else [], 0))


def account(zone: str, opens: int, closes: int) -> Account:
    hours = f'{{"start":"{opens:02}:00","end":"{closes:02}:00","days":[1,2,3,4,5]}}'
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return Account(
        "home", f"of {zone}", "smtp", zone, "", zone, "connected", None, None, None, None, None, None,
        0, None, None, 60, "ask", f'{{"hours":{{"email":{hours}}},"holidays":["{HOLIDAY}"]}}', now,
    )  # fmt: skip


def people(number: int, now: datetime) -> list[Enrolled]:
    return [
        Enrolled(
            workspace_id="home",
            sequence_id="s",
            contact_id=f"c{n}",
            position=n,
            state=ContactState.WAITING,
            cause=None,
            detail=None,
            account_id=None,
            next_step=0,
            messages=(),
            ready_at=now,
            last_sent_at=None,
            thread_id=None,
            thread_subject=None,
            accepted_at=None,
            replied_at=None,
            bounced_at=None,
            added_at=now,
        )
        for n in range(number)
    ]


def sequence(now: datetime) -> Sequence:
    step = Step(channel=Channel.EMAIL, variants=(StepVariant(template_version_id="v"),))
    return Sequence(
        workspace_id="home",
        id="s",
        name="s",
        state=SequenceState.RUNNING,
        state_reason=None,
        assignment=Assignment.ROUND_ROBIN,
        turn=0,
        shortest_gap=300,
        longest_gap=1_200,
        even=False,
        recipient_hours=False,
        stop_on=(),
        steps=(step,),
        account_labels=(),
        account_ids=(),
        created_at=now,
        updated_at=now,
        started_at=now,
        ended_at=None,
    )


@pytest.mark.slow
def test_no_message_of_a_hundred_thousand_breaks_a_rule() -> None:
    planned, each_plan = 0, MESSAGES // (len(ZONES) * len(STARTS) * 3) + 1
    numbers = count()
    for zone in ZONES:
        for start in STARTS:
            for opens, closes, cap in ((9, 18, 20), (0, 23, 40), (1, 4, 12)):
                limits = [
                    {"action": "email", "kind": "day", "amount": cap, "per_seconds": None},
                    {"action": "email", "kind": "gap", "amount": 360, "per_seconds": None},
                ]
                at = start + timedelta(minutes=17 * next(numbers))
                made = lay_out(
                    NoRows(limits),
                    at,
                    sequence(at),
                    account(zone, opens, closes),
                    people(each_plan, at),
                    {},
                )
                times = [each.at for each in made if each.at is not None]
                rules = Rules(
                    zone, time(opens), time(closes), frozenset({1, 2, 3, 4, 5}), cap,
                    timedelta(minutes=6), frozenset({HOLIDAY}),
                )  # fmt: skip
                assert broken(rules, times) == []
                planned += len(times)
                without = [each for each in made if each.at is None]
                assert not without or max(times) > at + timedelta(days=364)
    assert planned >= 0.9 * MESSAGES


def test_the_checker_finds_what_is_wrong() -> None:
    rules = Rules(
        "America/New_York", time(9), time(18), frozenset({1, 2, 3, 4, 5}), 2, timedelta(minutes=6)
    )
    monday = datetime(2026, 6, 1, 13, tzinfo=UTC)  # 09:00
    assert broken(rules, [monday, monday + timedelta(minutes=6)]) == []
    assert broken(rules, [monday + timedelta(hours=10)])  # 19:00
    assert broken(rules, [monday - timedelta(days=1)])  # Sunday
    assert broken(rules, [monday, monday + timedelta(minutes=5)])
    assert broken(rules, [monday + timedelta(minutes=10 * n) for n in range(3)])
