"""Imports posts from a CSV file: every row is made by the operations that a person uses, or is reported.

The same row makes one post, however often it is imported: its key (or the hash of what it says) is
written in the transaction that makes the post. Row by row, a bad row stops no other; all or nothing goes
in one transaction of at most 500 rows. A dry run does the same work in one transaction and takes it back,
so what it reports is what would happen; of a longer file it tries the first 500 rows and says so. Queues
stand above posts, so adding to one comes in as a port.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from cadenza.deliveries.render import Files
from cadenza.posts.import_row import AddToQueue, Done, RowRefused, find_places, import_row
from cadenza.posts.read_csv import Problem, Unreadable, read_csv
from cadenza.posts.read_row import RowRequest, read_row
from cadenza.sql.transactions import Operations
from cadenza.sql.tx import Tx

MOST_AT_ONCE = 500  # rows that one transaction may hold
STEP = 50  # rows a transaction when each stands for itself

# The locks that adding to the queues of these accounts wants, as `queues/model.py: locks` names them.
QueueLocks: TypeAlias = Callable[[str, Sequence[str]], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Queues:
    """The port to queues."""

    add: AddToQueue
    locks: QueueLocks


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """How a file is to be imported."""

    workspace_id: str
    by: str
    zone: str | None = None  # of times without their own; None: the workspace's
    mapping: Mapping[str, str] | None = None  # our column -> the file's header
    all_or_nothing: bool = False
    dry_run: bool = False
    files: Files | None = None  # they know the addresses that networks fetch media from


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What became of each row. With `dry_run`, what would have."""

    done: tuple[Done, ...]
    problems: tuple[Problem, ...]
    columns: Mapping[str, str]
    unknown: tuple[str, ...]  # headers that nothing was read from
    dry_run: bool
    taken_back: bool = False  # all or nothing, and something was wrong: nothing was made
    left: int = 0  # rows behind the last that a dry run tried: of them only the words were read

    @property
    def made(self) -> int:
        """Count the posts that are new."""
        return 0 if self.taken_back else sum(not done.again for done in self.done)

    @property
    def again(self) -> int:
        """Count the rows that had been imported before."""
        return sum(done.again for done in self.done)


class _Rollback(Exception):
    """Roll back what was done, and carry out what it came to."""

    def __init__(self, done: list[Done], problems: list[Problem]) -> None:
        super().__init__("rolled back")
        self.done = done
        self.problems = problems


Step: TypeAlias = tuple[list[Done], list[Problem]]


async def import_csv(
    operations: Operations, data: bytes, order: Order, *, queues: Queues | None = None
) -> Report | Unreadable:
    """Read the file and make its rows posts, as ordered."""
    sheet = read_csv(data, mapping=order.mapping)
    if isinstance(sheet, Unreadable):
        return sheet
    zone = order.zone or await operations.read(lambda tx, _: _home_zone(tx, order.workspace_id))
    problems = list(sheet.problems)
    wishes: list[RowRequest] = []
    for row in sheet.rows:
        read = read_row(row, zone=zone)
        if isinstance(read, RowRequest):
            wishes.append(read)
        else:
            problems += read
    if order.all_or_nothing and len(wishes) > MOST_AT_ONCE:
        return Unreadable(
            f"all or nothing takes at most {MOST_AT_ONCE} rows, the file has {len(wishes)}",
            "split the file, or import it row by row",
        )
    wrong = bool(problems) and order.all_or_nothing
    tried = wishes[:MOST_AT_ONCE] if order.dry_run else wishes
    done, refused = await _import(operations, tried, order, queues, spoiled=wrong)
    problems = sorted([*problems, *refused], key=lambda problem: problem.row)
    return Report(
        done=tuple(done),
        problems=tuple(problems),
        columns=sheet.columns,
        unknown=sheet.unknown,
        dry_run=order.dry_run,
        taken_back=order.all_or_nothing and bool(problems),
        left=len(wishes) - len(tried),
    )


async def _import(
    operations: Operations,
    wishes: Sequence[RowRequest],
    order: Order,
    queues: Queues | None,
    *,
    spoiled: bool,
) -> Step:
    """Go through the rows, in one transaction or in steps."""
    if order.all_or_nothing or order.dry_run:
        return await _step(operations, wishes, order, queues, spoiled=spoiled)
    done: list[Done] = []
    problems: list[Problem] = []
    for start in range(0, len(wishes), STEP):
        made, wrong = await _step(operations, wishes[start : start + STEP], order, queues)
        done += made
        problems += wrong
    return done, problems


async def _step(
    operations: Operations,
    wishes: Sequence[RowRequest],
    order: Order,
    queues: Queues | None,
    *,
    spoiled: bool = False,
) -> Step:
    """Make these rows posts in one transaction; a refused row takes back itself, or all."""

    def operation(tx: Tx, now: datetime) -> Step:
        done, problems = _rows(tx, now, wishes, order, queues)
        if order.dry_run or spoiled or (problems and order.all_or_nothing):
            raise _Rollback(done, problems)
        return done, problems

    locks: Sequence[str] = ()
    if queues is not None and any(request.queue for request in wishes):
        accounts = await operations.read(lambda tx, _: _queued(tx, wishes, order.workspace_id))
        locks = queues.locks(order.workspace_id, accounts)
    try:
        return await operations.run(operation, locks=locks)
    except _Rollback as back:
        return back.done, back.problems


def _rows(
    tx: Tx, now: datetime, wishes: Sequence[RowRequest], order: Order, queues: Queues | None
) -> Step:
    done: list[Done] = []
    problems: list[Problem] = []
    for request in wishes:
        tx.run("SAVEPOINT import_row")
        try:
            done.append(
                import_row(
                    tx,
                    now,
                    request,
                    workspace_id=order.workspace_id,
                    by=order.by,
                    add_to_queue=None if queues is None else queues.add,
                    files=order.files,
                )
            )
        except RowRefused as refused:
            tx.run("ROLLBACK TO SAVEPOINT import_row")
            problems.append(refused.problem)
        tx.run("RELEASE SAVEPOINT import_row")
    return done, problems


def _queued(tx: Tx, wishes: Sequence[RowRequest], workspace_id: str) -> list[str]:
    """Name the accounts whose queues are written; rows that lead nowhere are refused later."""
    accounts: set[str] = set()
    for request in wishes:
        if request.queue:
            try:
                accounts |= {account for account, _ in find_places(tx, request, workspace_id)}
            except RowRefused:
                continue
    return sorted(accounts)


def _home_zone(tx: Tx, workspace_id: str) -> str:
    zone = tx.value("SELECT zone FROM workspace WHERE id = :id", id=workspace_id)
    if zone is None:
        raise LookupError(f"there is no workspace {workspace_id!r} to import into")
    return zone
