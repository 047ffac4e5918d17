"""A person is erased everywhere, and told everything before, on both databases."""

import asyncio
import json
import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from cadenza.contacts.model import Contact
from cadenza.contacts.save import add_note
from cadenza.contacts.suppress import SuppressionKind, read_suppression, suppress
from cadenza.core.channels import Channel
from cadenza.core.clock import SystemClock
from cadenza.db.open import open_product
from cadenza.deliveries.explain import explain
from cadenza.deliveries.model import Action, NewDelivery
from cadenza.deliveries.schedule import schedule
from cadenza.inbox import person
from cadenza.inbox.listeners import InboundKind as Kind
from cadenza.inbox.person import BeingSent, Erased, ErasedPerson, erase_person, export_person
from cadenza.sql.tx import Tx
from tests.inbox.conftest import DOMAIN, HOME, MAIL, Office, furnish_office

BEN = "Benedikt.Quill@example.org"
NAME = "Benedikt Quillfeather"
CY = "cy@example.org"


async def write_to(office: Office, to: str, delivery_id: str) -> None:
    def operation(tx: Tx, now: datetime) -> None:
        new = NewDelivery(
            id=delivery_id,
            workspace_id=HOME,
            account_id=MAIL,
            channel=Channel.EMAIL,
            action=Action.EMAIL,
            due_at=now,
            content=json.dumps({"text": f"Dear {NAME}", "subject": "x", "recipient_name": NAME}),
            recipient=to,
        )
        schedule(tx, now, [new])

    await office.operations.run(operation)


async def live_with(office: Office) -> Contact:
    """Let Ben be written to, answer, bounce, complain and be noted, beside Cy."""
    ben = await office.contact(BEN, first_name="Benedikt", last_name="Quillfeather", tags=["vip"])
    await office.contact(CY, first_name="Cyrus", last_name="Other")
    for to in (BEN, CY):
        await office.sent(to, remote_id=f"<{to}@{DOMAIN}>")
        await office.record(
            address=to, answers_to=(f"<{to}@{DOMAIN}>",), text=f"{to} writes", name=NAME if to == BEN else "Cyrus",
            message_id=f"<reply-of-{to}>", remote_id=f"<reply-of-{to}>",
        )  # fmt: skip
    await office.record(
        Kind.HARD_BOUNCE, answers_to=(f"<{BEN}@{DOMAIN}>",), diagnostic=f"550 {BEN} unknown"
    )
    await office.record(Kind.UNSUBSCRIBE, address=BEN.upper())

    def more(tx: Tx, now: datetime) -> None:
        add_note(tx, now, workspace_id=HOME, contact_id=ben.id, text=f"{NAME} likes tea", by="a")
        tx.run(
            "UPDATE attempt SET message = :m WHERE remote_id = :r",
            m=f"250 {BEN} ok",
            r=f"<{BEN}@{DOMAIN}>",
        )
        tx.run(
            """
            INSERT INTO exchange (workspace_id, id, delivery_id, step, began_at, told)
            SELECT workspace_id, 'x' || id, id, 'publish', :now, :told FROM delivery WHERE recipient = :to
            """,
            now=now,
            told=json.dumps({"body": f"RCPT TO:<{BEN}>"}),
            to=BEN,
        )
        tx.run(
            """
            INSERT INTO signup_form (
                workspace_id, id, name, audience_id, account_id, texts, created_by, created_at, updated_at
            ) VALUES (:home, 'form', 'Footer', 'news', :account, '{}', 'a', :now, :now)
            """,
            home=HOME,
            account=MAIL,
            now=now,
        )
        tx.run(
            """
            INSERT INTO signup (
                workspace_id, id, form_id, address, written, answers, consent_text, created_at, asked_at
            ) VALUES (:home, 'signup', 'form', :address, :written, :answers, 'yes', :now, :now)
            """,
            home=HOME,
            address=BEN.lower(),
            written=BEN,
            answers=json.dumps({"first_name": NAME}),
            now=now,
        )
        tx.run(
            """
            INSERT INTO audience_unsubscribe (workspace_id, channel, address, audience_id, created_at)
            VALUES (:home, 'email', :address, 'news', :now)
            """,
            home=HOME,
            address=BEN.lower(),
            now=now,
        )
        new = read_suppression(SuppressionKind.ADDRESS, BEN, note="manual")
        suppress(tx, now, [new], workspace_id=HOME, by="member:ada")  # pyright: ignore[reportArgumentType]

    await office.operations.run(more)
    await write_to(office, BEN.lower(), "planned")
    return ben


async def erase(office: Office, contact_id: str) -> Any:
    return await office.operations.run(
        lambda tx, now: erase_person(
            tx, now, workspace_id=HOME, contact_id=contact_id, by="member:ada", new_salt="salt"
        )
    )


async def test_everything_about_a_person_is_told(office: Office) -> None:
    ben = await live_with(office)
    told: Any = await office.operations.read(
        lambda tx, _: export_person(tx, workspace_id=HOME, contact_id=ben.id)
    )
    assert told["contact"]["first_name"] == "Benedikt"
    assert [each["text"] for each in told["notes"]] == [f"{NAME} likes tea"]
    assert len(told["sent"]) == 2
    assert {each["kind"] for each in told["received"]} == {"reply", "hard_bounce", "unsubscribe"}
    assert {each["reason"] for each in told["suppressions"]} >= {"manual", "unsubscribe"}
    assert [(each["form"], each["state"]) for each in told["signups"]] == [("Footer", "pending")]
    assert CY not in json.dumps(told, default=str)


async def test_nothing_in_a_dump_names_an_erased_person(tmp_path: Path) -> None:
    path = tmp_path / "product.db"
    async with open_product(f"sqlite:///{path}", clock=SystemClock()) as operations:
        await furnish_office(operations)
        office = Office(operations)
        ben = await live_with(office)
        before = await asyncio.to_thread(dump, path)
        assert all(each in before.lower() for each in WORDS)
        done = await erase(office, ben.id)
        assert done == Erased(ben.id, 1, 2, 3)
        after = await asyncio.to_thread(dump, path)
        assert [each for each in WORDS if each in after.lower()] == []
        assert CY in after, "others stay"
        assert "cyrus" in after.lower()


WORDS = (BEN.lower(), "quillfeather", "benedikt")


def dump(path: Path) -> str:
    """Return the whole database as text."""
    with closing(sqlite3.connect(path)) as database:
        return "\n".join(database.iterdump())


async def test_the_ledger_and_the_suppression_keep_a_hash(office: Office) -> None:
    ben = await live_with(office)
    await erase(office, ben.id)
    rows = await office.rows("SELECT recipient FROM activity ORDER BY recipient")
    assert [row["recipient"][:7] for row in rows] == ["cy@exam", "erased:"]
    (row,) = await office.rows("SELECT value, channel, reason FROM suppression")
    assert (row["value"], row["channel"], row["reason"]) == (
        *(rows[1]["recipient"], "all", "erasure"),
    )
    (planned,) = await office.rows("SELECT state, content FROM delivery WHERE id = 'planned'")
    assert planned["state"] == "canceled"


@pytest.mark.parametrize("spelling", [BEN, BEN.upper(), f" {BEN.lower()} "])
async def test_an_erased_person_is_not_written_to_again(office: Office, spelling: str) -> None:
    ben = await live_with(office)
    await erase(office, ben.id)
    await write_to(office, spelling, "again")
    found: Any = await office.operations.read(
        lambda tx, now: explain(tx, now, workspace_id=HOME, delivery_id="again", at=now)
    )
    assert any("erasure" in each.message for each in found.blocked.values())
    await write_to(office, CY, "to-cy")
    other: Any = await office.operations.read(
        lambda tx, now: explain(tx, now, workspace_id=HOME, delivery_id="to-cy", at=now)
    )
    assert not any("suppressed" in each.message for each in other.blocked.values())


async def test_who_is_being_written_to_is_erased_a_moment_later(office: Office) -> None:
    ben = await live_with(office)
    await office.operations.run(
        lambda tx, now: tx.run(
            "UPDATE delivery SET leased_until = :now WHERE id = 'planned'", now=now
        )
    )
    assert isinstance(await erase(office, ben.id), BeingSent)
    rows = await office.rows("SELECT id FROM contact")
    assert len(rows) == 2


async def test_packages_above_hear_of_it(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[ErasedPerson] = []
    monkeypatch.setattr(person, "ON_ERASE", [])
    person.register_erasure(lambda tx, now, gone: told.append(gone))
    ben = await live_with(office)
    await erase(office, ben.id)
    (gone,) = told
    assert (gone.contact_id, gone.addresses) == (ben.id, (("email", BEN.lower()),))
    assert "planned" in gone.delivery_ids
