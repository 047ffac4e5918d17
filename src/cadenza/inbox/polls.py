"""Accounts whose network is asked for replies and acceptances: how far it was asked, and whether that works.

Networks also tell us by themselves (`sources.py`), where somebody set that up; what both bring is recorded once. So
polling is frequent where nobody tells, and rare where somebody does: it then fills the gaps of lost calls. An account
is asked by one process at a time, for as long as its lease; how far it was asked is stored after what it brought, so
a crash asks for some of it again and loses nothing.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
from msgspec import Struct

from cadenza.engine.enqueue_in import enqueue_in
from cadenza.inbox.model import Recorded
from cadenza.inbox.read_events import read_data
from cadenza.inbox.record import record_inbound
from cadenza.sql.tx import Tx
from cadenza.sql.values import columns, read_value, read_values

JOB, QUEUE = "poll_account", "product"
OFTEN = timedelta(minutes=10)  # where nobody tells us
SELDOM = timedelta(hours=6)  # where somebody does
RELATIONS_EVERY = timedelta(
    hours=5
)  # they are read from the network itself, which counts such looks
TELLS = timedelta(days=7)  # who said nothing for longer may say nothing any more
OVERLAP = timedelta(minutes=30)  # lists lag, nobody says by how much
LEASE = timedelta(minutes=15)
LOST_EVERY = timedelta(hours=1)  # a lost account is asked whether it is signed in again
LONGEST_WAIT = timedelta(hours=6)
PENDING = timedelta(days=90)  # invitations that may still be accepted
MOST_DUE = 200


class Poll(Struct, frozen=True):
    """A row of `inbound_poll`."""

    workspace_id: str
    account_id: str
    since_at: datetime
    relations: str | None  # JSON
    relations_at: datetime | None
    read_until: datetime | None
    polled_at: datetime | None
    next_poll_at: datetime
    failures: int
    error: str | None

    @property
    def since(self) -> datetime:
        """From when on to ask."""
        return self.since_at - OVERLAP

    @property
    def known(self) -> tuple[str, ...] | None:
        """The newest relations; None: they were never read."""
        if self.relations is None:
            return None
        return msgspec.json.decode(self.relations, type=tuple[str, ...])


_COLUMNS = columns(Poll, "inbound_poll")


def enqueue_due(tx: Tx, now: datetime, *, providers: Sequence[str]) -> int:
    """Enqueue a job for each account whose time has come and that nobody asks for; return how many."""
    for provider in providers:
        _add_missing(tx, now, provider)
    rows = tx.all(
        f"""
        SELECT {_COLUMNS} FROM inbound_poll
        WHERE next_poll_at <= :now AND (read_until IS NULL OR read_until < :now)
        ORDER BY next_poll_at LIMIT :limit
        """,  # noqa: S608 - put together from constants
        now=now,
        limit=MOST_DUE,
    )
    for each in read_values(Poll, rows):
        about = {"workspace_id": each.workspace_id, "account_id": each.account_id}
        tx.run(
            """
            UPDATE inbound_poll SET read_until = :until
            WHERE workspace_id = :workspace_id AND account_id = :account_id
            """,
            until=now + LEASE,
            **about,
        )
        enqueue_in(tx, now, JOB, about, queue=QUEUE)
    return len(rows)


def find_poll(tx: Tx, workspace_id: str, account_id: str) -> Poll | None:
    """Return how far an account was asked for."""
    row = tx.one(
        f"""
        SELECT {_COLUMNS} FROM inbound_poll WHERE workspace_id = :workspace_id AND account_id = :account_id
        """,  # noqa: S608 - put together from constants
        workspace_id=workspace_id,
        account_id=account_id,
    )
    return None if row is None else read_value(Poll, row)


def wants_relations(tx: Tx, now: datetime, poll: Poll) -> bool:
    """Say whether to look for acceptances: an invitation is out, and the last look is hours ago."""
    if poll.relations_at is not None and now - poll.relations_at < RELATIONS_EVERY:
        return False
    invited = tx.one(
        """
        SELECT id FROM activity
        WHERE workspace_id = :workspace_id AND account_id = :account_id AND action = 'connection_request'
            AND counts AND reserved_at > :since LIMIT 1
        """,
        workspace_id=poll.workspace_id,
        account_id=poll.account_id,
        since=now - PENDING,
    )
    return invited is not None


def record_polled(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    account_id: str,
    kind: str,
    events: Sequence[Mapping[str, Any]],
) -> list[Recorded]:
    """Record what was found; what was told before is a repetition."""
    found = [each for event in events for each in read_data(kind, event, {}, now)]
    about = {"workspace_id": workspace_id, "account_id": account_id}
    return [record_inbound(tx, now, msgspec.structs.replace(each, **about)) for each in found]


def finish_poll(
    tx: Tx,
    now: datetime,
    poll: Poll,
    *,
    since_at: datetime,
    relations: tuple[str, ...] | None,
    read_relations: bool,
    spread: float,
) -> None:
    """Store how far was read; `spread` is a fraction by which accounts are kept apart."""
    wait = (SELDOM if _is_told(tx, now, poll) else OFTEN) * (0.8 + 0.4 * spread)
    tx.run(
        """
        UPDATE inbound_poll SET since_at = :since_at, relations = :relations,
            relations_at = :relations_at, read_until = NULL, polled_at = :now,
            next_poll_at = :next, failures = 0, error = NULL
        WHERE workspace_id = :workspace_id AND account_id = :account_id
        """,
        since_at=since_at,
        relations=None if relations is None else msgspec.json.encode(relations).decode(),
        relations_at=now if read_relations else poll.relations_at,
        now=now,
        next=now + wait,
        workspace_id=poll.workspace_id,
        account_id=poll.account_id,
    )


def fail_poll(
    tx: Tx, now: datetime, poll: Poll, *, error: str, wait: timedelta | None = None
) -> None:
    """Say why nothing could be read, and ask again later: when the network says, or after longer and longer."""
    failures = poll.failures + 1
    usual = min(OFTEN * 2 ** min(failures - 1, 8), LONGEST_WAIT)
    tx.run(
        """
        UPDATE inbound_poll SET read_until = NULL, polled_at = :now, next_poll_at = :next, failures = :failures,
            error = :error
        WHERE workspace_id = :workspace_id AND account_id = :account_id
        """,
        now=now,
        next=now + (usual if wait is None else wait),
        failures=failures,
        error=error[:500],
        workspace_id=poll.workspace_id,
        account_id=poll.account_id,
    )


def _add_missing(tx: Tx, now: datetime, provider: str) -> None:
    """Begin with accounts that were connected meanwhile; what came before is left alone."""
    tx.run(
        """
        INSERT INTO inbound_poll (workspace_id, account_id, since_at, next_poll_at)
        SELECT workspace_id, id, created_at, :now FROM account
        WHERE provider = :provider AND sealed IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM inbound_poll p WHERE p.workspace_id = account.workspace_id AND p.account_id = account.id)
        ON CONFLICT (workspace_id, account_id) DO NOTHING
        """,
        now=now,
        provider=provider,
    )


def _is_told(tx: Tx, now: datetime, poll: Poll) -> bool:
    """Say whether the network tells us of this account by itself, and did so lately."""
    found = tx.one(
        """
        SELECT id FROM inbound_source
        WHERE workspace_id = :workspace_id AND kind = 'unipile' AND last_event_at > :since
            AND (account_id IS NULL OR account_id = :account_id) LIMIT 1
        """,
        workspace_id=poll.workspace_id,
        account_id=poll.account_id,
        since=now - TELLS,
    )
    return found is not None
