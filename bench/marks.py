"""What a handler leaves behind: its job's number, the monotonic time and its process id.

Every handler of every system appends the same 20 bytes to one file in memory, so the cost is
equal for all and no system's own statistics are believed. CLOCK_MONOTONIC is one clock for
all processes of a Linux machine, Node's `hrtime` included; elsewhere that would not hold.
"""

import os
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

MARK = struct.Struct("<qqi")


@dataclass(frozen=True, slots=True)
class Mark:
    """One handled job."""

    number: int
    at_ns: int
    pid: int


def marker(path: str) -> Callable[[int], None]:
    """Return the function that a handler calls with its job's number."""
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    pack, write, clock, pid = MARK.pack, os.write, time.monotonic_ns, os.getpid()

    def mark(number: int) -> None:
        write(file, pack(number, clock(), pid))

    return mark


def count_marks(path: Path) -> int:
    """Say how many jobs were handled so far, without reading them."""
    return path.stat().st_size // MARK.size if path.exists() else 0


def read_marks(path: Path) -> list[Mark]:
    """Read every mark, in the order of time."""
    raw = path.read_bytes() if path.exists() else b""
    whole = len(raw) - len(raw) % MARK.size
    return sorted(
        (Mark(*fields) for fields in MARK.iter_unpack(raw[:whole])), key=lambda mark: mark.at_ns
    )
