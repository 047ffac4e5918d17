"""Programs are told with a signature they can check and an id they can remember."""

import base64
import hmac
import json
import logging
from datetime import datetime, timedelta
from hashlib import sha256

import pytest

from cadenza.core.backoff import delay
from cadenza.notices.claim import BACKOFFS, BEHIND, TRIES
from cadenza.providers.http.policy import HostRule
from cadenza.sql.tx import Tx
from tests.notices.conftest import HOME, SECRET, Installation
from tests.providers.http.rude import Manner, Rude, Visit, polite


def headers(head: str) -> dict[str, str]:
    lines = [line.partition(": ") for line in head.split("\r\n")[1:] if line]
    return {name.lower(): value for name, _, value in lines}


async def listen(runtime: Installation, server: Rude, kinds: str = "*") -> None:
    await runtime.listen(f"{server.url}/hook", HostRule("127.0.0.1", server.port), kinds=kinds)


def answering(*statuses: str) -> Manner:
    left = list(statuses)

    async def answer(visit: Visit) -> None:
        await visit.request()
        await visit.reply(b"{}", "connection: close", status=left.pop(0) if left else "200 OK")

    return answer


async def test_a_receiver_can_check_the_signature(runtime: Installation) -> None:
    async with Rude(polite) as server:
        await listen(runtime, server)
        id_ = await runtime.deliver("sent")
        await runtime.dispatch()
        (head,), (body,) = server.heads, server.bodies
    said = headers(head)
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    signed = f"{said['webhook-id']}.{said['webhook-timestamp']}.".encode() + body
    expected = base64.b64encode(hmac.new(key, signed, sha256).digest()).decode()
    assert said["webhook-signature"] == f"v1,{expected}"
    told = json.loads(body)
    assert told["type"] == "delivery.sent"
    assert told["data"]["subject_id"] == id_
    assert told["data"]["post_id"] == "p1"


async def test_a_repetition_has_the_same_id_and_body_and_ends_with_success(
    runtime: Installation,
) -> None:
    manner = answering("503 Busy", "500 Oops")
    async with Rude(manner) as server:
        await listen(runtime, server)
        await runtime.deliver("sent")
        for _ in range(5):
            await runtime.dispatch()
            await runtime.run(
                "UPDATE notice SET due_at = :t WHERE medium = 'webhook' AND state = 'waiting'",
                t=await runtime.now(),
            )
        assert len(server.heads) == 3
        assert len({headers(head)["webhook-id"] for head in server.heads}) == 1
        assert len(set(server.bodies)) == 1
    states = [row["state"] for row in await runtime.rows("notice") if row["medium"] == "webhook"]
    assert states == ["told"]


async def test_waits_grow_and_end_in_a_visible_failure(runtime: Installation) -> None:
    manner = answering(*["500 Oops"] * 40)
    waits: list[float] = []
    async with Rude(manner) as server:
        await listen(runtime, server)
        await runtime.deliver("sent")
        for _ in range(TRIES["webhook"] + 2):
            await runtime.dispatch()
            (row,) = [row for row in await runtime.rows("notice") if row["medium"] == "webhook"]
            now = await runtime.now()
            waits.append((row["due_at"] - now).total_seconds())
            await runtime.run(
                "UPDATE notice SET due_at = :t WHERE medium = 'webhook' AND state = 'waiting'",
                t=now,
            )
        assert len(server.heads) == TRIES["webhook"]
    (row,) = [row for row in await runtime.rows("notice") if row["medium"] == "webhook"]
    assert row["state"] == "failed"
    assert "500" in row["reason"]
    assert waits[0] < waits[1] < 30
    assert waits[4] > 300


def test_a_receiver_may_be_away_for_three_days() -> None:
    tries = range(1, TRIES["webhook"])
    shortest = sum((delay(BACKOFFS["webhook"], n, fraction=0.999) for n in tries), timedelta())
    assert shortest > timedelta(days=3)


async def follow(runtime: Installation, id_: str, state: str) -> None:
    """Let something more become of a delivery."""

    def write(tx: Tx, now: datetime) -> None:
        tx.run(
            """
            INSERT INTO outbox (workspace_id, id, kind, subject_id, body, created_at)
            VALUES (:home, :id, :kind, :subject, :body, :now)
            """,
            home=HOME,
            id=f"{id_}:0:{state}",
            kind=f"delivery.{state}",
            subject=id_,
            body='{"reason":"","url":null}',
            now=now,
        )

    await runtime.operations.run(write)


def heard(server: Rude) -> list[str]:
    return [json.loads(body)["type"].removeprefix("delivery.") for body in server.bodies]


async def test_news_of_one_delivery_come_in_order_after_a_repetition(runtime: Installation) -> None:
    async with Rude(answering("503 Busy", "503 Busy")) as server:
        await listen(runtime, server)
        id_ = await runtime.deliver("unconfirmed")
        await runtime.dispatch()
        await follow(runtime, id_, "sent")
        await runtime.dispatch(2)
        assert heard(server) == ["unconfirmed"]
        await runtime.make_due()
        await runtime.dispatch(2)
        assert heard(server) == ["unconfirmed"] * 2
        await runtime.make_due()
        await runtime.dispatch()
        assert heard(server) == ["unconfirmed"] * 3
        await runtime.dispatch()  # once it was told the next follows at once
        assert heard(server) == [*["unconfirmed"] * 3, "sent"]


async def test_news_of_one_delivery_come_in_order_from_one_pass(runtime: Installation) -> None:
    async with Rude(polite) as server:
        await listen(runtime, server)
        id_ = await runtime.deliver("unconfirmed")
        await follow(runtime, id_, "failed")
        await follow(runtime, id_, "sent")
        await runtime.dispatch(3)
        assert heard(server) == ["unconfirmed", "failed", "sent"]


async def test_what_was_given_up_holds_nothing_behind_it(runtime: Installation) -> None:
    async with Rude(answering(*["500 Oops"] * TRIES["webhook"])) as server:
        await listen(runtime, server)
        id_ = await runtime.deliver("unconfirmed")
        await runtime.dispatch()
        await follow(runtime, id_, "sent")
        for _ in range(TRIES["webhook"]):
            await runtime.make_due()
            await runtime.dispatch()
        await runtime.dispatch()
        assert heard(server) == [*["unconfirmed"] * TRIES["webhook"], "sent"]


async def test_news_of_others_wait_for_nothing(runtime: Installation) -> None:
    """One delivery's news cannot be told; more of it than a pass takes stands behind, before another's."""
    async with Rude(answering("503 Busy")) as server:
        await listen(runtime, server)
        id_ = await runtime.deliver("unconfirmed")
        await runtime.dispatch()
        for number in range(60):
            await follow(runtime, id_, f"more{number}")
        await runtime.deliver("sent", post="p2")
        await runtime.dispatch()
        assert heard(server) == ["unconfirmed", "sent"]
    behind = [
        row for row in await runtime.rows("notice") if row["outbox_id"].startswith(f"{id_}:0")
    ]
    assert len(behind) == 60
    now = await runtime.now()
    assert all(row["due_at"] > now for row in behind)  # not looked at again by every pass


async def test_finding_what_is_older_walks_along_the_index(runtime: Installation) -> None:
    def plan(tx: Tx, _: datetime) -> str:
        if tx.dialect == "postgresql":
            tx.run("SET LOCAL enable_seqscan = off")  # the table is nearly empty
        how = "EXPLAIN QUERY PLAN" if tx.dialect == "sqlite" else "EXPLAIN"
        rows = tx.all(f"{how} {BEHIND}", heads=[(HOME, "a", "hook")])
        return "\n".join(str(list(row.values())) for row in rows)

    said = await runtime.operations.run(plan)
    assert "notice_subject" in said
    assert "SCAN older" not in said
    assert "Sort" not in said
    assert "TEMP B-TREE" not in said


async def test_a_receiver_that_is_gone_is_not_called_again(runtime: Installation) -> None:
    manner = answering("410 Gone")
    async with Rude(manner) as server:
        await listen(runtime, server)
        await runtime.deliver("sent", post="p1")
        await runtime.dispatch()
        await runtime.deliver("sent", post="p2")
        await runtime.dispatch(2)
        assert len(server.heads) == 1
    (hook,) = await runtime.rows("webhook")
    assert not hook["active"]
    assert "410" in hook["stop_reason"]


async def test_only_the_chosen_kinds_are_told(runtime: Installation) -> None:
    async with Rude(polite) as server:
        await listen(runtime, server, kinds="delivery.failed account.needs_reconnect")
        await runtime.deliver("sent", post="p1")
        await runtime.deliver("failed", post="p2")
        await runtime.dispatch(2)
        assert [json.loads(body)["type"] for body in server.bodies] == ["delivery.failed"]


async def test_a_private_address_is_not_called(runtime: Installation) -> None:
    async with Rude(polite) as server:
        await runtime.listen(f"{server.url}/hook", HostRule("elsewhere.example"))
        await runtime.deliver("sent")
        await runtime.dispatch()
        assert server.visits == 0
    (row,) = [row for row in await runtime.rows("notice") if row["medium"] == "webhook"]
    assert row["state"] != "told"


async def test_the_secret_shows_nowhere(
    runtime: Installation, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    manner = answering("500 Oops")
    async with Rude(manner) as server:
        await listen(runtime, server)
        await runtime.deliver("sent")
        await runtime.dispatch(2)
    tables = [repr(await runtime.rows(table)) for table in ("webhook", "notice", "outbox")]
    shown = "".join(tables) + caplog.text + repr([record.__dict__ for record in caplog.records])
    assert SECRET.removeprefix("whsec_") not in shown
    assert "canary" not in shown
