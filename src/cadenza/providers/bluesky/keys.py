"""The record's key, chosen by us: a TID that is the same for the same attempt and for no other.

Seconds are those of the preparation, so posts sort by time. Each part of a thread has a slice of the
second for itself, so parts sort as they are read; the other 23 bits are a hash of account and attempt key.
The same call again is then the same record. Limit: two attempts of one account in one second share a key
once in eight million; the write is "create only", so even then none is lost.
"""

import hashlib
from datetime import datetime

ALPHABET = "234567abcdefghijklmnopqrstuvwxyz"
_CLOCK_BITS = 10
_SECOND = 1_000_000
_SLICE = _SECOND // 128  # of one part; further parts run into the next second


def tid(microseconds: int, clock_id: int) -> str:
    """Write a timestamp identifier: 11 letters of time, 2 of the clock."""
    number = (microseconds << _CLOCK_BITS) | (clock_id & 0x3FF)
    return "".join(ALPHABET[(number >> (5 * place)) & 31] for place in reversed(range(13)))


def record_key(account_id: str, attempt_key: str, made_at: datetime, part: int) -> str:
    """Return the key of an attempt's record; parts that were prepared together sort in their order."""
    mix = _mix(account_id, attempt_key)
    within_the_second = part * _SLICE + (mix >> _CLOCK_BITS) % _SLICE
    return tid(int(made_at.timestamp()) * _SECOND + within_the_second, mix & 0x3FF)


def unordered_key(account_id: str, attempt_key: str, made_at: datetime) -> str:
    """Return the key as it was made before parts had an order: for attempts from before an upgrade."""
    mix = _mix(account_id, attempt_key)
    within_the_second = (mix >> _CLOCK_BITS) % _SECOND
    return tid(int(made_at.timestamp()) * _SECOND + within_the_second, mix & 0x3FF)


def _mix(account_id: str, attempt_key: str) -> int:
    digest = hashlib.sha256(f"{account_id}\n{attempt_key}".encode()).digest()
    return int.from_bytes(digest[:8], "big")
