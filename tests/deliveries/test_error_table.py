"""What each class of a network's answer does: whom it holds, when it is tried again, what it costs.

The table is the one of our knowledge of networks: class, scope, retry, attempt, limit, error count.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest

from cadenza.core.budgets import Period, next_period
from cadenza.core.channels import Channel
from cadenza.core.zones import get_zone
from cadenza.deliveries.model import Action
from cadenza.deliveries.permit import Permitted
from cadenza.deliveries.settle import Result, settle
from cadenza.deliveries.settle import locks_of as settle_locks
from cadenza.providers.outcome import (
    Disconnected,
    Outcome,
    RecipientGone,
    Rejected,
    Sent,
    Transient,
    TryLater,
    Unconfirmed,
    WaitScope,
)
from tests.deliveries.conftest import Pipeline

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
FLOOD = timedelta(seconds=300)


@dataclass(frozen=True)
class Case:
    outcome: Outcome
    scope: str | None  # what waits, by the name of its wait
    after: timedelta | None  # until it is tried again; None: never by itself, or by a person
    attempt: bool  # one of the tries is used up
    counts: bool  # it is taken from the limit
    errors: int  # at the recipient
    state: str
    luck: timedelta = timedelta()  # that may be added to the wait
    more: dict[str, Any] = field(default_factory=dict[str, Any])


TABLE = {
    "flood_wait": Case(
        TryLater(FLOOD, WaitScope.ACCOUNT, "FLOOD_WAIT_300"),
        *("account:ada", FLOOD, False, False, 0, "scheduled", FLOOD / 10),
    ),
    "slow_mode": Case(
        TryLater(FLOOD, WaitScope.RECIPIENT, "SLOWMODE_WAIT_300"),
        *("recipient:ada:@cy", FLOOD, False, False, 0, "scheduled", FLOOD / 10),
    ),
    "provider_limit": Case(
        TryLater(MINUTE, WaitScope.ACCOUNT, "slow down", named=False),
        *("account:ada", MINUTE, False, False, 0, "scheduled"),
    ),
    "account_limited": Case(
        TryLater(DAY, WaitScope.ACCOUNT, "PEER_FLOOD", block=True),
        *("account:ada", DAY, False, False, 0, "scheduled", MINUTE),
        more={"event": "account.limited"},
    ),
    "account_auth": Case(
        Disconnected("SESSION_REVOKED"),
        *("account:ada", None, False, False, 0, "scheduled"),
        more={"event": "account.needs_reconnect", "account": "needs_reconnect"},
    ),
    "peer_blocked": Case(
        RecipientGone("bot was blocked", shut_out=True),
        *(None, None, True, False, 1, "failed"),
        more={"active": False},
    ),
    "recipient_permanent": Case(
        RecipientGone("PEER_ID_INVALID"),
        *(None, None, True, False, 1, "failed"),
        more={"active": True},
    ),
    "content": Case(Rejected("MESSAGE_TOO_LONG"), None, None, True, False, 0, "failed"),
    "transient": Case(
        Transient("RPC_CALL_FAIL"), None, timedelta(seconds=5), True, False, 0, "scheduled"
    ),
    "unknown": Case(Unconfirmed("no answer"), None, None, True, True, 0, "unconfirmed"),
}


async def send(
    pipeline: Pipeline, outcome: Outcome, *, luck: float = 0.0, **changes: Any
) -> datetime:
    """Send one message; let its call end so. Return when."""
    await pipeline.post(
        "ada",
        **{
            "action": Action.BROADCAST,
            "channel": Channel.TELEGRAM,
            "recipient": "@cy",
            "id": "it",
            **changes,
        },
    )
    return await end(pipeline, outcome, luck=luck)


async def end(pipeline: Pipeline, outcome: Outcome, *, luck: float = 0.0) -> datetime:
    (ticket,) = await pipeline.claim(1)
    (permit,) = await pipeline.permit(ticket)
    assert isinstance(permit, Permitted), permit
    result = Result(ticket, outcome, permit.attempt_id, fraction=luck)

    def write(tx: Any, now: datetime) -> datetime:
        settle(tx, now, [result])
        return now

    return await pipeline.operations.run(write, locks=settle_locks([result]))


@pytest.mark.parametrize("luck", [0.0, 0.99])
@pytest.mark.parametrize("name", TABLE)
async def test_a_class_has_its_effects(pipeline: Pipeline, name: str, luck: float) -> None:
    case = TABLE[name]
    ended = await send(pipeline, case.outcome, luck=luck)
    row = await pipeline.row("delivery", "it")
    assert row["state"] == case.state
    assert row["attempts"] == (1 if case.attempt else 0)
    assert [each["counts"] for each in await pipeline.rows("activity")] == [case.counts]
    assert [each["scope"] for each in await pipeline.rows("network_wait")] == (
        [case.scope] if case.scope else []
    )
    if case.state == "scheduled" and case.after is not None:
        jitter = luck * case.luck
        if name == "transient":
            jitter = -luck / 2 * case.after  # it only ever shortens
        assert abs(row["due_at"] - ended - case.after - jitter) < timedelta(milliseconds=1)
    channels = await pipeline.rows("recipient_channel")
    assert [each["error_count"] for each in channels] == ([case.errors] if case.errors else [])
    if "active" in case.more:
        assert bool(channels[0]["active"]) is case.more["active"]
    assert [each["kind"] for each in await pipeline.rows("outbox")] == [
        *([case.more["event"]] if "event" in case.more else []),
        *(["delivery.failed"] if case.state == "failed" else []),
        *(["delivery.unconfirmed"] if case.state == "unconfirmed" else []),
    ]
    account = await pipeline.row("account", "ada")
    assert account["state"] == case.more.get("account", "connected")


async def test_a_used_up_day_holds_the_action_until_the_accounts_next_day(
    pipeline: Pipeline,
) -> None:
    quota = TryLater(timedelta(), WaitScope.ACTION, "daily quota exceeded", period=Period.DAY)
    ended = await send(pipeline, quota)
    row = await pipeline.row("delivery", "it")
    assert row["due_at"] == next_period(Period.DAY, ended, get_zone("Europe/Berlin"))
    assert (row["attempts"], row["state"]) == (0, "scheduled")
    (wait,) = await pipeline.rows("network_wait")
    assert wait["scope"] == "action:ada:broadcast"
    await pipeline.post("ada", id="held", action=Action.BROADCAST, recipient="@ben")
    other = await pipeline.post("ada", id="goes", action=Action.POST)
    claimed = [each.id for _ in range(3) for each in await pipeline.claim()]
    assert claimed == [other]


async def test_waits_without_a_named_time_grow_to_ten_minutes_and_begin_again_after_a_success(
    pipeline: Pipeline,
) -> None:
    limit = TryLater(MINUTE, WaitScope.ACCOUNT, "slow down", named=False)
    ended = await send(pipeline, limit, action=Action.POST, recipient=None, retry_limit=0)
    minutes = []
    for _ in range(6):
        row = await pipeline.row("delivery", "it")
        minutes.append(round((row["due_at"] - ended) / MINUTE))
        await pipeline.wait_out()
        await pipeline.operations.run(
            lambda tx, now: tx.run("UPDATE account_pace SET until_at = :now", now=now)
        )
        ended = await end(pipeline, limit)
    assert minutes == [1, 2, 4, 8, 10, 10]
    await pipeline.wait_out()
    await pipeline.operations.run(
        lambda tx, now: tx.run("UPDATE account_pace SET until_at = :now", now=now)
    )
    await end(pipeline, Sent("r"))
    ended = await send(pipeline, limit, id="second", action=Action.POST, recipient=None)
    assert round(((await pipeline.row("delivery", "second"))["due_at"] - ended) / MINUTE) == 1


async def test_what_a_test_meets_holds_no_live_message(pipeline: Pipeline) -> None:
    await send(pipeline, TryLater(FLOOD, WaitScope.ACCOUNT, "FLOOD_WAIT_300"), mode="test")
    live = await pipeline.post("ada", id="live")
    assert [each.id for each in await pipeline.claim()] == [live]
    assert (await pipeline.row("account", "ada"))["state"] == "connected"


async def test_five_recipients_in_a_row_blame_the_account_and_not_them(pipeline: Pipeline) -> None:
    for n in range(5):
        await send(
            pipeline,
            RecipientGone("CHAT_WRITE_FORBIDDEN", shut_out=True),
            id=f"d{n}",
            recipient=f"@{n}",
        )
    assert (await pipeline.row("account", "ada"))["state"] == "suspended"
    channels = await pipeline.rows("recipient_channel")
    assert {(bool(each["active"]), each["error_count"]) for each in channels} == {(True, 0)}
