"""The real mongodb-cron and we work on one collection at once: every document run, none twice."""

import asyncio
import json
import os
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pymongo import AsyncMongoClient

from cadenza.engine.classic.document import Document
from cadenza.engine.classic.mongo import MongoDocuments
from cadenza.engine.classic.scheduler import Scheduler
from tests.servers.node import find_node, node_folder
from tests.servers.place import ServerUnavailableError
from tests.servers.run import skip_or_fail

pytestmark = pytest.mark.slow

COUNT = 2000
LOCK = 600_000  # milliseconds; nothing may be run twice within it
PATIENCE = 240.0


def _documents(now: datetime) -> list[dict[str, Any]]:
    """Six kinds: due, deferred a little, removed after, ended series, long series, never."""
    kinds: list[dict[str, Any]] = [
        {"kind": "once", "sleepUntil": now - timedelta(minutes=1)},
        {"kind": "deferred", "sleepUntil": now + timedelta(seconds=2)},
        {"kind": "removed", "sleepUntil": now, "autoRemove": True},
        {
            "kind": "ended",
            "sleepUntil": now - timedelta(days=2),
            "interval": f"0 {(now.hour + 12) % 24} * * *",  # once a day, half a day from now
            "repeatUntil": now - timedelta(days=1, hours=23),
            "autoRemove": True,
        },
        {"kind": "yearly", "sleepUntil": now, "interval": "0 0 0 1 1 *"},
        {"kind": "text", "sleepUntil": "soon"},
        {"kind": "never", "sleepUntil": None},
        {"kind": "timeless"},
    ]
    return [{"_id": n, "note": f"n{n}", **kinds[n % len(kinds)]} for n in range(COUNT)]


async def test_both_work_on_one_collection(mongo_database: str) -> None:
    try:
        folder = node_folder()
    except ServerUnavailableError as reason:
        skip_or_fail("node", reason)
        raise
    async with AsyncMongoClient[dict[str, Any]](mongo_database, tz_aware=True) as client:
        collection = client.get_default_database()["jobs"]
        now = datetime.now(UTC).replace(microsecond=0)
        await collection.insert_many(_documents(now))
        ours: list[int] = []
        node = await asyncio.create_subprocess_exec(
            *(find_node(), "mongodb_cron.mjs", mongo_database, "jobs", "4", str(LOCK)),
            cwd=folder,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "TZ": "UTC"},
        )
        assert node.stdin is not None
        assert node.stdout is not None
        assert (await node.stdout.readline()).strip() == b'"ready"'

        def note(document: Document) -> None:
            ours.append(document.id)

        schedulers = [
            Scheduler(MongoDocuments(collection), on_document=note, idle_delay=0.05)
            for _ in range(4)
        ]
        for scheduler in schedulers:
            await scheduler.start()
        async with asyncio.timeout(PATIENCE):
            while await collection.count_documents(_unfinished(now)) > 0:
                await asyncio.sleep(0.2)
        for scheduler in schedulers:
            await scheduler.stop()
        node.stdin.close()
        theirs = [json.loads(line)["id"] async for line in node.stdout]
        await node.wait()
        left = {paper["_id"]: paper async for paper in collection.find({})}
    runs = Counter(ours + theirs)
    assert ours
    assert theirs, "the test says nothing if one side did it all"
    for paper in _documents(now):
        _check(paper, runs[paper["_id"]], left.get(paper["_id"]), now)


def _unfinished(now: datetime) -> dict[str, Any]:
    """Find what still has to run or is in hand: a time that is near, or that is a text."""
    soon = now + timedelta(hours=2)
    return {
        "$and": [
            {"sleepUntil": {"$exists": True, "$ne": None}},
            {"sleepUntil": {"$not": {"$gt": soon}}},
        ]
    }


def _check(before: dict[str, Any], runs: int, after: dict[str, Any] | None, now: datetime) -> None:
    match before["kind"]:
        case "removed":
            assert (runs, after) == (1, None)
        case "ended":  # its one missed run is past the end of the series
            assert (runs, after) == (1, None)
        case "never" | "timeless":
            assert (runs, after) == (0, before)
        case "yearly":
            new_year = datetime(now.year + 1, 1, 1, tzinfo=UTC)
            assert (runs, after) == (1, before | {"sleepUntil": new_year})
        case _:
            assert (runs, after) == (1, before | {"sleepUntil": None})
