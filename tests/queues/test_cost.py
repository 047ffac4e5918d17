"""What an operation reads of deliveries is bounded by the post, the account or the day, never by the workspace."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from cadenza.deliveries.hold import hold_post
from cadenza.queues.move_to_slot import move_to_slot
from cadenza.sql.tx import Tx
from tests.queues.conftest import ADA, HOME, MONDAY, Desk

UNBOUNDED = re.compile(
    r"SCAN delivery\b|SEARCH delivery USING (COVERING )?INDEX \w+ \(workspace_id=\?\)$"
)


async def test_no_statement_about_one_post_walks_through_the_workspace(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    if await desk.operations.read(lambda tx, _: tx.dialect) != "sqlite":
        pytest.skip("PostgreSQL plans by what the tables hold")
    requested: list[tuple[str, dict[str, Any]]] = []

    def noting(read: Callable[..., Any]) -> Callable[..., Any]:
        def note(self: Tx, sql: str, **params: Any) -> Any:
            requested.append((sql, params))
            return read(self, sql, **params)

        return note

    await desk.week()
    for name in ("all", "one"):
        monkeypatch.setattr(Tx, name, noting(getattr(Tx, name)))
    await desk.add(post="one")
    await desk.run(move_to_slot, account_id="ada", post_id="one", at=MONDAY, by=ADA)
    await desk.operations.run(lambda tx, _: hold_post(tx, HOME, "one"))
    monkeypatch.undo()

    def explain(tx: Tx, _: datetime) -> dict[str, list[str]]:
        return {
            sql: [row["detail"] for row in tx.all(f"EXPLAIN QUERY PLAN {sql}", **params)]
            for sql, params in requested
            if "delivery" in sql and sql.split()[0] == "SELECT"
        }

    plans = await desk.operations.read(explain)
    walks = {sql: plan for sql, plan in plans.items() if any(map(UNBOUNDED.search, plan))}
    assert len(plans) >= 5
    assert not walks
