"""What every part of the store stands on: the database, its clock, its indexes, its counters.

Every write asks for a majority and the journal. The server's clock decides: its `localTime` is
measured every few seconds against this process's monotonic clock, because a `$$NOW` in an update
cannot be used where the update also depends on what was computed here. Its error is half a round
trip, and instants are whole milliseconds.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from bson.codec_options import CodecOptions
from pymongo import AsyncMongoClient, ReturnDocument
from pymongo.asynchronous.collection import AsyncCollection
from pymongo.errors import InvalidURI, OperationFailure, PyMongoError
from pymongo.read_preferences import ReadPreference
from pymongo.write_concern import WriteConcern

from cadenza.core.clock import Clock, SystemClock
from cadenza.engine.errors import InvalidJob, refuse_torn, unreadable
from cadenza.engine.store import Wake
from cadenza.engine.stores.mongo.documents import Paper

log = logging.getLogger("cadenza.engine")

STOCK, STOCK_SECONDS = 32, 1.0  # ids taken at once for lone inserts, and how long they are good
MEASURED = 10.0  # seconds after which the server's clock is measured again
_NO_SUCH_COMMAND = 59

Shelf = AsyncCollection[Paper]


class MongoConnection:
    """A database, and the collections in it that begin with a prefix."""

    def __init__(self, address: str, *, prefix: str | None, clock: Clock | None) -> None:
        address, said = split_address(address)
        self.prefix = prefix or said or "cadenza"
        self.clock = clock or SystemClock()
        try:
            self.client: AsyncMongoClient[Paper] = AsyncMongoClient(
                address, tz_aware=True, serverSelectionTimeoutMS=5000, appname="cadenza"
            )
        except (InvalidURI, ValueError):
            raise InvalidJob(unreadable(address)) from None
        database = self.client.get_default_database("cadenza")
        self.database = database.with_options(
            codec_options=CodecOptions(tz_aware=True, tzinfo=UTC),
            read_preference=ReadPreference.PRIMARY,
            write_concern=WriteConcern(w="majority", j=True),
        )
        self.jobs = self._shelf("jobs")
        self.leases = self._shelf("leases")
        self.gates = self._shelf("gates")
        self.marks = self._shelf("marks")
        self.batches = self._shelf("batches")
        self.schedules = self._shelf("schedules")
        self.workers = self._shelf("workers")
        self.counters = self._shelf("counters")
        self._watchers: list[Wake] = []
        self._stock: deque[int] = deque()
        self._stocked = 0.0  # monotonic
        self._offset: tuple[float, datetime] | None = None  # monotonic, the server's time then
        self._measuring: asyncio.Task[None] | None = None
        self._hello = "hello"

    def _shelf(self, name: str) -> Shelf:
        return self.database[f"{self.prefix}_{name}"]

    async def open(self) -> None:
        """Connect, and make the indexes that are missing."""
        await self.greet()
        jobs = self.jobs
        # Plain jobs are those whose lane is null, so their heads are found here as well.
        await jobs.create_index(
            [("queue", 1), ("state", 1), ("lane", 1), ("priority", 1), ("run_at", 1)]
        )
        await jobs.create_index([("queue", 1), ("state", 1), ("run_at", 1)])
        await jobs.create_index([("queue", 1), ("state", 1), ("crashes", 1), ("run_at", 1)])
        await jobs.create_index([("state", 1), ("lease", 1)])
        await jobs.create_index([("state", 1), ("finished_at", 1)])
        await jobs.create_index("held_key", unique=True, sparse=True)
        await jobs.create_index("batch", sparse=True)
        await self.leases.create_index("until")
        await self.gates.create_index([("queue", 1), ("lane", 1)])
        await self.schedules.create_index("next_at")
        await self.marks.create_index("until")

    async def close(self) -> None:
        """Let go of every connection."""
        if self._measuring is not None:
            self._measuring.cancel()
        await self.client.close()

    async def greet(self) -> Paper:
        """Say hello; servers and stand-ins of old know it by another name."""
        try:
            return await self.client.admin.command(self._hello)
        except OperationFailure as error:
            if error.code != _NO_SUCH_COMMAND or self._hello == "isMaster":
                raise
            self._hello = "isMaster"
            return await self.greet()

    async def now(self) -> datetime:
        """Return the server's time, as last measured and carried on since."""
        mark, monotonic = self._offset, self.clock.monotonic()
        if mark is None or monotonic - mark[0] > 2 * MEASURED:
            mark = self._offset = await self._measure()
        elif monotonic - mark[0] > MEASURED and self._measuring is None:  # nobody waits for it
            self._measuring = asyncio.create_task(self._measure_again(), name="cadenza mongo clock")
        since = self.clock.monotonic() - mark[0]
        now = mark[1] + timedelta(seconds=since)
        return now.replace(microsecond=now.microsecond // 1000 * 1000)

    async def _measure_again(self) -> None:
        """Measure beside the work; where that fails, the next one tries again, at last in earnest."""
        try:
            self._offset = await self._measure()
        except PyMongoError:
            log.debug("the clock of MongoDB could not be read", exc_info=True)
        finally:
            self._measuring = None

    async def _measure(self) -> tuple[float, datetime]:
        before = self.clock.monotonic()
        local: datetime = (await self.greet())["localTime"]
        after = self.clock.monotonic()
        aware = local if local.tzinfo is not None else local.replace(tzinfo=UTC)
        return (before + after) / 2, aware.astimezone(UTC)

    async def number(self, name: str, count: int = 1) -> int:
        """Take `count` numbers of a row that only rises; return the first."""
        # The document before the step is what counts: it is nobody else's to change any more.
        found = await self.counters.find_one_and_update(
            {"_id": name},
            {"$inc": {"last": count}},
            upsert=True,
            return_document=ReturnDocument.BEFORE,
        )
        return 1 if found is None else int(found["last"]) + 1

    async def job_numbers(self, count: int) -> int:
        """Take `count` ids, return the first; lone ones come from a small stock, for a moment.

        So a lone insert is one round trip. Ids of several processes stay in order to a second.
        """
        if count > 1:
            self._stock.clear()  # what comes later has the higher id
            return await self.number("job", count)
        if not self._stock or self.clock.monotonic() - self._stocked > STOCK_SECONDS:
            stocked = self.clock.monotonic()
            first = await self.number("job", STOCK)
            self._stock, self._stocked = deque(range(first, first + STOCK)), stocked
        return self._stock.popleft()

    def watch(self, wake: Wake) -> Callable[[], None]:
        """Call `wake` on news of this process."""
        self._watchers.append(wake)
        return lambda: self._watchers.remove(wake)

    def wake(self, queues: Iterable[str]) -> None:
        """Wake this process's sleepers; other processes find out by their poll."""
        for queue in set(queues):
            for wake in tuple(self._watchers):
                wake(queue)


def split_address(address: str) -> tuple[str, str | None]:
    """Take our own word, `prefix`, out of an address."""
    refuse_torn(address)
    parts = urlsplit(address)
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    prefix = next((value for name, value in pairs if name == "prefix"), None)
    if prefix is not None and not prefix.isidentifier():
        raise InvalidJob(f"prefix={prefix!r} in the address: use letters, digits and _")
    query = urlencode([(name, value) for name, value in pairs if name != "prefix"], safe="/:,")
    return urlunsplit(parts._replace(query=query)), prefix


def matched(result: Any) -> bool:
    """Say whether a fenced write found what it was meant for."""
    return bool(result.matched_count)
