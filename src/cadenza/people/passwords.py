"""The port that hashes passwords: argon2id in a thread, two at a time, and which ones are refused.

A check against nobody's hash takes as long as one against somebody's, so time does not tell who is
here. Limit: passwords are judged by length, by being guessable from the person, and by a short list
of what everybody tries; no service on the net is asked.
"""

import asyncio
import unicodedata
from functools import cache

from pwdlib import PasswordHash
from pwdlib.exceptions import UnknownHashError

SHORTEST = 12
LONGEST = 256
AT_ONCE = 2  # each takes 64 MiB for a moment
_STEMS = (
    "password", "passwort", "passw0rd", "qwertyuiop", "qwerty", "qwertz", "letmein", "welcome",
    "iloveyou", "administrator", "admin", "changeme", "secret", "cadenza", "monkey", "dragon",
    "football", "baseball", "sunshine", "princess", "superman", "trustno1", "abcdefgh", "asdfghjkl",
    "zxcvbnm", "1q2w3e4r", "1qaz2wsx", "starwars", "whatever", "default", "correcthorse",
)  # fmt: skip


@cache
def _hasher() -> PasswordHash:
    return PasswordHash.recommended()


@cache
def _nobody() -> str:
    return _hasher().hash("the password of nobody at all")


class Passwords:
    """Hashes and checks, away from the event loop."""

    def __init__(self) -> None:
        self._room = asyncio.Semaphore(AT_ONCE)

    async def hash(self, password: str) -> str:
        """Return what is kept of a password."""
        async with self._room:
            return await asyncio.to_thread(_hasher().hash, _plain(password))

    async def check(self, password: str, kept: str | None) -> bool:
        """Say whether it is the one; with nobody's hash (None) it takes as long and is not."""
        async with self._room:
            right = await asyncio.to_thread(_verify, _plain(password), kept or _nobody())
        return right and kept is not None


def judge(password: str, *, email: str, name: str) -> str | None:
    """Say what is wrong with a new password; None: nothing."""
    if len(password) < SHORTEST:
        return f"a password has at least {SHORTEST} characters: a few words make a good one"
    if len(password) > LONGEST:
        return f"a password has at most {LONGEST} characters"
    plain = password.casefold()
    if len(set(plain)) < 5:
        return "it repeats too few characters: a few words make a good one"
    own = [part for part in (*email.casefold().split("@"), *name.casefold().split()) if part]
    rest = plain
    for stem in sorted((*_STEMS, *(each for each in own if len(each) > 3)), key=len, reverse=True):
        rest = rest.replace(stem, "")
    if len(rest.strip("0123456789!?.-_ @#$")) < 4:
        return "it is easily guessed: take words that have nothing to do with you or with Cadenza"
    return None


def _plain(password: str) -> str:
    """Write it as every keyboard would: the same letters have one form."""
    return unicodedata.normalize("NFKC", password)


def _verify(password: str, kept: str) -> bool:
    try:
        return _hasher().verify(password, kept)
    except UnknownHashError:
        return False
