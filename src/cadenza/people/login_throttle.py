"""Counts tries in the store, so that guessing is slow over all processes and restarts.

One row a name and window. Sign-ins are refused per pair of person and address, and per address; nobody can lock
somebody else out. Tries for one person from everywhere are only counted: while there are many, addresses that the
person is not signed in from get fewer tries each. A try that was refused counts no further.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cadenza.core.addresses import owner_of
from cadenza.people.model import TooOften
from cadenza.people.tokens import hash_token
from cadenza.sql.tx import Tx


@dataclass(frozen=True, slots=True)
class AttemptLimit:
    """At most `most` tries of a name in a window."""

    name: str
    most: int
    window: timedelta


TRIES = 8  # of one pair in a quarter of an hour
TRIES_WHILE_ATTACKED = 2
ATTACK = 50  # tries for one person in an hour, from everywhere


def sign_in_limits(address: str, email: str, *, attacked: bool = False) -> tuple[AttemptLimit, ...]:
    """Name what a sign-in is refused by, the narrowest first; the address of a person is kept as a hash."""
    place = owner_of(address)
    tries = TRIES_WHILE_ATTACKED if attacked else TRIES
    return (
        AttemptLimit(f"sign-in:pair:{_hash(email)}:{place}", tries, timedelta(minutes=15)),
        AttemptLimit(f"sign-in:from:{place}", 40, timedelta(minutes=10)),
    )


def count_try(tx: Tx, now: datetime, *, email: str) -> None:
    """Count a try for a person, wherever it comes from."""
    _count(tx, now, _everywhere(email))


def is_attacked(tx: Tx, now: datetime, *, email: str) -> bool:
    """Say whether so many try to be this person that strangers get fewer tries."""
    door = _everywhere(email)
    times = tx.value(
        "SELECT times FROM login_attempt WHERE name = :name AND ends_at > :now",
        name=door.name,
        now=now,
    )
    return times is not None and times >= door.most


def forget_tries(tx: Tx, *, email: str, address: str | None = None) -> None:
    """Let a person's counters go: those of one address after a right sign-in, all of them after a reset."""
    own = "%" if address is None else owner_of(address)
    tx.run(
        "DELETE FROM login_attempt WHERE name = :everywhere OR name LIKE :pairs",
        everywhere=_everywhere(email).name,
        pairs=f"sign-in:pair:{_hash(email)}:{own}",
    )


def _everywhere(email: str) -> AttemptLimit:
    return AttemptLimit(f"sign-in:who:{_hash(email)}", ATTACK, timedelta(hours=1))


def _hash(email: str) -> str:
    return hash_token(email)[:32]


def email_limits(address: str, email: str) -> tuple[AttemptLimit, ...]:
    """Name what a mail that a stranger can cause counts against."""
    return (
        AttemptLimit(f"letter:from:{owner_of(address)}", 20, timedelta(hours=1)),
        AttemptLimit(f"letter:who:{_hash(email)}", 3, timedelta(hours=1)),
    )


def count_attempt(tx: Tx, now: datetime, doors: Sequence[AttemptLimit]) -> TooOften | None:
    """Count one try at each door, up to the first that has had too many: that one refuses."""
    tx.run("DELETE FROM login_attempt WHERE ends_at <= :now", now=now)
    for door in doors:
        times, ends_at = _count(tx, now, door)
        if times > door.most:
            return TooOften(ends_at)
    return None


def _count(tx: Tx, now: datetime, door: AttemptLimit) -> tuple[int, datetime]:
    row = tx.one(
        """
        INSERT INTO login_attempt (name, times, ends_at) VALUES (:name, 1, :ends)
        ON CONFLICT (name) DO UPDATE SET times = login_attempt.times + 1
        RETURNING times, ends_at
        """,
        name=door.name,
        ends=now + door.window,
    )
    assert row is not None
    return row["times"], row["ends_at"]
