"""What an account did lately, as a screen asks for it."""

from datetime import UTC, datetime, timedelta
from typing import Any

from cadenza.api.account_use import count_calls
from cadenza.core.zones import get_zone
from cadenza.deliveries.audit_limits import audit_limits
from cadenza.sql.tx import Tx
from tests.api.conftest import Place

HOME = "/api/v1/workspaces/home-of-ada/accounts/account-of-ada"


async def test_use_is_counted_by_day_hour_and_limit_in_the_accounts_own_zone(
    place: Place,
) -> None:
    admin = await place.client("admin")
    limits = [
        {"action": "post", "kind": "day", "amount": 5},
        {"action": "*", "kind": "rolling_day", "amount": 9},
        {"action": "post", "kind": "gap", "amount": 60},
    ]
    assert (await admin.put(f"{HOME}/limits", json={"limits": limits})).status_code == 200
    await place.runtime.operations.run(_did)

    shown = (await admin.get(f"{HOME}/use")).json()

    assert shown["zone"] == "Europe/Berlin"
    assert sum(day["sent"] for day in shown["days"]) == 3
    assert sum(day["refused"] for day in shown["days"]) == 1
    assert sum(hour["sent"] for hour in shown["hours"]) == 3
    used = {(use["limit"]["action"], use["limit"]["kind"]): use["used"] for use in shown["uses"]}
    assert used == {("post", "day"): 1, ("*", "rolling_day"): 2, ("post", "gap"): None}


async def test_an_account_tells_which_hours_hold_where_it_says_none(place: Place) -> None:
    viewer = await place.client("viewer")

    shown = (await viewer.get(HOME)).json()

    office = {"start": "09:00:00", "end": "18:00:00", "days": [1, 2, 3, 4, 5]}
    people = ("email", "message", "connection_request", "inmail")
    assert shown["usual_hours"] == {
        "post": None,
        "broadcast": None,
        **dict.fromkeys(people, office),
    }


async def test_many_calls_are_counted_by_the_database(place: Place) -> None:
    """As many rows as days and hours, however many calls."""
    noon = datetime(2026, 11, 16, 12, tzinfo=UTC)

    def fill(tx: Tx, _: datetime) -> None:
        for n in range(120):
            _one(tx, f"n{n}", noon + timedelta(seconds=15 * n), action="post")

    await place.runtime.operations.run(fill)
    berlin = get_zone("Europe/Berlin")

    async def count(at: datetime) -> dict[tuple[str, int], Any]:
        rows = await place.runtime.operations.read(
            lambda tx, _: count_calls(tx, at, "home-of-ada", "account-of-ada", berlin)
        )
        return {(row["kind"], row["place"]): row for row in rows}

    found = await count(noon + timedelta(hours=1))
    assert {(*name, row["sent"]) for name, row in found.items()} == {
        ("day", 20_773, 120),
        ("hour", 24 + 13, 120),  # a Monday, one in the afternoon
        ("used", 0, 0),
    }
    assert [found["used", 0][name] for name in ("this_hour", "today", "this_week", "recent")] == [
        *(0, 120, 120, 120)
    ]
    edge = await count(noon + timedelta(days=1, seconds=15 * 90))
    assert edge["used", 0]["recent"] == 29, "the last 24 hours are counted to the second"


async def test_calls_are_counted_on_the_clock_of_their_own_day(place: Place) -> None:
    """Berlin's clocks went back on 25 October 2026, at 01:00 UTC."""
    berlin = get_zone("Europe/Berlin")
    before, after = (
        datetime(2026, 10, 24, 22, 30, tzinfo=UTC),
        datetime(2026, 10, 25, 22, 30, tzinfo=UTC),
    )

    def fill(tx: Tx, _: datetime) -> None:
        _one(tx, "summer", before, action="post")  # 00:30 of the 25th there
        _one(tx, "winter", after, action="post")  # 23:30 of the 25th there

    await place.runtime.operations.run(fill)
    rows = await place.runtime.operations.read(
        lambda tx, _: count_calls(
            tx, after + timedelta(hours=2), "home-of-ada", "account-of-ada", berlin
        )
    )
    assert [(row["kind"], row["place"], row["sent"]) for row in rows[:3]] == [
        ("day", 20_751, 2),
        ("hour", 0, 1),
        ("hour", 23, 1),
    ]


async def test_what_is_older_than_four_weeks_is_left_out(place: Place) -> None:
    viewer = await place.client("viewer")
    await place.runtime.operations.run(
        lambda tx, now: _one(tx, "old", now - timedelta(days=29), action="post")
    )

    shown = (await viewer.get(f"{HOME}/use")).json()

    assert shown["days"] == []


async def test_a_cap_that_is_set_counts_what_was_sent_and_moves_with_the_zone(place: Place) -> None:
    admin = await place.client("admin")
    await place.runtime.operations.run(_did)
    limits = [{"action": "post", "kind": "day", "amount": 1}]
    assert (await admin.put(f"{HOME}/limits", json={"limits": limits})).status_code == 200
    counted = "SELECT period, taken FROM bucket WHERE scope = 'account:account-of-ada'"
    (before,) = await place.rows(counted)
    assert before["taken"] == 1

    for zone in ("Pacific/Kiritimati", "Pacific/Niue"):  # in one of them it is another day
        assert (await admin.patch(HOME, json={"zone": zone})).status_code == 200
        (after,) = await place.rows(counted)
        assert after["taken"] == 1
        audit = await place.runtime.operations.read(audit_limits)
        assert audit.drift == ()


def _did(tx: Tx, now: datetime) -> None:
    _one(tx, "a", now, action="post")
    _one(tx, "b", now, action="email")
    _one(tx, "c", now - timedelta(days=2), action="post")
    _one(tx, "d", now, action="post", state="refunded", counts=False)


def _one(
    tx: Tx, id_: str, at: datetime, *, action: str, state: str = "success", counts: bool = True
) -> None:
    tx.run(
        """
        INSERT INTO activity (workspace_id, id, account_id, action, mode, state, counts, reserved_at)
        VALUES ('home-of-ada', :id, 'account-of-ada', :action, 'live', :state, :counts, :at)
        """,
        id=id_,
        action=action,
        state=state,
        counts=counts,
        at=at,
    )
