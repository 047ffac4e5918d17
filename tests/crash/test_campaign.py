"""A whole campaign by Telegram with flood waits, blocked chats and lost answers, its workers killed again and again.

The truth is the network's own log. `CADENZA_TEST_CAMPAIGN=100000` takes so many recipients; the suite takes few.
"""

import asyncio
import os
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cadenza.accounts.seal import load_keyring
from cadenza.campaigns import control, plan_recipients, start
from cadenza.campaigns.count import CampaignPlanner
from cadenza.campaigns.model import Campaign, CampaignState, find_campaign, locks_of
from cadenza.campaigns.progress import read_progress
from cadenza.campaigns.save import CampaignForm, create_campaign
from cadenza.contacts.audiences import Audience, Member, add_members, create_audience
from cadenza.core.channels import Channel
from cadenza.deliveries import contents, planners
from cadenza.deliveries.recipient_channels import NewChannel, save_channels
from cadenza.demo.networks.telegram import SimulatedTelegram
from cadenza.demo.simulator.counters import Buckets
from cadenza.demo.simulator.faults import Kind
from cadenza.demo.simulator.serve import Simulator, simulate
from cadenza.demo.simulator.wire import say
from cadenza.engine.client import Engine
from cadenza.inbox.bulk_mail import BulkSender
from cadenza.sql.tx import Tx
from cadenza.templates.fill_in import fill_in
from cadenza.templates.model import Template, TemplateContent
from cadenza.templates.store import create_template
from tests.campaigns.conftest import BY, store_of
from tests.crash.campaign_program import WIDTH
from tests.crash.nursery import Nursery
from tests.crash.test_pipeline_limits import ForkedCrew
from tests.deliveries.conftest import HOME, Pipeline, open_pipeline

SIZE = int(os.environ.get("CADENZA_TEST_CAMPAIGN", "150"))
BOTS = 4
WORKERS = 3
BLOCKED = 33  # one of so many chats
TOKEN = "5550001111:AA-a-bot-of-a-test-and-nobody-elses"
EVERY = 1.0 if SIZE <= 1_000 else 5.0  # seconds between two kills
MOST_KILLS = 12 if SIZE <= 1_000 else 1_000_000  # so that a busy machine comes to an end

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    opened = Nursery.open("tests.crash.campaign_program:run")
    yield opened
    opened.close()


@pytest.fixture
async def pipeline(database: str) -> AsyncIterator[Pipeline]:
    before, filled = dict(planners._planners), list(contents._fill_in)
    planners.register("campaign", CampaignPlanner())
    contents.register(fill_in)
    async with open_pipeline(database) as opened, Engine(store_of(opened, database)):
        yield opened
    planners._planners.clear()
    planners._planners.update(before)
    contents._fill_in[:] = filled


async def prepare(pipeline: Pipeline, chats: list[str]) -> tuple[str, str]:
    """Add bots, an audience of chats and a template; return the ids of the last two."""
    for n in range(BOTS):
        await pipeline.connect(f"bot{n}")
    await pipeline.operations.run(
        lambda tx, _: tx.run("UPDATE account SET provider = 'telegram' WHERE id LIKE 'bot%'")
    )

    def first(tx: Tx, now: datetime) -> tuple[str, str]:
        audience = create_audience(tx, now, workspace_id=HOME, name="Chats", by=BY)
        assert isinstance(audience, Audience)
        words = TemplateContent(body="Bread is ready")
        template = create_template(tx, now, words, workspace_id=HOME, name="News", by=BY)
        assert isinstance(template, Template)
        return audience.id, template.id

    audience, template = await pipeline.operations.run(first)
    for at in range(0, len(chats), 2_000):
        some = chats[at : at + 2_000]

        def add(tx: Tx, now: datetime, some: list[str] = some) -> None:
            save_channels(
                tx,
                now,
                [NewChannel(provider="telegram", address=each) for each in some],
                workspace_id=HOME,
            )
            members = [Member("channel", each, "telegram") for each in some]
            add_members(tx, now, workspace_id=HOME, audience_id=audience, members=members)

        await pipeline.operations.run(add)
    return audience, template


def spoil(simulated: SimulatedTelegram) -> int:
    """Plan flood waits and answers that get lost; return how many of the latter."""
    flood = {
        "ok": False,
        "error_code": 429,
        "description": "Too Many Requests: retry after 1",
        "parameters": {"retry_after": 1},
    }
    for nth in (SIZE // 7, SIZE // 3, SIZE // 2):
        simulated.faults.plan(Kind.ERROR_BEFORE, nth=nth, times=2, answer=say(429, flood))
    lost = 0
    for nth in range(SIZE // 10, SIZE, max(50, SIZE // 20)):
        simulated.faults.plan(Kind.RESET_AFTER, nth=nth)
        lost += 1
    return lost


async def change(pipeline: Pipeline, id_: str, operation: Any) -> Any:
    return await pipeline.operations.run(operation, locks=locks_of(HOME, id_))


async def begin(pipeline: Pipeline, audience: str, template: str, keys: Path) -> str:
    form = CampaignForm(
        name="Bread",
        audience_id=audience,
        template_id=template,
        account_ids=[f"bot{n}" for n in range(BOTS)],
        channel=Channel.TELEGRAM,
    )
    made = await pipeline.operations.run(
        lambda tx, now: create_campaign(tx, now, form, workspace_id=HOME, by=BY)
    )
    assert isinstance(made, Campaign), made
    sender = BulkSender(
        workspace_id=HOME,
        keyring=load_keyring(keys),
        public_url="https://example.org",
        postal_address="",
    )
    started = await change(
        pipeline,
        made.id,
        lambda tx, now: start.start_campaign(
            tx, now, made.id, workspace_id=HOME, by=BY, sender=sender
        ),
    )
    assert isinstance(started, start.StartPlan), started
    while True:
        planned = await change(
            pipeline,
            made.id,
            lambda tx, now: plan_recipients.plan_chunk(
                tx, now, workspace_id=HOME, campaign_id=made.id, sender=sender
            ),
        )
        if planned is None or not planned.more:
            return made.id


async def states(pipeline: Pipeline) -> Counter[str]:
    rows = await pipeline.operations.read(
        lambda tx, _: tx.all("SELECT state, count(*) AS n FROM delivery GROUP BY state")
    )
    return Counter({row["state"]: row["n"] for row in rows})


async def pause_and_resume(pipeline: Pipeline, id_: str) -> None:
    """Pause it while calls are under way: no permit begins after the commit."""
    paused_at = await change(
        pipeline,
        id_,
        lambda tx, now: (control.pause_campaign(tx, now, id_, workspace_id=HOME, by=BY), now)[1],
    )
    await asyncio.sleep(2.0)
    late = await pipeline.operations.read(
        lambda tx, _: tx.value("SELECT count(*) FROM attempt WHERE began_at > :at", at=paused_at)
    )
    assert late == 0, "a permit was given after the pause"
    resumed = await change(
        pipeline,
        id_,
        lambda tx, now: control.resume_campaign(tx, now, id_, workspace_id=HOME, by=BY),
    )
    assert isinstance(resumed, Campaign), resumed


async def work(pipeline: Pipeline, crew: ForkedCrew, id_: str) -> None:
    """Kill workers every now and then until nobody waits; pause it once in the middle."""
    dice = random.Random(3)
    paused, next_kill = False, time.monotonic() + EVERY
    async with asyncio.timeout(240 + SIZE / 5):
        while True:
            seen = await states(pipeline)
            if not seen["scheduled"] + seen["sending"]:
                return
            if not paused and seen["sent"] > SIZE // 3:
                await pause_and_resume(pipeline, id_)
                paused = True
            if time.monotonic() >= next_kill and seen["scheduled"] and crew.kills < MOST_KILLS:
                crew.kill_one()
                next_kill = time.monotonic() + dice.uniform(0.5, 1.5) * EVERY
            await asyncio.sleep(0.3)


async def check(
    pipeline: Pipeline, simulator: Simulator, simulated: SimulatedTelegram, id_: str
) -> Counter[str]:
    await change(
        pipeline,
        id_,
        lambda tx, now: control.complete_campaign(tx, now, workspace_id=HOME, campaign_id=id_),
    )
    done = await pipeline.operations.read(lambda tx, _: find_campaign(tx, HOME, id_))
    assert isinstance(done, Campaign)
    assert (done.state, done.total) == (CampaignState.COMPLETED, SIZE)
    counted = await states(pipeline)
    progress = (await pipeline.operations.read(lambda tx, now: read_progress(tx, now, [done])))[
        done.key
    ]
    for state in ("sent", "failed", "skipped", "unconfirmed"):
        assert getattr(progress, state) == counted[state], state
    assert sum(counted.values()) == SIZE
    seen = Counter(each.to for each in simulator.visible(simulated))
    assert set(seen.values()) == {1}, "somebody got it twice"
    assert counted["sent"] <= len(seen) <= counted["sent"] + counted["unconfirmed"]
    return counted


async def test_nobody_gets_it_twice_and_everybody_has_an_end(
    pipeline: Pipeline, database: str, tmp_path: Path, nursery: Nursery
) -> None:
    simulated = SimulatedTelegram()
    async with simulate(simulated) as simulator:
        simulated.add_bot("bread_bot", token=TOKEN)
        simulated.overall = Buckets(10_000, timedelta(seconds=1) / 10_000)
        chats = [
            str(
                simulated.add_chat(
                    "private", f"Guest {n}", state="" if (n + 1) % BLOCKED else "blocked"
                ).id
            )
            for n in range(SIZE)
        ]
        audience, template = await prepare(pipeline, chats)
        lost = spoil(simulated)
        id_ = await begin(pipeline, audience, template, tmp_path / "keys")
        words = [database, simulated.url(), TOKEN]
        with ForkedCrew(nursery, words, size=WORKERS, seed=5) as crew:
            await work(pipeline, crew, id_)
        counted = await check(pipeline, simulator, simulated, id_)
        assert counted["failed"] <= SIZE // BLOCKED
        assert counted["unconfirmed"] <= crew.kills * WIDTH + lost
        print(f"{SIZE} recipients, {crew.kills} kills: {dict(counted)}")
