"""A program that takes calls and never answers, with much to be told, keeps nobody else waiting."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

import pytest

from cadenza.notices import call_webhook
from cadenza.notices.claim import AGAIN, EACH
from cadenza.notices.dispatch import BESIDE
from cadenza.providers.http.policy import HostRule
from cadenza.providers.http.request import Timeouts
from cadenza.sql.tx import Tx
from tests.notices.conftest import HOME, Installation
from tests.providers.http.rude import Rude, Visit, polite

MUCH = 120  # more than a pass takes


async def silent(visit: Visit) -> None:
    await visit.request()
    await visit.hang()


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_webhook, "TIMES", Timeouts(connect=1, read=1, total=1))


async def happen(runtime: Installation, kind: str, times: int) -> None:
    def write(tx: Tx, now: datetime) -> None:
        tx.run_each(
            """
            INSERT INTO outbox (workspace_id, id, kind, subject_id, body, created_at)
            VALUES (:home, :id, :kind, :id, :body, :now)
            """,
            [
                {"home": HOME, "id": f"{kind}:{n:04}", "kind": kind, "body": "{}", "now": now}
                for n in range(times)
            ],
        )

    await runtime.operations.run(write)


async def listen(runtime: Installation, server: Rude, id_: str, kind: str) -> None:
    rule = HostRule("127.0.0.1", server.port)
    await runtime.listen(f"{server.url}/hook", rule, id_=id_, kinds=kind)


async def notices(runtime: Installation, target: str) -> list[dict[str, Any]]:
    return [row for row in await runtime.rows("notice") if row["target_id"] == target]


async def test_others_are_told_in_the_same_pass_though_much_older_waits_for_the_silent(
    runtime: Installation,
) -> None:
    async with Rude(silent) as hung, Rude(polite) as well:
        await listen(runtime, hung, "hung", "campaign.progress")
        await listen(runtime, well, "well", "campaign.done")
        await happen(runtime, "campaign.progress", MUCH)
        await happen(runtime, "campaign.done", 5)
        began = asyncio.get_running_loop().time()
        await runtime.dispatch(passes=2)  # the first takes what it spread first
        took = asyncio.get_running_loop().time() - began
        assert len(hung.heads) <= 2 * BESIDE["webhook"]
        assert len(well.heads) == 5
    assert {row["state"] for row in await notices(runtime, "well")} == {"told"}
    assert len(await notices(runtime, "hung")) == MUCH
    assert took < 10, "two time-outs of a second, and what a busy machine adds"


async def test_what_was_not_tried_counts_no_attempt_and_comes_back_soon(
    runtime: Installation,
) -> None:
    async with Rude(silent) as hung:
        await listen(runtime, hung, "hung", "campaign.progress")
        await happen(runtime, "campaign.progress", EACH)
        await runtime.dispatch(passes=2)
        now = await runtime.now()
        rows = await notices(runtime, "hung")
        called = len(hung.heads)
    assert len(rows) == EACH
    assert called == BESIDE["webhook"]
    assert sum(row["attempts"] for row in rows) == called
    untried = [row for row in rows if not row["attempts"]]
    assert {row["state"] for row in untried} == {"waiting"}
    assert all(row["leased_until"] is None for row in untried)
    assert all(now < row["due_at"] <= now + AGAIN for row in untried)
