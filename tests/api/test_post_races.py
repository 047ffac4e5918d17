"""An act on a post against one on a queue, on PostgreSQL: they take their turns, neither waits in a ring."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
import httpx2
import pytest

from tests.api.conftest import Place, add_account, open_place
from tests.races.hold import Holder

HOME = "/api/v1/workspaces/home-of-ada"
FIRST, SECOND = "account-of-ada", "second-of-ada"
SLOTS = {str(day): ["09:00", "17:30"] for day in range(7)}
TURNS = """
SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
WHERE locktype = 'advisory' AND NOT granted AND datname = current_database()
"""
ACTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "publish now": ("POST", "/publish-now", {}),
    "schedule": ("POST", "/schedule", {"at": "2099-05-04T10:00:00Z"}),
    "cancel": ("POST", "/cancel", {}),
    "unapprove": ("POST", "/unapprove", {}),
    "edit": ("PATCH", "", {"text": "other words", "revision": 1}),
    "delete": ("DELETE", "", {}),
}


@pytest.fixture
async def crowd(postgres_database: str, tmp_path: Path) -> AsyncIterator[Place]:
    async with open_place(postgres_database, tmp_path) as place:
        await place.runtime.operations.run(
            lambda tx, now: add_account(tx, now, "home-of-ada", SECOND)
        )
        yield place


@pytest.fixture
async def holder(crowd: Place, postgres_database: str) -> AsyncIterator[Holder]:
    holding = await asyncpg.connect(postgres_database)
    watching = await asyncpg.connect(postgres_database)
    yield Holder(holding, watching)
    await holding.close()
    await watching.close()


async def queue_two(owner: httpx2.AsyncClient) -> str:
    """Two posts on both accounts; return the first."""
    for account in (FIRST, SECOND):
        answer = await owner.put(f"{HOME}/accounts/{account}/queue/schedule", json={"slots": SLOTS})
        assert answer.status_code == 200, answer.text
    ids: list[str] = []
    for text in ("one", "two"):
        made = await owner.post(f"{HOME}/posts", json={"text": text})
        ids.append(made.json()["id"])
        where = [{"account_id": FIRST}, {"account_id": SECOND}]
        added = await owner.post(f"{HOME}/queue", json={"post_id": ids[-1], "accounts": where})
        assert added.status_code == 200, added.text
    return ids[0]


@pytest.mark.parametrize("name", ACTS)
async def test_an_act_on_a_post_and_a_new_order_of_its_queue_take_turns(
    crowd: Place, holder: Holder, name: str
) -> None:
    owner = await crowd.client("owner")
    post = await queue_two(owner)
    method, path, body = ACTS[name]
    # The act has the first account's delivery by then and waits for the second one's.
    held = "SELECT id FROM delivery WHERE post_id = $1 AND account_id = $2"
    async with holder.hold(held, post, SECOND):
        acted = asyncio.create_task(
            owner.request(
                method, f"{HOME}/posts/{post}{path}", json=body if method != "DELETE" else None
            )
        )
        await holder.prove_waiting(1)
        turned = asyncio.create_task(
            owner.post(f"{HOME}/accounts/{FIRST}/queue/order", json={"verb": "reverse"})
        )
        await holder.prove_waiting(2)
        # The new order waits for its turn before it holds anything that the act may want.
        assert await holder.watching.fetchval(TURNS) == 1
    for answer in await asyncio.gather(acted, turned):
        assert answer.status_code == 200, answer.text
