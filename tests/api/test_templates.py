"""Templates over HTTP: saved as versions, previewed, checked, tried on oneself, sent to one person once."""

from datetime import datetime
from typing import Any

import httpx2
import pytest

from cadenza.deliveries.init_account import init_account
from cadenza.sql.tx import Tx
from tests.api.conftest import Place

HOME = "/api/v1/workspaces/home-of-ada"
TEMPLATES, MESSAGES = f"{HOME}/templates", f"{HOME}/messages"
HELLO = {
    "name": "Hello",
    "subject": "Hi {{first_name}}",
    "format": "markdown",
    "body": "Hello **{{first_name}}**, see [us](https://a.example/{{code}}).",
}


def add_mail(tx: Tx, now: datetime) -> None:
    tx.run(
        """
        INSERT INTO account (workspace_id, id, provider, remote_id, handle, zone, sealed, settings, created_at)
        VALUES ('home-of-ada', 'mail', 'smtp', 'ada@shop.example', 'ada@shop.example', 'UTC', 'x',
            '{"from_address": "ada@shop.example"}', :now)
        """,
        now=now,
    )
    init_account(tx, now, workspace_id="home-of-ada", account_id="mail")


async def made(browser: httpx2.AsyncClient, **changes: Any) -> dict[str, Any]:
    answer = await browser.post(TEMPLATES, json=HELLO | changes)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def test_each_save_is_a_version_and_older_ones_stay(place: Place) -> None:
    browser = await place.client("editor")
    first = await made(browser)
    path = f"{TEMPLATES}/{first['id']}"
    assert first["version"]["number"] == 1
    assert [v["name"] for v in first["version"]["variables"]] == ["code", "first_name"]
    same = await browser.put(path, json={**HELLO, "version": 1})
    assert same.json()["version"]["id"] == first["version"]["id"]
    saved = await browser.put(path, json={**HELLO, "body": "Bye {{first_name}}", "version": 1})
    assert saved.json()["version"]["number"] == 2
    late = await browser.put(path, json={**HELLO, "body": "Late", "version": 1})
    assert (late.status_code, late.json()["version"]) == (409, 2)
    old = (await browser.get(f"{path}/versions/1")).json()
    assert old["content"]["body"] == HELLO["body"]
    assert [v["number"] for v in (await browser.get(f"{path}/versions")).json()] == [2, 1]
    rows = await place.rows("SELECT action FROM audit WHERE subject_id = :id", id=first["id"])
    assert sorted(row["action"] for row in rows) == ["template.create", "template.edit"]


async def test_names_are_taken_once_and_free_after_a_delete(small: Place) -> None:
    browser = await small.client("editor")
    first = await made(browser)
    assert (await browser.post(TEMPLATES, json=HELLO)).status_code == 409
    assert (await browser.delete(f"{TEMPLATES}/{first['id']}")).status_code == 200
    assert (await browser.get(f"{TEMPLATES}/{first['id']}")).status_code == 404
    assert (await made(browser))["id"] != first["id"]
    assert len((await browser.get(TEMPLATES)).json()["items"]) == 1


@pytest.mark.parametrize(
    "body", ["{{7*7}}", "{{a.b}}", "{{x.__class__}}", "{{#if x}}", "{{{x}}}", "{{x | eval}}", " "]
)
async def test_what_is_no_template_is_refused_with_its_place(small: Place, body: str) -> None:
    browser = await small.client("editor")
    answer = await browser.post(TEMPLATES, json=HELLO | {"body": body, "format": "text"})
    assert answer.status_code == 422
    assert answer.json()["type"].endswith("invalid_template")
    assert answer.json()["errors"][0]["path"] == "body.body"


async def test_a_preview_shows_the_message_or_what_is_missing(small: Place) -> None:
    browser = await small.client("viewer")
    id_ = (await made(await small.client("editor")))["id"]
    values = {"first_name": "<b>Ben</b>", "code": "a/b"}
    answer = await browser.post(f"{TEMPLATES}/{id_}/preview", json={"variables": values})
    shown = answer.json()
    assert shown["complete"]
    assert shown["subject"] == "Hi <b>Ben</b>"
    assert "&lt;b&gt;Ben&lt;/b&gt;" in shown["html"]
    assert "https://a.example/a%2Fb" in shown["text"]
    answer = await browser.post(f"{TEMPLATES}/{id_}/preview", json={"variables": {"code": " "}})
    assert answer.json()["missing"] == ["first_name", "code"]
    assert (await browser.post(f"{TEMPLATES}/{id_}/preview", json={})).json()["complete"]
    unsaved = {"body": "Hi {{x}}", "variables": {"x": "Ben"}, "channel": "slack"}
    assert (await browser.post(f"{TEMPLATES}/preview", json=unsaved)).json()["text"] == "Hi Ben"


async def test_a_check_names_whom_a_missing_value_would_hit(small: Place) -> None:
    await small.runtime.operations.run(add_mail)
    browser = await small.client("editor")
    id_ = (await made(browser, body="{{first_name}} <https://a.example> [x](/home)"))["id"]
    people = [{"id": "ben", "variables": {"first_name": "Ben"}}, {"id": "cy", "variables": {}}]
    answer = await browser.post(
        f"{TEMPLATES}/{id_}/check",
        json={"recipients": people, "account_id": "mail", "known": ["last_name"]},
    )
    said = answer.json()
    assert not said["ready"]
    assert (said["checked"], said["incomplete"], said["by_name"]) == (2, 1, {"first_name": 1})
    assert said["listed"] == [{"id": "cy", "missing": ["first_name"], "unfit": {}}]
    assert {each["code"] for each in said["findings"]} == {"unknown_variable", "bad_link"}


async def test_a_message_is_sent_once_for_one_key(place: Place) -> None:
    await place.runtime.operations.run(add_mail)
    browser = await place.client("editor")
    id_ = (await made(browser))["id"]
    body = {
        "template_id": id_,
        "account_id": "mail",
        "to": "ben@example.org",
        "variables": {"first_name": "Ben", "code": "7"},
    }
    tried = await browser.post(f"{MESSAGES}?dry_run=true", json=body)
    assert tried.json()["dry_run"] is True
    key = {"idempotency-key": "order-7"}
    first = await browser.post(MESSAGES, json=body, headers=key)
    again = await browser.post(MESSAGES, json=body, headers=key)
    assert first.status_code == again.status_code == 201, first.text
    assert first.json()["delivery_id"] == again.json()["delivery_id"]
    rows = await place.rows("SELECT * FROM delivery WHERE recipient = 'ben@example.org'")
    (row,) = rows
    assert (row["action"], row["state"], row["mode"]) == ("email", "scheduled", "live")
    assert '"subject":"Hi Ben"' in row["content"]


async def test_what_cannot_be_sent_is_refused_with_a_reason(small: Place) -> None:
    await small.runtime.operations.run(add_mail)
    browser = await small.client("editor")
    id_ = (await made(browser))["id"]
    good = {
        "template_id": id_,
        "account_id": "mail",
        "to": "ben@example.org",
        "variables": {"first_name": "Ben", "code": "7"},
    }

    async def refused(**changes: Any) -> tuple[int, str]:
        answer = await browser.post(MESSAGES, json=good | changes)
        return answer.status_code, answer.json()["type"].rpartition(":")[2]

    assert await refused(variables={"code": "7"}) == (422, "incomplete")
    assert await refused(to="not an address") == (422, "does_not_fit")
    assert await refused(account_id="account-of-ada") == (422, "wrong_channel")
    assert await refused(account_id="nobody") == (404, "not_found")
    assert await refused(template_id="nobody") == (404, "not_found")
    assert await refused(version=9) == (404, "not_found")
    assert await refused(variables={"first_name": ["x"]}) == (422, "invalid_input")

    def suppress(tx: Tx, now: datetime) -> None:
        tx.run(
            """
            INSERT INTO suppression (workspace_id, kind, value, reason, created_at)
            VALUES ('home-of-ada', 'address', 'ben@example.org', 'unsubscribe', :now)
            """,
            now=now,
        )

    await small.runtime.operations.run(suppress)
    assert await refused() == (409, "not_sent")
    assert await small.rows("SELECT id FROM delivery WHERE recipient IS NOT NULL") == []


async def test_a_test_goes_to_oneself_alone(small: Place) -> None:
    await small.runtime.operations.run(add_mail)
    browser = await small.client("editor")
    id_ = (await made(browser))["id"]
    answer = await browser.post(f"{TEMPLATES}/{id_}/test", json={"account_id": "mail"})
    assert answer.status_code == 201, answer.text
    assert answer.json()["to"] == "editor@example.org"
    row = await small.row("SELECT content FROM delivery WHERE recipient IS NOT NULL")
    assert row is not None
    assert '"subject":"[Test] Hi Ben"' in row["content"]
    other = {"account_id": "mail", "to": "ben@example.org"}
    assert (await browser.post(f"{TEMPLATES}/{id_}/test", json=other)).status_code == 422


async def added(browser: httpx2.AsyncClient, **more: Any) -> str:
    form = {"first_name": "Ben", "addresses": [{"channel": "email", "address": "ben@example.org"}]}
    answer = await browser.post(f"{HOME}/contacts", json=form | more)
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


async def test_a_contact_fills_a_preview_and_given_values_win(small: Place) -> None:
    browser = await small.client("editor")
    field = {"key": "code", "label": "Code", "kind": "text"}
    assert (await browser.post(f"{HOME}/contact-fields", json=field)).status_code == 201
    ben = await added(browser, fields={"code": "A-7"})
    path = f"{TEMPLATES}/{(await made(browser))['id']}/preview"
    shown = (await browser.post(path, json={"contact_id": ben})).json()
    assert (shown["complete"], shown["subject"]) == (True, "Hi Ben")
    assert "https://a.example/A-7" in shown["text"]
    given = {"contact_id": ben, "variables": {"first_name": "Benjamin"}}
    assert (await browser.post(path, json=given)).json()["subject"] == "Hi Benjamin"
    unsaved = {"body": "{{name}} {{email}} {{company | default: 'none'}}", "contact_id": ben}
    unsaved["body"] = unsaved["body"].replace("'", '"')
    answer = await browser.post(f"{TEMPLATES}/preview", json=unsaved)
    assert answer.json()["text"] == "Ben ben@example.org none"
    cy = await added(browser, first_name="Cy", addresses=[])
    assert (await browser.post(path, json={"contact_id": cy})).json()["missing"] == ["code"]
    assert (await browser.post(path, json={"contact_id": "nobody"})).status_code == 404


async def test_a_message_goes_to_a_contact(small: Place) -> None:
    await small.runtime.operations.run(add_mail)
    browser = await small.client("editor")
    id_ = (await made(browser, body="Hello {{first_name}}"))["id"]
    ben = await added(browser, last_name="Bee")
    form = {"template_id": id_, "account_id": "mail", "contact_id": ben}
    answer = await browser.post(MESSAGES, json=form)
    assert answer.status_code == 201, answer.text
    assert (answer.json()["to"], answer.json()["subject"]) == ("ben@example.org", "Hi Ben")
    slack = await browser.post(MESSAGES, json=form | {"channel": "slack"})
    assert slack.status_code == 422
    nobody = await browser.post(MESSAGES, json={"template_id": id_, "account_id": "mail"})
    assert nobody.json()["errors"][0]["path"] == "body.to"
    refused = await browser.patch(f"{HOME}/contacts/{ben}", json={"consent": "refused"})
    assert refused.status_code == 200, refused.text
    answer = await browser.post(MESSAGES, json=form)
    assert (answer.status_code, answer.json()["type"].rpartition(":")[2]) == (
        409,
        "consent_refused",
    )
    test = {"account_id": "mail", "contact_id": ben}
    tried = await browser.post(f"{TEMPLATES}/{id_}/test", json=test)
    assert tried.status_code == 201, tried.text
    assert tried.json()["subject"] == "Hi Ben"
