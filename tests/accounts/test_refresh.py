"""Tokens are renewed in time, once, and kept before they are used."""

import asyncio
import logging
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.accounts.model import Account
from cadenza.accounts.refresh import CUT_SHORT, Begun, Later, Lost, Ready, begin, is_due, keep
from cadenza.core.clock import SystemClock
from cadenza.db.open import open_product
from cadenza.demo.simulator.faults import Kind
from cadenza.demo.simulator.network import SimulatedNetwork
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import Tokens
from tests.accounts.conftest import HOME, Desk, ada
from tests.accounts.value import an_account
from tests.providers.contract import Scene
from tests.providers.x.fixtures import REFRESH, x

TOKENS = "POST /2/oauth2/token"
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def exchanges(simulated: SimulatedNetwork) -> int:
    return sum(each.path == "/2/oauth2/token" for each in simulated.received)


async def ready_to_renew(desk: Desk, scene: Scene) -> Account:
    await desk.connect(ada(scene.tokens, remote_id=scene.account.remote_id))
    await desk.run_out()
    return await desk.account()


@given(
    life=st.integers(60, 400 * 86400),
    gone=st.floats(0, 1.2),
    refreshed=st.none() | st.integers(0, 7200),
)
def test_a_refresh_is_due_by_the_rule_of_a_week_or_a_fifth(
    life: int, gone: float, refreshed: int | None
) -> None:
    issued = NOON - timedelta(seconds=life * gone)
    account = an_account(
        token_expires_at=issued + timedelta(seconds=life),
        token_issued_at=issued,
        created_at=issued,
        token_refreshed_at=None if refreshed is None else NOON - timedelta(seconds=refreshed),
    )
    left = (issued + timedelta(seconds=life) - NOON).total_seconds()
    expected = left < min(7 * 86400, life * 0.2) and not (refreshed is not None and refreshed < 600)
    if abs(left - min(7 * 86400, life * 0.2)) > 1e-3:
        assert is_due(account, NOON) == expected


async def test_a_token_that_is_good_for_long_costs_no_call(desk: Desk) -> None:
    async with x() as (scene, simulated):
        await desk.connect(ada(scene.tokens))
        await desk.set(token_expires_at=await desk.now() + timedelta(days=60))
        account = await desk.account()
        assert await desk.refresher(scene).ready(account) == Ready(account)
        assert exchanges(simulated) == 0


async def test_a_token_that_runs_out_is_renewed_and_the_pair_is_kept(desk: Desk) -> None:
    async with x() as (scene, simulated):
        account = await ready_to_renew(desk, scene)
        answer = await desk.refresher(scene).ready(account)
        assert isinstance(answer, Ready)
        assert answer.account.sealed == (await desk.account()).sealed != account.sealed
        tokens = await desk.tokens()
        assert tokens.access.reveal() in simulated.tokens
        assert tokens.refresh is not None
        assert tokens.refresh.reveal() in simulated.refreshes
        assert answer.account.refresh_until is None


async def test_the_duty_renews_before_anybody_asks(desk: Desk) -> None:
    async with x() as (scene, simulated):
        await ready_to_renew(desk, scene)
        assert await desk.refresher(scene).run_once() > 0
        assert exchanges(simulated) == 1
        await desk.refresher(scene).run_once()
        assert exchanges(simulated) == 1


async def test_eight_machines_that_are_refused_at_once_make_one_exchange(desk: Desk) -> None:
    async with x() as (scene, simulated), AsyncExitStack() as machines:
        account = await ready_to_renew(desk, scene)
        simulated.faults.plan(Kind.DRIP, TOKENS, seconds=0.2)
        refreshers = [
            desk.refresher(
                scene,
                await machines.enter_async_context(open_product(desk.address, clock=SystemClock()))
                if desk.address.startswith("postgres")
                else desk.operations,
            )
            for _ in range(8)
        ]
        answers = await asyncio.gather(*(each.force(account) for each in refreshers))
        assert exchanges(simulated) == 1
        assert {type(answer) for answer in answers} == {Ready}
        assert len({a.account.sealed for a in answers if isinstance(a, Ready)}) == 1
        assert (await desk.tokens()).access.reveal() in simulated.tokens


async def test_callers_of_one_machine_share_one_exchange(desk: Desk) -> None:
    async with x() as (scene, simulated):
        account = await ready_to_renew(desk, scene)
        refresher = desk.refresher(scene)
        await asyncio.gather(*(refresher.ready(account) for _ in range(8)))
        assert exchanges(simulated) == 1


async def test_a_caller_that_is_cancelled_does_not_cut_the_exchange(desk: Desk) -> None:
    async with x() as (scene, simulated):
        account = await ready_to_renew(desk, scene)
        simulated.faults.plan(Kind.DRIP, TOKENS, seconds=0.2)
        refresher = desk.refresher(scene)
        caller = asyncio.create_task(refresher.ready(account))
        async with asyncio.timeout(5):
            while not exchanges(simulated):
                await asyncio.sleep(0.01)
        caller.cancel()
        answer = await refresher.ready(account)
        assert isinstance(answer, Ready)
        assert exchanges(simulated) == 1
        assert (await desk.tokens()).access.reveal() in simulated.tokens


@pytest.mark.parametrize("status", [500, 502, 503])
async def test_trouble_at_the_network_disconnects_nobody(desk: Desk, status: int) -> None:
    async with x() as (scene, simulated):
        account = await ready_to_renew(desk, scene)
        simulated.faults.plan(Kind.ERROR_BEFORE, TOKENS, status=status)
        refresher = desk.refresher(scene)
        assert isinstance(await refresher.ready(account), Later)
        row = await desk.account()
        assert (row.state, row.refresh_until) == ("expiring", None)
        assert row.state_reason
        assert isinstance(await refresher.ready(row), Later), "it is left alone for a while"
        assert exchanges(simulated) == 1
        await desk.set(refresh_after_at=None)
        assert isinstance(await refresher.ready(row), Ready)
        assert (await desk.account()).state == "connected"


async def test_a_refused_refresh_asks_for_a_reconnect_once(desk: Desk) -> None:
    async with x() as (scene, simulated):
        account = await ready_to_renew(desk, scene)
        simulated.refreshes.clear()
        refresher = desk.refresher(scene)
        assert isinstance(await refresher.force(account), Lost)
        assert isinstance(await refresher.force(account), Lost)
        assert exchanges(simulated) == 1
        row = await desk.account()
        assert row.state == "needs_reconnect"
        assert row.lost_at is not None
        assert [r["kind"] for r in await desk.rows("outbox")] == ["account.needs_reconnect"]


async def test_a_process_that_died_after_the_exchange_leaves_a_visible_reconnect(
    desk: Desk,
) -> None:
    async with x() as (scene, simulated):
        account = await ready_to_renew(desk, scene)
        dead = await desk.operations.run(
            lambda tx, now: begin(tx, now, workspace_id=HOME, account_id="ada", ring=desk.ring)
        )
        assert isinstance(dead, Begun)
        waiting = asyncio.create_task(desk.refresher(scene).force(account))
        await asyncio.sleep(0.3)
        assert not waiting.done(), "while the lease runs, its holder may still bring the pair"
        await desk.set(refresh_until=await desk.now() - timedelta(seconds=1))
        assert await waiting == Lost(CUT_SHORT)
        assert exchanges(simulated) == 0, "a token that may be used up is not replayed"
        row = await desk.account()
        assert (row.state, row.state_reason) == ("needs_reconnect", CUT_SHORT)
        assert len(await desk.rows("outbox")) == 1
        late = await desk.operations.run(
            lambda tx, now: keep(
                tx, now, dead, Tokens(access=Secret("late-access")), ring=desk.ring
            )
        )
        assert isinstance(late, Lost)


async def test_the_duty_finds_what_was_cut_short(desk: Desk) -> None:
    async with x() as (scene, _):
        await desk.connect(ada(scene.tokens))
        await desk.set(refresh_until=await desk.now() - timedelta(seconds=1))
        await desk.refresher(scene).run_once()
        assert (await desk.account()).state == "needs_reconnect"


async def test_an_exchange_without_a_refresh_token_may_be_taken_over(desk: Desk) -> None:
    async with x() as (scene, _):
        await desk.connect(ada(replace(scene.tokens, refresh=None)))
        await desk.run_out()
        await desk.set(refresh_until=await desk.now() - timedelta(seconds=1))
        taken = await desk.operations.run(
            lambda tx, now: begin(tx, now, workspace_id=HOME, account_id="ada", ring=desk.ring)
        )
        assert isinstance(taken, Begun)


async def test_an_empty_refresh_token_never_replaces_a_kept_one(desk: Desk) -> None:
    async with x() as (scene, _):
        await ready_to_renew(desk, scene)
        for empty in (None, Secret("")):
            begun = await desk.operations.run(
                lambda tx, now: begin(tx, now, workspace_id=HOME, account_id="ada", ring=desk.ring)
            )
            assert isinstance(begun, Begun)
            fresh = Tokens(access=Secret("fresh"), refresh=empty)
            await desk.operations.run(
                lambda tx, now, b=begun, f=fresh: keep(tx, now, b, f, ring=desk.ring)
            )
            assert (await desk.tokens()).refresh == Secret(REFRESH)
            await desk.run_out()
            await desk.set(token_refreshed_at=None)


async def test_a_late_answer_never_overwrites_a_reconnect(desk: Desk) -> None:
    async with x() as (scene, _):
        await ready_to_renew(desk, scene)
        begun = await desk.operations.run(
            lambda tx, now: begin(tx, now, workspace_id=HOME, account_id="ada", ring=desk.ring)
        )
        assert isinstance(begun, Begun)
        new = Tokens(access=Secret("by-hand"), refresh=Secret("by-hand-too"))
        await desk.connect(ada(new, remote_id=scene.account.remote_id))
        late = Tokens(access=Secret("late"), refresh=Secret("late-too"))
        await desk.operations.run(lambda tx, now: keep(tx, now, begun, late, ring=desk.ring))
        assert (await desk.tokens()).access.reveal() == "by-hand"


async def test_tokens_that_were_just_renewed_are_not_renewed_again(desk: Desk) -> None:
    async with x() as (scene, simulated):
        account = await ready_to_renew(desk, scene)
        refresher = desk.refresher(scene)
        first = await refresher.force(account)
        assert isinstance(first, Ready)
        assert isinstance(await refresher.force(first.account), Lost)
        assert exchanges(simulated) == 1


async def test_a_token_that_nothing_renews_is_used_until_it_ends(desk: Desk) -> None:
    """LinkedIn gives most apps no refresh token: its sixty days are sixty, not fifty-three."""
    async with x() as (scene, _):
        await desk.connect(ada(replace(scene.tokens, refresh=None)))
        await desk.run_out()
        refresher = desk.refresher(scene)
        await refresher.run_once()
        row = await desk.account()
        assert row.state == "expiring"
        assert "connect the account again" in (row.state_reason or "")
        assert isinstance(await refresher.ready(row), Later), "it is not asked for at each post"
        await desk.set(refresh_after_at=None)
        await refresher.run_once()
        assert [r["kind"] for r in await desk.rows("outbox")] == ["account.expiring"], "told once"

        now = await desk.now()
        await desk.set(token_expires_at=now, refresh_after_at=now)
        await refresher.run_once()
        assert (await desk.account()).state == "needs_reconnect"
        told = sorted(r["kind"] for r in await desk.rows("outbox"))
        assert told == ["account.expiring", "account.needs_reconnect"]


async def test_a_token_that_nothing_renews_and_that_is_refused_is_lost_at_once(desk: Desk) -> None:
    async with x() as (scene, _):
        await desk.connect(ada(replace(scene.tokens, refresh=None)))
        await desk.run_out()
        refresher = desk.refresher(scene)
        await refresher.run_once()
        assert isinstance(await refresher.force(await desk.account()), Lost)
        assert (await desk.account()).state == "needs_reconnect"


async def test_an_account_that_cannot_be_opened_keeps_no_other_from_its_tokens(desk: Desk) -> None:
    async with x() as (scene, simulated):
        await ready_to_renew(desk, scene)
        await desk.connect(ada(remote_id="43"), id_="broken")
        await desk.operations.run(
            lambda tx, now: tx.run(
                """
                UPDATE account SET sealed = 'k9.AAAA', token_issued_at = :issued, token_expires_at = :soon
                WHERE id = 'broken'
                """,
                issued=now - timedelta(hours=2),
                soon=now + timedelta(minutes=1),  # looked at before Ada's
            )
        )
        await desk.refresher(scene).run_once()
        assert exchanges(simulated) == 1
        assert (await desk.account()).token_refreshed_at is not None


async def test_no_token_shows_in_a_log_or_an_answer(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with x() as (scene, simulated):
        account = await ready_to_renew(desk, scene)
        simulated.faults.plan(Kind.ERROR_BEFORE, TOKENS, status=503)
        answers = [await desk.refresher(scene).force(account)]
        await desk.set(refresh_after_at=None)
        answers.append(await desk.refresher(scene).force(account))
        secrets = [*simulated.tokens, *simulated.refreshes, REFRESH]
        shown = caplog.text + repr([record.__dict__ for record in caplog.records]) + repr(answers)
        assert not [secret for secret in secrets if secret in shown]
