"""A collection of the Node package mongodb-cron can be worked on here, with the same results."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pymongo import AsyncMongoClient
from pymongo.asynchronous.collection import AsyncCollection

from cadenza.engine.classic.document import Document, FieldPaths, pick
from cadenza.engine.classic.mongo import MongoDocuments
from cadenza.engine.classic.scheduler import Scheduler
from cadenza.engine.errors import InvalidJob
from cadenza.engine.testing.clock import VirtualClock

VECTORS = Path(__file__).parent.parent / "data" / "mongodb_cron_vectors.jsonl"
LINES = [json.loads(line) for line in VECTORS.read_text("utf-8").splitlines()]
NOW = datetime(2026, 3, 4, 5, 6, 7, 89000, tzinfo=UTC)
MINUTE = timedelta(minutes=1)

Collection = AsyncCollection[dict[str, Any]]


@pytest.fixture
async def collection(mongo_database: str) -> AsyncIterator[Collection]:
    async with AsyncMongoClient[dict[str, Any]](mongo_database, tz_aware=True) as client:
        yield client.get_default_database()["jobs"]


def _dated(document: dict[str, Any]) -> dict[str, Any]:
    """Let texts that are times be dates, as the package's own users write them."""
    dated: dict[str, Any] = {}
    for name, value in document.items():
        dated[name] = _dated(value) if isinstance(value, dict) else value
        if isinstance(value, list):
            dated[name] = [_dated(item) for item in value]
        if name in ("sleepUntil", "repeatUntil", "s") and isinstance(value, str):
            try:
                dated[name] = datetime.fromisoformat(value)
            except ValueError:
                dated[name] = value
    return dated


async def test_every_golden_vector_passes_through_a_collection(collection: Collection) -> None:
    wrong = []
    for line in LINES:
        found = await _pass_through(collection, line, _paths(line["config"]))
        wanted = None if line["next"] is None else datetime.fromisoformat(line["next"])
        if found != wanted:
            wrong.append((line, found))
    assert wrong == []
    assert len(LINES) == 304


def _paths(config: dict[str, Any]) -> FieldPaths:
    return FieldPaths(
        sleep_until=config.get("sleepUntilFieldPath", "sleepUntil"),
        interval=config.get("intervalFieldPath", "interval"),
        repeat_until=config.get("repeatUntilFieldPath", "repeatUntil"),
    )


async def _pass_through(
    collection: Collection, line: dict[str, Any], paths: FieldPaths
) -> datetime | None:
    """Write a vector's document, lock and reschedule it, and read what then stands there."""
    await collection.delete_many({})
    await collection.insert_one({"_id": 1, "note": "kept", **_dated(line["doc"])})
    documents = MongoDocuments(collection, paths=paths)
    now = datetime.fromisoformat(line["now"])
    scheduler = Scheduler(
        documents,
        on_document=lambda _: None,
        zone=line["tz"],
        clock=VirtualClock(now),
        reprocess_delay=timedelta(milliseconds=line["config"].get("reprocessDelay", 0)),
    )
    document = await documents.lock_next(now + MINUTE, now=now)
    if document is None:  # not due: the vector asks for its next start all the same
        (paper,) = await collection.find({}).to_list()
        lock = documents.read(paper, locked_until=None).sleep_until
        document = documents.read(paper, locked_until=lock)
    assert await scheduler.reschedule(document)
    (after,) = await collection.find({}).to_list()
    assert after["note"] == "kept"
    return pick(after, paths.sleep_until)


async def _lock(collection: Collection, **options: Any) -> Document | None:
    return await MongoDocuments(collection, **options).lock_next(NOW + MINUTE, now=NOW)


async def test_the_handler_gets_the_document_as_it_was_before_the_lock(
    collection: Collection,
) -> None:
    before = {"_id": "a", "sleepUntil": NOW - MINUTE, "interval": "* * * * *", "name": "Ada"}
    await collection.insert_one(dict(before))
    document = await _lock(collection)
    assert document is not None
    assert document.data == before
    assert await collection.find_one({}) == before | {"sleepUntil": NOW + MINUTE}


@pytest.mark.parametrize("value", [NOW, NOW - MINUTE, "soon", 5, True])
async def test_what_is_due_there_is_due_here(collection: Collection, value: object) -> None:
    await collection.insert_one({"sleepUntil": value})
    assert await _lock(collection) is not None


@pytest.mark.parametrize("value", [None, NOW + timedelta(milliseconds=1)])
async def test_what_is_not_due_there_is_not_due_here(collection: Collection, value: object) -> None:
    await collection.insert_many([{"sleepUntil": value}, {"name": "no time at all"}])
    assert await _lock(collection) is None


async def test_a_condition_leaves_other_documents_alone(collection: Collection) -> None:
    await collection.insert_many([{"_id": n, "sleepUntil": NOW, "handle": n} for n in range(3)])
    document = await _lock(collection, condition={"handle": {"$gte": 2}})
    assert document is not None
    assert document.id == 2
    assert await _lock(collection, condition={"handle": {"$gte": 2}}) is None


async def test_a_lock_that_another_took_over_is_not_written_over(collection: Collection) -> None:
    await collection.insert_one({"_id": "a", "sleepUntil": NOW})
    documents = MongoDocuments(collection)
    document = await documents.lock_next(NOW + MINUTE, now=NOW)
    assert document is not None
    theirs = NOW + 10 * MINUTE
    await collection.update_one({"_id": "a"}, {"$set": {"sleepUntil": theirs}})
    assert not await documents.update("a", sleep_until=None, locked_until=document.locked_until)
    assert not await documents.remove("a", locked_until=document.locked_until)
    assert await collection.find_one({}) == {"_id": "a", "sleepUntil": theirs}


async def test_an_id_elsewhere_is_refused(collection: Collection) -> None:
    with pytest.raises(InvalidJob, match="_id"):
        MongoDocuments(collection, paths=FieldPaths(id="number"))
