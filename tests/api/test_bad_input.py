"""What is no good is refused with a 4xx and a problem, before anything is made of it."""

import json

import pytest

from tests.api.conftest import Place

CANCEL = "/api/v1/workspaces/home-of-ada/deliveries/delivery-of-ada/cancel"
STOP = "/api/v1/workspaces/home-of-ada/stop"
DEEP = b'{"reason":' + b"[" * 100_000 + b"]" * 100_000 + b"}"

CORPUS = {
    "no json": (b"{reason", "application/json", 400),
    "not utf-8": (b'{"reason":"\xff\xfe"}', "application/json", 400),
    "utf-16": ('{"reason":"x"}'.encode("utf-16"), "application/json", 400),
    "nul": (b'{"reason":"a\\u0000b"}', "application/json", 422),
    "half a surrogate": (b'{"reason":"\\ud800"}', "application/json", 422),
    "nul in a key": (b'{"re\\u0000ason":"b"}', "application/json", 422),
    "deep": (DEEP, "application/json", 400),
    "nan": (b'{"reason":NaN}', "application/json", 400),
    "a list": (b'["reason"]', "application/json", 422),
    "unknown field": (b'{"reason":"x","state":"sent"}', "application/json", 422),
    "too long": (json.dumps({"reason": "x" * 300}).encode(), "application/json", 422),
    "control characters": (b'{"reason":"a\\nb\\u001b[31m"}', "application/json", 422),
    "too large": (b'{"reason":"' + b"x" * 1_100_000 + b'"}', "application/json", 413),
    "plain text": (b'{"reason":"x"}', "text/plain", 415),
    "a form": (b"reason=x", "application/x-www-form-urlencoded", 415),
    "another charset": (b'{"reason":"x"}', "application/json; charset=latin-1", 415),
    "huge number": (b'{"reason":' + b"9" * 10_000 + b"}", "application/json", 400),
}


@pytest.mark.parametrize("name", CORPUS)
async def test_a_bad_body_is_refused(small: Place, name: str) -> None:
    body, kind, status = CORPUS[name]
    browser = await small.client("owner")
    answer = await browser.post(STOP, content=body, headers={"content-type": kind})
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    said = answer.json()
    assert said["type"].startswith("urn:cadenza:problem:")
    assert said["instance"] == answer.headers["x-request-id"]
    row = await small.row("SELECT stopped_at FROM workspace WHERE id = 'home-of-ada'")
    assert row == {"stopped_at": None}


async def test_all_faults_are_told_at_once_with_their_places(small: Place) -> None:
    browser = await small.client("owner")
    bad = {"limits": [{"action": "post", "kind": "day", "amount": -1}, {"action": "fly"}]}
    answer = await browser.put(
        "/api/v1/workspaces/home-of-ada/accounts/account-of-ada/limits", json=bad
    )
    assert answer.status_code == 422
    paths = {each["path"] for each in answer.json()["errors"]}
    assert "body.limits.0.amount" in paths
    assert "body.limits.1.kind" in paths


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/workspaces/home-of-ada%00/deliveries",
        "/api/v1/workspaces/home-of-ada/deliveries?account_id=%00",
        "/api/v1/workspaces/home-of-ada/deliveries?account_id=';DROP TABLE delivery;--",
        "/api/v1/workspaces/home-of-ada/deliveries?cursor=AAAA",
        "/api/v1/workspaces/home-of-ada/deliveries?limit=201",
        "/api/v1/workspaces/home-of-ada/deliveries?state=flown",
        "/api/v1/workspaces/home-of-ada/deliveries?api_key=cad_x_y",
    ],
)
async def test_a_bad_address_is_refused(small: Place, path: str) -> None:
    browser = await small.client("owner")
    answer = await browser.get(path)
    assert answer.status_code in (400, 422), answer.text
    assert answer.headers["content-type"] == "application/problem+json"


async def test_a_time_without_an_offset_is_refused(small: Place) -> None:
    browser = await small.client("owner")
    path = "/api/v1/workspaces/home-of-ada/accounts/account-of-ada/pause"
    answer = await browser.post(path, json={"reason": "x", "until": "2030-01-01T09:00:00"})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["path"] == "body.until"
    answer = await browser.post(path, json={"reason": "x", "until": "2030-01-01T09:00:00+02:00"})
    assert answer.json()["lane"]["paused_until"] == "2030-01-01T07:00:00Z"


async def test_what_breaks_inside_tells_its_id_alone(
    small: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the password is hunter2")

    monkeypatch.setattr(small.runtime.operations, "read", broken)
    browser = await small.client()
    answer = await browser.get("/readyz")
    assert answer.status_code == 500
    assert "hunter2" not in answer.text
    assert "Traceback" not in answer.text
    assert answer.json()["instance"] == answer.headers["x-request-id"]


async def test_what_is_asked_for_writes_no_lines_of_its_own_into_the_log(
    small: Place, caplog: pytest.LogCaptureFixture
) -> None:
    browser = await small.client()
    with caplog.at_level("INFO", logger="cadenza.api"):
        await browser.get("/api/nowhere%0Aan%20invented%20line%1b[31m")
    (said,) = [record.__dict__["route"] for record in caplog.records if "route" in record.__dict__]
    assert said == "/api/nowhere?an invented line?[31m"


async def test_what_is_wrong_is_said_in_words_and_never_as_an_expression(small: Place) -> None:
    browser = await small.client("owner")
    home = STOP.removesuffix("/stop")
    requested: list[tuple[str, dict[str, object], str]] = [
        ("invitations", {"email": "ben"}, "it is no e-mail address"),
        ("webhooks", {"url": "ben"}, "an address begins with https:// or http://"),
        ("webhooks", {"url": "https://ben.example", "kinds": ["delivery.snet"]}, "'delivery.sent'"),
        ("keys", {"name": "ci", "scopes": ["posts:raed"]}, "Did you mean 'posts:read'? There are"),
        ("keys", {"name": "", "scopes": ["posts:read"]}, "it is empty"),
        ("keys", {"name": "x" * 999, "scopes": ["posts:read"]}, "it is longer than"),
        ("keys", {"scopes": ["posts:read"]}, "it is missing"),
        ("keys", {"name": "ci", "scopes": ["posts:read"], "colour": 1}, "there is no such field"),
        ("posts", {"text": "hi", "category_id": "a b"}, "a character that does not belong there"),
    ]
    for path, body, message in requested:
        answer = await browser.post(f"{home}/{path}", json=body)
        assert (answer.status_code, message in answer.json()["detail"]) == (422, True), answer.text
        assert "^" not in answer.text
    for bound, message in (("0", "it is at least 1"), ("9999", "it is at most")):
        answer = await browser.get(f"{home}/posts", params={"limit": bound})
        assert (answer.status_code, message in answer.json()["detail"]) == (422, True), answer.text
    lost = (await browser.get("/api/v1/nosuch")).json()
    assert "/api/v1/openapi.json lists what there is" in lost["detail"]
    assert "GET" in (await browser.put("/api/v1/workspaces", json={})).json()["detail"]
