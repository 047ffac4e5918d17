"""What comes in is recorded once, fits what was sent, and has its effects at once."""

import asyncio
from datetime import datetime, timedelta

import pytest

from cadenza.inbox import listeners
from cadenza.inbox.health import count_account
from cadenza.inbox.listeners import InboundKind as Kind
from cadenza.inbox.listeners import InboundRecorded
from cadenza.inbox.record import match_again
from cadenza.sql.tx import Tx
from tests.inbox.conftest import DOMAIN, HOME, LINKEDIN, MAIL, Office

BEN = "ben@example.org"


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> list[InboundRecorded]:
    """What a listener is told."""
    told: list[InboundRecorded] = []
    monkeypatch.setattr(listeners, "ON_INBOUND", [])
    listeners.register(lambda tx, now, recorded: told.append(recorded))
    return told


async def test_a_reply_is_matched_by_the_message_id_of_what_was_sent(
    office: Office, heard: list[InboundRecorded]
) -> None:
    ben = await office.contact(BEN)
    delivery = await office.sent(BEN, remote_id=f"<one@{DOMAIN}>")
    await office.sent(BEN)
    done = await office.record(
        address="Ben@Example.org", answers_to=("<other@x>", f"<one@{DOMAIN}>"), text="Yes, please"
    )
    assert (done.new, done.delivery_id, done.contact_id) == (True, delivery, ben.id)
    assert [(each.kind, each.contact_id, each.delivery_id, each.address) for each in heard] == [
        (Kind.REPLY, ben.id, delivery, BEN)
    ]
    (event,) = await office.rows("SELECT kind, body FROM outbox")
    assert event["kind"] == "inbox.replied"
    assert await office.suppressed() == []


async def test_the_same_thing_is_recorded_once_however_often_it_comes(
    office: Office, heard: list[InboundRecorded]
) -> None:
    await office.sent(BEN)
    first = await office.record(remote_id="<a@b>", address=BEN)
    again = await office.record(remote_id="<a@b>", address=BEN)
    assert again.id == first.id
    assert not again.new
    more = await asyncio.gather(*(office.record(remote_id="<c@d>", address=BEN) for _ in range(5)))
    assert sum(each.new for each in more) == 1
    assert len(heard) == 2
    assert len(await office.rows("SELECT id FROM outbox")) == 2


async def test_a_reply_from_another_address_belongs_to_the_contact_we_wrote_to(
    office: Office,
) -> None:
    ben = await office.contact(BEN)
    await office.sent(BEN, remote_id=f"<one@{DOMAIN}>")
    done = await office.record(address="ben@home.example", answers_to=(f"<one@{DOMAIN}>",))
    assert done.contact_id == ben.id


async def test_a_bounce_address_names_the_mail_and_a_forged_one_nothing(office: Office) -> None:
    digits = "a1" * 20
    delivery = await office.sent(BEN, remote_id=f"<{digits}@{DOMAIN}>")
    done = await office.record(Kind.HARD_BOUNCE, token=f"{digits[:32]}+{digits[32:]}")
    assert done.delivery_id == delivery
    forged = await office.record(Kind.HARD_BOUNCE, token=f"{digits[:32]}+00000000")
    assert forged.delivery_id is None
    assert await office.suppressed() == [(BEN, "email", "hard_bounce")]


async def test_a_hard_bounce_suppresses_the_address_we_wrote_to_and_marks_it(
    office: Office,
) -> None:
    await office.contact(BEN)
    await office.sent(BEN, remote_id=f"<one@{DOMAIN}>")
    await office.record(
        Kind.HARD_BOUNCE,
        address="forwarded@elsewhere.example",
        answers_to=(f"<one@{DOMAIN}>",),
        code="5.1.1",
        diagnostic="550 5.1.1 user unknown",
    )
    assert await office.suppressed() == [(BEN, "email", "hard_bounce")]
    (row,) = await office.rows("SELECT bounced_at FROM contact_address")
    assert row["bounced_at"] is not None
    (event,) = await office.rows("SELECT kind FROM outbox")
    assert event["kind"] == "inbox.bounced"


async def test_a_bounce_of_a_mail_that_we_did_not_send_suppresses_nobody(office: Office) -> None:
    await office.record(Kind.HARD_BOUNCE, address="stranger@example.org", answers_to=("<x@y>",))
    assert await office.suppressed() == []


async def test_a_bounce_that_a_provider_signed_suppresses_though_another_program_sent_it(
    office: Office,
) -> None:
    await office.record(Kind.HARD_BOUNCE, address="stranger@example.org", trusted=True)
    assert await office.suppressed() == [("stranger@example.org", "email", "hard_bounce")]


async def test_a_bounce_that_comes_before_the_send_is_settled_counts_later(office: Office) -> None:
    delivery = await office.sent("cy@example.org", settled=False)
    await office.operations.run(lambda tx, _: tx.run("DELETE FROM activity"))
    early = await office.record(Kind.HARD_BOUNCE, answers_to=(f"<late@{DOMAIN}>",))
    assert early.delivery_id is None
    await office.settle(delivery, f"<late@{DOMAIN}>")
    assert await office.operations.run(match_again) == 1
    assert await office.operations.run(match_again) == 0
    assert await office.suppressed() == [("cy@example.org", "email", "hard_bounce")]


async def test_soft_bounces_only_count_until_five_in_a_row(office: Office) -> None:
    for number in range(5):
        assert await office.suppressed() == []
        await office.sent(BEN, remote_id=f"<soft{number}@{DOMAIN}>")
        await office.record(Kind.SOFT_BOUNCE, answers_to=(f"<soft{number}@{DOMAIN}>",))
    assert await office.suppressed() == [(BEN, "email", "hard_bounce")]


async def test_an_answer_between_soft_bounces_begins_the_count_again(office: Office) -> None:
    for number in range(7):
        await office.sent(BEN, remote_id=f"<soft{number}@{DOMAIN}>")
        kind = Kind.REPLY if number == 3 else Kind.SOFT_BOUNCE
        await office.record(kind, address=BEN, answers_to=(f"<soft{number}@{DOMAIN}>",))
    assert await office.suppressed() == []


async def test_soft_bounces_in_three_campaigns_are_enough(office: Office) -> None:
    for number in range(3):
        await office.sent(BEN, remote_id=f"<c{number}@{DOMAIN}>", campaign_id=f"campaign-{number}")
        await office.record(Kind.SOFT_BOUNCE, answers_to=(f"<c{number}@{DOMAIN}>",))
    assert await office.suppressed() == [(BEN, "email", "hard_bounce")]


@pytest.mark.parametrize("kind", [Kind.POLICY_BOUNCE, Kind.CONTENT_BOUNCE, Kind.DELAYED])
async def test_what_is_our_own_fault_suppresses_nobody(office: Office, kind: Kind) -> None:
    await office.sent(BEN, remote_id=f"<one@{DOMAIN}>")
    for _ in range(6):
        await office.record(kind, answers_to=(f"<one@{DOMAIN}>",))
    assert await office.suppressed() == []


async def test_a_complaint_suppresses_everywhere_and_counts_for_the_account(
    office: Office,
) -> None:
    await office.sent(BEN, remote_id=f"<one@{DOMAIN}>")
    await office.record(Kind.COMPLAINT, answers_to=(f"<one@{DOMAIN}>",))
    assert await office.suppressed() == [(BEN, "all", "complaint")]

    def look(tx: Tx, now: datetime) -> object:
        return count_account(tx, now, workspace_id=HOME, account_id=MAIL)

    counts = await office.operations.read(look)
    assert (counts.sent, counts.complaints) == (1, 1)  # pyright: ignore[reportAttributeAccessIssue]


async def test_too_many_complaints_suspend_the_account(office: Office) -> None:
    for number in range(3):
        (row,) = await office.rows("SELECT state FROM account WHERE id = :id", id=MAIL)
        assert row["state"] == "connected"
        await office.sent(f"p{number}@example.org", remote_id=f"<c{number}@{DOMAIN}>")
        await office.record(Kind.COMPLAINT, answers_to=(f"<c{number}@{DOMAIN}>",))
    (row,) = await office.rows("SELECT state, state_reason FROM account WHERE id = :id", id=MAIL)
    assert row["state"] == "suspended"
    assert "3 of 3" in row["state_reason"]


async def test_an_automatic_answer_is_no_reply(office: Office) -> None:
    await office.sent(BEN, remote_id=f"<one@{DOMAIN}>")
    await office.record(Kind.OUT_OF_OFFICE, address=BEN, answers_to=(f"<one@{DOMAIN}>",))
    assert await office.rows("SELECT id FROM outbox") == []
    (row,) = await office.rows("SELECT state, last_kind FROM conversation")
    assert (row["state"], row["last_kind"]) == ("done", "out_of_office")


async def test_a_mail_that_asks_us_to_stop_is_obeyed_for_both_addresses(office: Office) -> None:
    await office.sent(BEN, remote_id=f"<one@{DOMAIN}>")
    await office.record(
        Kind.UNSUBSCRIBE, address="ben@home.example", answers_to=(f"<one@{DOMAIN}>",)
    )
    assert await office.suppressed() == [
        (BEN, "email", "unsubscribe"),
        ("ben@home.example", "email", "unsubscribe"),
    ]


async def test_a_stop_word_in_a_chat_is_obeyed_and_a_sentence_is_a_reply(office: Office) -> None:
    said = {"account_id": LINKEDIN, "channel": "linkedin", "source": "unipile", "trusted": True}
    reply = await office.record(address="ACoAABen", text="stop by tomorrow!", **said)
    assert reply.kind is Kind.REPLY
    stop = await office.record(address="ACoAABen", text="STOP", **said)
    assert stop.kind is Kind.UNSUBSCRIBE
    assert await office.suppressed() == [("acoaaben", "linkedin", "unsubscribe")]


async def test_a_message_without_ids_is_guessed_by_its_person(office: Office) -> None:
    delivery = await office.sent("ACoAABen", account=LINKEDIN)
    done = await office.record(
        account_id=LINKEDIN, channel="linkedin", address="acoaaben", text="Hello", after=timedelta()
    )
    assert done.delivery_id == delivery
    (row,) = await office.rows("SELECT matched_by FROM inbound_event")
    assert row["matched_by"] == "recipient"


async def test_what_nobody_understands_is_kept_for_a_person(office: Office) -> None:
    done = await office.record(Kind.UNKNOWN, text="\0 strange", subject="?")
    assert done.new
    (row,) = await office.rows("SELECT state, address FROM conversation")
    assert (row["state"], row["address"]) == ("open", "")


async def test_what_a_listener_refuses_is_not_recorded(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(tx: Tx, now: datetime, recorded: InboundRecorded) -> None:
        raise RuntimeError("a defect")

    monkeypatch.setattr(listeners, "ON_INBOUND", [fail])
    with pytest.raises(RuntimeError):
        await office.record(address=BEN)
    assert await office.rows("SELECT id FROM inbound_event") == []
