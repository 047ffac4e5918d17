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

    await place.house.operations.run(lay_out)
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
