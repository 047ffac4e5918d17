"""How long so many messages take, and what decides it."""

from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest

from cadenza.core.quiet import open_hours
from cadenza.core.throughput import Estimate, Sender, estimate
from cadenza.core.windows import Hours, Range
from cadenza.core.zones import get_zone

BERLIN = get_zone("Europe/Berlin")
MONDAY = datetime(2026, 6, 1, 8, tzinfo=UTC)  # 10:00 in Berlin
OFFICE = Hours(BERLIN, ((), *[(Range(time(9), time(18)),)] * 5, ()))


def sender(**changes: Any) -> Sender:
    return Sender(**{"zone": BERLIN, **changes})


@pytest.mark.parametrize(
    ("count", "senders", "more", "minutes", "per_minute", "bound_by"),
    [
        (600, [sender()], {"rate": 60}, 10, 60, "delivery_rate"),
        (600, [sender(per_minute=30)], {"rate": 60}, 20, 30, "account_limits"),
        (
            600,
            [sender(per_minute=30), sender(per_minute=30)],
            {"rate": 100},
            10,
            60,
            "account_limits",
        ),
        (600, [sender(per_minute=30, slowed=True)], {"rate": 60}, 20, 30, "pace"),
        (600, [sender()], {"observed": 20}, 30, None, "accounts"),
        (600, [sender()], {"rate": 60, "observed": 30}, 20, 60, "delivery_rate"),
        (0, [sender()], {"rate": 60}, 0, 60, "delivery_rate"),
    ],
)
def test_the_lowest_of_what_is_allowed_decides(
    count: int,
    senders: list[Sender],
    more: dict[str, float],
    minutes: float,
    per_minute: float | None,
    bound_by: str,
) -> None:
    found = estimate(MONDAY, count, senders, **more)  # pyright: ignore[reportArgumentType]
    assert found == Estimate(per_minute, MONDAY + timedelta(minutes=minutes), bound_by)


def test_nothing_known_gives_no_date() -> None:
    assert estimate(MONDAY, 10, [sender()]) == Estimate(None, None, "accounts")
    assert estimate(MONDAY, 10, []) == Estimate(None, None, "accounts")


def test_a_wait_of_all_accounts_is_waited_out_first() -> None:
    until = MONDAY + timedelta(hours=1)
    found = estimate(MONDAY, 60, [sender(rests_until=until)], rate=60)
    assert found == Estimate(60, until + timedelta(minutes=1), "network_wait")


def test_a_limit_of_a_day_spreads_it_over_days() -> None:
    mailbox = sender(day_cap=20, used_today=5, hours=OFFICE, per_minute=1 / 6)
    found = estimate(MONDAY, 100, [mailbox])
    assert found.bound_by == "day_limit"
    assert found.finish_at is not None
    # 15 on Monday, then 20 a day: the last 5 on the Monday after.
    assert found.finish_at.date().isoformat() == "2026-06-08"


def test_hours_that_are_too_short_decide_it() -> None:
    found = estimate(MONDAY, 10_000, [sender(hours=OFFICE)], rate=10)
    assert found.bound_by == "hours"  # 5,400 a day
    assert found.finish_at is not None
    assert found.finish_at.date().isoformat() == "2026-06-02"


def test_quiet_hours_are_left_out() -> None:
    quiet = open_hours("20:00-08:00 Europe/Berlin")
    found = estimate(MONDAY, 10 * 60 + 60, [sender()], rate=1, quiet=quiet)
    assert found.bound_by == "quiet_hours"
    assert found.finish_at == datetime(2026, 6, 2, 7, tzinfo=UTC)  # an hour after eight in Berlin
