"""Unsubscribing by a link: a look changes nothing, a post does, once, without cookies, on both databases."""

import json

from cadenza.contacts.link_token import BadToken
from cadenza.contacts.model import Invalid
from cadenza.contacts.unsubscribe import (
    BulkMail,
    Subscriber,
    check_bulk_mail,
    make_token,
    read_token,
    unsubscribe_url,
)
from tests.api.conftest import Place

BEN = Subscriber("home-of-ada", "email", "Ben@example.org")
FORM = {"content-type": "application/x-www-form-urlencoded"}
ROWS = "SELECT * FROM suppression WHERE reason = 'unsubscribe'"


async def test_a_look_shows_a_button_and_changes_nothing(place: Place) -> None:
    browser = await place.client()
    answer = await browser.get(f"/u/{make_token(place.runtime.keyring, BEN)}")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    assert "<button" in answer.text
    assert "example.org" not in answer.text
    assert (
        answer.headers["referrer-policy"] == "same-origin"
    )  # else the button's post has no origin
    assert await place.rows(ROWS) == []


async def test_a_post_unsubscribes_once_and_is_answered_again(place: Place) -> None:
    browser = await place.client()
    path = f"/u/{make_token(place.runtime.keyring, BEN)}"
    for _ in range(2):
        answer = await browser.post(path, content="List-Unsubscribe=One-Click", headers=FORM)
        assert answer.status_code == 200, answer.text
        assert "set-cookie" not in answer.headers
    (row,) = await place.rows(ROWS)
    assert (row["workspace_id"], row["kind"], row["value"], row["channel"]) == (
        *("home-of-ada", "address", "ben@example.org", "email"),
    )
    events = await place.rows("SELECT * FROM outbox WHERE kind = 'contact.unsubscribed'")
    assert [json.loads(each["body"]) for each in events] == [
        {"channel": "email", "address": "ben@example.org", "audience_id": None}
    ]
    audit = await place.rows("SELECT actor FROM audit WHERE subject_id = 'ben@example.org'")
    assert audit == [{"actor": "recipient"}]


async def test_a_multipart_post_and_one_without_a_body_count(small: Place) -> None:
    browser = await small.client()
    for name in ("ben", "cy"):
        token = make_token(
            small.runtime.keyring, Subscriber("home-of-ada", "telegram", f"@{name}_b")
        )
        files = {"List-Unsubscribe": (None, "One-Click")} if name == "ben" else None
        assert (await browser.post(f"/u/{token}", files=files)).status_code == 200
    assert sorted(row["value"] for row in await small.rows(ROWS)) == ["ben_b", "cy_b"]


async def test_bad_tokens_change_nothing(small: Place) -> None:
    browser = await small.client()
    good = make_token(small.runtime.keyring, BEN)
    gone = make_token(small.runtime.keyring, Subscriber("no-home", "email", "ben@example.org"))
    for bad in ("x", good[:-8], good[:40] + "AAAA" + good[44:], "~", "a" * 1999):
        assert read_token(small.runtime.keyring, bad) == BadToken()
        for answer in (await browser.get(f"/u/{bad}"), await browser.post(f"/u/{bad}")):
            assert answer.status_code == 404
            assert "Link not found" in answer.text
    assert (await browser.post(f"/u/{gone}")).status_code == 200
    assert await small.rows(ROWS) == []


def test_links_need_a_public_https_address(small: Place) -> None:
    url = unsubscribe_url(small.runtime.keyring, "https://post.example.org/", BEN)
    assert url is not None
    assert url.startswith("https://post.example.org/u/")
    assert len(url) < 500
    assert read_token(small.runtime.keyring, url.rpartition("/")[2]) == BEN
    assert unsubscribe_url(small.runtime.keyring, "http://localhost:8400", BEN) is None


def codes(mail: BulkMail) -> list[tuple[str, str]]:
    found = check_bulk_mail(mail)
    assert all(isinstance(each, Invalid) for each in found)
    return [(each.column, each.code) for each in found]


def test_bulk_mail_is_checked_before_it_starts() -> None:
    street = "1 Main Street, London"
    text = f"Hi. {{{{unsubscribe_url}}}} {street}"
    html = (
        '<p>Hi. <a href="{{ unsubscribe_url }}">No more</a></p><p>1 Main\nStreet, <b>London</b></p>'
    )
    good = BulkMail(text, html, "https://post.example.org", street)
    assert codes(good) == []
    assert codes(BulkMail("Hi", None, "http://x", "")) == [
        ("public_url", "no_one_click"),
        ("text", "no_unsubscribe_link"),
        ("postal_address", "no_postal_address"),
    ]
    assert codes(BulkMail(text, "<p>Hi</p>", "https://post.example.org", street)) == [
        ("html", "no_unsubscribe_link"),
        ("html", "no_postal_address"),
    ]
