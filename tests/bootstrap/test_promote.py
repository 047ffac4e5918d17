"""From SQLite to PostgreSQL: everything arrives, is compared, and goes on being sent once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import asyncpg
import pytest

from cadenza.bootstrap import Runtime, open_runtime
from cadenza.bootstrap.promote import NotPromoted, promote
from cadenza.bootstrap.publish_pass import publish_pass
from cadenza.config.load import load
from cadenza.config.model import Settings
from cadenza.core.clock import SystemClock
from cadenza.demo.cast import Cast, assemble
from cadenza.demo.fill import DemoState, fill
from cadenza.demo.step_clock import StepClock
from cadenza.posts.create import Created, create
from cadenza.posts.model import NewPost
from cadenza.posts.publish_now import publish_now
from cadenza.queues.model import locks
from cadenza.sql.tx import Tx

WORDS = "Queued on SQLite, sent from PostgreSQL"


@pytest.fixture
async def cast() -> AsyncIterator[Cast]:
    cast = await assemble()
    yield cast
    await cast.simulator.close()


@pytest.fixture
def settings(cast: Cast, tmp_path: Path) -> Settings:
    return load(environ={**cast.environment(), "CADENZA_DATA": str(tmp_path / "data")})


async def live_through(settings: Settings, cast: Cast) -> DemoState:
    """Fill a SQLite house with a demo's life, and jobs of its engine."""
    clock = StepClock()
    async with open_runtime(settings, clock=clock) as runtime:
        played = await fill(runtime, cast, clock, lambda _: None)
        await runtime.schedule_jobs()
        await runtime.engine.enqueue("generate_workspace", {"workspace_id": played.home})
        await send_soon(runtime, played)
    return played


async def send_soon(runtime: Runtime, played: DemoState) -> None:
    place = played.at("mastodon")
    new = NewPost(workspace_id=played.home, text=WORDS)

    def operation(tx: Tx, now: datetime) -> None:
        made = create(tx, now, new, by=played.by(), approve=True)
        assert isinstance(made, Created)
        publish_now(
            tx,
            now,
            workspace_id=played.home,
            post_id=made.id,
            by=played.by(),
            targets=[place],
        )

    await runtime.operations.run(operation, locks=locks(played.home, place[0]))


def arrived(cast: Cast) -> int:
    return sum(entry.text == WORDS for entry in cast.desk.entries())


async def test_a_promoted_house_has_all_and_sends_what_was_queued_once(
    cast: Cast, settings: Settings, postgres_database: str
) -> None:
    played = await live_through(settings, cast)
    told: list[tuple[str, int, int]] = []
    checked = await promote(
        settings.data / "cadenza.sqlite3",
        postgres_database,
        clock=SystemClock(),
        tell=lambda *each: told.append(each),
    )
    rows = {each.table: each.rows for each in checked}
    assert rows["person"] == 3
    assert rows["delivery"] > 40
    assert rows["attempt"] > 10
    assert rows["job"] >= 1
    assert ("delivery", rows["delivery"], rows["delivery"]) in told
    assert arrived(cast) == 0
    async with open_runtime(replace(settings, database=postgres_database)) as runtime:
        assert (
            await runtime.operations.read(lambda tx, _: tx.value("SELECT count(*) FROM post")) > 25
        )
        jobs = await runtime.engine.find()
        tasks = {job.task for job in jobs}
        assert tasks == {"generate_workspace", "run_campaign", "plan_sequence"}
        assert {each.name for each in await runtime.engine.schedules()} >= {"watch_posts"}
        report = await publish_pass(runtime, 20.0)
        assert report.complete
    assert arrived(cast) == 1
    async with open_runtime(settings) as old:  # by mistake
        await publish_pass(old, 5.0)
        assert old.source.held
    assert arrived(cast) == 1
    assert played.home


async def test_a_file_that_somebody_has_open_is_not_promoted(
    cast: Cast, settings: Settings, postgres_database: str
) -> None:
    async with open_runtime(settings):
        with pytest.raises(NotPromoted, match="is in use"):
            await promote(
                settings.data / "cadenza.sqlite3",
                postgres_database,
                clock=SystemClock(),
                tell=lambda *_: None,
            )


async def test_a_target_with_rows_is_refused(
    cast: Cast, settings: Settings, postgres_database: str
) -> None:
    async with open_runtime(settings):
        pass
    async with open_runtime(replace(settings, database=postgres_database)) as runtime:
        await runtime.guard.run_once()
    with pytest.raises(NotPromoted, match="not empty: its table installation"):
        await promote(
            settings.data / "cadenza.sqlite3",
            postgres_database,
            clock=SystemClock(),
            tell=lambda *_: None,
        )


async def test_a_row_that_arrives_changed_undoes_everything(
    cast: Cast, settings: Settings, postgres_database: str
) -> None:
    async with open_runtime(settings) as runtime:
        await runtime.guard.run_once()
    async with open_runtime(replace(settings, database=postgres_database)):
        pass  # makes the tables
    server = await asyncpg.connect(postgres_database)
    try:
        await server.execute(
            """
            CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN NEW.epoch := NEW.epoch + 1; RETURN NEW; END';
            CREATE TRIGGER spoil BEFORE INSERT ON installation FOR EACH ROW EXECUTE FUNCTION spoil();
            """
        )
        with pytest.raises(NotPromoted, match="installation did not arrive as it left"):
            await promote(
                settings.data / "cadenza.sqlite3",
                postgres_database,
                clock=SystemClock(),
                tell=lambda *_: None,
            )
        assert await server.fetchval("SELECT count(*) FROM installation") == 0
    finally:
        await server.close()
    async with open_runtime(settings) as runtime:
        await runtime.guard.run_once()
        assert not runtime.source.held  # it goes on as before
