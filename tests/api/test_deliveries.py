"""Deliveries are listed by when they are due, either way, page by page and none twice."""

from datetime import datetime, timedelta

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
