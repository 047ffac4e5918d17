"""Between the engine's values and SQLite's: instants and spans as whole microseconds, lists as JSON.

Integers compare and index faster than text and lose nothing, as floats would.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from enum import IntEnum

import msgspec

from cadenza.engine.job import State
from cadenza.sql.sqlite_connect import microseconds

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

encode = msgspec.json.Encoder().encode
decode_numbers = msgspec.json.Decoder(list[int]).decode
decode_texts = msgspec.json.Decoder(list[str]).decode


class Row(IntEnum):
    """How a job's state is written; the ready ones are told apart for the claim's sake."""

    DEFERRED = 0
    READY = 1
    RUNNING = 2
    CRASHED = 3
    DONE = 4
    FAILED = 5
    CANCELED = 6


STATES: dict[int, State] = {
    Row.DEFERRED: State.WAITING,
    Row.READY: State.WAITING,
    Row.RUNNING: State.RUNNING,
    Row.CRASHED: State.WAITING,
    Row.DONE: State.DONE,
    Row.FAILED: State.FAILED,
    Row.CANCELED: State.CANCELED,
}


def to_number(instant: datetime) -> int:
    """Write an instant."""
    return microseconds(instant)


def to_number_or_none(instant: datetime | None) -> int | None:
    """Write an instant that may be missing."""
    return None if instant is None else microseconds(instant)


def to_instant(number: int) -> datetime:
    """Read an instant."""
    return EPOCH + timedelta(microseconds=number)


def to_instant_or_none(number: int | None) -> datetime | None:
    """Read an instant that may be missing."""
    return None if number is None else EPOCH + timedelta(microseconds=number)


def span(length: timedelta) -> int:
    """Write a length of time."""
    return length // _MICROSECOND


def to_json(values: Sequence[object]) -> str:
    """Write a list."""
    return encode(values).decode()
