"""Members, roles and invitations over HTTP; and that a workspace is never without an owner."""

import asyncio
import re
from dataclasses import replace

from cadenza.api.app import create_app
from cadenza.api.first_start import first_start_link
from cadenza.people.change_password import email_row
from tests.api.conftest import Place

HOME = "/api/v1/workspaces/home-of-ada"
NEW = {"name": "Cy", "password": "seven quiet rivers run"}


async def mailed(place: Place) -> str:
    """Read the token of the newest letter, as the mail would carry it."""
    row = await place.row(
        "SELECT id, body FROM outbox WHERE kind LIKE 'person.%' ORDER BY created_at DESC LIMIT 1"
    )
    assert row is not None
    found = re.search(r'"sealed":"([^"]+)"', row["body"])
    assert found is not None
    return place.runtime.keyring.open(found[1], row=email_row(row["id"]))


async def invited(place: Place, email: str = "cy@example.org", role: str = "editor") -> str:
    admin = await place.client("admin")
    answer = await admin.post(f"{HOME}/invitations", json={"email": email, "role": role})
    assert answer.status_code == 201, answer.text
    return await mailed(place)


async def test_somebody_new_joins_with_the_mailed_token_once(place: Place) -> None:
    token = await invited(place)
    guest = await place.client()
    seen = await guest.post("/api/v1/auth/invitations/look", json={"token": token})
    assert (seen.json()["role"], seen.json()["known"]) == ("editor", False)
    joined = await guest.post("/api/v1/auth/invitations/accept", json={"token": token, **NEW})
    assert joined.status_code == 201, joined.text
    assert (await guest.get(HOME)).status_code == 200
    assert (await guest.get(f"{HOME}/keys")).status_code == 403
    other = await place.client()
    again = await other.post("/api/v1/auth/invitations/accept", json={"token": token, **NEW})
    assert again.status_code == 403
    members = (await guest.get(f"{HOME}/members")).json()
    assert [each["role"] for each in members if each["email"] == "cy@example.org"] == ["editor"]


async def test_without_a_mail_server_who_invites_gets_the_link(place: Place) -> None:
    admin = await place.client("admin")
    requested = {"email": "cy@example.org", "role": "viewer"}
    tried = await admin.post(f"{HOME}/invitations?dry_run=true", json=requested)
    assert tried.json()["link"] is None
    key = {"idempotency-key": "cy"}
    link = (await admin.post(f"{HOME}/invitations", json=requested, headers=key)).json()["link"]
    assert link == f"{place.runtime.settings.home}/join#token={await mailed(place)}"
    again = await admin.post(f"{HOME}/invitations", json=requested, headers=key)
    assert (again.status_code, "token" in again.text) == (409, False)  # a secret is not kept
    assert "link" not in (await admin.get(f"{HOME}/invitations")).json()[0]


async def test_with_a_mail_server_only_the_invited_address_gets_the_link(place: Place) -> None:
    mail = replace(place.runtime.settings.mail, host="mail.example")
    settings = replace(place.runtime.settings, mail=mail)
    app = create_app(replace(place.runtime, settings=settings))
    admin = await replace(place, app=app).client("admin")
    answer = await admin.post(f"{HOME}/invitations", json={"email": "cy@example.org"})
    assert (answer.status_code, answer.json()["link"]) == (201, None)
    requested = await admin.post(
        "/api/v1/auth/password-reset/ask", json={"email": "owner@example.org"}
    )
    assert requested.json() == {"mails": True}


async def test_who_is_here_already_joins_only_as_themselves(place: Place) -> None:
    token = await invited(place, email="ben@example.org")
    thief = await place.client()
    stolen = await thief.post("/api/v1/auth/invitations/accept", json={"token": token, **NEW})
    assert stolen.status_code == 409
    ben = await place.client("ben")
    assert (await ben.get(HOME)).status_code == 404
    joined = await ben.post("/api/v1/auth/invitations/accept", json={"token": token})
    assert joined.status_code == 201, joined.text
    assert (await ben.get(HOME)).status_code == 200


async def test_an_invitation_that_was_taken_back_opens_nothing(place: Place) -> None:
    token = await invited(place)
    admin = await place.client("admin")
    (listed,) = (await admin.get(f"{HOME}/invitations")).json()
    assert (await admin.delete(f"{HOME}/invitations/{listed['id']}")).status_code == 200
    guest = await place.client()
    answer = await guest.post("/api/v1/auth/invitations/accept", json={"token": token, **NEW})
    assert answer.status_code == 403


async def test_an_invitation_ends_with_what_its_inviter_may_give(place: Place) -> None:
    owner, second = await place.client("owner"), await place.client("admin")
    path = f"{HOME}/members/{place.ids['admin.member']}"
    assert (await owner.put(f"{path}/role", json={"role": "owner"})).status_code == 200
    tokens: dict[str, str] = {}
    for role in ("owner", "admin", "editor"):
        requested = {"email": f"{role}-to-be@example.org", "role": role}
        assert (await second.post(f"{HOME}/invitations", json=requested)).status_code == 201
        tokens[role] = await mailed(place)

    async def still_open() -> list[str]:
        listed = (await owner.get(f"{HOME}/invitations")).json()
        return sorted(each["role"] for each in listed)

    assert (await owner.put(f"{path}/role", json={"role": "admin"})).status_code == 200
    assert await still_open() == ["admin", "editor"]
    assert (await owner.put(f"{path}/role", json={"role": "editor"})).status_code == 200
    assert await still_open() == []
    assert (await owner.put(f"{path}/role", json={"role": "admin"})).status_code == 200
    tokens["viewer"] = await invited(place, role="viewer")
    assert (await owner.delete(path)).status_code == 200
    guest = await place.client()
    for token in tokens.values():
        answer = await guest.post("/api/v1/auth/invitations/accept", json={"token": token, **NEW})
        assert answer.status_code == 403, answer.text
    log = (await owner.get(f"{HOME}/audit")).json()["items"]
    ended = [each["actor"] for each in log if each["action"] == "invitation.revoke"]
    assert ended == [f"member:{place.ids['owner.member']}"] * 4


async def test_nobody_gives_a_role_above_their_own(place: Place) -> None:
    admin = await place.client("admin")
    requested = {"email": "cy@example.org", "role": "owner"}
    assert (await admin.post(f"{HOME}/invitations", json=requested)).status_code == 409
    own = f"{HOME}/members/{place.ids['admin.member']}/role"
    assert (await admin.put(own, json={"role": "owner"})).status_code == 409
    owner = f"{HOME}/members/{place.ids['owner.member']}"
    assert (await admin.put(f"{owner}/role", json={"role": "viewer"})).status_code == 409
    assert (await admin.delete(owner)).status_code == 409


async def test_two_owners_who_leave_at_once_leave_one_behind(place: Place) -> None:
    first = await place.client("owner")
    path = f"{HOME}/members/{place.ids['admin.member']}/role"
    assert (await first.put(path, json={"role": "owner"})).status_code == 200
    second = await place.client("admin")
    said = await asyncio.gather(first.post(f"{HOME}/leave"), second.post(f"{HOME}/leave"))
    assert sorted(answer.status_code for answer in said) == [200, 409]
    owners = await place.rows(
        "SELECT id FROM member WHERE workspace_id = 'home-of-ada' AND role = 'owner'"
    )
    assert len(owners) == 1


async def test_a_reset_ends_every_session_and_works_once(place: Place) -> None:
    guest = await place.client()
    for who in ("owner@example.org", "nobody@example.org"):
        answer = await guest.post("/api/v1/auth/password-reset/ask", json={"email": who})
        assert (answer.status_code, answer.json()) == (202, {"mails": False})
    token = await mailed(place)
    browser = await place.client("owner")
    body = {"token": token, "password": "seven quiet rivers run"}
    assert (await guest.post("/api/v1/auth/password-reset", json=body)).status_code == 204
    assert (await browser.get("/api/v1/me")).status_code == 401
    assert (await guest.post("/api/v1/auth/password-reset", json=body)).status_code == 403


async def test_a_house_with_people_has_no_first_start(place: Place) -> None:
    assert await first_start_link(place.runtime) is None
    guest = await place.client()
    assert (await guest.get("/api/v1/auth/first-start")).json() == {"needed": False}


async def test_what_people_did_is_in_the_log_with_their_name(place: Place) -> None:
    owner = await place.client("owner")
    await owner.post(f"{HOME}/stop", json={"reason": "a test"})
    await owner.post(f"{HOME}/deliveries/delivery-of-ada/cancel", json={})
    log = (await owner.get(f"{HOME}/audit")).json()["items"]
    mine = [
        each["action"] for each in log if each["actor"] == f"member:{place.ids['owner.member']}"
    ]
    assert mine == ["delivery.cancel", "workspace.stop"]
