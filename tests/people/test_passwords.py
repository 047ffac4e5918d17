"""Passwords: what is refused, and that time tells nobody who is here."""

import time

import pytest

from cadenza.people.passwords import Passwords, judge
from cadenza.people.tokens import draw_key, draw_recovery_codes, hash_recovery_code, split_key


@pytest.mark.parametrize(
    "weak",
    [
        "short",
        "abababababababab",
        "Password123!",
        "ada@example.org1",
        "lovelacelovelace1",
        "x" * 300,
    ],
)
def test_an_easy_password_is_refused(weak: str) -> None:
    assert judge(weak, email="ada@example.org", name="Ada Lovelace") is not None


@pytest.mark.parametrize(
    "good", ["four plain words here", "Ünïcödé ist auch gut", "q" * 4 + "Zr9-x7Lm4k"]
)
def test_a_good_password_is_taken(good: str) -> None:
    assert judge(good, email="ada@example.org", name="Ada") is None


async def test_a_password_matches_itself_in_any_form_of_its_letters() -> None:
    passwords = Passwords()
    kept = await passwords.hash("café au lait, please")
    assert kept.startswith("$argon2id$")
    assert await passwords.check("café au lait, please", kept)
    assert not await passwords.check("cafe au lait, please", kept)
    assert not await passwords.check("anything", "no hash at all")


async def test_checking_for_nobody_takes_as_long_as_for_somebody() -> None:
    passwords = Passwords()
    kept = await passwords.hash("four plain words here")
    await passwords.check("warm up", None)

    async def quickest(hashed: str | None) -> float:
        spans: list[float] = []
        for _ in range(5):
            began = time.perf_counter()
            assert not await passwords.check("wrong", hashed)
            spans.append(time.perf_counter() - began)
        return min(spans)

    somebody, nobody = await quickest(kept), await quickest(None)
    assert 0.4 < nobody / somebody < 2.5


def test_a_key_is_split_as_it_was_drawn() -> None:
    key = draw_key()
    parts = split_key(key.text)
    assert parts is not None
    assert parts[0] == key.prefix
    assert split_key("ghp_something_else") is None
    assert split_key("cad_") is None
    assert key.text not in repr(key)


def test_recovery_codes_are_forgiving_about_how_they_are_typed() -> None:
    code = draw_recovery_codes(1)[0]
    assert hash_recovery_code("ada", code) == hash_recovery_code(
        "ada", code.upper().replace("-", " ")
    )
    assert hash_recovery_code("ada", code) != hash_recovery_code("ben", code)
