"""Signing in and out over HTTP."""

from tests.api.conftest import PASSWORD, Place


async def test_a_person_signs_in_and_is_known_from_then_on(place: Place) -> None:
    browser = await place.client()
    answer = await browser.post(
        "/api/v1/auth/sign-in", json={"email": "Owner@Example.org", "password": PASSWORD}
    )
    assert answer.status_code == 200, answer.text
    home = await browser.get("/api/v1/workspaces/home-of-ada/deliveries")
    assert [each["id"] for each in home.json()["items"]] == ["delivery-of-ada"]


async def test_a_wrong_password_and_an_unknown_address_are_told_the_same(place: Place) -> None:
    browser = await place.client()
    said = [
        await browser.post("/api/v1/auth/sign-in", json={"email": who, "password": "not it at all"})
        for who in ("owner@example.org", "nobody@example.org")
    ]
    for answer in said:
        assert answer.status_code == 401
        assert answer.headers["content-type"] == "application/problem+json"
    first, second = (answer.json() | {"instance": None} for answer in said)
    assert first == second
