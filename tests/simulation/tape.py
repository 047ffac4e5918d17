"""Every decision of a run, as small integers: drawn from a seed, or read back from a list.

Nought always means "nothing special": first in the queue, no fault, shortest wait. So a tape that is cut
or zeroed is a calmer run of the same kind, which is what makes shrinking work. A tape that has ended
answers nought.
"""

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
# Chosen so that the seeds of `regressions.json` draw nothing aside: they name the worlds that broke.
ASIDE = 23_791


class Tape:
    """Draws decisions and remembers them."""

    def __init__(self, seed: int, replay: Sequence[int] | None = None) -> None:
        self.seed = seed
        self.taken: list[int] = []
        self._random = random.Random(seed)
        self._aside = random.Random(f"aside {ASIDE} {seed}")
        self._replay = None if replay is None else list(replay)

    def below(self, n: int) -> int:
        """Return a number from 0 up to, not including, n."""
        return self._take(self._random, n)

    def aside(self, choices: Sequence[T]) -> T:
        """Return one, as `one_of` does; what is drawn here changes no other decision of a seed.

        So what worlds got later left those without it, and the seeds that name them, as they were.
        """
        return choices[self._take(self._aside, len(choices))]

    def _take(self, source: random.Random, n: int) -> int:
        if self._replay is None:
            value = int(source.random() * n)
        else:
            at = len(self.taken)
            value = self._replay[at] % n if at < len(self._replay) else 0
        self.taken.append(value)
        return value

    def happens(self, percent: float) -> bool:
        """Say whether something special happens; nought says no."""
        if percent <= 0:
            return False
        return self._take(self._random, 1000) >= 1000 - percent * 10

    def one_of(self, choices: Sequence[T]) -> T:
        """Return one; the first is the plain one."""
        return choices[self.below(len(choices))]

    def seconds(self, longest: float, steps: int = 100) -> float:
        """Return a span up to, not including, `longest`."""
        return longest * self._take(self._random, steps) / steps
