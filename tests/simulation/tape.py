"""Every decision of a run, as small integers: drawn from a seed, or read back from a list.

Nought always means "nothing special": first in the queue, no fault, shortest wait. So a tape that is cut
or zeroed is a calmer run of the same kind, which is what makes shrinking work. A tape that has ended
answers nought.
"""

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Tape:
    """Draws decisions and remembers them."""

    def __init__(self, seed: int, replay: Sequence[int] | None = None) -> None:
        self.seed = seed
        self.taken: list[int] = []
        self._random = random.Random(seed)
        self._replay = None if replay is None else list(replay)

    def below(self, n: int) -> int:
        """Return a number from 0 up to, not including, n."""
        if self._replay is not None:
            at = len(self.taken)
            value = self._replay[at] % n if at < len(self._replay) else 0
        else:
            value = int(self._random.random() * n)
        self.taken.append(value)
        return value

    def happens(self, percent: float) -> bool:
        """Say whether something special happens; nought says no."""
        if percent <= 0:
            return False
        return self.below(1000) >= 1000 - percent * 10

    def one_of(self, choices: Sequence[T]) -> T:
        """Return one; the first is the plain one."""
        return choices[self.below(len(choices))]

    def seconds(self, longest: float, steps: int = 100) -> float:
        """Return a span up to, not including, `longest`."""
        return longest * self.below(steps) / steps
