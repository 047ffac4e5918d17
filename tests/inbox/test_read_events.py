"""What providers tell becomes our own words; what says nothing is left out."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.inbox.listeners import InboundKind as Kind
from cadenza.inbox.model import Inbound
from cadenza.inbox.read_events import BadEvents, read_events
from cadenza.inbox.sources import SourceKind

NOW = datetime(2026, 11, 18, 9, tzinfo=UTC)
BEN = "ben@example.org"
PROVIDERS = [each.value for each in SourceKind]


def read(kind: str, data: Any) -> list[Inbound]:
    return read_events(kind, json.dumps(data).encode(), {"webhook-id": "msg_1"}, NOW)


def ses(kind: str, **part: Any) -> dict[str, Any]:
    told = {
        "eventType": kind,
        "mail": {"messageId": "ses-1", "commonHeaders": {"messageId": "<one@ada.example>"}},
        kind[0].lower() + kind[1:]: part,
    }
    return {"Type": "Notification", "MessageId": "sns-1", "Message": json.dumps(told)}


def bounced(type_: str, sub: str) -> dict[str, Any]:
    people = [{"emailAddress": BEN, "status": "5.1.1", "diagnosticCode": "smtp; 550 5.1.1 no"}]
    return ses("Bounce", bounceType=type_, bounceSubType=sub, bouncedRecipients=people)


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        (bounced("Permanent", "General"), Kind.HARD_BOUNCE),
        (bounced("Permanent", "OnAccountSuppressionList"), Kind.POLICY_BOUNCE),
        (bounced("Transient", "MailboxFull"), Kind.SOFT_BOUNCE),
        (bounced("Transient", "MessageTooLarge"), Kind.CONTENT_BOUNCE),
        (bounced("Undetermined", "Undetermined"), Kind.SOFT_BOUNCE),
        (ses("Complaint", complainedRecipients=[{"emailAddress": BEN}]), Kind.COMPLAINT),
        (ses("Delivery", recipients=[BEN]), Kind.DELIVERED),
        (ses("DeliveryDelay", delayedRecipients=[{"emailAddress": BEN}]), Kind.DELAYED),
    ],
)
def test_amazons_events_are_understood(event: dict[str, Any], kind: Kind) -> None:
    (found,) = read("ses", event)
    assert (found.kind, found.address) == (kind, BEN)
    assert found.answers_to == ("<one@ada.example>", "ses-1")
    assert found.trusted


def test_not_spam_is_no_complaint_and_several_recipients_are_several_events() -> None:
    people = [{"emailAddress": BEN}, {"emailAddress": "cy@example.org"}]
    assert (
        read("ses", ses("Complaint", complainedRecipients=people, complaintFeedbackType="not-spam"))
        == []
    )
    found = read("ses", ses("Complaint", complainedRecipients=people))
    assert len({each.remote_id for each in found}) == 2


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ({"RecordType": "Bounce", "Type": "HardBounce"}, Kind.HARD_BOUNCE),
        ({"RecordType": "Bounce", "Type": "SoftBounce"}, Kind.SOFT_BOUNCE),
        ({"RecordType": "Bounce", "Type": "SpamNotification"}, Kind.POLICY_BOUNCE),
        ({"RecordType": "Bounce", "Type": "AutoResponder"}, Kind.OUT_OF_OFFICE),
        ({"RecordType": "SpamComplaint"}, Kind.COMPLAINT),
        ({"RecordType": "Delivery"}, Kind.DELIVERED),
        ({"RecordType": "SubscriptionChange", "SuppressSending": True}, Kind.UNSUBSCRIBE),
        ({"RecordType": "SubscriptionChange", "SuppressSending": False}, None),
        ({"RecordType": "Nonsense"}, None),
    ],
)
def test_postmarks_events_are_understood(event: dict[str, Any], kind: Kind | None) -> None:
    found = read("postmark", {"MessageID": "pm-1", "ID": 7, "Email": BEN, **event})
    assert [each.kind for each in found] == ([] if kind is None else [kind])


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ({"event": "failed", "severity": "permanent", "reason": "bounce"}, Kind.HARD_BOUNCE),
        ({"event": "failed", "severity": "temporary"}, Kind.SOFT_BOUNCE),
        (
            {"event": "failed", "severity": "permanent", "reason": "suppress-bounce"},
            Kind.POLICY_BOUNCE,
        ),
        ({"event": "complained"}, Kind.COMPLAINT),
        ({"event": "unsubscribed"}, Kind.UNSUBSCRIBE),
        ({"event": "accepted"}, None),
    ],
)
def test_mailguns_events_are_understood(event: dict[str, Any], kind: Kind | None) -> None:
    message = {"headers": {"message-id": "one@ada.example"}}
    status = {"code": 550, "message": "5.1.1 user unknown"}
    data = {
        "timestamp": NOW.timestamp(),
        "recipient": BEN,
        "message": message,
        "delivery-status": status,
    }
    found = read("mailgun", {"signature": {"token": "t"}, "event-data": {**data, **event}})
    assert [each.kind for each in found] == ([] if kind is None else [kind])
    assert all(each.answers_to == ("one@ada.example",) for each in found)


def test_sendgrids_list_is_understood() -> None:
    names = ["bounce", "deferred", "spamreport", "group_unsubscribe", "open", "processed"]
    events = [
        {
            "event": name,
            "email": BEN,
            "sg_event_id": f"e{n}",
            "sg_message_id": "m1.recv",
            "timestamp": 1_790_000_000,
        }
        for n, name in enumerate(names)
    ]
    found = read(
        "sendgrid",
        [*events, {"event": "bounce", "type": "blocked", "email": BEN, "sg_event_id": "e9"}],
    )
    assert [each.kind for each in found] == [
        *(Kind.HARD_BOUNCE, Kind.DELAYED, Kind.COMPLAINT, Kind.UNSUBSCRIBE, Kind.OPEN),
        Kind.POLICY_BOUNCE,
    ]
    assert found[0].answers_to == ("m1",)


def test_unipiles_messages_relations_and_mails_are_understood() -> None:
    message = {
        "event": "message_received", "account_id": "unipile-1", "account_type": "LINKEDIN", "chat_id": "chat-1",
        "message_id": "m-1", "message": "Yes", "timestamp": "2026-11-18T08:00:00.000Z",
        "sender": {"attendee_provider_id": "ACoAABen", "attendee_name": "Ben"},
    }  # fmt: skip
    (found,) = read("unipile", message)
    assert (found.kind, found.channel, found.address, found.chat_id, found.account_id) == (
        *(Kind.REPLY, "linkedin", "ACoAABen", "chat-1", "unipile-1"),
    )
    assert found.at == datetime(2026, 11, 18, 8, tzinfo=UTC)
    own = {**message, "account_info": {"user_id": "ACoAABen"}}
    assert read("unipile", own) == [], "the owner wrote it from another device"
    wrapped = {"id": "evt_1", "type": "message.new", "account_id": "unipile-1", "payload": message}
    assert read("unipile", wrapped) == [found]
    (relation,) = read(
        "unipile",
        {
            "event": "new_relation",
            "account_id": "unipile-1",
            "user_provider_id": "ACoAABen",
            "user_public_identifier": "ben",
        },
    )
    assert (relation.kind, relation.address, relation.recipients) == (
        *(Kind.ACCEPTED, "ben", ("ACoAABen", "ben")),
    )
    mail = {
        "event": "mail_received", "email_id": "e-1", "account_id": "unipile-2", "subject": "Automatic reply: Hello",
        "from_attendee": {"identifier": BEN, "display_name": "Ben"}, "body_plain": "I am away",
        "in_reply_to": {"message_id": "<one@ada.example>", "id": "x"}, "message_id": "<r@example.org>",
    }  # fmt: skip
    (away,) = read("unipile", mail)
    assert (away.kind, away.answers_to[0]) == (Kind.OUT_OF_OFFICE, "<one@ada.example>")
    (reply,) = read("unipile", {**mail, "subject": "Re: Hello"})
    assert (reply.kind, reply.message_id, reply.text) == (
        Kind.REPLY,
        "<r@example.org>",
        "I am away",
    )


def test_a_generic_event_says_what_it_means_or_is_refused() -> None:
    (found,) = read("signed", {"kind": "reply", "address": BEN, "text": "Yes"})
    assert (found.kind, found.remote_id) == (Kind.REPLY, "signed:msg_1:0")
    with pytest.raises(BadEvents, match="kind"):
        read("signed", {"kind": "nonsense"})
    with pytest.raises(BadEvents):
        read("signed", {"events": [{"kind": "reply", "adress": BEN}]})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "event",
                    "Message",
                    "mail",
                    "event-data",
                    "signature",
                    "sender",
                    "payload",
                    "RecordType",
                    "timestamp",
                    "bounce",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.sampled_from([each for each in PROVIDERS if each != "signed"]), JSON)
def test_no_event_is_too_strange_to_be_read(provider: str, data: Any) -> None:
    for each in read(provider, data):
        assert each.kind in Kind
