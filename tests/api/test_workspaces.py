"""A workspace's own settings, and stopping everything, over HTTP."""

from dataclasses import replace

import pytest

from tests.api.conftest import Place

HOME = "/api/v1/workspaces/home-of-ada"


async def test_settings_are_changed_one_by_one_and_told(small: Place) -> None:
    admin = await small.client("admin")
    changed = await admin.patch(HOME, json={"approval": "required", "hashtags": ["bread"]})
    assert changed.status_code == 200, changed.text
    capped = await admin.patch(HOME, json={"max_per_day": 3})
    shown = capped.json()
    assert (shown["approval"], shown["hashtags"], shown["max_per_day"]) == (
        "required",
        ["bread"],
        3,
    )
    lifted = await admin.patch(HOME, json={"max_per_day": None})
    assert lifted.json()["max_per_day"] is None
    audit = (await admin.get(f"{HOME}/audit")).json()["items"]
    assert [each["action"] for each in audit[:3]] == ["workspace.change"] * 3


@pytest.mark.parametrize(
    "body", [{"approval": None}, {"recipient_cap": 2}, {"zone": "Europe/Berln"}, {"max_per_day": 0}]
)
async def test_what_makes_no_sense_changes_nothing(small: Place, body: dict[str, object]) -> None:
    admin = await small.client("admin")
    before = (await admin.get(HOME)).json()
    assert (await admin.patch(HOME, json=body)).status_code == 422
    assert (await admin.get(HOME)).json() == before


async def test_a_stop_holds_everything_and_a_start_says_what_becomes_of_it(small: Place) -> None:
    admin = await small.client("admin")
    stopped = await admin.post(f"{HOME}/stop", json={"reason": "a wrong link"})
    assert stopped.json()["stop_reason"] == "a wrong link"
    started = await admin.post(f"{HOME}/start", json={"choice": "shift"})
    assert started.status_code == 200, started.text
    assert started.json()["stopped_at"] is None


async def test_only_a_suspended_account_is_let_go_on(small: Place) -> None:
    admin = await small.client("admin")
    path = f"{HOME}/accounts/account-of-ada/lift-suspension"
    assert (await admin.post(path, json={})).status_code == 409
    await small.runtime.operations.run(
        lambda tx, _: tx.run("UPDATE account SET state = 'suspended' WHERE id = 'account-of-ada'")
    )
    lifted = await admin.post(path, json={})
    assert lifted.json()["state"] == "connected", lifted.text


@pytest.mark.parametrize(("set_to", "means"), [("off", "author"), ("on", "required")])
async def test_new_workspaces_begin_with_the_installations_approval(
    small: Place, set_to: str, means: str
) -> None:
    settings = replace(small.runtime.settings, approval=set_to)
    small.app.state.runtime = replace(small.runtime, settings=settings)
    owner = await small.client("owner")
    made = await owner.post("/api/v1/workspaces", json={"name": "Cy"})
    assert (made.status_code, made.json()["approval"]) == (201, means), made.text


async def test_a_lower_maximum_says_what_it_moves_before_it_does(place: Place) -> None:
    owner = await place.client("owner")
    queue = f"{HOME}/accounts/account-of-ada/queue"
    week = {"slots": {str(day): ["09:00", "12:00", "17:30"] for day in range(7)}}
    assert (await owner.put(f"{queue}/schedule", json=week)).status_code == 200
    for text in ("one", "two", "three", "four", "five", "six"):
        made = await owner.post(f"{HOME}/posts", json={"text": text})
        body = {"post_id": made.json()["id"], "accounts": [{"account_id": "account-of-ada"}]}
        assert (await owner.post(f"{HOME}/queue", json=body)).status_code < 300
    told = await owner.patch(f"{HOME}?dry_run=true", json={"max_per_day": 1})
    assert told.status_code == 200, told.text
    assert (await owner.get(HOME)).json()["max_per_day"] is None
    done = await owner.patch(HOME, json={"max_per_day": 1})
    assert len(told.json()["moved"]) >= 3
    assert done.json()["moved"] == told.json()["moved"]
    assert (await owner.patch(HOME, json={"name": "Ada"})).json()["moved"] == []
