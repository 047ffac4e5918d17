"""Mails reach the people who want them, once, and say which channels failed."""

import asyncio
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from typing import Any, cast

from cadenza.accounts.require_reconnect import require_reconnect
from cadenza.core.channels import Channel
from cadenza.core.clock import SystemClock
from cadenza.db.open import open_product
from cadenza.deliveries.model import Action
from cadenza.notices.fan_out import next_morning
from cadenza.notices.model import Choice, Topic
from tests.notices.conftest import HOME, Installation


def part(mail: EmailMessage, kind: str) -> str:
    found = mail.get_body((kind,))
    assert found is not None
    return cast("Any", found).get_content()


async def lose(runtime: Installation) -> None:
    await runtime.operations.run(
        lambda tx, now: require_reconnect(
            tx, now, workspace_id=HOME, account_id="ada", message="the token was revoked"
        )
    )


async def test_published_posts_come_in_one_digest_in_the_morning(runtime: Installation) -> None:
    for n in range(3):
        await runtime.deliver("sent", post=f"p{n}", text=f"post {n}")
    await runtime.dispatch()
    assert runtime.office.mails == []
    due = {row["due_at"] for row in await runtime.rows("notice")}
    assert due == {next_morning(await runtime.now(), "Europe/Berlin")}
    await runtime.make_due()
    await runtime.dispatch(2)
    (mail,) = runtime.office.to("ada@example.com")
    assert mail["Subject"] == "[Ada & friends] 3 posts were published"
    assert all(f"post {n}" in part(mail, "plain") for n in range(3))
    assert len(runtime.office.to("ben@example.com")) == 1
    assert runtime.office.to("cy@example.com") == [], "viewers are not told"


async def test_a_person_chooses_each_or_none(runtime: Installation) -> None:
    await runtime.choose("ada", Topic.PUBLISHED, Choice.EACH)
    await runtime.choose("ben", Topic.PUBLISHED, Choice.OFF)
    await runtime.deliver("sent", post="p1", text="one")
    await runtime.deliver("sent", post="p2", text="two")
    await runtime.dispatch(2)
    assert len(runtime.office.to("ada@example.com")) == 2
    await runtime.make_due()
    await runtime.dispatch(2)
    assert runtime.office.to("ben@example.com") == []


async def test_one_mail_names_all_channels_that_failed(runtime: Installation) -> None:
    await runtime.deliver("failed", channel=Channel.MASTODON, reason="too long")
    await runtime.dispatch()
    await runtime.deliver("failed", channel=Channel.X, reason="forbidden")
    await runtime.dispatch()
    assert runtime.office.mails == []
    await runtime.make_due()
    await runtime.dispatch(2)
    (mail,) = runtime.office.to("ada@example.com")
    assert "mastodon, x" in str(mail["Subject"])
    assert "too long" in part(mail, "plain")
    assert "forbidden" in part(mail, "html")


async def test_a_failure_waits_while_another_channel_is_still_tried(runtime: Installation) -> None:
    await runtime.deliver("failed", channel=Channel.MASTODON)
    still = await runtime.deliver("scheduled", channel=Channel.X)
    await runtime.dispatch()
    await runtime.make_due()
    await runtime.dispatch()
    assert runtime.office.mails == []
    await runtime.run(
        "UPDATE delivery SET state = 'sent', sent_at = created_at WHERE id = :i", i=still
    )
    await runtime.make_due()
    await runtime.dispatch()
    assert len(runtime.office.to("ada@example.com")) == 1


async def test_an_unconfirmed_send_that_was_cleared_up_is_not_told(runtime: Installation) -> None:
    cleared = await runtime.deliver("unconfirmed", channel=Channel.MASTODON, reason="no answer")
    await runtime.deliver("unconfirmed", channel=Channel.X, reason="no answer")
    await runtime.dispatch()
    sent = "UPDATE delivery SET state = 'sent', sent_at = created_at WHERE id = :i"
    await runtime.run(sent, i=cleared)
    await runtime.make_due()
    await runtime.dispatch(2)
    (mail,) = runtime.office.to("ada@example.com")
    assert str(mail["Subject"]).startswith("[Ada & friends] Check ")
    assert str(mail["Subject"]).endswith(" on x")
    assert sorted({row["state"] for row in await runtime.rows("notice")}) == ["dropped", "told"]


async def test_a_disconnect_is_told_at_once_and_once_with_a_link(runtime: Installation) -> None:
    await lose(runtime)
    await lose(runtime)
    await runtime.dispatch(3)
    (mail,) = runtime.office.to("ada@example.com")
    assert "@ada (mastodon) needs to be reconnected" in str(mail["Subject"])
    assert "https://cadenza.example/accounts/ada/reconnect" in part(mail, "plain")
    assert 'href="https://cadenza.example/accounts/ada/reconnect"' in part(mail, "html")


async def test_a_disconnect_says_how_many_posts_wait_and_that_they_are_safe(
    runtime: Installation,
) -> None:
    for n in range(3):
        await runtime.deliver("scheduled", post=f"p{n}")
    await lose(runtime)
    await runtime.dispatch(3)
    (mail,) = runtime.office.to("ada@example.com")
    assert "3 posts are waiting and won't get lost" in " ".join(part(mail, "plain").split())


async def test_a_disconnect_is_repeated_after_a_day_and_three_while_work_waits(
    runtime: Installation,
) -> None:
    await lose(runtime)
    await runtime.dispatch()

    async def after(hours: int) -> int:
        lost = await runtime.now() - timedelta(hours=hours)
        await runtime.run("UPDATE account SET lost_at = :lost", lost=lost)
        await runtime.dispatch(3)
        return len(runtime.office.to("ada@example.com"))

    assert await after(25) == 1, "no work waits"
    await runtime.deliver("scheduled")
    assert await after(23) == 1
    assert await after(25) == 2
    assert await after(48) == 2
    assert await after(73) == 3
    assert await after(200) == 3
    assert "1 post is waiting and won't get lost" in part(
        runtime.office.to("ada@example.com")[-1], "plain"
    )


async def test_accounts_that_nothing_waits_for_keep_no_other_from_its_reminder(
    runtime: Installation,
) -> None:
    await lose(runtime)
    await runtime.deliver("scheduled")
    long_ago = await runtime.now() - timedelta(hours=25)
    await runtime.run("UPDATE account SET lost_at = :at", at=long_ago)
    await runtime.operations.run(
        lambda tx, _: tx.run_each(
            """
            INSERT INTO account (workspace_id, id, provider, remote_id, zone, state, lost_at, created_at)
            VALUES (:home, :id, 'x', :id, 'UTC', 'needs_reconnect', :lost, :lost)
            """,
            [
                {"home": HOME, "id": f"idle-{n}", "lost": long_ago - timedelta(days=30)}
                for n in range(150)
            ],
        )
    )
    await runtime.dispatch(3)
    assert len(runtime.office.to("ada@example.com")) == 2


async def test_what_others_wrote_cannot_break_out_of_a_mail(runtime: Installation) -> None:
    nasty = "<script>alert(1)</script>"
    await runtime.deliver("failed", text=nasty, reason="bad <b>news</b>")
    await runtime.dispatch()
    await runtime.make_due()
    await runtime.dispatch()
    mail = runtime.office.to("ada@example.com")[0]
    assert "<script>" not in part(mail, "html")
    assert "<b>" not in part(mail, "html")
    assert nasty in part(mail, "plain")
    await runtime.run("UPDATE workspace SET name = :name", name="x\r\nBcc: cy@example.com")
    await lose(runtime)
    await runtime.dispatch()
    assert runtime.office.mails[-1]["Bcc"] is None


async def test_a_busy_mail_server_is_asked_again_and_the_mail_comes_once(
    runtime: Installation,
) -> None:
    await runtime.choose("ben", Topic.ACCOUNT, Choice.OFF)
    runtime.office.refusals = ["451 4.3.0 come again"]
    await lose(runtime)
    await runtime.dispatch()
    (notice,) = await runtime.rows("notice")
    assert (notice["state"], notice["attempts"]) == ("waiting", 1)
    assert notice["due_at"] > await runtime.now()
    await runtime.make_due()
    await runtime.dispatch(3)
    assert len(runtime.office.mails) == 1
    (notice,) = await runtime.rows("notice")
    assert notice["state"] == "told"
    assert notice["told_at"] is not None


async def test_an_address_that_does_not_exist_stops_nobody_else(runtime: Installation) -> None:
    runtime.office.refused_addresses = {"ben@example.com"}
    await lose(runtime)
    await runtime.dispatch(2)
    assert len(runtime.office.to("ada@example.com")) == 1
    states = {row["target_id"]: row["state"] for row in await runtime.rows("notice")}
    assert states == {"ada": "told", "ben": "failed"}


async def test_many_dispatchers_tell_each_thing_once(runtime: Installation) -> None:
    await runtime.choose("ada", Topic.PUBLISHED, Choice.EACH)
    await runtime.choose("ben", Topic.PUBLISHED, Choice.OFF)
    for n in range(12):
        await runtime.deliver("sent", post=f"p{n}", text=f"post {n}")
    async with runtime.http() as http, AsyncExitStack() as machines:
        crew = [
            runtime.dispatcher(
                http,
                await machines.enter_async_context(
                    open_product(runtime.address, clock=SystemClock())
                )
                if runtime.address.startswith("postgres")
                else runtime.operations,
            )
            for _ in range(4)
        ]
        await asyncio.gather(*(each.run_once() for each in crew * 3))
    assert len(runtime.office.mails) == 12
    assert len({mail["Message-ID"] for mail in runtime.office.mails}) == 12


async def test_a_dispatcher_that_died_is_followed_by_the_same_mail(runtime: Installation) -> None:
    await runtime.choose("ben", Topic.ACCOUNT, Choice.OFF)
    await lose(runtime)
    await runtime.dispatch()
    await runtime.run(
        "UPDATE notice SET state = 'waiting', leased_until = :t, told_at = NULL",
        t=await runtime.now() + timedelta(minutes=1),
    )
    await runtime.dispatch()
    assert len(runtime.office.mails) == 1, "its lease still runs"
    await runtime.run("UPDATE notice SET leased_until = :t", t=await runtime.now())
    await runtime.dispatch()
    first, second = runtime.office.mails
    assert first["Message-ID"] == second["Message-ID"]


async def test_outreach_is_not_mailed_one_by_one_and_a_test_not_at_all(
    runtime: Installation,
) -> None:
    await runtime.deliver("sent", post="p1", action=Action.EMAIL, channel=Channel.EMAIL)
    await runtime.deliver("failed", post="p2", action=Action.EMAIL, channel=Channel.EMAIL)
    await runtime.deliver("failed", post="p3", mode="test")
    await runtime.dispatch()
    groups = {(row["outbox_id"], row["group_key"]) for row in await runtime.rows("notice")}
    assert groups == {("d00002:1:failed", "digest")}


def test_the_next_morning_is_eight_on_the_wall_also_when_clocks_change() -> None:
    before = datetime(2026, 3, 28, 12, tzinfo=UTC)
    assert next_morning(before, "Europe/Berlin") == datetime(2026, 3, 29, 6, tzinfo=UTC)
    assert next_morning(before - timedelta(days=1), "Europe/Berlin") == datetime(
        2026, 3, 28, 7, tzinfo=UTC
    )
