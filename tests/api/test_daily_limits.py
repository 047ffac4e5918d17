"""One person cannot add without end: invitations, webhooks, keys and workspaces are bounded for a day."""

from typing import Any

import pytest

from cadenza.people import daily_limits
from cadenza.people.daily_limits import Addition
from tests.api.conftest import Place

HOME = "/api/v1/workspaces/home-of-ada"
KEY = {"name": "the newsletter", "scopes": ["posts:read"]}
ADDED: list[tuple[Addition, str, dict[str, Any]]] = [
    (Addition.INVITATION, f"{HOME}/invitations", {"email": "cy{}@example.org"}),
    (Addition.WEBHOOK, f"{HOME}/webhooks", {"url": "https://a.example/{}"}),
    (Addition.KEY, f"{HOME}/keys", KEY),
    (Addition.WORKSPACE, "/api/v1/workspaces", {"name": "Number {}"}),
]


def numbered(body: dict[str, Any], number: int) -> dict[str, Any]:
    return {
        name: value.format(number) if isinstance(value, str) else value
        for name, value in body.items()
    }


@pytest.mark.parametrize(("what", "path", "body"), ADDED)
async def test_a_person_adds_so_many_a_day(
    place: Place,
    what: Addition,
    path: str,
    body: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(daily_limits.PER_DAY, what, 2)
    admin = await place.client("admin")
    for number in range(2):
        tried = await admin.post(path, json=numbered(body, number), params={"dry_run": "true"})
        assert tried.status_code == 201, tried.text
        assert (await admin.post(path, json=numbered(body, number))).status_code == 201
    refused = await admin.post(path, json=numbered(body, 3))
    assert refused.status_code == 429
    assert f"You can add 2 {what} a day." in refused.json()["detail"]
    assert 86_000 < int(refused.headers["retry-after"]) <= 86_401
    owner = await place.client("owner")
    assert (await owner.post(path, json=numbered(body, 4))).status_code == 201


async def test_one_address_is_not_flooded_with_invitations(place: Place) -> None:
    requested = {"email": "cy@example.org"}
    statuses: list[int] = []
    for who in ("owner", "admin", "owner", "admin", "owner", "admin"):
        client = await place.client(who)
        statuses.append((await client.post(f"{HOME}/invitations", json=requested)).status_code)
    assert statuses == [201] * daily_limits.TO_ONE_ADDRESS + [429]
