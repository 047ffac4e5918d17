"""The only door through which chance enters.

Jitter, shuffles and names of worker processes draw from a `Chance` that is handed in,
so a simulation with a seed replays to the letter. Not for secrets: keys and tokens come
from the operating system's generator in the rooms that seal them.
"""

import os
import random
import socket
from typing import Protocol


class Chance(Protocol):
    """What the product may ask of luck."""

    def fraction(self) -> float:
        """Return a number from 0 up to, not including, 1."""
        ...


class SystemChance:
    """Python's generator, seeded by the operating system."""

    def __init__(self) -> None:
        self._random = random.Random()  # noqa: S311 - jitter, not secrets

    def fraction(self) -> float:
        """Return the generator's next fraction."""
        return self._random.random()


class SeededChance:
    """The same sequence for the same seed: tests, plans and rehearsals."""

    def __init__(self, seed: int | str) -> None:
        self._random = random.Random(seed)  # noqa: S311 - reproducible by design

    def fraction(self) -> float:
        """Return the sequence's next fraction."""
        return self._random.random()


def name_worker() -> str:
    """Name this process so that an operator finds it: host, process id, a few random letters."""
    return f"{socket.gethostname()}:{os.getpid()}:{os.urandom(3).hex()}"
