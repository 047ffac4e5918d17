"""Signing up by a form on another site: confirmed by mail before anything is kept, and silent to strangers."""

import json
import re
from datetime import timedelta
from typing import Any

import pytest

from cadenza.contacts import sign_up
from tests.api.conftest import Place

HOME = "home-of-ada"
API = f"/api/v1/workspaces/{HOME}"
SITE = {"origin": "https://www.example.org", "sec-fetch-site": "cross-site"}
LINK = re.compile(r"http://\S+?(/f/confirm/\S+)")


async def make_form(place: Place, **changes: Any) -> dict[str, Any]:
    """A list, an account that mails, and a form for both."""
    await place.runtime.operations.run(
        lambda tx, _: tx.run("UPDATE account SET provider = 'smtp' WHERE id = 'account-of-ada'")
    )
    ada = await place.client("editor")
    found = (await ada.get(f"{API}/audiences")).json()
    audience = (
        found[0] if found else (await ada.post(f"{API}/audiences", json={"name": "News"})).json()
    )
    body = {
        "name": "Newsletter",
        "audience_id": audience["id"],
        "account_id": "account-of-ada",
        "fields": [{"key": "first_name", "label": "First <name>"}],
        "texts": {"consent": "I want the news."},
    }
    answer = await ada.post(f"{API}/signup-forms", json=body | changes)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def press(
    place: Place, form: dict[str, Any], address: str = "192.0.2.7", **fields: str
) -> Any:
    browser = await place.client(address=address)
    return await browser.post(f"/f/{form['id']}", data=fields, headers=SITE)


async def mails(place: Place, to: str = "Ben@example.org") -> list[dict[str, Any]]:
    rows = await place.rows(
        "SELECT * FROM delivery WHERE recipient = :to ORDER BY created_at, id", to=to
    )
    return [row | {"content": json.loads(row["content"])} for row in rows]


async def link_of(place: Place, to: str = "Ben@example.org") -> str:
    found = LINK.search((await mails(place, to))[-1]["content"]["text"])
    assert found is not None
    return found[1]


async def contact_of(place: Place, address: str = "ben@example.org") -> dict[str, Any] | None:
    return await place.row(
        """
        SELECT c.* FROM contact_address a JOIN contact c ON c.id = a.contact_id
        WHERE a.address = :address AND a.workspace_id = 'home-of-ada'
        """,
        address=address,
    )


async def test_nobody_is_kept_before_the_address_confirms(place: Place) -> None:
    form = await make_form(place)
    answer = await press(place, form, email=" Ben@example.org ", first_name="Ben")
    assert answer.status_code == 200, answer.text
    assert "set-cookie" not in answer.headers
    assert await contact_of(place) is None
    (mail,) = await mails(place)
    assert (mail["account_id"], mail["action"], mail["channel"]) == (
        "account-of-ada",
        "email",
        "email",
    )
    assert "Ben" not in mail["content"]["text"], "a stranger's words never go out"
    link, browser = await link_of(place), await place.client()
    shown = await browser.get(link)
    assert "<button>Confirm</button>" in shown.text
    assert await contact_of(place) is None, "a look changes nothing"
    for _ in range(2):
        assert (await browser.post(link)).status_code == 200
    contact = await contact_of(place)
    assert contact is not None
    assert (contact["first_name"], contact["consent"], contact["source"]) == (
        "Ben",
        "given",
        "Newsletter",
    )
    assert contact["consent_at"] is not None
    assert contact["consent_proof"].endswith("UTC: I want the news.")
    members = await place.rows("SELECT member_id FROM audience_member")
    assert members == [{"member_id": contact["id"]}]
    (event,) = await place.rows("SELECT body FROM outbox WHERE kind = 'contact.subscribed'")
    assert json.loads(event["body"])["contact_id"] == contact["id"]
    ada = await place.client("viewer")
    counted = (await ada.get(f"{API}/signup-forms/{form['id']}")).json()
    assert (counted["pending"], counted["confirmed"]) == (0, 1)


async def test_a_stranger_cannot_tell_who_is_known(place: Place) -> None:
    """The answer and the mail are the same for a new address, a contact, a member, and one that is suppressed."""
    form = await make_form(place)
    first = await press(place, form, email="ben@example.org", first_name="Ben")
    await (await place.client()).post(await link_of(place, "ben@example.org"))
    ada = await place.client("editor")
    await ada.post(f"{API}/suppression", json={"kind": "address", "value": "cy@example.org"})
    await ada.post(
        f"{API}/contacts", json={"addresses": [{"channel": "email", "address": "dot@example.org"}]}
    )
    await place.runtime.operations.run(
        lambda tx, now: tx.run("UPDATE signup SET mailed_at = :at", at=now - timedelta(hours=1))
    )
    for address in ("ben@example.org", "cy@example.org", "dot@example.org", "new@example.org"):
        again = await press(place, form, email=address)
        assert (again.status_code, again.text) == (first.status_code, first.text)
        last = (await mails(place, address))[-1]
        assert (last["state"], last["content"]["subject"]) == ("scheduled", "Please confirm")
    assert len(await mails(place, "ben@example.org")) == 2


async def test_what_is_known_of_a_contact_is_not_replaced(small: Place) -> None:
    form = await make_form(small)
    ada = await small.client("editor")
    address = {"channel": "email", "address": "ben@example.org"}
    body = {"addresses": [address], "first_name": "Benjamin", "tags": ["vip"], "consent": "refused"}
    await ada.post(f"{API}/contacts", json=body)
    await press(small, form, email="ben@example.org", first_name="Rude")
    await (await small.client()).post(await link_of(small, "ben@example.org"))
    contact = await contact_of(small)
    assert contact is not None
    assert (contact["first_name"], contact["consent"]) == ("Benjamin", "given")


async def test_an_address_gets_few_mails(small: Place) -> None:
    form = await make_form(small)
    other = await make_form(small, name="Other")
    for _ in range(3):
        await press(small, form, email="Ben@example.org")
        await press(small, other, email="Ben@example.org")
    assert len(await mails(small)) == 1
    for _ in range(9):
        await small.runtime.operations.run(
            lambda tx, now: tx.run("UPDATE signup SET mailed_at = :at", at=now - timedelta(hours=1))
        )
        await press(small, form, email="Ben@example.org", address="192.0.2.200")
    assert len(await mails(small)) == sign_up.MOST_MAILS


async def test_programs_are_held_off(small: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    form = await make_form(small)
    answer = await press(small, form, email="bot@example.org", website="http://spam.example")
    assert answer.status_code == 200
    assert await small.rows("SELECT * FROM signup") == []
    codes = [
        (await press(small, form, address="192.0.2.66", email=f"a{n}@example.org")).status_code
        for n in range(25)
    ]
    assert codes == [200] * 20 + [429] * 5
    monkeypatch.setattr(sign_up, "MOST_AN_HOUR", 20)
    answer = await press(small, form, address="198.51.100.7", email="late@example.org")
    assert answer.status_code == 429


async def test_what_is_filled_in_is_checked(small: Place) -> None:
    form = await make_form(small, fields=[{"key": "country", "label": "Country", "required": True}])
    for fields, said in (
        ({}, "Email address is missing"),
        ({"email": "nobody", "country": "DE"}, "Write one address"),
        ({"email": "a@example.org", "country": "<b>"}, "Country"),
    ):
        answer = await press(small, form, **fields)
        assert answer.status_code == 422
        assert said in answer.text
        assert "<b>" not in answer.text
    assert await small.rows("SELECT * FROM signup") == []


async def test_only_the_forms_sites_may_send_and_frame_it(small: Place) -> None:
    form = await make_form(small, origins=["https://www.example.org"])
    browser = await small.client()
    evil = {"origin": "https://evil.example"}
    answer = await browser.post(f"/f/{form['id']}", data={"email": "a@example.org"}, headers=evil)
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers
    headers = SITE | {"accept": "application/json"}
    answer = await browser.post(
        f"/f/{form['id']}", data={"email": "a@example.org"}, headers=headers
    )
    assert answer.json() == {"message": form["texts"]["pending"]}
    assert answer.headers["access-control-allow-origin"] == "https://www.example.org"
    page = await browser.get(f"/f/{form['id']}")
    assert page.headers["content-security-policy"].endswith(
        "frame-ancestors 'self' https://www.example.org"
    )
    assert "First &lt;name&gt;" in page.text
    assert form["html"].count("<label>") == 3  # the address, the name, and the one that nobody sees


async def test_links_end_and_belong_to_one_purpose(small: Place) -> None:
    form = await make_form(small)
    await press(small, form, email="Ben@example.org")
    link, browser = await link_of(small), await small.client()
    token = link.rpartition("/")[2]
    assert (await browser.get(f"/u/{token}")).status_code == 404
    for bad in (link[:-6], "/f/confirm/x"):
        assert (await browser.post(bad)).status_code == 404
    await small.runtime.operations.run(
        lambda tx, now: tx.run("UPDATE signup SET asked_at = :at", at=now - timedelta(days=8))
    )
    assert (await browser.post(link)).status_code == 404
    assert await small.runtime.operations.run(sign_up.forget_signups) == 1
    assert await contact_of(small) is None


async def test_a_closed_form_takes_nobody_and_visitors_go_on(small: Place) -> None:
    onward = "https://www.example.org/thanks"
    form = await make_form(small, redirect_url=onward, confirmed_url=onward)
    answer = await press(small, form, email="Ben@example.org")
    assert (answer.status_code, answer.headers["location"]) == (303, onward)
    answer = await (await small.client()).post(await link_of(small))
    assert (answer.status_code, answer.headers["location"]) == (303, onward)
    ada = await small.client("editor")
    kept = ("name", "audience_id", "account_id", "fields", "texts")
    body = {name: form[name] for name in kept} | {"active": False}
    assert (await ada.put(f"{API}/signup-forms/{form['id']}", json=body)).status_code == 200
    assert (await press(small, form, email="cy@example.org")).status_code == 404


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"audience_id": "nowhere"}, "audience_id"),
        ({"texts": {"mail_text": "no link"}}, "mail_text"),
        ({"fields": [{"key": "shoe_size", "label": "Shoes"}]}, "fields"),
        ({"origins": ["www.example.org"]}, "origins"),
        ({"redirect_url": "javascript:alert(1)"}, "redirect_url"),
        ({"confirmed_url": "https://a.example; script-src *"}, "confirmed_url"),
    ],
)
async def test_a_form_that_cannot_work_is_refused(
    small: Place, changes: dict[str, Any], where: str
) -> None:
    form = await make_form(small)
    ada = await small.client("editor")
    body = {name: form[name] for name in ("name", "audience_id", "account_id")} | changes
    answer = await ada.put(f"{API}/signup-forms/{form['id']}", json=body)
    assert answer.status_code == 422, answer.text
    assert where in answer.text
