"""Recipients choose their lists by the link in a message: a look changes nothing, each button its one thing."""

import json
import re
from datetime import datetime
from typing import Any

from cadenza.contacts.audiences import (
    Audience,
    Member,
    add_members,
    change_audience,
    create_audience,
)
from cadenza.contacts.suppress import SuppressionKind, SuppressionReason, read_suppression, suppress
from cadenza.contacts.unsubscribe import Subscriber, make_token
from cadenza.sql.tx import Tx
from tests.api.conftest import Place

HOME, NEXT_DOOR = "home-of-ada", "home-of-ben"
WHO = Subscriber(HOME, "email", "Cy@Example.org")
LEFT = "SELECT * FROM audience_unsubscribe"


async def add_lists(
    place: Place, *, home: str = HOME, address: str = "cy@example.org"
) -> dict[str, str]:
    """Put a contact on three lists: two with names for recipients, one that is ours alone."""
    ada = await place.client("editor" if home == HOME else "ben")
    path = f"/api/v1/workspaces/{home}"
    answer = await ada.post(
        f"{path}/contacts", json={"addresses": [{"channel": "email", "address": address}]}
    )
    assert answer.status_code == 201, answer.text
    contact = answer.json()["id"]
    found: dict[str, str] = {}
    for name, public in (("n", "News & <b>bread</b>"), ("s", "Shop offers"), ("cold leads", "")):
        made = (await ada.post(f"{path}/audiences", json={"name": name})).json()["id"]
        body = {"public_name": public}
        changed = await ada.patch(f"{path}/audiences/{made}", json=body)
        assert changed.status_code == 200, changed.text
        assert changed.json()["public_name"] == (public or None)
        await ada.post(f"{path}/audiences/{made}/members", json={"contact_ids": [contact]})
        found[name] = made
    return found


async def press(place: Place, **fields: str) -> Any:
    browser = await place.client()
    answer = await browser.post(f"/u/{make_token(place.runtime.keyring, WHO)}", data=fields)
    assert answer.status_code == 200, answer.text
    assert "set-cookie" not in answer.headers
    return answer


async def test_the_page_shows_named_lists_and_changes_nothing(place: Place) -> None:
    lists = await add_lists(place)
    await add_lists(place, home=NEXT_DOOR)
    browser = await place.client()
    answer = await browser.get(f"/u/{make_token(place.runtime.keyring, WHO)}")
    assert "News &amp; &lt;b&gt;bread&lt;/b&gt;" in answer.text
    assert answer.text.count("<li>") == 2
    assert "cold leads" not in answer.text
    assert "example.org" not in answer.text.lower()
    assert re.findall(r'name="list" value="([^"]+)"', answer.text) == [lists["n"], lists["s"]]
    assert await place.rows(LEFT) == []
    assert await place.rows("SELECT * FROM suppression WHERE reason = 'unsubscribe'") == []


async def test_leaving_one_list_keeps_the_others_and_can_be_undone(place: Place) -> None:
    lists = await add_lists(place)
    for _ in range(2):
        answer = await press(place, change="leave", list=lists["n"])
        assert "Get News &amp; &lt;b&gt;bread&lt;/b&gt; again" in answer.text
        assert "Unsubscribe from Shop offers" in answer.text
    (row,) = await place.rows(LEFT)
    assert (row["workspace_id"], row["address"], row["audience_id"]) == (
        *(HOME, "cy@example.org", lists["n"]),
    )
    (event,) = await place.rows("SELECT body FROM outbox WHERE kind = 'contact.unsubscribed'")
    assert json.loads(event["body"])["audience_id"] == lists["n"]
    await press(place, change="join", list=lists["n"])
    assert await place.rows(LEFT) == []
    acts = await place.rows(
        "SELECT action, actor FROM audit WHERE subject_id = 'cy@example.org' ORDER BY id"
    )
    assert acts == [
        {"action": "list.leave", "actor": "recipient"},
        {"action": "list.join", "actor": "recipient"},
    ]


async def test_only_lists_that_are_shown_can_be_left(place: Place) -> None:
    lists = await add_lists(place)
    other = await add_lists(place, home=NEXT_DOOR)
    for id_ in (lists["cold leads"], other["n"], "no-list", ""):
        await press(place, change="leave", list=id_)
    assert await place.rows(LEFT) == []


async def test_everything_can_be_left_and_taken_again_but_no_bounce(small: Place) -> None:
    await add_lists(small)

    def bounce(tx: Tx, now: datetime) -> None:
        new = read_suppression(
            SuppressionKind.ADDRESS,
            WHO.address,
            channel="email",
            reason=SuppressionReason.HARD_BOUNCE,
        )
        suppress(tx, now, [new], workspace_id=HOME, by="system")  # pyright: ignore[reportArgumentType]

    await small.runtime.operations.run(bounce)
    answer = await press(small, **{"List-Unsubscribe": "One-Click"})
    assert "Subscribe again" in answer.text
    assert "<li>" not in answer.text
    answer = await press(small, change="again")
    assert "<li>" in answer.text
    rows = await small.rows("SELECT reason FROM suppression WHERE value = 'cy@example.org'")
    assert rows == [{"reason": "hard_bounce"}]


async def test_a_filter_cannot_be_shown_to_recipients(small: Place) -> None:
    def operation(tx: Tx, now: datetime) -> Any:
        made = create_audience(tx, now, workspace_id=HOME, name="f", by="a", conditions=())
        assert isinstance(made, Audience)
        refused = change_audience(
            tx, now, workspace_id=HOME, audience_id=made.id, by="a", public_name="News"
        )
        add_members(
            tx, now, workspace_id=HOME, audience_id=made.id, members=[Member("contact", "x")]
        )
        return refused

    assert (await small.runtime.operations.run(operation)).code == "a_filter"
