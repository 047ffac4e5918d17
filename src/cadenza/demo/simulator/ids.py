"""Ids in the networks' own shapes, the same for the same seed.

An adapter that keeps a 19-digit id in a 32-bit number, or sorts ids as text, must fail here and not
in production; so shapes are true even where a counter would do.
"""

from collections.abc import Callable
from datetime import datetime
from string import ascii_letters, digits

from cadenza.core.ids import SeededRandom

_SORTABLE = "234567abcdefghijklmnopqrstuvwxyz"


class Ids:
    """A seeded source of ids; never the same twice in one simulator."""

    def __init__(self, seed: int | str = "cadenza") -> None:
        self._rng = SeededRandom(seed)
        self._given: set[str] = set()

    def below(self, end: int) -> int:
        """Return a whole number from 0 up to, not including, `end`."""
        return int(self._rng.fraction() * end)

    def letters(self, length: int, alphabet: str = ascii_letters + digits) -> str:
        """Return a new string of that length."""
        return self._fresh(
            lambda: "".join(alphabet[self.below(len(alphabet))] for _ in range(length))
        )

    def number(self, length: int) -> str:
        """Return a new decimal id of that many digits, without a leading zero."""
        return self._fresh(
            lambda: str(1 + self.below(9)) + "".join(str(self.below(10)) for _ in range(length - 1))
        )

    def hexadecimal(self, length: int) -> str:
        """Return a new id of hexadecimal digits."""
        return self.letters(length, "0123456789abcdef")

    def uuid(self) -> str:
        """Return a new id that looks like a random UUID."""
        text = self.hexadecimal(32)
        return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:]}"

    def snowflake(self, now: datetime, *, epoch_ms: int = 0, shift: int = 16) -> str:
        """Return an id that sorts by time: milliseconds shifted left, the rest by chance."""
        milliseconds = int(now.timestamp() * 1000) - epoch_ms
        return self._fresh(lambda: str((milliseconds << shift) | self.below(1 << shift)))

    def tid(self, now: datetime) -> str:
        """Return an AT Protocol record key of that time."""
        microseconds = int(now.timestamp() * 1_000_000)
        return self._fresh(lambda: _sortable(microseconds, 11) + _sortable(self.below(1024), 2))

    def _fresh(self, make: Callable[[], str]) -> str:
        while True:
            made = make()
            if made not in self._given:
                self._given.add(made)
                return made


def _sortable(number: int, length: int) -> str:
    return "".join(_SORTABLE[(number >> (5 * place)) & 31] for place in reversed(range(length)))
