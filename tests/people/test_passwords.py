"""Passwords: what is refused, and that time tells nobody who is here."""

import pytest
from argon2 import extract_parameters

from cadenza.people import passwords as port
from cadenza.people.passwords import Passwords, common_passwords, judge
from cadenza.people.tokens import draw_key, draw_recovery_codes, hash_recovery_code, split_key


@pytest.mark.parametrize(
    "weak",
    [
        "short",
        "abababababababab",
        "Password123!",
        "ada@example.org1",
        "lovelacelovelace1",
        "P4$$w0rd-P4$$w0rd",
        "iloveyou2024!!",
        "summer2024summer",
        "monkeydragon12",
        "1qaz2wsx3edc4rfv",
        "12345678901234567890",
        "x" * 300,
    ],
)
def test_an_easy_password_is_refused(weak: str) -> None:
    assert judge(weak, email="ada@example.org", name="Ada Lovelace") is not None


@pytest.mark.parametrize(
    "good",
    [
        "four plain words here",
        "violet engine under seven",
        "Correct Horse Battery",
        "Ünïcödé ist auch gut",
        "q" * 4 + "Zr9-x7Lm4k",
    ],
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


def test_common_passwords_are_refused_offline_whatever_hangs_on_them() -> None:
    assert len(common_passwords()) > 3000
    long_enough = [word for word in common_passwords() if len(word) >= port.SHORTEST]
    assert len(long_enough) > 100
    for word in long_enough:
        for form in (word, word.upper(), f"{word}!", f"1{word}"):
            assert judge(form, email="ada@example.org", name="Ada") is not None, form


def test_judging_takes_a_bounded_number_of_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = 0

    class Counting(frozenset[str]):
        def __contains__(self, word: object) -> bool:
            nonlocal looked
            looked += 1
            return super().__contains__(word)

    counting = Counting(common_passwords())
    monkeypatch.setattr(port, "common_passwords", lambda: counting)
    judge("4@8({[<369!1|0$57+%2" * 12, email="ada@example.org", name="Ada")
    assert looked < 4 * port.LONGEST * port.LONGEST_COMMON


async def test_checking_for_nobody_costs_as_much_as_for_somebody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    passwords = Passwords()
    kept = await passwords.hash("four plain words here")
    compared: list[str] = []

    def verify(password: str, against: str) -> bool:
        compared.append(against)
        return real(password, against)

    real = port._verify
    monkeypatch.setattr(port, "_verify", verify)
    assert not await passwords.check("wrong", kept)
    assert not await passwords.check("wrong", None)
    assert not await passwords.check("the password of nobody at all", None)
    somebody, *nobody = (extract_parameters(each) for each in compared)
    assert nobody == [somebody, somebody], "the same work, so time tells nothing"


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
