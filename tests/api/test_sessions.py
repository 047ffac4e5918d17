"""Sessions are made new when it matters, end when they should, and are kept as hashes."""

import base64
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

from cadenza.people.change_password import make_reset
from cadenza.people.login_throttle import ATTACK, count_try
from cadenza.people.sessions import IDLE, LIFE
from cadenza.people.tokens import draw_token, hash_token
from tests.api.conftest import PASSWORD, Place, open_place

SIGN_IN = "/api/v1/auth/sign-in"
OWNER = {"email": "owner@example.org", "password": PASSWORD}
NEW = "seven other quiet rivers"


async def test_a_planted_cookie_is_worth_nothing_after_sign_in(place: Place) -> None:
    victim = await place.client()
    victim.cookies.set("cadenza", "planted-by-somebody-else")
    answer = await victim.post(SIGN_IN, json=OWNER)
    assert answer.status_code == 200
    assert "planted" not in answer.headers["set-cookie"]
    attacker = await place.client(cookie="cadenza=planted-by-somebody-else")
    assert (await attacker.get("/api/v1/me")).status_code == 401


async def test_signing_in_again_ends_the_session_of_the_same_browser(place: Place) -> None:
    browser = await place.client("owner")
    before = place.tokens["owner"]
    assert (await browser.post(SIGN_IN, json=OWNER)).status_code == 200
    old = await place.client(cookie=f"cadenza={before}")
    assert (await old.get("/api/v1/me")).status_code == 401
    assert (await browser.get("/api/v1/me")).status_code == 200


async def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path}/product.sqlite3"
    async with open_place(address, tmp_path, public_url="https://house.test") as place:
        browser = await place.client()
        answer = await browser.post(
            "https://house.test" + SIGN_IN, json=OWNER, headers={"origin": "https://house.test"}
        )
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith("__Host-cadenza=")
        for word in ("Secure", "HttpOnly", "SameSite=Lax", "Path=/"):
            assert word in cookie


async def test_a_new_password_ends_every_other_session(place: Place) -> None:
    here = await place.client("owner")
    there = await place.client()
    assert (await there.post(SIGN_IN, json=OWNER)).status_code == 200
    before = here.cookies["cadenza"]
    answer = await here.post("/api/v1/me/password", json={"old": PASSWORD, "new": NEW})
    assert answer.status_code == 204, answer.text
    assert (await there.get("/api/v1/me")).status_code == 401
    assert (await here.get("/api/v1/me")).status_code == 200
    copied = await place.client(cookie=f"cadenza={before}")
    assert (await copied.get("/api/v1/me")).status_code == 401
    assert (await there.post(SIGN_IN, json=OWNER)).status_code == 401
    assert (await there.post(SIGN_IN, json=OWNER | {"password": NEW})).status_code == 200


@pytest.mark.parametrize(
    "weak",
    ["short", "aaaaaaaaaaaaaaaa", "password1234567", "owner@example.org!", "Cadenza2026!!!!"],
)
async def test_an_easy_password_is_refused(small: Place, weak: str) -> None:
    here = await small.client("owner")
    answer = await here.post("/api/v1/me/password", json={"old": PASSWORD, "new": weak})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["code"] == "weak_password"


async def test_an_idle_session_ends(place: Place) -> None:
    browser = await place.client("owner")
    past = datetime(2020, 1, 1, tzinfo=UTC)
    await place.runtime.operations.run(
        lambda tx, _: tx.run("UPDATE session SET idle_until = :past", past=past)
    )
    assert (await browser.get("/api/v1/me")).status_code == 401


async def test_a_session_ends_at_last_however_much_it_is_used(place: Place) -> None:
    browser = await place.client("owner")
    seen = datetime(2026, 1, 1, tzinfo=UTC)
    await place.runtime.operations.run(
        lambda tx, now: tx.run(
            "UPDATE session SET seen_at = :seen, ends_at = :ends", seen=seen, ends=now + LIFE
        )
    )
    before = await place.row("SELECT * FROM session WHERE id = :id", id=place.ids["owner.session"])
    assert (await browser.get("/api/v1/me")).status_code == 200
    after = await place.row("SELECT * FROM session WHERE id = :id", id=place.ids["owner.session"])
    assert before is not None
    assert after is not None
    assert after["seen_at"] > seen, "being here slides the idle end"
    assert after["idle_until"] == after["seen_at"] + IDLE
    assert after["ends_at"] == before["ends_at"], "and never the last one"
    await place.runtime.operations.run(
        lambda tx, now: tx.run("UPDATE session SET ends_at = :now", now=now)
    )
    assert (await browser.get("/api/v1/me")).status_code == 401


@pytest.mark.parametrize(
    "cookie",
    [
        "{token}x",
        "{upper}",
        "{half}",
        "eyJhbGciOiJub25lIn0.eyJyb2xlIjoib3duZXIiLCJpc1N1cGVyQWRtaW4iOnRydWV9.",
        "{hash}",
        "' OR '1'='1",
    ],
)
async def test_a_token_carries_no_authority_that_could_be_written_into_it(
    small: Place, cookie: str
) -> None:
    token = small.tokens["owner"]
    forged = cookie.format(
        token=token, upper=token.swapcase(), half=token[:20], hash=hash_token(token)
    )
    browser = await small.client(cookie=f"cadenza={forged}")
    assert (await browser.get("/api/v1/me")).status_code == 401


async def test_switching_the_second_factor_off_ends_the_other_sessions(small: Place) -> None:
    here, there = await small.client("owner"), await small.client()
    proposed = await here.post("/api/v1/me/second-factor", json={"password": PASSWORD})
    secret = base64.b32decode(proposed.json()["address"].partition("secret=")[2].partition("&")[0])
    now = int(datetime.now(UTC).timestamp())
    code = TOTP(secret, 6, SHA1(), 30).generate(now).decode()
    confirmed = await here.post("/api/v1/me/second-factor/confirm", json={"code": code})
    first, second, *_ = confirmed.json()["codes"]
    signed_in = await there.post(SIGN_IN, json=OWNER | {"code": first})
    assert signed_in.status_code == 200, signed_in.text
    assert (
        await here.post("/api/v1/me/second-factor/off", json={"code": first})
    ).status_code == 403
    assert (await there.get("/api/v1/me")).status_code == 200
    assert (
        await here.post("/api/v1/me/second-factor/off", json={"code": second})
    ).status_code == 204
    assert (await there.get("/api/v1/me")).status_code == 401
    assert (await here.get("/api/v1/me")).status_code == 200


async def test_a_session_can_be_ended_from_another_one(place: Place) -> None:
    here = await place.client("owner")
    there = await place.client()
    await there.post(SIGN_IN, json=OWNER)
    listed = (await here.get("/api/v1/me/sessions")).json()
    assert [each["current"] for each in listed].count(True) == 1
    other = next(each["id"] for each in listed if not each["current"])
    assert (await here.delete(f"/api/v1/me/sessions/{other}")).status_code == 204
    assert (await there.get("/api/v1/me")).status_code == 401


async def test_ending_the_other_sessions_can_be_tried_repeated_and_looked_up(place: Place) -> None:
    here, there = await place.client("owner"), await place.client()
    await there.post(SIGN_IN, json=OWNER)
    path = "/api/v1/me/sessions"
    tried = await here.delete(path, params={"dry_run": "true"})
    assert tried.json() == {"ended": 1, "dry_run": True}
    assert (await there.get("/api/v1/me")).status_code == 200
    key = {"idempotency-key": "once"}
    done = await here.delete(path, headers=key)
    assert done.json() == {"ended": 1, "dry_run": False}
    assert (await there.get("/api/v1/me")).status_code == 401
    await there.post(SIGN_IN, json=OWNER)
    assert (await here.delete(path, headers=key)).json() == done.json()
    assert (await there.get("/api/v1/me")).status_code == 200
    log = await place.rows("SELECT actor, after FROM audit WHERE action = 'session.end_others'")
    person = f"person:{place.ids['owner.person']}"
    assert log == [{"actor": person, "after": '{"ended":1}'}]


async def test_a_role_is_read_again_for_each_request(place: Place) -> None:
    browser = await place.client("admin")
    assert (await browser.get("/api/v1/workspaces/home-of-ada/keys")).status_code == 200
    await place.runtime.operations.run(
        lambda tx, _: tx.run(
            "UPDATE member SET role = 'viewer' WHERE id = :id", id=place.ids["admin.member"]
        )
    )
    assert (await browser.get("/api/v1/workspaces/home-of-ada/keys")).status_code == 403


async def test_no_token_and_no_password_is_kept_as_it_is(place: Place) -> None:
    browser = await place.client()
    await browser.post(SIGN_IN, json=OWNER)
    token = browser.cookies["cadenza"]
    for table in ("session", "person", "audit", "login_attempt", "outbox"):
        for row in await place.rows(f"SELECT * FROM {table}"):
            assert token not in str(row)
            assert PASSWORD not in str(row)


async def test_guessing_is_slowed_down_for_the_pair_and_not_for_the_person(place: Place) -> None:
    guesser = await place.client()
    wrong = OWNER | {"password": "not it, not it, not it"}
    said = [(await guesser.post(SIGN_IN, json=wrong)).status_code for _ in range(10)]
    assert said == [401] * 8 + [429] * 2
    refused = await guesser.post(SIGN_IN, json=OWNER)
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) > 600
    elsewhere = await place.client(address="198.51.100.7")
    assert (await elsewhere.post(SIGN_IN, json=OWNER)).status_code == 200


async def test_wrong_tries_of_one_address_never_lock_anybody_out_elsewhere(place: Place) -> None:
    guesser = await place.client(address="203.0.113.7")
    wrong = OWNER | {"password": "not it, not it, not it"}
    for _ in range(60):
        await guesser.post(SIGN_IN, json=wrong)
    assert (await guesser.post(SIGN_IN, json=OWNER)).status_code == 429
    elsewhere = await place.client(address="198.51.100.7")
    assert (await elsewhere.post(SIGN_IN, json=OWNER)).status_code == 200


async def test_many_addresses_at_once_leave_everybody_some_tries(place: Place) -> None:
    """The count over all addresses is soft: strangers get two tries, familiar addresses all of theirs."""
    wrong = OWNER | {"password": "not it, not it, not it"}

    async def attack() -> None:
        await place.runtime.operations.run(
            lambda tx, now: [count_try(tx, now, email="owner@example.org") for _ in range(ATTACK)]
        )

    await attack()
    stranger = await place.client(address="198.51.100.7")
    said = [(await stranger.post(SIGN_IN, json=wrong)).status_code for _ in range(3)]
    assert said == [401, 401, 429]
    at_home = await place.client()  # the address of the owner's session
    said = [(await at_home.post(SIGN_IN, json=wrong)).status_code for _ in range(7)]
    assert said == [401] * 7
    on_the_way = await place.client(address="198.51.100.8")
    assert (await on_the_way.post(SIGN_IN, json=OWNER)).status_code == 200


async def test_an_ipv6_network_is_one_address_to_guess_from(place: Place) -> None:
    wrong = OWNER | {"password": "not it, not it, not it"}
    said: list[int] = []
    for number in range(9):
        guesser = await place.client(address=f"2001:db8::{number + 1:x}")
        said.append((await guesser.post(SIGN_IN, json=wrong)).status_code)
    assert said == [401] * 8 + [429]


async def test_a_reset_ends_the_wait_of_whoever_tried_too_often(place: Place) -> None:
    browser = await place.client()
    wrong = OWNER | {"password": "not it, not it, not it"}
    for _ in range(9):
        await browser.post(SIGN_IN, json=wrong)
    assert (await browser.post(SIGN_IN, json=OWNER)).status_code == 429
    token = draw_token()
    await place.runtime.operations.run(
        lambda tx, now: make_reset(
            tx, now, email="owner@example.org", token_hash=token.hash, by="system"
        )
    )
    new = "five other plain words here"
    answer = await browser.post(
        "/api/v1/auth/password-reset", json={"token": token.text, "password": new}
    )
    assert answer.status_code == 204, answer.text
    assert (await browser.post(SIGN_IN, json=OWNER | {"password": new})).status_code == 200


async def test_a_second_factor_is_asked_for_and_a_code_counts_once(place: Place) -> None:
    here = await place.client("owner")
    there = await place.client()
    await there.post(SIGN_IN, json=OWNER)
    proposed = await here.post("/api/v1/me/second-factor", json={"password": PASSWORD})
    secret = base64.b32decode(proposed.json()["address"].partition("secret=")[2].partition("&")[0])
    app = TOTP(secret, 6, SHA1(), 30)
    now = int(datetime.now(UTC).timestamp())
    first = app.generate(now).decode()
    confirmed = await here.post("/api/v1/me/second-factor/confirm", json={"code": first})
    assert confirmed.status_code == 200, confirmed.text
    codes = confirmed.json()["codes"]
    assert (await there.get("/api/v1/me")).status_code == 401, "other sessions end"

    fresh = await place.client()
    needed = await fresh.post(SIGN_IN, json=OWNER)
    assert (needed.status_code, needed.json()["type"]) == (401, "urn:cadenza:problem:code_needed")
    replayed = await fresh.post(SIGN_IN, json=OWNER | {"code": first})
    assert replayed.status_code == 401
    code = app.generate(now + 30).decode()
    assert (await fresh.post(SIGN_IN, json=OWNER | {"code": code})).status_code == 200
    assert (await fresh.post(SIGN_IN, json=OWNER | {"code": code})).status_code == 401
    spoken = codes[0].upper().replace("-", " ")
    assert (await fresh.post(SIGN_IN, json=OWNER | {"code": spoken})).status_code == 200
    assert (await fresh.post(SIGN_IN, json=OWNER | {"code": codes[0]})).status_code == 401
    row = await place.row("SELECT totp_sealed FROM person WHERE email = 'owner@example.org'")
    assert row is not None
    assert base64.b64encode(secret).decode() not in row["totp_sealed"]


async def test_a_right_sign_in_forgets_the_wrong_ones_before_it(small: Place) -> None:
    browser = await small.client()
    wrong = OWNER | {"password": "not it, not it, not it"}
    for _ in range(2):
        said = [(await browser.post(SIGN_IN, json=wrong)).status_code for _ in range(5)]
        assert said == [401] * 5
        assert (await browser.post(SIGN_IN, json=OWNER)).status_code == 200
