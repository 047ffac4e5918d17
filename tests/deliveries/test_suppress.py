"""Suppression and permits: once one is committed, nobody gets a permit against it, on both databases."""

import asyncio
from typing import Any

import pytest

from cadenza.contacts import suppress as suppressions
from cadenza.contacts.suppress import NewSuppression, SuppressionKind, read_suppression
from cadenza.core.channels import Channel
from cadenza.deliveries.facts import read_facts
from cadenza.deliveries.model import Action
from cadenza.deliveries.permit import Refusal
from tests.deliveries.conftest import HOME, Pipeline


def read(kind: SuppressionKind, text: str, channel: str = "all") -> NewSuppression:
    found = read_suppression(kind, text, channel=channel)
    assert isinstance(found, NewSuppression), found
    return found


async def claimed(pipeline: Pipeline, recipient: str = "ben@example.org") -> Any:
    await pipeline.connect("mailer", settings='{"hours": {"email": null}}')
    await pipeline.post("mailer", action=Action.EMAIL, channel=Channel.EMAIL, recipient=recipient)
    (ticket,) = await pipeline.claim()
    return ticket


def stop(*new: NewSuppression) -> Any:
    return lambda tx, now: suppressions.suppress(tx, now, new, workspace_id=HOME, by="system")


@pytest.mark.parametrize(
    ("new", "skips"),
    [
        (read(SuppressionKind.ADDRESS, "Ben@example.org"), True),
        (read(SuppressionKind.ADDRESS, "ben@example.org", channel="email"), True),
        (read(SuppressionKind.DOMAIN, "example.org"), True),
        (read(SuppressionKind.HANDLE, "ben@example.org", channel="telegram_like"), False),
        (read(SuppressionKind.ADDRESS, "cy@example.org"), False),
    ],
)
async def test_after_the_commit_there_is_no_permit(
    pipeline: Pipeline, new: NewSuppression, skips: bool
) -> None:
    ticket = await claimed(pipeline)
    await pipeline.operations.run(stop(new))
    (answer,) = await pipeline.permit(ticket)
    assert isinstance(answer, Refusal) is skips
    assert (await pipeline.row("delivery", ticket.id))["state"] == (
        "skipped" if skips else "sending"
    )


async def test_a_suppression_waits_for_permits_that_are_being_given(pipeline: Pipeline) -> None:
    """On PostgreSQL a permit has read before the suppression commits: the permit must commit first."""
    ticket = await claimed(pipeline)
    order: list[str] = []
    begun = asyncio.Event()

    def permit(tx: Any, now: Any) -> None:
        read_facts(tx, now, [(HOME, ticket.id)], hold=True)
        begun.set()
        if tx.dialect == "postgresql":
            tx.one("SELECT pg_sleep(0.5)")
        order.append("permit")

    async def suppress() -> None:
        await begun.wait()
        await pipeline.operations.run(stop(read(SuppressionKind.ADDRESS, "ben@example.org")))
        order.append("suppressed")

    async with asyncio.TaskGroup() as group:
        group.create_task(pipeline.operations.run(permit))
        group.create_task(suppress())
    assert order == ["permit", "suppressed"]
