"""The record's key, chosen by us: a TID that is the same for the same attempt and for no other.

Seconds are those of the preparation, so posts sort by time; the other 30 bits are a hash of account
and attempt key. The same call again is then the same record. Limit: two attempts of one account in one
second share a key once in a thousand million; the write is "create only", so even then none is lost.
"""

import hashlib
from datetime import datetime

ALPHABET = "234567abcdefghijklmnopqrstuvwxyz"
_CLOCK_BITS = 10


def tid(microseconds: int, clock_id: int) -> str:
    """Write a timestamp identifier: 11 letters of time, 2 of the clock."""
    number = (microseconds << _CLOCK_BITS) | (clock_id & 0x3FF)
    return "".join(ALPHABET[(number >> (5 * place)) & 31] for place in reversed(range(13)))


def record_key(account_id: str, attempt_key: str, made_at: datetime) -> str:
    """Return the key of an attempt's record."""
    digest = hashlib.sha256(f"{account_id}\n{attempt_key}".encode()).digest()
    mix = int.from_bytes(digest[:8], "big")
    within_the_second = (mix >> _CLOCK_BITS) % 1_000_000
    seconds = int(made_at.timestamp())
    return tid(seconds * 1_000_000 + within_the_second, mix & 0x3FF)
