"""Real time cut into stretches of one UTC offset, in whole seconds.

Within a stretch the wall clock runs evenly, so a search is plain addition; gaps and folds
stand only where two stretches meet. Offsets come from `zones.offset_at`; a change is found
by looking once a day and halving. Limit: two changes within one day would be seen as one
(no zone does that after 1970).
"""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from cadenza.core.zones import Zone, offset_at

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = 86_400
_BLOCK_BITS = 23  # about 97 days: few enough to look through, rare enough to remember
_MARGIN = 2 * _DAY  # a gap or fold (a day at the most) is seen whole from any second of a block


class OffsetSpan(NamedTuple):
    """Seconds `start <= t < end` at `offset`; `before` and `after` are the neighbours'."""

    start: int
    end: int
    offset: int
    before: int
    after: int


def to_second(instant: datetime) -> int:
    """Return the whole second since 1970 in which a UTC instant lies."""
    passed = instant - _EPOCH
    return passed.days * _DAY + passed.seconds


def to_instant(second: int) -> datetime:
    """Return the UTC instant of a second since 1970."""
    return _EPOCH + timedelta(seconds=second)


def span_at(second: int, zone: Zone) -> OffsetSpan:
    """Return the stretch that holds `second`; true within two days, cut off far from it."""
    for stretch in _spans(second >> _BLOCK_BITS, zone):
        if second < stretch.end:
            return stretch
    raise AssertionError(f"second {second} lies outside its own block")


@lru_cache(maxsize=4096)
def _spans(block: int, zone: Zone) -> tuple[OffsetSpan, ...]:
    low = (block << _BLOCK_BITS) - _MARGIN
    high = ((block + 1) << _BLOCK_BITS) + _MARGIN
    looks = [*range(low, high, _DAY), high]
    edges = [low, *(_change(a, b, zone) for a, b in pairwise(looks) if _differ(a, b, zone)), high]
    offsets = [_offset(edge, zone) for edge in edges]
    return tuple(
        OffsetSpan(
            start,
            end,
            offset=offsets[n],
            before=offsets[max(n - 1, 0)],
            after=offsets[n + 1],
        )
        for n, (start, end) in enumerate(pairwise(edges))
    )


def _change(low: int, high: int, zone: Zone) -> int:
    """Return the first second of `(low, high]` at the new offset."""
    new = _offset(high, zone)
    while high - low > 1:
        middle = (low + high) // 2
        if _offset(middle, zone) == new:
            high = middle
        else:
            low = middle
    return high


def _differ(low: int, high: int, zone: Zone) -> bool:
    return _offset(low, zone) != _offset(high, zone)


def _offset(second: int, zone: Zone) -> int:
    offset = offset_at(to_instant(second), zone)
    return offset.days * _DAY + offset.seconds
