"""Signed addresses for networks that fetch media themselves."""

import base64
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.accounts.seal import Keyring
from cadenza.media.public import NotPublic, PublicFile, Signer, open_public, sign_public_url
from cadenza.media.storage import BadName
from cadenza.providers.http.redact import Secret

NOW = datetime(2026, 5, 4, 9, tzinfo=UTC)
UNTIL = NOW + timedelta(hours=1)
FILE = "ada/" + "a" * 64 + "-1.jpg"


def ring(*letters: str) -> Keyring:
    keys = {
        letter: Secret(base64.urlsafe_b64encode(letter.encode() * 32).decode())
        for letter in letters
    }
    return Keyring(keys)


SIGNER = Signer.from_keyring(ring("a"))


def token(signer: Signer = SIGNER, file: str = FILE) -> str:
    url = sign_public_url(
        signer,
        "https://cadenza.example/",
        file=file,
        mime="image/jpeg",
        expires_at=UNTIL,
        name="cät 1.jpg",
    )
    assert url.startswith("https://cadenza.example/media/public/")
    assert url.endswith("/c%C3%A4t%201.jpg")
    return url.split("/")[-2]


def test_a_token_opens_its_file_until_its_time_is_up() -> None:
    good = token()

    assert open_public(SIGNER, good, now=NOW) == PublicFile(FILE, "image/jpeg", UNTIL)
    assert open_public(SIGNER, good, now=UNTIL) == NotPublic(expired=True)


@given(st.integers(0, 400), st.integers(1, 255))
def test_a_changed_token_opens_nothing(place: int, change: int) -> None:
    good = token()
    at = place % len(good)
    bad = good[:at] + chr((ord(good[at]) + change) % 256) + good[at + 1 :]

    assert open_public(SIGNER, bad, now=NOW) == NotPublic()


@pytest.mark.parametrize(
    "text",
    ["", ".", "a.b", "x" * 700, "é.é", token() + "=", token() + "A", " " + token(), token()[:-1]],
)
def test_what_is_no_token_opens_nothing(text: str) -> None:
    assert open_public(SIGNER, text, now=NOW) == NotPublic()


def test_another_key_opens_nothing_and_an_older_key_of_the_ring_still_does() -> None:
    old = token()

    assert open_public(Signer.from_keyring(ring("b")), old, now=NOW) == NotPublic()
    assert isinstance(open_public(Signer.from_keyring(ring("b", "a")), old, now=NOW), PublicFile)


def test_only_names_of_ours_are_signed() -> None:
    with pytest.raises(BadName):
        token(file="../../etc/passwd")


def test_the_key_that_signs_is_not_the_key_that_seals() -> None:
    assert b"a" * 32 not in SIGNER.keys
