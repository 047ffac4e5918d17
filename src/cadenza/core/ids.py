"""The only door through which chance enters.

Jitter, shuffles and names of worker processes draw from a `Random` that is handed in, new rows
get their names from `Ids`, so a simulation with a seed replays to the letter. Not for secrets:
keys and tokens come from the operating system's generator in the packages that seal them.
"""

import os
import random
import socket
from itertools import count
from typing import Protocol

from uuid_utils.compat import uuid7


class Random(Protocol):
    """What the product may ask of luck."""

    def fraction(self) -> float:
        """Return a number from 0 up to, not including, 1."""
        ...


class SystemRandom:
    """Python's generator, seeded by the operating system."""

    def __init__(self) -> None:
        self._random = random.Random()  # noqa: S311 - jitter, not secrets

    def fraction(self) -> float:
        """Return the generator's next fraction."""
        return self._random.random()


class SeededRandom:
    """The same sequence for the same seed: tests, plans and simulations."""

    def __init__(self, seed: int | str) -> None:
        self._random = random.Random(seed)  # noqa: S311 - reproducible by design

    def fraction(self) -> float:
        """Return the sequence's next fraction."""
        return self._random.random()


class Ids(Protocol):
    """Where the names of new rows come from."""

    def new(self) -> str:
        """Return a name that nobody has had before."""
        ...


class SystemIds:
    """UUIDs of version 7: they rise with time, so new rows lie beside each other in every index."""

    def new(self) -> str:
        """Return a fresh one as text."""
        return str(uuid7())


class CountedIds:
    """`ada-000001`, `ada-000002`: the same names in every run of a test or a simulation."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._numbers = count(1)

    def new(self) -> str:
        """Return the next number of the prefix."""
        return f"{self._prefix}-{next(self._numbers):06}"


def name_worker() -> str:
    """Name this process so that an operator finds it: host, process id, a few random letters."""
    return f"{socket.gethostname()}:{os.getpid()}:{os.urandom(3).hex()}"
