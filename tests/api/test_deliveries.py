"""Deliveries are listed by when they are due, page by page and none twice; stale decisions change nothing."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from cadenza.sql.tx import Tx
from tests.api.conftest import Place, deliver

LIST = "/api/v1/workspaces/home-of-ada/deliveries"


@pytest.mark.parametrize(("order", "names"), [("soonest", "abcde"), ("newest", "edcba")])
async def test_pages_follow_the_order_that_was_asked_for(
    place: Place, order: str, names: str
) -> None:
    def lay_out(tx: Tx, now: datetime) -> None:
        tx.run("DELETE FROM delivery WHERE id = 'delivery-of-ada'")
        # Two at the same instant: their ids decide.
        for id_, hours in (("a", 1), ("b", 2), ("c", 2), ("d", 3), ("e", 4)):
            deliver(
                tx, now, "home-of-ada", "account-of-ada", id_, due_at=now + timedelta(hours=hours)
            )

    await place.runtime.operations.run(lay_out)
    browser = await place.client("viewer")
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        query = {"order": order, "limit": "2", **({"cursor": cursor} if cursor else {})}
        page = (await browser.get(LIST, params=query)).json()
        seen += [each["id"] for each in page["items"]]
        cursor = page["next"]
    assert seen == list(names)


@pytest.mark.parametrize(
    ("verb", "body"),
    [
        ("cancel", {}),
        ("retry", None),
        ("publish-now", None),
        ("decide", {"fence": 1, "is_there": True}),
    ],
)
async def test_a_delivery_that_changed_meanwhile_is_left_alone(
    place: Place, verb: str, body: dict[str, Any] | None
) -> None:
    editor = await place.client("editor")
    one = f"{LIST}/delivery-of-ada"
    seen = (await editor.get(one)).headers["etag"]
    hurried = await editor.post(f"{one}/publish-now", headers={"if-match": seen})
    assert hurried.status_code == 200, hurried.text
    stale = await editor.post(f"{one}/{verb}", json=body, headers={"if-match": seen})
    assert (stale.status_code, stale.json()["current"]["id"]) == (412, "delivery-of-ada")
    current = (await editor.get(one)).headers["etag"]
    assert current == hurried.headers["etag"] != seen


MANY = """
WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 4000)
INSERT INTO delivery (workspace_id, id, lane_id, account_id, channel, action, post_id, state, due_at, content,
    created_at)
SELECT workspace_id, id || '-' || n, lane_id, account_id, channel, action, CASE WHEN n % 2 = 0 THEN 'post-' || n END,
    'canceled', due_at, content, created_at
FROM delivery, numbers WHERE id = 'delivery-of-ada'
"""
IN_TIME = ("delivery_in_time", "delivery_of_no_post")
ONE_POST = ("delivery_of_post", "delivery_once")
OF_STATE = "delivery_of_state"


@pytest.mark.parametrize(
    ("query", "indexes"),
    [
        ({}, {*IN_TIME}),
        (
            {"order": "newest", "account_id": "account-of-ada", "state": "canceled"},
            {*IN_TIME, OF_STATE},
        ),
        ({"post_id": "post-2"}, {*ONE_POST}),
        ({"post_id": "post-2", "order": "newest"}, {*ONE_POST}),
    ],
)
async def test_a_page_costs_what_it_shows_however_much_there_is(
    place: Place, query: dict[str, str], indexes: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def change(sql: str) -> None:
        await place.runtime.operations.run(lambda tx, _: tx.run(sql))

    await change(MANY)
    await change("ANALYZE")
    requested: list[tuple[str, dict[str, Any]]] = []
    read = Tx.all

    def note(self: Tx, sql: str, **params: Any) -> Any:
        requested.append((sql, params))
        return read(self, sql, **params)

    browser = await place.client("viewer")
    first = (await browser.get(LIST, params={**query, "limit": "1"})).json()
    monkeypatch.setattr(Tx, "all", note)
    onward = {"cursor": first["next"]} if first["next"] else {}
    assert (await browser.get(LIST, params=query | onward)).status_code == 200
    monkeypatch.undo()
    (listed,) = [each for each in requested if "FROM delivery" in each[0]]

    def explain(tx: Tx, _: datetime) -> list[str]:
        how = "EXPLAIN QUERY PLAN" if tx.dialect == "sqlite" else "EXPLAIN"
        return [str(list(row.values())) for row in tx.all(f"{how} {listed[0]}", **listed[1])]

    plan = await place.runtime.operations.read(explain)
    used = {name for name in (*IN_TIME, *ONE_POST, OF_STATE) for line in plan if name in line}
    assert used <= indexes, plan
    assert used, plan
    assert len(used) == 2 or "post_id" in query or "state" in query, plan
    assert not [line for line in plan if "Seq Scan" in line or "SCAN delivery" in line], plan


async def test_a_delivery_is_explained_at_the_instant_that_was_asked_about(place: Place) -> None:
    viewer = await place.client("viewer")
    one = f"{LIST}/delivery-of-ada"
    due = (await viewer.get(one)).json()["due_at"]
    assert (await viewer.get(f"{one}/explain")).json()["judged_at"] == due
    at = datetime.fromisoformat(due) - timedelta(days=2)
    told = (await viewer.get(f"{one}/explain", params={"at": at.isoformat()})).json()
    assert datetime.fromisoformat(told["judged_at"]) == at
    for wrong in ("2999-01-01T09:00:00", "2001-01-01T09:00:00+01:00"):  # without an offset; past
        refused = await viewer.get(f"{one}/explain", params={"at": wrong})
        assert (refused.status_code, refused.json()["errors"][0]["path"]) == (422, "query.at")


async def test_what_happened_is_listed_by_when_it_did(place: Place) -> None:
    """A post canceled long before its time does not stand above what was sent since."""

    def lay_out(tx: Tx, now: datetime) -> None:
        tx.run("DELETE FROM delivery WHERE id = 'delivery-of-ada'")
        for id_, state, days, ago in (
            ("sent", "sent", -1, 1),
            ("canceled", "canceled", 30, 3),
            ("missed", "missed", -4, 2),
            ("sending", "sending", -5, 0),
            ("ahead", "scheduled", 40, 0),
        ):
            deliver(
                tx, now, "home-of-ada", "account-of-ada", id_, due_at=now + timedelta(days=days)
            )
            column = {"sent": "sent_at", "sending": "last_attempt_at"}.get(state, "ended_at")
            tx.run(
                f"UPDATE delivery SET state = :state, {column} = :at WHERE id = :id",
                state=state,
                at=now - timedelta(hours=ago),
                id=id_,
            )

    await place.runtime.operations.run(lay_out)
    browser = await place.client("viewer")
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        query = {"order": "happened", "limit": "1", **({"cursor": cursor} if cursor else {})}
        page = (await browser.get(LIST, params=query)).json()
        seen += [each["id"] for each in page["items"]]
        cursor = page["next"]
    assert seen == ["sending", "sent", "missed", "canceled"]
    some = {"order": "happened", "state": ["canceled", "missed"]}
    page = (await browser.get(LIST, params=some)).json()
    assert [each["id"] for each in page["items"]] == ["missed", "canceled"]


async def test_a_cancellation_is_dated(place: Place) -> None:
    editor = await place.client("editor")
    canceled = (await editor.post(f"{LIST}/delivery-of-ada/cancel", json={})).json()
    assert canceled["ended_at"] is not None
    page = (await editor.get(LIST, params={"order": "happened"})).json()
    assert [each["id"] for each in page["items"]] == ["delivery-of-ada"]


async def test_what_was_missed_and_is_tried_again_has_not_ended(place: Place) -> None:
    await place.runtime.operations.run(
        lambda tx, now: tx.run(
            "UPDATE delivery SET state = 'missed', ended_at = :now WHERE id = 'delivery-of-ada'",
            now=now,
        )
    )
    editor = await place.client("editor")
    retried = (await editor.post(f"{LIST}/delivery-of-ada/retry")).json()
    assert (retried["state"], retried["ended_at"]) == ("scheduled", None)


async def test_deliveries_are_found_by_the_code_of_their_reason(place: Place) -> None:
    editor = await place.client("editor")
    canceled = await editor.post(f"{LIST}/delivery-of-ada/cancel", json={"reason": "no bread"})
    told = {name: canceled.json()[name] for name in ("reason", "reason_code", "reason_params")}
    assert told == {
        "reason": "no bread",
        "reason_code": "canceled",
        "reason_params": {"message": "no bread"},
    }
    found = (await editor.get(LIST, params={"reason_code": ["canceled", "cleared"]})).json()
    assert [each["id"] for each in found["items"]] == ["delivery-of-ada"]
    assert (await editor.get(LIST, params={"reason_code": "cleared"})).json()["items"] == []
    assert (await editor.get(LIST, params={"reason_code": "no bread"})).status_code == 422
