"""Did you mean? The nearest known word to one that is not known.

`difflib` ranks by shared runs of letters; case, spaces and `-`/`_` do not count.
It guesses for people reading an error, never to choose on their behalf: nothing
may act on the answer without asking.
"""

from collections.abc import Iterable
from difflib import get_close_matches

CUTOFF = 0.6  # below this, difflib's own default, guesses read as noise


def closest(word: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate most like `word`, or None if none comes near."""
    by_key: dict[str, str] = {}
    for candidate in candidates:
        by_key.setdefault(_key(candidate), candidate)
    found = get_close_matches(_key(word), by_key, n=1, cutoff=CUTOFF)
    return by_key[found[0]] if found else None


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """Return " Did you mean 'x'?" to end an error message with, or nothing."""
    guess = closest(word, candidates)
    return f" Did you mean {guess!r}?" if guess is not None else ""


def _key(word: str) -> str:
    return word.strip().casefold().replace("-", "_").replace(" ", "_")
