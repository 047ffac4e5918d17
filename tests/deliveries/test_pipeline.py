from datetime import timedelta

import pytest

from cadenza.core.clock import SystemClock
from cadenza.deliveries.model import Action
from cadenza.deliveries.permit import Permitted, Refusal, Stale
from cadenza.deliveries.reconcile import LookupSchedule, resolve, unconfirmed_attempts
from cadenza.providers.outcome import (
    Absent,
    Disconnected,
    NotReady,
    Outcome,
    Rejected,
    Sent,
    Transient,
    TryLater,
    Unconfirmed,
    WaitScope,
)
from tests.deliveries.conftest import HOME, Pipeline

MINUTE = timedelta(minutes=1)


async def sent(pipeline: Pipeline, id_: str) -> None:
    (ticket,) = await pipeline.claim(1)
    assert ticket.id == id_
    (permit,) = await pipeline.permit(ticket)
    assert isinstance(permit, Permitted)
    assert await pipeline.settle(
        ticket, Sent("remote-1", "https://example.org/1"), permit.attempt_id
    )


async def test_a_due_delivery_is_claimed_permitted_called_and_settled(pipeline: Pipeline) -> None:
    id_ = await pipeline.post()
    await sent(pipeline, id_)

    row = await pipeline.row("delivery", id_)
    assert (row["state"], row["remote_id"], row["attempts"]) == ("sent", "remote-1", 1)
    assert row["sent_at"] is not None
    (attempt,) = await pipeline.rows("attempt")
    assert (attempt["outcome"], attempt["number"]) == ("Sent", 1)
    (ledger,) = await pipeline.rows("activity")
    assert (ledger["state"], bool(ledger["counts"])) == ("success", True)
    (notice,) = await pipeline.rows("outbox")
    assert notice["kind"] == "delivery.sent"


async def test_what_is_not_due_not_approved_or_paused_is_not_claimed(pipeline: Pipeline) -> None:
    await pipeline.post(due=MINUTE)
    await pipeline.post("ben", approved=False)

    assert await pipeline.claim() == []


async def test_a_lane_hands_out_one_at_a_time(pipeline: Pipeline) -> None:
    first = await pipeline.post()
    second = await pipeline.post()
    (ticket,) = await pipeline.claim()
    assert await pipeline.claim() == []
    (permit,) = await pipeline.permit(ticket)
    assert isinstance(permit, Permitted)
    await pipeline.settle(ticket, Sent("r"), permit.attempt_id)

    assert ticket.id == first
    assert [t.id for t in await pipeline.claim()] == [second]


async def test_a_million_paused_rows_are_not_looked_at(pipeline: Pipeline) -> None:
    from cadenza.deliveries import lanes

    await pipeline.post()
    await pipeline.operations.run(
        lambda tx, _: lanes.pause(tx, workspace_id=HOME, scope="account:ada", reason="holiday")
    )
    other = await pipeline.post("ben")

    assert [t.id for t in await pipeline.claim()] == [other]
    await pipeline.operations.run(
        lambda tx, _: lanes.resume(tx, workspace_id=HOME, scope="account:ada")
    )
    assert len(await pipeline.claim()) == 1


async def test_a_pause_between_claim_and_permit_wins(pipeline: Pipeline) -> None:
    from cadenza.deliveries import lanes

    id_ = await pipeline.post()
    (ticket,) = await pipeline.claim()
    epoch = await pipeline.epoch(ticket)
    await pipeline.operations.run(
        lambda tx, _: lanes.pause(tx, workspace_id=HOME, scope="account:ada", reason="stop")
    )
    (answer,) = await pipeline.permit(ticket, epoch=epoch)

    assert isinstance(answer, Refusal)
    assert answer.gate == "lane"
    row = await pipeline.row("delivery", id_)
    assert (row["state"], row["attempts"], row["leased_until"]) == ("scheduled", 0, None)
    assert await pipeline.rows("attempt") == []


@pytest.mark.parametrize(
    ("outcome", "state", "attempts", "counts"),
    [
        (Sent("r"), "sent", 1, True),
        (NotReady(MINUTE), "scheduled", 0, False),
        (TryLater(MINUTE, WaitScope.ACCOUNT, "slow down"), "scheduled", 0, False),
        (Transient("no route"), "scheduled", 1, False),
        (Rejected("too long"), "failed", 1, False),
        (Disconnected("token revoked"), "scheduled", 0, False),
        (Unconfirmed("no answer"), "unconfirmed", 1, True),
    ],
)
async def test_each_outcome_has_its_effect(
    pipeline: Pipeline, outcome: Outcome, state: str, attempts: int, counts: bool
) -> None:
    await pipeline.limit("ada", "post", "day", 5)
    id_ = await pipeline.post()
    (ticket,) = await pipeline.claim()
    (permit,) = await pipeline.permit(ticket)
    assert isinstance(permit, Permitted)
    assert await pipeline.settle(ticket, outcome, permit.attempt_id)

    row = await pipeline.row("delivery", id_)
    assert (row["state"], row["attempts"]) == (state, attempts)
    (ledger,) = await pipeline.rows("activity")
    assert bool(ledger["counts"]) is counts
    (bucket,) = [b for b in await pipeline.rows("bucket") if b["kind"] == "day"]
    assert bucket["taken"] == (1 if counts else 0)


async def test_a_flood_wait_parks_the_lane_and_burns_nothing(pipeline: Pipeline) -> None:
    await pipeline.post()
    await pipeline.post()
    (ticket,) = await pipeline.claim()
    (permit,) = await pipeline.permit(ticket)
    assert isinstance(permit, Permitted)
    await pipeline.settle(ticket, TryLater(MINUTE, WaitScope.ACCOUNT, "flood"), permit.attempt_id)

    assert await pipeline.claim() == []
    lane = await pipeline.row("lane", "account:ada")
    assert lane["park_reason"] == "flood"


async def test_a_cap_refuses_without_an_attempt_and_names_the_next_time(pipeline: Pipeline) -> None:
    await pipeline.limit("ada", "post", "day", 1)
    await sent(pipeline, await pipeline.post())
    await pipeline.post()
    (ticket,) = await pipeline.claim()
    (answer,) = await pipeline.permit(ticket)

    assert isinstance(answer, Refusal)
    assert answer.gate == "budgets"
    assert "1 of 1 this day" in answer.message
    assert await pipeline.claim() == []


async def test_a_stale_worker_gets_no_permit_and_settles_nothing(pipeline: Pipeline) -> None:
    id_ = await pipeline.post()
    (old,) = await pipeline.claim()
    await pipeline.operations.run(
        lambda tx, _: tx.run("UPDATE delivery SET leased_until = NULL, worker = NULL")
    )
    await pipeline.operations.run(lambda tx, _: tx.run("UPDATE lane SET in_flight = 0, calls = 0"))
    await pipeline.operations.run(
        lambda tx, _: tx.run(
            "UPDATE lane SET runnable_at = (SELECT min(due_at) FROM delivery) WHERE id = 'account:ada'"
        )
    )
    (new,) = await pipeline.claim(worker="worker-2")

    assert [type(answer) for answer in await pipeline.permit(old)] == [Stale]
    assert not await pipeline.settle(old, Transient("late"), None)
    (permit,) = await pipeline.permit(new)
    assert isinstance(permit, Permitted)
    assert (await pipeline.row("delivery", id_))["lease"] == new.lease


async def test_evidence_of_a_stale_worker_clears_an_unconfirmed_send(pipeline: Pipeline) -> None:
    id_ = await pipeline.post()
    (ticket,) = await pipeline.claim()
    (permit,) = await pipeline.permit(ticket)
    assert isinstance(permit, Permitted)
    await pipeline.operations.run(
        lambda tx, _: tx.run(
            "UPDATE delivery SET state = 'unconfirmed', lease = lease + 1, leased_until = NULL"
        )
    )

    assert await pipeline.settle(ticket, Sent("r-9"), permit.attempt_id)
    row = await pipeline.row("delivery", id_)
    assert (row["state"], row["remote_id"]) == ("sent", "r-9")


async def test_a_revision_after_the_claim_makes_the_permit_stale(pipeline: Pipeline) -> None:
    await pipeline.post()
    (ticket,) = await pipeline.claim()
    await pipeline.operations.run(
        lambda tx, _: tx.run("UPDATE delivery SET revision = revision + 1")
    )

    assert [type(answer) for answer in await pipeline.permit(ticket)] == [Stale]


async def test_a_suppressed_recipient_is_skipped(pipeline: Pipeline) -> None:
    await pipeline.operations.run(
        lambda tx, now: tx.run(
            "INSERT INTO suppression (workspace_id, kind, value, reason, created_at)"
            " VALUES (:home, 'domain', 'example.org', 'unsubscribe', :now)",
            home=HOME,
            now=now,
        )
    )
    settings = '{"hours": {"email": null}}'
    await pipeline.connect("mailer", settings=settings)
    id_ = await pipeline.post("mailer", action=Action.EMAIL, recipient="Cy@Example.org")
    (ticket,) = await pipeline.claim()
    (answer,) = await pipeline.permit(ticket)

    assert isinstance(answer, Refusal)
    row = await pipeline.row("delivery", id_)
    assert row["state"] == "skipped"
    assert "unsubscribe" in row["reason"]


async def test_a_post_that_is_too_late_is_missed_and_says_so(pipeline: Pipeline) -> None:
    id_ = await pipeline.post(due=-2 * 60 * MINUTE)
    (ticket,) = await pipeline.claim()
    (answer,) = await pipeline.permit(ticket)

    assert isinstance(answer, Refusal)
    row = await pipeline.row("delivery", id_)
    assert row["state"] == "missed"
    assert "late" in row["reason"]


async def test_the_same_post_to_the_same_place_is_there_once(pipeline: Pipeline) -> None:
    await pipeline.post(post_id="p1")
    await pipeline.post(post_id="p1")

    assert len(await pipeline.rows("delivery")) == 1


async def test_a_wait_that_a_passing_failure_names_is_kept(pipeline: Pipeline) -> None:
    id_ = await pipeline.post()
    (ticket,) = await pipeline.claim()
    (permit,) = await pipeline.permit(ticket)
    assert isinstance(permit, Permitted)
    await pipeline.settle(ticket, Transient("greylisted", wait=30 * MINUTE), permit.attempt_id)

    row = await pipeline.row("delivery", id_)
    assert row["due_at"] - permit.began_at >= 30 * MINUTE


async def test_a_recipient_that_moved_is_written_down(pipeline: Pipeline) -> None:
    await pipeline.connect("bot", settings='{"hours": {"message": null}}')
    id_ = await pipeline.post("bot", action=Action.MESSAGE, recipient="-100")
    (ticket,) = await pipeline.claim()
    (permit,) = await pipeline.permit(ticket)
    assert isinstance(permit, Permitted)
    await pipeline.settle(ticket, Sent("7", moved_to="-200"), permit.attempt_id)

    assert (await pipeline.row("delivery", id_))["recipient"] == "-200"


async def test_what_is_never_there_is_given_up_after_its_attempts(pipeline: Pipeline) -> None:
    id_ = await pipeline.post(retry_limit=0)
    (ticket,) = await pipeline.claim()
    (permit,) = await pipeline.permit(ticket)
    assert isinstance(permit, Permitted)
    await pipeline.settle(ticket, Unconfirmed("no answer"), permit.attempt_id)
    await pipeline.operations.run(
        lambda tx, now: tx.run("UPDATE attempt SET deadline_at = :t", t=now - 10 * MINUTE)
    )
    (unconfirmed,) = await pipeline.operations.read(unconfirmed_attempts)
    assert (
        await pipeline.operations.run(lambda tx, now: resolve(tx, now, unconfirmed, Absent()))
        == "failed"
    )
    row = await pipeline.row("delivery", id_)
    assert (row["state"], row["reason"]) == ("failed", "it was not there after 1 attempts")
    told = [row["kind"] for row in await pipeline.rows("outbox")]
    assert told == ["delivery.unconfirmed", "delivery.failed"]


class Stopwatch(SystemClock):
    """Shows what the test says."""

    seconds = 0.0

    def monotonic(self) -> float:
        return self.seconds


async def test_an_unconfirmed_send_is_watched_for_as_long_as_its_call_may_last(
    pipeline: Pipeline,
) -> None:
    """The database's clock may have run ahead, and the call still runs: "absent" would send it twice."""
    id_ = await pipeline.post()
    (ticket,) = await pipeline.claim()
    (permit,) = await pipeline.permit(ticket)
    assert isinstance(permit, Permitted)
    await pipeline.settle(ticket, Unconfirmed("no answer"), permit.attempt_id)
    await pipeline.operations.run(
        lambda tx, now: tx.run(
            "UPDATE attempt SET began_at = :t, deadline_at = :u",
            t=now - 10 * MINUTE,
            u=now - 9.5 * MINUTE,
        )
    )
    clock = Stopwatch()
    watch = LookupSchedule(clock)
    for clock.seconds, ripe in ((1000.0, []), (1059.0, []), (1060.0, [id_])):
        found = watch.ripe(await pipeline.operations.read(unconfirmed_attempts))
        assert [unconfirmed.ticket.id for unconfirmed in found] == ripe
