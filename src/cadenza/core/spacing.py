"""Many instants, none too close to the last.

`pace` keeps a steady beat (a campaign's rate: every instant is allocated, none is
dropped); `stroll` leaves a random gap after each (outreach that should not look like
a machine). Both go on from a cursor and hand the next one back, and draw luck from a
generator that is passed in: the same seed gives the same plan. Neither knows of hours
or caps; the planner cuts their result against those.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from cadenza.core.ids import Random, SeededRandom
from cadenza.core.zones import ZERO, as_utc

_SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Spaced:
    """Instants in order, and where the next call must start."""

    instants: tuple[datetime, ...]
    cursor: datetime


def random_for(*key: object) -> Random:
    """Return luck that depends on the key alone, such as (campaign, account, sequence)."""
    return SeededRandom("\x1f".join(str(part) for part in key))


def pace(
    count: int,
    *,
    cursor: datetime,
    every: timedelta,
    jitter: timedelta = ZERO,
    minimum: timedelta = ZERO,
    rng: Random | None = None,
) -> Spaced:
    """Return `count` instants on a beat of `every` from `cursor`, each up to `jitter` late.

    Lateness does not add up: the beat is counted from the cursor. Two neighbours are
    never closer than `minimum`, not even across calls.
    """
    _check(count=count, every=every, jitter=jitter, minimum=minimum)
    if jitter and rng is None:
        raise ValueError("Jitter needs a generator: pass chance=.")
    start = as_utc(cursor)
    earliest = start
    instants: list[datetime] = []
    for index in range(count):
        late = jitter * rng.fraction() if jitter and rng is not None else ZERO
        moment = max(start + every * index + late, earliest)
        instants.append(moment)
        earliest = moment + minimum
    return Spaced(tuple(instants), max(start + every * count, earliest))


def random_gaps(
    count: int,
    *,
    cursor: datetime,
    shortest: timedelta,
    longest: timedelta,
    minimum: timedelta = ZERO,
    rng: Random,
) -> Spaced:
    """Return `count` instants from `cursor`, each followed by a random gap in whole seconds."""
    moment = as_utc(cursor)
    instants: list[datetime] = []
    _check(count=count)
    for _ in range(count):
        instants.append(moment)
        moment += random_gap(shortest, longest, minimum=minimum, rng=rng)
    return Spaced(tuple(instants), moment)


def random_gap(
    shortest: timedelta, longest: timedelta, *, minimum: timedelta = ZERO, rng: Random
) -> timedelta:
    """Return a gap from `shortest` to `longest`, both included, but never below `minimum`."""
    _check(shortest=shortest, minimum=minimum)
    if longest < shortest:
        raise ValueError(f"The longest gap ({longest}) is below the shortest ({shortest}).")
    choices = (longest - shortest) // _SECOND + 1
    return max(minimum, shortest + _SECOND * int(rng.fraction() * choices))


def _check(count: int = 0, **spans: timedelta) -> None:
    if count < 0:
        raise ValueError(f"count is {count}; it cannot be negative.")
    for name, span in spans.items():
        if span < ZERO:
            raise ValueError(f"{name} is {span}; it cannot be negative.")
