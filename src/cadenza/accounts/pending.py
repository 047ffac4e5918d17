"""Connections that were begun: a person is expected back from a network, or with one more answer.

A state is random, kept as a hash, good once, for ten minutes, in one workspace and for the person who began.
It is not bound to a session: what the command line began is finished where the network sends the browser. The
person has to be the same, else a link of somebody else would connect an account here, or bring mine to them. Where
the network itself tells us, nobody comes back: it was given the state, and nobody else was.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec

from cadenza.sql.tx import Row, Tx

LIFE = timedelta(minutes=10)
TRIES = 5  # answers to one question, such as a code that is easily mistyped


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """What was begun, and by whom."""

    workspace_id: str
    state_hash: str
    person_id: str
    provider: str
    account_id: str | None  # the account that is connected again
    sealed: str


def expect(tx: Tx, now: datetime, pending: Pending) -> None:
    """Keep what was begun until it ends."""
    tx.run("DELETE FROM connecting WHERE ends_at <= :now", now=now)
    tx.run(
        """
        INSERT INTO connecting (workspace_id, state_hash, person_id, provider, account_id, sealed, created_at,
            ends_at)
        VALUES (:workspace_id, :hash, :person_id, :provider, :account_id, :sealed, :now, :ends)
        """,
        workspace_id=pending.workspace_id,
        hash=pending.state_hash,
        person_id=pending.person_id,
        provider=pending.provider,
        account_id=pending.account_id,
        sealed=pending.sealed,
        now=now,
        ends=now + LIFE,
    )


def take(
    tx: Tx, now: datetime, *, workspace_id: str, state_hash: str, person_id: str | None
) -> Row | None:
    """Use the state up, be it for better or worse; None: it is unknown, used, ended or of somebody else.

    Without a person it is the network that comes, with a state that only it was given.
    """
    row = tx.one(
        """
        UPDATE connecting SET used_at = :now
        WHERE workspace_id = :workspace_id AND state_hash = :hash AND (:person_id = '' OR person_id = :person_id)
            AND used_at IS NULL AND ends_at > :now
        RETURNING provider, account_id, sealed, tries, person_id
        """,
        workspace_id=workspace_id,
        hash=state_hash,
        person_id=person_id or "",
        now=now,
    )
    if row is not None:
        tx.run(
            """
            UPDATE connecting SET sealed = NULL WHERE workspace_id = :workspace_id AND state_hash = :hash
            """,
            workspace_id=workspace_id,
            hash=state_hash,
        )
    return row


def put_back(tx: Tx, *, workspace_id: str, state_hash: str, sealed: str) -> None:
    """Let a wrong answer be followed by another one, to the same question."""
    tx.run(
        """
        UPDATE connecting SET used_at = NULL, sealed = :sealed, tries = tries + 1
        WHERE workspace_id = :workspace_id AND state_hash = :hash
        """,
        workspace_id=workspace_id,
        hash=state_hash,
        sealed=sealed,
    )


def note_connected(tx: Tx, *, workspace_id: str, state_hash: str, ids: Sequence[str]) -> None:
    """Keep what it brought, for whoever waits for it elsewhere."""
    tx.run(
        """
        UPDATE connecting SET connected = :ids WHERE workspace_id = :workspace_id AND state_hash = :hash
        """,
        workspace_id=workspace_id,
        hash=state_hash,
        ids=msgspec.json.encode(list(ids)).decode(),
    )


def note_failed(tx: Tx, *, workspace_id: str, state_hash: str, reason: str) -> None:
    """Keep why it failed, for whoever waits for it elsewhere."""
    tx.run(
        """
        UPDATE connecting SET reason = :reason WHERE workspace_id = :workspace_id AND state_hash = :hash
        """,
        workspace_id=workspace_id,
        hash=state_hash,
        reason=reason,
    )


def look(
    tx: Tx, now: datetime, *, workspace_id: str, state_hash: str, person_id: str
) -> Row | None:
    """Return how it goes, to the person who began it."""
    return tx.one(
        """
        SELECT used_at, connected, reason FROM connecting
        WHERE workspace_id = :workspace_id AND state_hash = :hash AND person_id = :person_id AND ends_at > :now
        """,
        workspace_id=workspace_id,
        hash=state_hash,
        person_id=person_id,
        now=now,
    )
