"""What a system must be able to do to take part, and where it finds its servers.

An adapter is a class in `bench/systems/<name>.py`; it runs in its own process under
`bench.drive`, in the interpreter and environment of the system that it speaks for. A method
that a system has no honest counterpart for stays as it is here and the report shows a dash.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Handle = Callable[[int], None]
Ready = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Place:
    """Where the store of this session is, and where marks go."""

    dsn: str
    file: str
    valkey: str
    mongo: str
    marks: str

    @staticmethod
    def from_environment() -> "Place":
        """Read what `bench.session` put into the environment."""
        read = os.environ.get
        return Place(
            dsn=read("BENCH_DSN", ""),
            file=read("BENCH_FILE", ""),
            valkey=read("BENCH_VALKEY", ""),
            mongo=read("BENCH_MONGO", ""),
            marks=read("BENCH_MARKS", "/dev/null"),
        )


class Adapter:
    """One system, seen through the verbs that the works need."""

    def __init__(self, place: Place) -> None:
        """Remember the place; connecting belongs in `open`."""
        self.place = place

    async def setup(self) -> None:
        """Install the system's tables into an empty store."""

    async def open(self) -> None:
        """Connect as a producer."""

    async def enqueue_one(self, number: int) -> None:
        """Enqueue one job durably; return once it is."""
        raise NotImplementedError

    async def enqueue_bulk(self, numbers: range, due: float | None = None) -> None:
        """Enqueue many with the system's bulk call; `due` (epoch seconds) defers them all."""
        raise NotImplementedError

    async def enqueue_at(self, number: int, due: float) -> None:
        """Enqueue one job that is due at an instant (epoch seconds)."""
        raise NotImplementedError

    async def left(self) -> int:
        """Count the jobs that are not finished: waiting, deferred or running."""
        raise NotImplementedError

    async def work(self, handle: Handle, ready: Ready) -> None:
        """Run a worker until SIGTERM; call `ready` right before it starts fetching."""
        raise NotImplementedError

    async def close(self) -> None:
        """Disconnect the producer."""


def remove_file(path: str) -> None:
    """Remove an SQLite file with everything beside it that bears its name (log, locks)."""
    file = Path(path)
    for found in file.parent.glob(f"{file.name}*"):
        found.unlink(missing_ok=True)
