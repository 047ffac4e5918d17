"""Writing what became of jobs: one statement a kind of ending, each row fenced by (id, lease).

Jobs that are done and not kept are deleted, finished ones move to `job_done`, the rest wait
again; the counts of gates fall in the same statement, only where gates keep one. What no
statement matched was not ours any more and is handed back as refused.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypeAlias

from cadenza.engine.outcomes import Settlement, Verdict
from cadenza.engine.stores.postgres.gate import change_gate
from cadenza.engine.stores.postgres.rows import CANCELED, DONE, FAILED
from cadenza.sql.postgres import Connection

ENDINGS = {Verdict.DONE: DONE, Verdict.FAILED: FAILED, Verdict.CANCELED: CANCELED}
USED_UP = frozenset({Verdict.DONE, Verdict.RETRY, Verdict.FAILED})
NOTHING = timedelta()
LOOKS = 3  # at jobs whose cancel is requested while they are being settled

Pair: TypeAlias = tuple[int, int]


@dataclass(slots=True)
class SettleStatements:
    """One call of `settle`: what was written so far, and which queues may have got room or work."""

    connection: Connection
    sql: Mapping[str, str]
    done: set[Pair] = field(default_factory=set)
    queues: set[str] = field(default_factory=set)
    ready: set[str] = field(default_factory=set)

    async def write(self, name: str, requested: Sequence[Settlement], *columns: Any) -> None:
        """Run a settling statement and take in its answer."""
        ids, leases = [one.id for one in requested], [one.lease for one in requested]
        row = await self.connection.fetchrow(self.sql[name], ids, leases, *columns)
        assert row is not None
        settled, done_ids, done_leases, queues, *ready = row
        if settled == len(requested):
            self.done.update(zip(ids, leases, strict=True))
        elif settled:
            self.done.update(zip(done_ids, done_leases, strict=True))
        self.queues.update(queues or ())
        self.ready.update(*(found or () for found in ready))

    def left_of(self, requested: Iterable[Settlement]) -> list[Settlement]:
        """Return what is not yet written."""
        return [one for one in requested if (one.id, one.lease) not in self.done]


@dataclass(frozen=True, slots=True)
class Settled:
    """What came of a call: the refused, the queues to wake, those with jobs that are ready again."""

    refused: list[Settlement]
    queues: set[str]
    ready: set[str]


async def settle_jobs(
    connection: Connection,
    sql: Mapping[str, str],
    settlements: Sequence[Settlement],
    closed: Sequence[int],
    *,
    queue: str | None = None,
) -> Settled:
    """Write outcomes; `queue` says that all are of plain jobs of that queue."""
    desk = SettleStatements(connection, sql)
    left = settlements
    if queue is not None:
        left = await _settle_plain(desk, settlements, closed, queue)
        if not left:
            return Settled([], set(), set())
    ways = _sort(left)
    if len(ways) == 1 and not any(one.park for one in left):
        ((way, requested),) = ways.items()
        await way(desk, requested, closed)
    else:
        async with connection.transaction():
            await _settle_mixed(desk, ways, left, closed)
    return Settled(_refused(left, desk.done), desk.queues, desk.ready)


def _plain_statement(settlements: Sequence[Settlement]) -> str | None:
    """Name the statement for a batch of jobs that are all done alike, with nothing to add."""
    keep = settlements[0].keep if settlements else False
    alike = settlements and all(
        one.verdict is Verdict.DONE and one.keep is keep and one.park is None for one in settlements
    )
    if not alike:
        return None
    if not keep:
        lease = settlements[0].lease
        single = all(one.lease == lease for one in settlements)
        return "settle_plain" if single else "settle_plain_pairs"
    silent = all(one.output is None and one.error is None for one in settlements)
    return "settle_kept" if silent else None


async def _settle_plain(
    desk: SettleStatements, settlements: Sequence[Settlement], closed: Sequence[int], queue: str
) -> Sequence[Settlement]:
    """Settle the commonest batches by the shortest statements; return what is left undone."""
    name = _plain_statement(settlements)
    ids = [one.id for one in settlements]
    if name is None or len(set(ids)) < len(ids):
        return settlements
    fence: int | list[int] = [one.lease for one in settlements]
    if name == "settle_plain":
        fence = settlements[0].lease
    row = await desk.connection.fetchrow(desk.sql[name], ids, fence, list(closed), queue)
    assert row is not None
    if row[0] == len(ids):
        return []
    done = set(row[1])
    return [one for one in settlements if one.id not in done]


Way: TypeAlias = Callable[[SettleStatements, Sequence[Settlement], Sequence[int]], Awaitable[None]]


def _sort(settlements: Sequence[Settlement]) -> dict[Way, list[Settlement]]:
    ways: dict[Way, list[Settlement]] = {}
    seen: set[Pair] = set()
    for one in settlements:
        if (pair := (one.id, one.lease)) in seen:
            continue  # a second word on the same run is refused like any stale one
        seen.add(pair)
        if one.verdict is Verdict.DONE and not one.keep:
            way = _delete
        else:
            way = _finish if one.verdict in ENDINGS else _wait_again
        ways.setdefault(way, []).append(one)
    return ways


async def _settle_mixed(
    desk: SettleStatements,
    ways: Mapping[Way, Sequence[Settlement]],
    settlements: Sequence[Settlement],
    closed: Sequence[int],
) -> None:
    # Always in this order, so that two callers take their gates alike.
    for way in (_delete, _finish, _wait_again):
        if way in ways:
            await way(desk, ways[way], ())
    for one in settlements:
        if one.park is not None and (one.id, one.lease) in desk.done:
            await change_gate(desk.connection, desk.sql, one.park.scope, park=one.park.wait)
            desk.queues.add(one.park.scope.queue)
    if closed:
        await desk.connection.execute(desk.sql["close_leases"], list(closed))


async def _delete(
    desk: SettleStatements, requested: Sequence[Settlement], closed: Sequence[int]
) -> None:
    await desk.write("settle_deleted", requested, list(closed))


async def _finish(
    desk: SettleStatements, requested: Sequence[Settlement], closed: Sequence[int]
) -> None:
    """Move jobs to the finished ones; what was to wait again ends canceled here."""
    await desk.write(
        "settle_finished",
        requested,
        list(closed),
        [ENDINGS.get(one.verdict, CANCELED) for one in requested],
        [int(one.verdict in USED_UP) for one in requested],
        [0] * len(requested),
        [one.error for one in requested],
        [one.output for one in requested],
    )


async def _wait_again(
    desk: SettleStatements, requested: Sequence[Settlement], closed: Sequence[int]
) -> None:
    """Let jobs wait again; a cancel that was requested, even in between, ends them instead."""
    left = requested
    for _ in range(LOOKS):
        await desk.write(
            "settle_waiting",
            left,
            list(closed),
            [int(one.verdict in USED_UP) for one in left],
            [0] * len(left),
            [int(one.verdict is Verdict.SNOOZE) for one in left],
            [_delay(one) for one in left],
            [one.at if one.verdict is not Verdict.RELEASED else None for one in left],
            [one.error for one in left],
        )
        left = desk.left_of(left)
        if not left:
            return
        canceling = {row[0] for row in await _find_canceling(desk, left)}
        if not canceling:
            break
        await _finish(desk, [one for one in left if one.id in canceling], ())
        left = desk.left_of(left)
        if not left:
            break
    if closed:
        await desk.connection.execute(desk.sql["close_leases"], list(closed))


async def _find_canceling(desk: SettleStatements, left: Sequence[Settlement]) -> list[Any]:
    ids, leases = [one.id for one in left], [one.lease for one in left]
    return await desk.connection.fetch(desk.sql["find_canceling"], ids, leases)


def _delay(settlement: Settlement) -> timedelta | None:
    if settlement.verdict is Verdict.RELEASED or settlement.at is not None:
        return None
    return settlement.delay or NOTHING


def _refused(settlements: Sequence[Settlement], done: set[Pair]) -> list[Settlement]:
    if len(done) == len(settlements):
        return []
    left = set(done)
    refused: list[Settlement] = []
    for one in settlements:
        if (one.id, one.lease) in left:
            left.discard((one.id, one.lease))
        else:
            refused.append(one)
    return refused
