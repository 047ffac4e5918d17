"""A replica set that changes its primary: for CADENZA_TEST_MONGO_URL alone.

Majority and step-down are then proven, not read about. Restarts and crashes are in test_outage.py.
"""

import asyncio
import contextlib
import os

import pytest
from pymongo import AsyncMongoClient
from pymongo.errors import AutoReconnect

from cadenza.engine.errors import StoreUnavailable
from cadenza.engine.job import NewJob
from cadenza.engine.stores.mongo import MongoStore
from tests.servers.mongo import URL

PATIENCE = 60.0


async def test_a_step_down_loses_nothing_that_was_acknowledged(mongo_database: str) -> None:
    if "replicaSet=" not in os.environ.get(URL, ""):
        pytest.skip(f"{URL} names no replica set (replicaSet=…): step-down was not tried")
    store = MongoStore(mongo_database)
    await store.open()
    known = [(await store.insert([NewJob(task="greet")]))[0].id for _ in range(50)]
    async with AsyncMongoClient[dict[str, object]](mongo_database) as client:
        with contextlib.suppress(AutoReconnect):
            await client.admin.command("replSetStepDown", 5, force=True)
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                found = await store.get(known)
                break
            except StoreUnavailable:
                await asyncio.sleep(0.2)
    assert [job.id for job in found] == known
    await store.close()
