"""Recipients: how often one is written to, who cannot be reached any more, and whose fault that is."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from cadenza.core.channels import Channel
from cadenza.deliveries.explain import Explanation, explain
from cadenza.deliveries.gates import GATES, RECIPIENT_CAP
from cadenza.deliveries.lift_suspension import Lifted, NotSuspended, lift_suspension
from cadenza.deliveries.model import Action
from cadenza.deliveries.permit import Answer, Permitted, Refusal
from cadenza.deliveries.recipient_health import BLAME, BLAMED, LIMIT, SKIPPED
from cadenza.providers.outcome import Outcome, RecipientGone, Sent
from cadenza.sql.tx import Row
from tests.deliveries.conftest import HOME, Pipeline

GONE = RecipientGone("there is no such address", "5.1.1")
OPEN = '{"hours": {"message": null, "email": null}}'
BEN = "Ben@Example.org"


@pytest.fixture
async def post_office(pipeline: Pipeline) -> Pipeline:
    """Let Cy's account write at any hour, one after the other."""
    await pipeline.connect("cy", settings=OPEN)
    await pipeline.operations.run(lambda tx, _: tx.run("DELETE FROM budget"))
    return pipeline


async def limit(pipeline: Pipeline, amount: int, days: int) -> None:
    await pipeline.operations.run(
        lambda tx, _: tx.run(
            "UPDATE workspace SET recipient_cap = :n, recipient_cap_days = :days",
            n=amount,
            days=days,
        )
    )


async def write(pipeline: Pipeline, recipient: str, account: str = "cy", **words: Any) -> str:
    words = {"channel": Channel.EMAIL, "action": Action.MESSAGE, **words}
    return await pipeline.post(account, recipient=recipient, **words)


async def send_next(pipeline: Pipeline, outcome: Outcome) -> Answer:
    (ticket,) = await pipeline.claim(limit=1)
    (answer,) = await pipeline.permit(ticket)
    if isinstance(answer, Permitted):
        await pipeline.settle(ticket, outcome, answer.attempt_id)
    return answer


async def channel(pipeline: Pipeline, recipient: str) -> Row | None:
    return await pipeline.operations.read(
        lambda tx, _: tx.one(
            "SELECT * FROM recipient_channel WHERE id = :id", id=recipient.casefold()
        )
    )


async def age_ledger(pipeline: Pipeline, days: float) -> None:
    def age(tx: Any, now: datetime) -> None:
        tx.run("UPDATE activity SET reserved_at = :at", at=now - timedelta(days=days))

    await pipeline.operations.run(age)


async def test_a_recipient_is_not_written_to_too_often_and_the_others_go_on(
    post_office: Pipeline,
) -> None:
    await limit(post_office, 1, 7)
    await write(post_office, BEN)
    assert isinstance(await send_next(post_office, Sent("r")), Permitted)
    again = await write(post_office, "ben@example.ORG ")
    other = await write(post_office, "ada@example.org")
    answer = await send_next(post_office, Sent("r"))
    assert isinstance(answer, Refusal)
    assert answer.gate == RECIPIENT_CAP
    assert answer.message == "the recipient had 1 of 1 contacts in 7 days"
    row = await post_office.row("delivery", again)
    (first,) = [a for a in await post_office.rows("activity") if a["recipient"]]
    assert row["due_at"] == answer.until == first["reserved_at"] + timedelta(days=7)
    assert row["attempts"] == 0
    assert (await post_office.row("lane", "account:cy"))["parked_until"] is None
    assert isinstance(await send_next(post_office, Sent("r")), Permitted)
    assert (await post_office.row("delivery", other))["state"] == "sent"


async def test_after_the_days_the_recipient_may_be_written_to_again(post_office: Pipeline) -> None:
    await limit(post_office, 1, 7)
    await write(post_office, BEN)
    await send_next(post_office, Sent("r"))
    await age_ledger(post_office, 7.01)
    await write(post_office, BEN)
    assert isinstance(await send_next(post_office, Sent("r")), Permitted)


async def test_an_accounts_own_limit_wins_and_posts_have_none(post_office: Pipeline) -> None:
    await limit(post_office, 1, 7)
    own = '{"hours": {"message": null}, "recipient_cap": {"amount": 2, "days": 1}}'
    await post_office.operations.run(
        lambda tx, _: tx.run("UPDATE account SET settings = :own WHERE id = 'cy'", own=own)
    )
    for _ in range(2):
        await write(post_office, BEN)
        assert isinstance(await send_next(post_office, Sent("r")), Permitted)
    await write(post_office, BEN)
    assert isinstance(await send_next(post_office, Sent("r")), Refusal)
    await write(post_office, BEN, "ada", action=Action.POST)
    assert isinstance(await send_next(post_office, Sent("r")), Permitted)


async def test_without_a_limit_nothing_is_counted(post_office: Pipeline) -> None:
    for _ in range(3):
        await write(post_office, BEN)
        assert isinstance(await send_next(post_office, Sent("r")), Permitted)


async def test_five_failures_in_a_row_end_a_channel_and_skip_what_waits(
    post_office: Pipeline,
) -> None:
    waiting = await write(post_office, BEN, due=timedelta(days=1))
    for n in range(LIMIT):
        await write(post_office, BEN)
        await send_next(post_office, GONE)
        row = await channel(post_office, BEN)
        assert row is not None
        assert row["error_count"] == n + 1
        assert bool(row["active"]) == (n + 1 < LIMIT)
    skipped = await post_office.row("delivery", waiting)
    assert (skipped["state"], skipped["reason"]) == ("skipped", SKIPPED.text)
    late = await write(post_office, BEN.upper())
    assert isinstance(await send_next(post_office, GONE), Refusal)
    row = await post_office.row("delivery", late)
    assert row["state"] == "skipped"
    assert row["reason"] == "the recipient cannot be reached: there is no such address"


async def test_a_success_begins_again(post_office: Pipeline) -> None:
    for outcome in (GONE, GONE, Sent("r")):
        await write(post_office, BEN)
        await send_next(post_office, outcome)
    row = await channel(post_office, BEN)
    assert row is not None
    assert (row["error_count"], bool(row["active"])) == (0, True)


async def test_who_blocked_us_is_left_alone_at_once_in_this_network_only(
    post_office: Pipeline,
) -> None:
    await write(post_office, BEN)
    await send_next(post_office, RecipientGone("blocked the bot", "blocked", shut_out=True))
    row = await channel(post_office, BEN)
    assert row is not None
    assert not row["active"]
    await post_office.operations.run(
        lambda tx, _: tx.run("UPDATE recipient_channel SET provider = 'elsewhere'")
    )
    await write(post_office, BEN)
    assert isinstance(await send_next(post_office, Sent("r")), Permitted)


async def test_a_code_that_only_sounds_like_a_block_counts_once(post_office: Pipeline) -> None:
    """We blocked the person, not the other way round: that is for a person of ours to undo."""
    await write(post_office, BEN)
    await send_next(post_office, RecipientGone("cannot be reached", "YOU_BLOCKED_USER"))
    row = await channel(post_office, BEN)
    assert row is not None
    assert (row["error_count"], bool(row["active"])) == (1, True)


async def test_five_different_recipients_in_a_row_are_the_accounts_fault(
    post_office: Pipeline,
) -> None:
    waiting = await write(post_office, "r0@example.org", due=timedelta(days=1))
    blocked = RecipientGone("blocked", "blocked", shut_out=True)
    for n in range(BLAME):
        await write(post_office, f"r{n}@example.org")
        await send_next(post_office, blocked if n == 0 else GONE)
        state = (await post_office.row("account", "cy"))["state"]
        assert state == ("suspended" if n + 1 == BLAME else "connected")
    rows = await post_office.rows("recipient_channel")
    assert {(row["error_count"], bool(row["active"])) for row in rows} == {(0, True)}
    assert (await post_office.row("delivery", waiting))["state"] == "scheduled"
    assert (await post_office.row("account", "cy"))["state_reason"] == BLAMED
    told = [row for row in await post_office.rows("outbox") if row["kind"] == "account.suspended"]
    assert len(told) == 1
    await write(post_office, "new@example.org")
    refusal = await send_next(post_office, Sent("r"))
    assert isinstance(refusal, Refusal)
    assert refusal.gate == "account"


async def test_a_success_in_between_clears_the_account_of_blame(post_office: Pipeline) -> None:
    for n in range(2 * BLAME):
        await write(post_office, f"r{n}@example.org")
        await send_next(post_office, Sent("r") if n == BLAME - 1 else GONE)
    assert (await post_office.row("account", "cy"))["state"] == "suspended"  # the second five
    for row in await post_office.rows("recipient_channel"):
        assert row["error_count"] == (1 if row["id"] < f"r{BLAME}" else 0)


async def test_a_person_lifts_the_suspension(post_office: Pipeline) -> None:
    for n in range(BLAME):
        await write(post_office, f"r{n}@example.org")
        await send_next(post_office, GONE)
    await write(post_office, "new@example.org")
    assert isinstance(await send_next(post_office, Sent("r")), Refusal)

    async def lift() -> object:
        return await post_office.operations.run(
            lambda tx, now: lift_suspension(
                tx, now, workspace_id=HOME, account_id="cy", by="member:ada"
            )
        )

    assert await lift() == Lifted()
    assert isinstance(await lift(), NotSuspended)
    assert isinstance(await send_next(post_office, Sent("r")), Permitted)


async def test_explain_shows_both_gates_in_their_places(post_office: Pipeline) -> None:
    names = list(GATES)
    assert names.index("suppression") < names.index("recipient") < names.index("content")
    assert names.index("account") < names.index(RECIPIENT_CAP) < names.index("hours")
    await limit(post_office, 2, 3)
    await write(post_office, BEN)
    await send_next(post_office, Sent("r"))
    id_ = await write(post_office, BEN)
    said = await post_office.operations.read(
        lambda tx, now: explain(tx, now, workspace_id=HOME, delivery_id=id_)
    )
    assert isinstance(said, Explanation)
    gates = said.as_data()["gates"]
    assert gates["recipient"] == {"passed": True, "message": "the recipient is active"}
    assert gates[RECIPIENT_CAP] == {"passed": True, "message": "1 of 2 contacts in 3 days"}
