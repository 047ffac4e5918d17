"""Which workspaces are to be generated for tonight: each once a local date, by whoever comes first.

A workspace is due from 02:00 of a date on its own clock (the first valid instant after it where clocks
jump over 02:00; the first of two). A night that was missed is made up; a run that was cut short is taken
over after its lease and goes on after the last rule done. The lease number only rises, so a run that was
taken over writes nothing more here. What it generates is safe to do twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta

from cadenza.core.zones import Zone, get_zone, local_day, resolve
from cadenza.sql.tx import Tx

NIGHT = time(2)
LEASE = timedelta(minutes=5)
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class NightlyRun:
    """One workspace's night in our hands."""

    workspace_id: str
    day: str
    lease: int
    after_rule: str
    made: int


def nightly_run_of(now: datetime, zone: Zone) -> str:
    """Return the local date whose night has come: today from 02:00 on, else yesterday."""
    today = local_day(now, zone)
    begins = resolve(today, NIGHT, zone).instants[0]
    return (today if now >= begins else today - _DAY).isoformat()


def claim_nightly_runs(
    tx: Tx, now: datetime, *, limit: int, after: str = "", lease: timedelta = LEASE
) -> list[NightlyRun]:
    """Take up to `limit` workspaces whose night is due and in nobody's hands, after that id."""
    zones = tx.all("SELECT DISTINCT zone FROM workspace WHERE active")
    nights = [(row["zone"], nightly_run_of(now, get_zone(row["zone"]))) for row in zones]
    due = tx.all(
        """
        SELECT workspace.id, nights.day
        FROM TABLE(:nights) AS nights (zone text, day text) JOIN workspace
            ON workspace.zone = nights.zone AND workspace.active
        LEFT JOIN generation ON generation.workspace_id = workspace.id
        WHERE workspace.id > :after
            AND (generation.workspace_id IS NULL OR (
                (generation.leased_until IS NULL OR generation.leased_until <= :now)
                AND (generation.day < nights.day
                    OR (generation.day = nights.day AND generation.done_at IS NULL))
            ))
            AND EXISTS (SELECT 1 FROM rule
                WHERE rule.workspace_id = workspace.id AND rule.state = 'active')
        ORDER BY workspace.id LIMIT :limit
        """,
        nights=nights,
        after=after,
        now=now,
        limit=limit,
    )
    return _take(tx, now, [(row["id"], row["day"]) for row in due], lease)


def save_progress(
    tx: Tx,
    now: datetime,
    night: NightlyRun,
    *,
    after_rule: str,
    made: int,
    lease: timedelta = LEASE,
) -> bool:
    """Write how far it got and stay the owner; False: another has taken it over."""
    return bool(
        tx.run(
            """
            UPDATE generation SET after_rule = :after_rule, made = :made, leased_until = :until
            WHERE workspace_id = :workspace_id AND lease = :lease AND done_at IS NULL
            """,
            after_rule=after_rule,
            made=made,
            until=now + lease,
            workspace_id=night.workspace_id,
            lease=night.lease,
        )
    )


def finish_nightly_run(tx: Tx, now: datetime, night: NightlyRun) -> bool:
    """Write that the date is done."""
    return bool(
        tx.run(
            """
            UPDATE generation SET done_at = :now, leased_until = NULL
            WHERE workspace_id = :workspace_id AND lease = :lease AND done_at IS NULL
            """,
            now=now,
            workspace_id=night.workspace_id,
            lease=night.lease,
        )
    )


def release(tx: Tx, now: datetime, nights: Sequence[NightlyRun]) -> None:
    """Give nights back that were not finished: the next call goes on with them."""
    tx.run(
        """
        UPDATE generation SET leased_until = NULL
        FROM TABLE(:nights) AS held (id text, lease bigint)
        WHERE generation.workspace_id = held.id AND generation.lease = held.lease
            AND generation.done_at IS NULL
        """,
        nights=[(night.workspace_id, night.lease) for night in nights],
    )


def _take(
    tx: Tx, now: datetime, due: Sequence[tuple[str, str]], lease: timedelta
) -> list[NightlyRun]:
    """Win the rows: the condition is asked again by the statement that writes."""
    if not due:
        return []
    rows = tx.all(
        """
        INSERT INTO generation (workspace_id, day, leased_until)
        SELECT new.id, new.day, :until FROM TABLE(:due) AS new (id text, day text) WHERE true
        ON CONFLICT (workspace_id) DO UPDATE SET
            after_rule = CASE WHEN generation.day = excluded.day THEN generation.after_rule ELSE '' END,
            made = CASE WHEN generation.day = excluded.day THEN generation.made ELSE 0 END,
            day = excluded.day, lease = generation.lease + 1, leased_until = excluded.leased_until,
            done_at = NULL
        WHERE (generation.leased_until IS NULL OR generation.leased_until <= :now)
            AND (generation.day < excluded.day
                OR (generation.day = excluded.day AND generation.done_at IS NULL))
        RETURNING workspace_id, day, lease, after_rule, made
        """,
        until=now + lease,
        due=due,
        now=now,
    )
    nights = [NightlyRun(**row) for row in rows]
    return sorted(nights, key=lambda night: night.workspace_id)
