"""What an account did lately, as a screen asks for it."""

from datetime import datetime, timedelta

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
