"""Counts tries in the store, so that guessing is slow over all processes and restarts.

One row a name and window: sign-ins count per address, per person and address, and per person. A
stranger who knocks for somebody else does not lock that person out at once: only the pair is strict.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cadenza.people.model import TooOften
from cadenza.people.tokens import hash_token
from cadenza.sql.tx import Tx


@dataclass(frozen=True, slots=True)
class Door:
    """At most `most` tries of a name in a window."""

    name: str
    most: int
    window: timedelta


def sign_in_doors(address: str, email: str) -> tuple[Door, ...]:
    """Name what a sign-in counts against; the address of a person is kept as a hash."""
    who = hash_token(email)[:32]
    return (
        Door(f"sign-in:from:{address}", 40, timedelta(minutes=10)),
        Door(f"sign-in:pair:{who}:{address}", 8, timedelta(minutes=15)),
        Door(f"sign-in:who:{who}", 50, timedelta(hours=1)),
    )


def letter_doors(address: str, email: str) -> tuple[Door, ...]:
    """Name what a mail that a stranger can cause counts against."""
    who = hash_token(email)[:32]
    return (
        Door(f"letter:from:{address}", 20, timedelta(hours=1)),
        Door(f"letter:who:{who}", 3, timedelta(hours=1)),
    )


def knock(tx: Tx, now: datetime, doors: Sequence[Door]) -> TooOften | None:
    """Count one try at every door; refuse if one of them has had too many."""
    tx.run("DELETE FROM knock WHERE ends_at <= :now", now=now)
    waits: list[datetime] = []
    for door in doors:
        row = tx.one(
            """
            INSERT INTO knock (name, times, ends_at) VALUES (:name, 1, :ends)
            ON CONFLICT (name) DO UPDATE SET times = knock.times + 1
            RETURNING times, ends_at
            """,
            name=door.name,
            ends=now + door.window,
        )
        assert row is not None
        if row["times"] > door.most:
            waits.append(row["ends_at"])
    return TooOften(max(waits)) if waits else None


def forget(tx: Tx, now: datetime, doors: Sequence[Door]) -> None:
    """Let the person's own counters go after a right sign-in; the address's stays."""
    tx.run_each(
        "DELETE FROM knock WHERE name = :name",
        [{"name": door.name} for door in doors if ":from:" not in door.name],
    )
