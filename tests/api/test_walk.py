"""Every route with every role, with nobody, with keys, and with the ids of others: of the workspace next door,
and of an account that is not on a key's list.

The list is made from the application's own routes: a new route is covered the moment it is added, and
fails here if its ids are not known below or if its body has no example.
"""

from datetime import datetime, timedelta
from typing import Any

import httpx2
from fastapi.routing import APIRoute
from starlette.routing import Match

from cadenza.api.resources import known_scopes
from cadenza.api.routes import Access
from cadenza.media.add import Store, begin, finish
from cadenza.media.model import Facts
from cadenza.people.keys import NewKey, make_key
from cadenza.people.model import Role
from cadenza.people.tokens import draw_key
from cadenza.posts.create import Created, create
from cadenza.posts.model import NEEDS_MEDIA, NewPost, PostMedia
from cadenza.posts.schedule_at import ScheduledAt, When, schedule_at
from cadenza.providers.message import MediaKind
from cadenza.queues import schedule
from cadenza.sql.tx import Tx
from tests.api.conftest import Place, add_account, furnish_rooms
from tests.api.plant_ids import queries, spots, tell_apart
from tests.api.walk import PLACE, Step, Unknown, everything, steps

ROLES = ("viewer", "editor", "admin", "owner")
# Streams that do not end, and what would sign the walker out.
UNENDING = {
    "/api/v1/workspaces/{workspace_id}/campaigns/{campaign_id}/progress",
    "/api/v1/workspaces/{workspace_id}/events",
}
LAST = {"/api/v1/auth/sign-out", "/api/v1/me/sessions", "/api/v1/me/password"}
ASIDE = ("words of the account aside", "title of the account aside")
CANARIES = ("secret plans of home-of-ben", "canary-sealed", "ben@example.org", "$argon2")


def ids_of(place: Place, name: str) -> dict[str, str]:
    """What stands for each name in a path, of one of the two homes."""
    who = "owner" if name == "ada" else "ben"
    return {
        "workspace_id": f"home-of-{name}",
        "account_id": f"account-of-{name}",
        "delivery_id": f"delivery-of-{name}",
        "member_id": place.ids[f"{who}.member"],
        "session_id": place.ids[f"{who}.session"],
        "key_id": f"key-of-{name}",
        "invitation_id": f"invitation-of-{name}",
        "webhook_id": f"webhook-of-{name}",
        "provider": "nowhere",
        "job_id": "1",
        "queue": "default",
        "name": "nightly",
        "number": "1",
    } | (place.next_door if name == "ben" else {})


async def ask(browser: httpx2.AsyncClient, step: Step, ids: dict[str, str]) -> httpx2.Response:
    body = step.body()
    if step.declared.takes == "upload":
        return await browser.request(step.declared.method, step.fill(ids), content=b"x")
    return await browser.request(step.declared.method, step.fill(ids), json=body)


def walked(place: Place) -> list[Step]:
    return sorted(steps(place.app), key=lambda step: (step.path in LAST, step.path))


def test_no_route_hides_another(small: Place) -> None:
    for step in walked(small):
        scope = {
            "type": "http",
            "method": step.declared.method,
            "path": step.fill(Unknown(ids_of(small, "ada"))),
        }
        first = next(route for route in small.app.routes if route.matches(scope)[0] is Match.FULL)
        assert isinstance(first, APIRoute)
        assert first.endpoint is step.declared.handler, step.name


async def test_without_credentials_only_open_doors_open(place: Place) -> None:
    browser = await place.client()
    for step in walked(place):
        answer = await ask(browser, step, Unknown(ids_of(place, "ada")))
        if step.declared.needs is Access.ANYONE:
            assert answer.status_code != 401 or "sign-in" in step.path, step.name
        else:
            assert answer.status_code == 401, (step.name, answer.text)
        assert not any(canary in answer.text for canary in CANARIES), step.name


async def test_each_role_gets_what_was_declared_and_no_more(place: Place) -> None:
    for who in ROLES:
        browser = await place.client(who)
        for step in walked(place):
            needs = step.declared.needs
            if step.path in UNENDING or isinstance(needs, Access):
                continue
            if Role(who).covers(needs):
                continue
            answer = await ask(browser, step, Unknown(ids_of(place, "ada")))
            assert answer.status_code == 403, (who, step.name, answer.text)
            assert answer.json()["type"].endswith("role_needed"), step.name


async def test_only_owners_of_the_house_see_the_house(place: Place) -> None:
    for who in ("viewer", "admin", "ben"):
        browser = await place.client(who)
        for step in walked(place):
            if step.declared.needs is Access.INSTANCE:
                answer = await ask(browser, step, Unknown(ids_of(place, "ada")))
                assert answer.status_code == 403, (who, step.name, answer.text)


async def test_the_house_next_door_does_not_exist(place: Place) -> None:
    before = await everything(place)
    for who in ROLES:
        browser = await place.client(who)
        for step in walked(place):
            if "{workspace_id}" not in step.path:
                continue
            answer = await ask(browser, step, Unknown(ids_of(place, "ben")))
            assert answer.status_code == 404, (who, step.name, answer.text)
            assert not any(canary in answer.text for canary in CANARIES), step.name
    assert await everything(place) == before


async def test_ids_of_next_door_are_unknown_at_home(place: Place) -> None:
    browser = await place.client("owner")
    ids = ids_of(place, "ben") | {"workspace_id": "home-of-ada"}
    before = await everything(place)
    seen: list[tuple[str, int, str]] = []
    for step in walked(place):
        names = set(PLACE.findall(step.path)) - {"workspace_id", "provider"}
        if "{workspace_id}" not in step.path or not names:
            continue
        answer = await ask(browser, step, Unknown(ids))
        nobody = await ask(
            browser, step, Unknown(workspace_id="home-of-ada", job_id="999", number="1")
        )
        # Somebody else's id is answered as one that never was: with a 404, or, where there is
        # nothing to find, with the same refusal.
        alike = answer.json().get("type") == nobody.json().get("type")
        if answer.status_code not in (404, 409, 415) or not alike:
            seen.append((step.name, answer.status_code, answer.text))
        assert not any(canary in answer.text for canary in CANARIES), step.name
    assert seen == []
    assert await everything(place) == before


async def make_program(place: Place, **limits: Any) -> httpx2.AsyncClient:
    """A program with a key of the owner's."""
    key = draw_key()
    new = NewKey(name="cy", role=Role.ADMIN, **limits)
    await place.runtime.operations.run(
        lambda tx, now: make_key(
            tx,
            now,
            workspace_id="home-of-ada",
            new=new,
            prefix=key.prefix,
            secret_hash=key.hash,
            member_id=place.ids["owner.member"],
            own=Role.OWNER,
            by="system",
        )
    )
    return await place.client(authorization=f"Bearer {key.text}")


async def test_a_key_opens_only_its_scopes_and_its_workspace(place: Place) -> None:
    program = await make_program(place, scopes=["deliveries:read"])
    for step in walked(place):
        if step.declared.needs is Access.ANYONE:
            continue
        answer = await ask(program, step, Unknown(ids_of(place, "ada")))
        if step.declared.scope == "deliveries:read" or step.declared.needs is Access.KEY:
            assert answer.status_code == 200, (step.name, answer.text)
        else:
            assert answer.status_code == 403, (step.name, answer.text)
        if "{workspace_id}" in step.path:
            answer = await ask(program, step, Unknown(ids_of(place, "ben")))
            assert answer.status_code == 404, (step.name, answer.text)


async def test_looking_changes_nothing(place: Place) -> None:
    browser = await place.client("owner")
    before = await everything(place)
    for step in walked(place):
        if not step.declared.writes and step.path not in UNENDING:
            answer = await ask(browser, step, Unknown(ids_of(place, "ada")))
            known = 403 if step.declared.needs is Access.KEY else 200
            known = 422 if step.path.endswith("/domain-check") else known  # it asks which domain
            assert answer.status_code in (known, 404), (step.name, answer.text)
            assert not any(canary in answer.text for canary in CANARIES[:2]), step.name
            assert "$argon2" not in answer.text, step.name
    assert await everything(place) == before


async def test_ids_of_next_door_in_bodies_and_queries_are_nobodys(place: Place) -> None:
    def furnish(tx: Tx, now: datetime) -> dict[str, str]:
        return furnish_rooms(tx, now, "ada", place.ids["owner.member"])

    own = ids_of(place, "ada") | await place.runtime.operations.run(furnish)
    endpoints = ("account_id", "delivery_id", "member_id", *place.next_door)
    theirs = {name: ids_of(place, "ben")[name] for name in endpoints}
    browser = await place.client("owner")
    before = await everything(place)
    told: list[Any] = []
    tried = 0
    for step in walked(place):
        if "{workspace_id}" in step.path and step.path not in UNENDING:
            told += await tell_apart(browser, step, own, theirs)
            tried += len(queries(step)) + len(list(spots(step)))
    assert told == []
    assert tried > 30, "places for ids were not found"
    assert await everything(place) == before


def furnish_aside(tx: Tx, now: datetime, by: str) -> dict[str, str]:
    """An account with a queue, and two posts that go there alone: one with a file, one that lacks its own."""
    home: dict[str, Any] = {"workspace_id": "home-of-ada"}
    add_account(tx, now, home["workspace_id"], "account-aside")
    about = {**home, "account_id": "account-aside", "by": by}
    schedule.write(tx, now, **about, slots={"1": ["09:00"]})
    facts = Facts(kind=MediaKind.IMAGE, mime="image/png", extension="png", size=10, sha256="b" * 64)
    begun = begin(tx, now, **home, facts=facts, name="b.png", alt="", by=by)
    assert isinstance(begun, Store)
    finish(tx, now, media=begun.media, by=by)
    words: dict[str, Any] = {"text": ASIDE[0], "title": ASIDE[1]}
    shown = NewPost(**home, **words, media=(PostMedia(begun.media.id),))
    lacking = NewPost(**home, **words, blockers=(NEEDS_MEDIA,))
    posts = [create(tx, now, each, by=by) for each in (shown, lacking)]
    when = When(now + timedelta(days=3))
    for each in posts:
        assert isinstance(each, Created)
        timed = schedule_at(
            tx, now, **home, post_id=each.id, when=when, by=by, targets=["account-aside"]
        )
        assert isinstance(timed, ScheduledAt)
    made = posts[0]
    assert isinstance(made, Created)
    delivery = tx.value("SELECT id FROM delivery WHERE post_id = :id", id=made.id)
    return {
        "account_id": "account-aside",
        "post_id": made.id,
        "delivery_id": str(delivery),
        "media_id": begun.media.id,
    }


async def test_a_key_of_one_account_meets_nothing_of_another(place: Place) -> None:
    by = f"member:{place.ids['owner.member']}"
    aside = await place.runtime.operations.run(lambda tx, now: furnish_aside(tx, now, by))
    own = ids_of(place, "ada") | await place.runtime.operations.run(
        lambda tx, now: furnish_rooms(tx, now, "ada", place.ids["owner.member"])
    )
    scopes = sorted(known_scopes())
    program = await make_program(place, scopes=scopes, accounts=["account-of-ada"])
    before = await everything(place)
    media = own | {"media_id": aside.pop("media_id")}  # the library is shared, its posts are not
    told: list[Any] = []
    for step in walked(place):
        if step.path in UNENDING or step.declared.needs is Access.ANYONE:
            continue
        if not step.declared.writes:
            answer = await ask(program, step, Unknown(media))
            told += [(step.name, word) for word in (*ASIDE, *aside.values()) if word in answer.text]
        if "{workspace_id}" in step.path:
            told += await tell_apart(program, step, own, aside)
        if {"account_id", "post_id", "delivery_id"} & set(PLACE.findall(step.path)):
            answer = await ask(program, step, Unknown(own | aside))
            if answer.status_code not in (404, 415):
                told.append((step.name, answer.status_code, answer.text))
    assert told == []
    assert await everything(place) == before
