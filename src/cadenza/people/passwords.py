"""The port that hashes passwords: argon2id in a thread, two at a time, and which ones are refused.

A check against nobody's hash takes as long as one against somebody's, so time does not tell who is
here. A new password is judged by its length, by what is known of its person, and by the 30,000 most
common ones of the zxcvbn package, offline. Limit: only its list is used, not its estimate, which takes
seconds for input that was made to be slow.
"""

import asyncio
import unicodedata
from functools import cache

from pwdlib import PasswordHash
from pwdlib.exceptions import UnknownHashError

SHORTEST = 12
LONGEST = 256
AT_ONCE = 2  # each takes 64 MiB for a moment
OF_LIST = 2  # so many common ones beside each other are still guessed; three make a phrase
LONGEST_COMMON = 24
LEAST_LEFT = 4  # letters that must be left when all that is guessed was taken out
_STEMS = ("cadenza", "correcthorsebatterystaple", "passwort", "qwertz", "administrator", "changeme")
_SIGNS = str.maketrans("0134578@$!", "oieastbasi")  # p4$$w0rd is read as password


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
    own = {
        part for part in (*email.casefold().split("@"), *name.casefold().split()) if len(part) > 3
    }
    if any(_left(form, own) < LEAST_LEFT for form in (plain, plain.translate(_SIGNS))):
        return "it is easily guessed: take words that have nothing to do with you or with Cadenza"
    return None


def _left(password: str, own: set[str]) -> int:
    """Count the letters that are left of a password without what guessers try first."""
    rest = password
    for stem in sorted({*_STEMS, *own}, key=len, reverse=True):
        rest = rest.replace(stem, "")
    for _ in range(OF_LIST):
        found = _longest_common(rest)
        rest = rest.replace(found, "") if found else rest
    return sum(not each.isdigit() and each.isalnum() for each in rest)


def _longest_common(text: str) -> str:
    """Find the longest stretch of a text that is a password of many."""
    common = common_passwords()
    for length in range(min(len(text), LONGEST_COMMON), 3, -1):
        for start in range(len(text) - length + 1):
            if text[start : start + length] in common:
                return text[start : start + length]
    return ""


@cache
def common_passwords() -> frozenset[str]:
    """List what everybody tries, in small letters; digits alone count for nothing anyway."""
    from zxcvbn.frequency_lists import FREQUENCY_LISTS

    return frozenset(word for word in FREQUENCY_LISTS["passwords"] if not word.isdigit())


def _plain(password: str) -> str:
    """Write it as every keyboard would: the same letters have one form."""
    return unicodedata.normalize("NFKC", password)


def _verify(password: str, kept: str) -> bool:
    try:
        return _hasher().verify(password, kept)
    except UnknownHashError:
        return False
