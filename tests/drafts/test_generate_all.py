"""All workspaces, each once a local date, whoever calls, however often, however short the time."""

import asyncio
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from cadenza.core.clock import SystemClock
from cadenza.core.timebox import TimeBox
from cadenza.core.zones import get_zone, local
from cadenza.drafts.claim_nightly_runs import (
    claim_nightly_runs,
    finish_nightly_run,
    nightly_run_of,
    release,
    save_progress,
)
from cadenza.drafts.generate_all import AllReport, generate_all, generate_workspace
from tests.drafts.conftest import HOME, MONDAY, Studio

DAILY = {"kind": "daily", "times": ["12:00"], "step": 10}
LEASE = timedelta(minutes=5)


class Rushing(SystemClock):
    """Ten seconds pass between two looks at it."""

    def __init__(self) -> None:
        self.looks = 0

    def monotonic(self) -> float:
        self.looks += 1
        return self.looks * 10.0


async def every_ten_days(studio: Studio) -> str:
    return (await studio.rule(pattern=DAILY, starts="2020-01-01", needs_media=False)).id


async def open_workspaces(studio: Studio, count: int) -> None:
    """Copy Ada's workspace with its accounts, category and rules."""
    ids = [(f"copy-{n:03}",) for n in range(count)]
    tables = {
        "workspace (id, name, zone, created_at)": "new.id, name, zone, created_at FROM workspace",
        "account (workspace_id, id, provider, remote_id, zone, created_at)": (
            "new.id, account.id, provider, remote_id, zone, created_at FROM account"
        ),
        "lane (workspace_id, id, account_id)": "new.id, lane.id, account_id FROM lane",
        "category (workspace_id, id, name, copy, created_at)": (
            "new.id, category.id, name, 'Hello', created_at FROM category"
        ),
        "rule (workspace_id, id, name, category_id, pattern, zone, starts, created_by, created_at)": (
            "new.id, rule.id, name, category_id, pattern, zone, starts, created_by, created_at FROM rule"
        ),
        "rule_target (workspace_id, rule_id, account_id, channel)": (
            "new.id, rule_id, account_id, channel FROM rule_target"
        ),
    }
    for columns, rows in tables.items():
        key = "id" if columns.startswith("workspace") else "workspace_id"
        table = columns.split(" ", 1)[0]
        await studio.change(
            f"""
            INSERT INTO {columns} SELECT {rows}
            CROSS JOIN TABLE(:ids) AS new (id text) WHERE {table}.{key} = :home
            """,
            ids=ids,
            home=HOME,
        )


async def everything(studio: Studio) -> tuple[int, int, int]:
    posts = await studio.rows("SELECT id FROM post")
    laid = await studio.rows("SELECT DISTINCT post_id FROM rule_occurrence")
    return len(posts), len(laid), len(await studio.deliveries())


async def test_every_workspace_is_filled_once(studio: Studio) -> None:
    await every_ten_days(studio)
    await open_workspaces(studio, 12)
    report = await generate_all(studio.operations, clock=SystemClock())
    assert report == AllReport(workspaces=13, posts=39)
    assert await generate_all(studio.operations, clock=SystemClock()) == AllReport()
    assert await everything(studio) == (39, 39, 78)


async def test_eight_callers_at_once_share_the_work(studio: Studio) -> None:
    await every_ten_days(studio)
    await open_workspaces(studio, 15)
    reports = await asyncio.gather(
        *(generate_all(studio.operations, clock=SystemClock()) for _ in range(8))
    )
    assert sum(report.workspaces for report in reports) == 16
    assert sum(report.posts for report in reports) == 48
    assert await everything(studio) == (48, 48, 96)
    leases = await studio.rows("SELECT lease FROM generation")
    assert {row["lease"] for row in leases} == {1}, "nobody took over what another did"


async def test_inactive_workspaces_and_those_without_rules_are_left_out(studio: Studio) -> None:
    rule = await every_ten_days(studio)
    await open_workspaces(studio, 2)
    await studio.change("UPDATE workspace SET active = false WHERE id = 'copy-000'")
    await studio.change("UPDATE rule SET state = 'paused' WHERE workspace_id = 'copy-001'")
    assert await generate_all(studio.operations, clock=SystemClock()) == AllReport(1, 3)
    assert rule


async def test_a_short_call_ends_in_time_and_the_next_goes_on(studio: Studio) -> None:
    for _ in range(3):
        await every_ten_days(studio)
    await open_workspaces(studio, 3)
    calls, posts = 0, 0
    while True:
        report = await generate_all(studio.operations, clock=Rushing(), seconds=75.0)
        calls, posts = calls + 1, posts + report.posts
        if report.complete:
            break
        assert calls < 40
    assert calls > 2
    assert posts == 36
    assert await everything(studio) == (36, 36, 72)


async def test_a_workspace_in_trouble_keeps_nobody_waiting(studio: Studio) -> None:
    await every_ten_days(studio)
    await open_workspaces(studio, 2)
    await studio.change("UPDATE rule SET pattern = '{}' WHERE workspace_id = 'copy-000'")
    report = await generate_all(studio.operations, clock=SystemClock())
    assert (report.workspaces, report.posts, report.failed) == (2, 6, 1)
    await studio.change("UPDATE rule SET pattern = (SELECT min(pattern) FROM rule)")
    assert (await generate_all(studio.operations, clock=SystemClock())).workspaces == 0
    await studio.change("UPDATE generation SET leased_until = NULL")
    assert (await generate_all(studio.operations, clock=SystemClock())).workspaces == 1


async def test_one_workspace_can_be_generated_on_demand_at_any_time(studio: Studio) -> None:
    await every_ten_days(studio)
    await generate_all(studio.operations, clock=SystemClock())
    second = await every_ten_days(studio)
    report = await generate_workspace(
        studio.operations, workspace_id=HOME, box=TimeBox(SystemClock(), 10)
    )
    assert (report.posts, report.complete) == (3, True)
    assert report.copy.same == 6
    assert second


async def test_a_run_cut_short_is_taken_over_where_it_stopped(studio: Studio) -> None:
    await every_ten_days(studio)
    (night,) = await studio.do(lambda tx, now: claim_nightly_runs(tx, now, limit=10))
    assert await studio.do(
        lambda tx, now: save_progress(tx, now, night, after_rule="r1", made=2, lease=LEASE)
    )
    assert await studio.do(lambda tx, now: claim_nightly_runs(tx, now, limit=10)) == []
    studio.now += LEASE
    (heir,) = await studio.do(lambda tx, now: claim_nightly_runs(tx, now, limit=10))
    assert (heir.after_rule, heir.made, heir.lease) == ("r1", 2, night.lease + 1)
    assert not await studio.do(
        lambda tx, now: save_progress(tx, now, night, after_rule="r2", made=3)
    ), "who was taken over writes nothing more"
    assert not await studio.do(lambda tx, now: finish_nightly_run(tx, now, night))
    await studio.do(lambda tx, now: release(tx, now, [night]))
    assert await studio.do(lambda tx, now: claim_nightly_runs(tx, now, limit=10)) == []
    await studio.do(lambda tx, now: release(tx, now, [heir]))
    (third,) = await studio.do(lambda tx, now: claim_nightly_runs(tx, now, limit=10))
    assert await studio.do(lambda tx, now: finish_nightly_run(tx, now, third))


async def test_the_next_local_date_starts_again(studio: Studio) -> None:
    await every_ten_days(studio)
    (night,) = await studio.do(lambda tx, now: claim_nightly_runs(tx, now, limit=10))
    assert (night.day, night.after_rule) == ("2026-11-16", "")
    await studio.do(lambda tx, now: save_progress(tx, now, night, after_rule="z", made=1))
    await studio.do(lambda tx, now: finish_nightly_run(tx, now, night))
    studio.now = datetime(2026, 11, 17, 0, 59, tzinfo=UTC)  # 01:59 in Berlin
    assert await studio.do(lambda tx, now: claim_nightly_runs(tx, now, limit=10)) == []
    studio.now += timedelta(minutes=1)
    (next_,) = await studio.do(lambda tx, now: claim_nightly_runs(tx, now, limit=10))
    assert (next_.day, next_.after_rule, next_.made) == ("2026-11-17", "", 0)


async def test_each_workspace_is_due_on_its_own_clock(studio: Studio) -> None:
    await every_ten_days(studio)
    await open_workspaces(studio, 1)
    await studio.change("UPDATE workspace SET zone = 'Pacific/Auckland' WHERE id = 'copy-000'")
    for night in await studio.do(lambda tx, now: claim_nightly_runs(tx, now, limit=10)):
        await studio.do(lambda tx, now, night=night: finish_nightly_run(tx, now, night))
    studio.now = datetime(2026, 11, 16, 13, 0, tzinfo=UTC)  # 02:00 of the 17th in Auckland
    found = await studio.do(lambda tx, now: claim_nightly_runs(tx, now, limit=10))
    assert [(night.workspace_id, night.day) for night in found] == [("copy-000", "2026-11-17")]


@pytest.mark.parametrize(
    "zone",
    ["Europe/Berlin", "America/New_York", "Pacific/Auckland", "Australia/Lord_Howe",
     "Asia/Kathmandu", "America/Sao_Paulo", "Africa/Cairo"],
)  # fmt: skip
def test_each_local_date_has_one_night_over_every_change_of_clocks(zone: str) -> None:
    there = get_zone(zone)
    now = datetime(2026, 1, 1, tzinfo=UTC)
    seen: list[str] = []
    while now < datetime(2027, 2, 1, tzinfo=UTC):
        night = nightly_run_of(now, there)
        if not seen or night != seen[-1]:
            if seen:
                wall = local(now, there)
                assert night == wall.date().isoformat()
                assert (wall.hour, wall.minute) in {(2, 0), (3, 0), (2, 30)}, (
                    "02:00, or just after a gap"
                )
            seen.append(night)
        now += timedelta(minutes=15)
    days = [datetime.fromisoformat(day) for day in seen]
    assert all(b - a == timedelta(days=1) for a, b in pairwise(days))


async def test_a_night_that_was_missed_is_made_up(studio: Studio) -> None:
    await every_ten_days(studio)
    (night,) = await studio.do(lambda tx, now: claim_nightly_runs(tx, now, limit=10))
    await studio.do(lambda tx, now: finish_nightly_run(tx, now, night))
    studio.now = MONDAY + timedelta(days=5, hours=9)
    found = await studio.do(lambda tx, now: claim_nightly_runs(tx, now, limit=10))
    assert [night.day for night in found] == ["2026-11-21"], "once, not five times"
