"""Turns what providers tell into inbound items: one small table each, from their words to ours.

What a table does not know is left out, as are the events that say nothing new (accepted by the provider, queued).
The account is named by the id that the provider knows it by, where it tells one. Limit: an event may come before
what it answers to is settled, or twice, or in another order; recording deals with that.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from email.message import EmailMessage
from typing import Any

import msgspec

from cadenza.contacts.addresses import EMAIL, LINKEDIN, TELEGRAM
from cadenza.inbox.bounce_codes import classify_bounce, find_code
from cadenza.inbox.classify_mail import MailKind, classify_mail
from cadenza.inbox.listeners import InboundKind as Kind
from cadenza.inbox.model import Inbound

MOST_EVENTS = 1_000  # of one request
Data = Mapping[str, Any]
MAIL_KINDS = {
    MailKind.BOUNCE_HARD: Kind.HARD_BOUNCE,
    MailKind.BOUNCE_SOFT: Kind.SOFT_BOUNCE,
    MailKind.BOUNCE_POLICY: Kind.POLICY_BOUNCE,
    MailKind.BOUNCE_CONTENT: Kind.CONTENT_BOUNCE,
    MailKind.DELAYED: Kind.DELAYED,
    MailKind.DELIVERED: Kind.DELIVERED,
    MailKind.COMPLAINT: Kind.COMPLAINT,
    MailKind.UNSUBSCRIBE: Kind.UNSUBSCRIBE,
    MailKind.AUTO_REPLY: Kind.OUT_OF_OFFICE,
    MailKind.READ_RECEIPT: Kind.OPEN,
    MailKind.REPLY: Kind.REPLY,
    MailKind.OTHER: Kind.UNKNOWN,
}
_BOUNCES = {
    "hard": Kind.HARD_BOUNCE,
    "soft": Kind.SOFT_BOUNCE,
    "policy": Kind.POLICY_BOUNCE,
    "content": Kind.CONTENT_BOUNCE,
}


class BadEvents(Exception):
    """The body is not what this provider sends; the message says what is missing."""


def read_mail(raw: bytes, *, account_id: str, workspace_id: str, at: datetime) -> Inbound:
    """Read a mail as it lies in a mailbox."""
    mail = classify_mail(raw)
    key = mail.message_id or f"mail:{at.isoformat()}:{mail.sender}:{mail.subject}"
    return Inbound(
        workspace_id=workspace_id,
        account_id=account_id,
        remote_id=key,
        kind=MAIL_KINDS[mail.kind],
        source="imap",
        at=at,
        address=mail.recipient,
        answers_to=mail.answers_to,
        token=mail.token,
        message_id=mail.message_id,
        subject=mail.subject,
        text=mail.text,
        code=mail.code,
        diagnostic=mail.diagnostic,
    )


def read_events(kind: str, body: bytes, headers: Mapping[str, str], now: datetime) -> list[Inbound]:
    """Return what a request tells; `account_id` is the provider's name of the account, or empty."""
    try:
        data: Any = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadEvents("The body is not JSON.") from error
    return read_data(kind, data, headers, now)


def read_data(kind: str, data: Any, headers: Mapping[str, str], now: datetime) -> list[Inbound]:
    """Return what is told, decoded already."""
    found = list(_READERS[kind](data, headers, now))[:MOST_EVENTS]
    return [each for each in found if each.kind is not Kind.UNKNOWN or each.address or each.text]


def _event(source: str, kind: Kind, at: datetime, remote_id: str, **said: Any) -> Inbound:
    return Inbound(
        workspace_id="", account_id=said.pop("account", "") or "", remote_id=f"{source}:{remote_id}",
        kind=kind, source=source, at=at, trusted=True, **said,
    )  # fmt: skip


# Generic ----------------------------------------------------------------------------------------------------------


class SignedEvent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One event of a program of the workspace's own."""

    kind: Kind
    address: str | None = None
    account_id: str = ""
    channel: str = EMAIL
    id: str | None = None
    answers_to: tuple[str, ...] = ()
    message_id: str | None = None
    chat_id: str | None = None
    name: str = ""
    subject: str = ""
    text: str = ""
    code: str | None = None
    diagnostic: str = ""
    at: datetime | None = None


def _signed(data: Any, headers: Mapping[str, str], now: datetime) -> Iterable[Inbound]:
    listed = data.get("events", [data]) if isinstance(data, dict) else data
    try:
        events = msgspec.convert(listed, list[SignedEvent])
    except msgspec.ValidationError as error:
        raise BadEvents(f"An event cannot be read: {error}.") from error
    for number, each in enumerate(events):
        at = each.at if each.at is not None and each.at.tzinfo is not None else now
        yield _event(
            "signed", each.kind, at, each.id or f"{headers.get('webhook-id')}:{number}",
            account=each.account_id, channel=each.channel, address=each.address, name=each.name,
            answers_to=each.answers_to, message_id=each.message_id, chat_id=each.chat_id,
            subject=each.subject, text=each.text, code=each.code, diagnostic=each.diagnostic,
        )  # fmt: skip


# Unipile ----------------------------------------------------------------------------------------------------------

_AUTOMATIC = frozenset(
    {
        *("auto-submitted", "precedence", "references", "return-path", "x-auto-response-suppress"),
        *("x-autoreply", "x-autorespond", "x-failed-recipients", "list-id", "feedback-id"),
    }
)
_CHATS = {
    "LINKEDIN": LINKEDIN,
    "TELEGRAM": TELEGRAM,
    "WHATSAPP": "whatsapp",
    "INSTAGRAM": "instagram",
}


def _unipile(data: Any, headers: Mapping[str, str], now: datetime) -> Iterable[Inbound]:
    event = _of(data)
    if isinstance(event.get("payload"), dict):  # its second version wraps the same
        inner: Data = event["payload"]
        names = {
            "message.new": "message_received",
            "tracking.open": "mail_opened",
            "tracking.click": "mail_link_clicked",
        }
        kind = names.get(str(event.get("type")), str(event.get("type")).replace(".", "_"))
        event = {"account_id": event.get("account_id"), "event": kind, **inner}
    account, at = (
        str(event.get("account_id") or ""),
        _time(event.get("timestamp") or event.get("date"), now),
    )
    match event.get("event"):
        case "message_received":
            yield from _unipile_chat(event, account, at)
        case "mail_received":
            yield _unipile_mail(event, account, at)
        case "new_relation":
            profile = str(event.get("user_provider_id") or "")
            name = str(event.get("user_public_identifier") or "")
            yield _event(
                "unipile", Kind.ACCEPTED, at, f"relation:{profile or name}", account=account,
                channel=LINKEDIN, address=name or profile, recipients=(profile, name),
                name=str(event.get("user_full_name") or ""),
            )  # fmt: skip
        case "mail_opened" | "mail_link_clicked" as told:
            yield _event(
                "unipile", Kind.OPEN if told == "mail_opened" else Kind.CLICK, at,
                str(event.get("event_id") or f"{told}:{event.get('email_id')}:{at.isoformat()}"),
                account=account, answers_to=_ids(event.get("tracking_id"), event.get("email_id")),
            )  # fmt: skip
        case _:
            return  # its list of events grows


def _unipile_chat(event: Data, account: str, at: datetime) -> Iterable[Inbound]:
    sender = _of(event.get("sender"))
    profile = str(sender.get("attendee_provider_id") or "")
    own = _of(event.get("account_info")).get("user_id")
    if event.get("is_sender") or (own and own == profile):
        return  # the owner writes from another device
    yield _event(
        "unipile", Kind.REPLY, at, str(event.get("message_id")), account=account,
        channel=_CHATS.get(str(event.get("account_type")), LINKEDIN), address=profile or None,
        recipients=_ids(sender.get("attendee_id"), sender.get("attendee_profile_url")),
        name=str(sender.get("attendee_name") or ""), chat_id=str(event.get("chat_id") or "") or None,
        text=str(event.get("message") or ""),
    )  # fmt: skip


def _unipile_mail(event: Data, account: str, at: datetime) -> Inbound:
    """Judge a mail by what is told of it: its sender, subject, text and what it answers."""
    sender = _of(event.get("from_attendee"))
    address = str(sender.get("identifier") or "")
    before = _of(event.get("in_reply_to"))
    mail = EmailMessage()
    _set(mail, "From", address)
    _set(mail, "Subject", str(event.get("subject") or ""))
    _set(mail, "Message-ID", str(event.get("message_id") or ""))
    _set(mail, "In-Reply-To", str(before.get("message_id") or ""))
    _copy_headers(mail, event.get("headers"))
    if address.lower().startswith(("mailer-daemon@", "postmaster@")):
        mail["Return-Path"] = "<>"
    html = str(event.get("body") or "")
    plain = str(event.get("body_plain") or "")
    mail.set_content(plain or html, subtype="plain" if plain else "html")
    found = classify_mail(mail.as_bytes())
    return _event(
        "unipile", MAIL_KINDS[found.kind], at, str(event.get("email_id") or event.get("message_id")),
        account=account, address=found.recipient, name=str(sender.get("display_name") or ""),
        answers_to=(*_ids(before.get("message_id"), before.get("id"), event.get("tracking_id")), *found.answers_to),
        message_id=str(event.get("message_id") or "") or None, subject=found.subject,
        text=found.text, code=found.code, diagnostic=found.diagnostic,
    )  # fmt: skip


def _copy_headers(mail: EmailMessage, listed: object) -> None:
    """Add the headers that tell automatic answers, where they came along."""
    for each in listed if isinstance(listed, list) else ():
        name = str(_of(each).get("name") or "").lower()
        if name in _AUTOMATIC and name not in mail:
            _set(mail, name, str(_of(each).get("value") or ""))


def _set(mail: EmailMessage, name: str, value: str) -> None:
    value = " ".join(value.split())
    if value:
        mail[name] = value


# Amazon SES, over SNS ---------------------------------------------------------------------------------------------

_SES_HARD = {"General", "NoEmail"}
_SES_CONTENT = {"MessageTooLarge", "ContentRejected", "AttachmentRejected"}


def _ses(data: Any, headers: Mapping[str, str], now: datetime) -> Iterable[Inbound]:
    envelope = _of(data)
    try:
        told = _of(msgspec.json.decode(str(envelope.get("Message", "")).encode()))
    except msgspec.DecodeError:
        return  # a note of the topic's own
    mail = _of(told.get("mail"))
    common = _of(mail.get("commonHeaders"))
    ids = _ids(common.get("messageId"), mail.get("messageId"))
    key = str(envelope.get("MessageId"))
    name = str(told.get("eventType") or told.get("notificationType"))
    part = _of(told.get({"DeliveryDelay": "deliveryDelay"}.get(name, name.lower())))
    at = _time(part.get("timestamp") or mail.get("timestamp"), now)
    people: Sequence[Any] = (
        part.get("bouncedRecipients") or part.get("complainedRecipients")
        or part.get("delayedRecipients") or part.get("recipients") or mail.get("destination") or []
    )  # fmt: skip
    for number, person in enumerate(people):
        about = _of(person)
        address = str(about.get("emailAddress") or person)
        kind = _ses_kind(name, part)
        if kind is not None:
            yield _event(
                "ses", kind, at, f"{key}:{number}", address=address, answers_to=ids,
                code=find_code(str(about.get("status") or about.get("diagnosticCode") or "")),
                diagnostic=str(about.get("diagnosticCode") or ""),
            )  # fmt: skip


def _ses_kind(name: str, part: Data) -> Kind | None:
    if name == "Bounce":
        sub = part.get("bounceSubType")
        if part.get("bounceType") == "Permanent":
            return Kind.HARD_BOUNCE if sub in _SES_HARD else Kind.POLICY_BOUNCE
        return Kind.CONTENT_BOUNCE if sub in _SES_CONTENT else Kind.SOFT_BOUNCE
    if name == "Complaint":
        return None if part.get("complaintFeedbackType") == "not-spam" else Kind.COMPLAINT
    return {
        "Delivery": Kind.DELIVERED, "DeliveryDelay": Kind.DELAYED, "Open": Kind.OPEN,
        "Click": Kind.CLICK, "Subscription": Kind.UNSUBSCRIBE, "Reject": Kind.POLICY_BOUNCE,
    }.get(name)  # fmt: skip


# Postmark ---------------------------------------------------------------------------------------------------------

_POSTMARK = {
    **dict.fromkeys(("HardBounce", "BadEmailAddress"), Kind.HARD_BOUNCE),
    **dict.fromkeys(("Transient", "SoftBounce", "DnsError"), Kind.SOFT_BOUNCE),
    **dict.fromkeys(
        ("AutoResponder", "AddressChange", "ChallengeVerification"), Kind.OUT_OF_OFFICE
    ),
    "SpamComplaint": Kind.COMPLAINT,
    "Unsubscribe": Kind.UNSUBSCRIBE,
}


def _postmark(data: Any, headers: Mapping[str, str], now: datetime) -> Iterable[Inbound]:
    event = _of(data)
    name = str(event.get("RecordType"))
    if name == "Bounce":
        kind = _POSTMARK.get(str(event.get("Type")), Kind.POLICY_BOUNCE)
    elif name == "SubscriptionChange":
        if not event.get("SuppressSending"):
            return
        kind = Kind.UNSUBSCRIBE
    else:
        named = {
            "Delivery": Kind.DELIVERED,
            "SpamComplaint": Kind.COMPLAINT,
            "Open": Kind.OPEN,
            "Click": Kind.CLICK,
        }
        if name not in named:
            return
        kind = named[name]
    when = next((event[each] for each in _POSTMARK_TIMES if event.get(each)), None)
    key = event.get("ID") or f"{event.get('MessageID')}:{when}"
    details = f"{event.get('Description') or ''} {event.get('Details') or ''}".strip()
    yield _event(
        "postmark", kind, _time(when, now), f"{name}:{key}",
        address=str(event.get("Email") or event.get("Recipient") or "") or None,
        answers_to=_ids(event.get("MessageID"), _of(event.get("Metadata")).get("message_id")),
        code=find_code(details), diagnostic=details if kind.is_bounce else "",
    )  # fmt: skip


_POSTMARK_TIMES = ("BouncedAt", "DeliveredAt", "ReceivedAt", "ChangedAt")

# Mailgun ----------------------------------------------------------------------------------------------------------


def _mailgun(data: Any, headers: Mapping[str, str], now: datetime) -> Iterable[Inbound]:
    event = _of(_of(data).get("event-data"))
    token = _of(_of(data).get("signature")).get("token")
    status = _of(event.get("delivery-status"))
    text = str(status.get("message") or status.get("description") or "")
    code = str(status.get("enhanced-code") or status.get("code") or "") or None
    name = str(event.get("event"))
    if name == "failed":
        kind = _mailgun_failed(event, code, text)
    else:
        kind = {
            "delivered": Kind.DELIVERED, "complained": Kind.COMPLAINT, "unsubscribed": Kind.UNSUBSCRIBE,
            "opened": Kind.OPEN, "clicked": Kind.CLICK, "rejected": Kind.POLICY_BOUNCE,
        }.get(name)  # fmt: skip
    if kind is None:
        return
    message = _of(_of(event.get("message")).get("headers"))
    yield _event(
        "mailgun", kind, _time(event.get("timestamp"), now), str(token or event.get("id")),
        address=str(event.get("recipient") or "") or None, answers_to=_ids(message.get("message-id")),
        code=code, diagnostic=text,
    )  # fmt: skip


def _mailgun_failed(event: Data, code: str | None, text: str) -> Kind:
    if event.get("severity") != "permanent":
        return Kind.SOFT_BOUNCE
    if str(event.get("reason")).startswith("suppress-"):
        return Kind.POLICY_BOUNCE
    found = _BOUNCES[classify_bounce(code, text).value]
    return Kind.HARD_BOUNCE if found is Kind.SOFT_BOUNCE else found


# SendGrid ---------------------------------------------------------------------------------------------------------

_SENDGRID = {
    "delivered": Kind.DELIVERED, "deferred": Kind.DELAYED, "spamreport": Kind.COMPLAINT,
    "unsubscribe": Kind.UNSUBSCRIBE, "group_unsubscribe": Kind.UNSUBSCRIBE, "open": Kind.OPEN,
    "click": Kind.CLICK, "dropped": Kind.POLICY_BOUNCE,
}  # fmt: skip


def _sendgrid(data: Any, headers: Mapping[str, str], now: datetime) -> Iterable[Inbound]:
    for each in data if isinstance(data, list) else [data]:
        event = _of(each)
        name = str(event.get("event"))
        if name == "bounce":
            kind = Kind.POLICY_BOUNCE if event.get("type") == "blocked" else Kind.HARD_BOUNCE
        elif name in _SENDGRID:
            kind = _SENDGRID[name]
        else:
            continue
        sent = str(event.get("sg_message_id") or "").partition(".")[0]
        reason = str(event.get("reason") or event.get("response") or "")
        yield _event(
            "sendgrid", kind, _time(event.get("timestamp"), now), str(event.get("sg_event_id")),
            address=str(event.get("email") or "") or None, answers_to=_ids(event.get("smtp-id"), sent),
            code=str(event.get("status") or "") or find_code(reason), diagnostic=reason,
        )  # fmt: skip


_READERS: dict[str, Callable[[Any, Mapping[str, str], datetime], Iterable[Inbound]]] = {
    "signed": _signed,
    "unipile": _unipile,
    "ses": _ses,
    "postmark": _postmark,
    "mailgun": _mailgun,
    "sendgrid": _sendgrid,
}


def _of(value: object) -> Data:
    return value if isinstance(value, dict) else {}


def _ids(*values: object) -> tuple[str, ...]:
    return tuple(str(each) for each in values if each)


def _time(value: object, now: datetime) -> datetime:
    """Read a time as providers write it; what cannot be read is now, and nothing is later than now."""
    try:
        if isinstance(value, int | float):
            found = datetime.fromtimestamp(value, UTC)
        else:
            found = datetime.fromisoformat(str(value))
    except (ValueError, OverflowError, OSError):
        return now
    return min(found if found.tzinfo is not None else found.replace(tzinfo=UTC), now)
