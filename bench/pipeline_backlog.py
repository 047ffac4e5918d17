"""What does a pile of deliveries that cannot run cost those that can?

    python -m bench.pipeline [pile|deep] [sqlite|postgres] [deliveries]

A hundred accounts have something due. Their claim is timed alone, then beside a million deliveries of a
thousand other accounts: a third due later, a third paused, a third resting for want of room in a limit. What
was claimed is given back between two claims, untimed. Or it is timed in their own lanes with few and with many due. The pile is loaded by raw SQL; statistics are gathered once, as autovacuum would.
"""

import time
from datetime import datetime, timedelta
from statistics import median

from cadenza.deliveries.claim import claim, release
from cadenza.deliveries.lanes import refresh
from cadenza.sql.transactions import Operations
from cadenza.sql.tx import Tx

HOME = "bench"
LANES = 999
ROUNDS = 40
RUNNABLE = 100

_LANES = """
INSERT INTO lane (workspace_id, id, account_id, paused, parked_until, parked_by, runnable_at)
SELECT 'bench', 'account:p' || n, 'p' || n, n % 3 = 1, CASE WHEN n % 3 = 2 THEN later_at END,
    CASE WHEN n % 3 = 2 THEN 'budgets' END, CASE WHEN n % 3 = 1 THEN now_at ELSE later_at END
FROM {numbers}, TABLE(:times) AS times (now_at timestamptz, later_at timestamptz)
"""
_DELIVERIES = """
INSERT INTO delivery (
    workspace_id, id, lane_id, account_id, channel, action, state, due_at, content, approved, created_at
)
SELECT 'bench', 'p' || n, 'account:p' || (n % {lanes} + 1), 'p' || (n % {lanes} + 1), 'webhook', 'post',
    'scheduled', CASE WHEN n % {lanes} % 3 = 2 THEN later_at ELSE now_at END, '{{"text":"hello"}}', true, now_at
FROM {numbers}, TABLE(:times) AS times (now_at timestamptz, later_at timestamptz)
"""

_DUE = """
INSERT INTO delivery (
    workspace_id, id, lane_id, account_id, channel, action, state, due_at, content, approved, created_at
)
SELECT 'bench', 'q{of}-{part}-' || n, 'account:a' || (n % {lanes}), 'a' || (n % {lanes}), 'webhook', 'post',
    'scheduled', :now, '{{"text":"hello"}}', true, :now
FROM {numbers}
"""


def _numbers(tx: Tx, count: int) -> str:
    if tx.dialect == "postgresql":
        return f"generate_series(1, {count}) AS numbers (n)"
    return (
        "(WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted "
        f"WHERE n < {count}) SELECT n FROM counted) AS numbers"
    )


def pile_up(tx: Tx, now: datetime, count: int) -> None:
    """Load what cannot run."""
    times = [(now, now + timedelta(days=30))]
    tx.run(_LANES.format(numbers=_numbers(tx, LANES)), times=times)
    for part in _parts(count):
        sql = _DELIVERIES.format(lanes=LANES, numbers=_numbers(tx, part[1]))
        tx.run(sql.replace("'p' || n,", f"'p{part[0]}-' || n,", 1), times=times)
    tx.run("ANALYZE")


def deepen(tx: Tx, now: datetime, count: int) -> None:
    """Load deliveries that are due into the lanes of the runnable accounts."""
    for first, size in _parts(count):
        tx.run(
            _DUE.format(lanes=RUNNABLE, of=count, part=first, numbers=_numbers(tx, size)), now=now
        )
    lanes = [(HOME, f"account:a{n}") for n in range(RUNNABLE)]
    refresh(tx, lanes)
    tx.run("ANALYZE")


def _parts(count: int) -> list[tuple[int, int]]:
    step = 40_000  # a statement is given ten seconds
    return [(n, min(step, count - n)) for n in range(0, count, step)]


async def claim_milliseconds(operations: Operations) -> float:
    """Return the median time of a claim of a hundred, each given back at once."""

    def take(tx: Tx, now: datetime) -> list[object]:
        return list(claim(tx, now, limit=RUNNABLE, worker="w", lease=timedelta(minutes=1)))

    took: list[float] = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        tickets = await operations.run(take)
        took.append(time.perf_counter() - began)
        assert len(tickets) == RUNNABLE, len(tickets)
        await operations.run(lambda tx, now, t=tickets: release(tx, now, t))  # pyright: ignore[reportArgumentType]
    return 1000 * median(took)
