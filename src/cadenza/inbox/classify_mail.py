"""Says what a mail that came in is: a bounce, a complaint, an automatic answer, a wish to be left alone, a reply.

The first sign that holds decides: reports by their MIME parts (RFC 3464, 5965, 8098), text bounces by their empty
return path, then our own unsubscribe address, automatic answers (RFC 3834 and what servers write instead), and words
that ask us to stop. Everything else is a reply, for a person to read. It names what the mail answers to, by the
bounce address, the returned original or the references; whether such a message exists is the caller's to find.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from email import message_from_bytes
from email.message import EmailMessage, Message
from email.policy import EmailPolicy
from email.utils import getaddresses, parseaddr
from enum import StrEnum
from typing import Any, cast

from cadenza.inbox.bounce_codes import ENHANCED, BounceClass, classify_bounce, find_code

MOST_TEXT = 200_000  # characters that are searched for words: a bounce may return a whole film


class MailKind(StrEnum):
    """What a mail is to us."""

    BOUNCE_HARD = "bounce_hard"
    BOUNCE_SOFT = "bounce_soft"
    BOUNCE_POLICY = "bounce_policy"
    BOUNCE_CONTENT = "bounce_content"
    DELAYED = "delayed"
    DELIVERED = "delivered"
    COMPLAINT = "complaint"
    UNSUBSCRIBE = "unsubscribe"
    AUTO_REPLY = "auto_reply"
    READ_RECEIPT = "read_receipt"
    REPLY = "reply"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundMail:
    """A mail and what it is about."""

    kind: MailKind
    message_id: str | None  # its own
    sender: str | None
    subject: str
    text: str  # what the sender wrote, without what they quote
    recipient: (
        str | None
    )  # whose address it is about: the failed one, the complainant's, else the sender's
    code: str | None = None  # of a bounce
    diagnostic: str = ""
    token: str | None = (
        None  # in the address that it came to: `b+KEY+MAC@…`, `unsubscribe+KEY+MAC@…`
    )
    answers_to: tuple[str, ...] = ()  # Message-IDs, the likeliest first

    @property
    def is_bounce(self) -> bool:
        """Say whether something we sent did not arrive for good."""
        return self.kind.startswith("bounce_")


_TOKEN = re.compile(r"^(?:b|unsubscribe)\+([a-z0-9.-]+\+[0-9a-f]{8,})@", re.IGNORECASE)
_MESSAGE_ID = re.compile(r"<[^<>\s]+@[^<>\s]+>")
_DAEMON = re.compile(r"^(?:mailer-daemon|postmaster)@", re.IGNORECASE)
_COPY = re.compile(
    r"^-{2,} ?(?:below this line is a copy|this is a copy|original message|message header|copy of the)",
    re.IGNORECASE | re.MULTILINE,
)
_DELAY = re.compile(
    r"\bdelayed\b|\bwarning\b|still being retried|will be retried|not yet been delivered|no action is required",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"[\w.!#$%&'*+/=?^`{|}~-]+@[\w-]+(?:\.[\w-]+)+")
_AUTOMATIC_HEADERS = (
    "X-Autoreply", "X-Autorespond", "X-AutoReply-From", "X-Mail-Autoreply", "X-FC-MachineGenerated",
)  # fmt: skip
_SECOND_SIGNS = ("X-Loop", "X-Sieve")
_AUTOMATIC_SUBJECTS = (
    "automatic reply", "auto reply", "auto-reply", "autoreply", "out of office", "out of the office",
    "automatische antwort", "abwesenheitsnotiz", "abwesend",
    "réponse automatique", "absence du bureau",
    "respuesta automática", "fuera de la oficina",
    "risposta automatica", "fuori sede", "fuori ufficio",
    "automatisch antwoord", "afwezig",
    "resposta automática", "ausência temporária",
    "automatyczna odpowiedź", "nieobecność",
    "autosvar", "automatiskt svar", "automatisk svar", "automaattinen vastaus", "automatická odpověď",
    "otomatik yanıt", "автоответ", "автоматический ответ", "自動応答", "自動返信", "自动答复", "自動回覆",  # noqa: RUF001
)  # fmt: skip
_OPT_OUT = re.compile(
    r"\bunsubscribe\b|\bopt[ -]?out\b|take me off|remove me|stop (?:e-?mailing|writing|contacting)|"
    r"do(?: not|n't) (?:write|contact|e-?mail|message) (?:me )?(?:again|any ?more)|\babmelden\b|"
    r"keine (?:weiteren )?(?:e-?)?mails|désinscri|désabonn|no me escriba|darme de baja|cancellami|disiscriv|"
    r"afmelden|uitschrijven|wypisz",
    re.IGNORECASE,
)
_STOP_ONLY = re.compile(
    r"\s*(?:stop|unsubscribe|end|quit|abmelden|arrêt|alto|baja)\W*", re.IGNORECASE
)
_QUOTE = re.compile(
    r"^(?:>|On .{0,200}wrote:|Am .{0,200}schrieb|Le .{0,200}a écrit|El .{0,200}escribió|Il .{0,200}ha scritto|"
    r"Op .{0,200}schreef|-{2,} ?(?:Original Message|Urspr|Message d'origine|Mensaje original|Messaggio originale|"
    r"Oorspronkelijk bericht)|_{10,}$|(?:From|Von|De|Da|Van) ?: .+$)",
    re.IGNORECASE | re.MULTILINE,
)
_TAGS = re.compile(
    r"<(?:style|script)\b.*?</(?:style|script)>|<blockquote\b.*|<[^>]*>", re.IGNORECASE | re.DOTALL
)


class _LenientPolicy(EmailPolicy):
    """Python's parser raises errors of many kinds over broken headers; those are taken as they came."""

    def header_fetch_parse(self, name: str, value: str) -> Any:
        try:
            return super().header_fetch_parse(name, value)
        except Exception:  # noqa: BLE001 - HeaderParseError, IndexError, AttributeError: whatever it meets
            return " ".join(value.split())


_LENIENT = cast("EmailPolicy[EmailMessage]", _LenientPolicy())


def classify_mail(raw: bytes) -> InboundMail:
    """Read one mail as it came in."""
    mail = message_from_bytes(raw, policy=_LENIENT)
    for look in (
        _complaint,
        _read_receipt,
        _report,
        _text_bounce,
        _unsubscribe,
        _auto_reply,
        _opt_out,
    ):
        found = look(mail)
        if found is not None:
            return found
    return _describe(mail, MailKind.REPLY)


def _complaint(mail: EmailMessage) -> InboundMail | None:
    part = _part(mail, "message/feedback-report")
    if part is None:
        return None
    fields = next(iter(_blocks(part)), None)
    report = (
        {name.lower(): str(value) for name, value in fields.items()} if fields is not None else {}
    )
    kind = {
        "abuse": MailKind.COMPLAINT, "fraud": MailKind.COMPLAINT, "virus": MailKind.COMPLAINT,
        "opt-out": MailKind.UNSUBSCRIBE,
    }.get(report.get("feedback-type", "").strip().lower(), MailKind.OTHER)  # fmt: skip
    original = _original(mail)
    written_to = parseaddr(str(original["To"] or ""))[1] if original is not None else ""
    recipient = parseaddr(report.get("original-rcpt-to", ""))[1] or written_to
    known = recipient if recipient and not recipient.endswith(".invalid") else None
    token = _token_in(report.get("original-mail-from", ""))
    return _describe(mail, kind, recipient=known, sender_is_recipient=False, token=token)


def _read_receipt(mail: EmailMessage) -> InboundMail | None:
    part = _part(mail, "message/disposition-notification")
    return None if part is None else _describe(mail, MailKind.READ_RECEIPT)


def _report(mail: EmailMessage) -> InboundMail | None:
    part = _part(mail, "message/delivery-status") or _part(mail, "message/global-delivery-status")
    if part is None:
        return None
    reported = [block for block in _blocks(part) if block["Final-Recipient"] or block["Action"]]
    # What failed is told first: a report about several recipients may begin with those that it reached.
    order = {"failed": 0, "delayed": 1}
    reported.sort(key=lambda block: order.get(_word(block["Action"]), 2))
    block = reported[0] if reported else Message()
    action = _word(block["Action"])
    diagnostic = _typed(block["Diagnostic-Code"])
    code = _code(str(block["Status"] or ""), diagnostic)
    if action == "delayed":
        kind = MailKind.DELAYED
    elif action in ("delivered", "relayed", "expanded"):
        kind = MailKind.DELIVERED
    else:
        kind = _bounce_kind(classify_bounce(code, diagnostic or _text(mail)))
    recipient = _typed(block["Original-Recipient"]) or _typed(block["Final-Recipient"])
    return _describe(
        mail,
        kind,
        recipient=_bare(recipient),
        sender_is_recipient=False,
        code=code,
        diagnostic=diagnostic,
    )


def _code(status: str, diagnostic: str) -> str | None:
    """Return the status; Exim says 5.0.0 of everything, and only the other server's words say more."""
    found = ENHANCED.search(status)
    if found is not None and not found[1].endswith(".0.0"):
        return found[1]
    return find_code(diagnostic) or (found[1] if found else None)


def _text_bounce(mail: EmailMessage) -> InboundMail | None:
    sender = parseaddr(str(mail["From"] or ""))[1]
    if str(mail["Return-Path"] or "").strip() != "<>" or not _DAEMON.match(sender):
        return None
    text = _text(mail)
    cut = _COPY.search(text)
    told, copy = (text[: cut.start()], text[cut.start() :]) if cut else (text, "")
    code = find_code(told)
    subject = str(mail["Subject"] or "")
    if _DELAY.search(f"{subject}\n{told}"):
        kind = MailKind.DELAYED
    else:
        kind = _bounce_kind(classify_bounce(code, told))
    named = str(mail["X-Failed-Recipients"] or "") or told
    recipient = next((m[0] for m in _ADDRESS.finditer(named) if not _DAEMON.match(m[0])), None)
    returned = re.search(r"^Message-ID:\s*(<[^>]+>)", copy, re.IGNORECASE | re.MULTILINE)
    return _describe(
        mail, kind, recipient=recipient, sender_is_recipient=False, code=code, diagnostic=told.strip()[:2_000],
        original_id=returned[1] if returned else None,
    )  # fmt: skip


def _unsubscribe(mail: EmailMessage) -> InboundMail | None:
    ours = any(address.lower().startswith("unsubscribe+") for address in _written_to(mail))
    return _describe(mail, MailKind.UNSUBSCRIBE) if ours else None


def _auto_reply(mail: EmailMessage) -> InboundMail | None:
    return _describe(mail, MailKind.AUTO_REPLY) if is_automatic(mail) else None


def _opt_out(mail: EmailMessage) -> InboundMail | None:
    new = new_text(_text(mail))
    wants = _STOP_ONLY.fullmatch(new) or _OPT_OUT.search(new[:2_000])
    return _describe(mail, MailKind.UNSUBSCRIBE) if wants else None


def is_automatic(mail: Message) -> bool:
    """Say whether a machine answered; `X-Auto-Response-Suppress` is no sign, ordinary Outlook mail carries it."""
    submitted = str(mail["Auto-Submitted"] or "no").split(";")[0].split("(")[0].strip().lower()
    if submitted != "no" or any(mail[name] is not None for name in _AUTOMATIC_HEADERS):
        return True
    precedence = str(mail["Precedence"] or mail["X-Precedence"] or "").strip().lower()
    second = any(mail[name] is not None for name in _SECOND_SIGNS)
    if precedence == "auto_reply" or (precedence in ("bulk", "junk", "list") and second):
        return True
    if str(mail["Return-Path"] or "").strip() == "<>":
        return True
    subject = " ".join(str(mail["Subject"] or "").split()).casefold()
    return subject.startswith(_AUTOMATIC_SUBJECTS)


def new_text(text: str) -> str:
    """Return what the sender wrote, without the mail that they answer to."""
    cut = _QUOTE.search(text)
    return (text[: cut.start()] if cut else text).strip()


def _describe(
    mail: EmailMessage,
    kind: MailKind,
    *,
    recipient: str | None = None,
    sender_is_recipient: bool = True,
    code: str | None = None,
    diagnostic: str = "",
    token: str | None = None,
    original_id: str | None = None,
) -> InboundMail:
    sender = parseaddr(str(mail["From"] or ""))[1] or None
    own = _MESSAGE_ID.search(str(mail["Message-ID"] or ""))
    original = _original(mail)
    returned = (
        [str(original["Message-ID"])] if original is not None and original["Message-ID"] else []
    )
    references = _MESSAGE_ID.findall(str(mail["References"] or ""))
    answers = [
        *([original_id] if original_id else []),
        *(found for each in returned for found in _MESSAGE_ID.findall(each)),
        *_MESSAGE_ID.findall(str(mail["In-Reply-To"] or "")),
        *reversed(references),
    ]
    return InboundMail(
        kind=kind,
        message_id=own[0] if own else None,
        sender=sender,
        subject=" ".join(str(mail["Subject"] or "").split())[:998],
        text=new_text(_text(mail)),
        recipient=recipient if recipient or not sender_is_recipient else sender,
        code=code,
        diagnostic=diagnostic,
        token=token or next(filter(None, map(_token_in, _written_to(mail))), None),
        answers_to=tuple(dict.fromkeys(answers)),
    )


def _bounce_kind(found: BounceClass) -> MailKind:
    return MailKind(f"bounce_{found.value}")


def _part(mail: Message, content_type: str) -> Message | None:
    return next((part for part in mail.walk() if part.get_content_type() == content_type), None)


def _blocks(part: Message) -> Iterator[Message]:
    """Yield a report's blocks of fields; Python splits only the reports of RFC 3464."""
    payload = part.get_payload()
    if isinstance(payload, list) and len(payload) > 1:
        yield from (block for block in payload if isinstance(block, Message))
        return
    only = payload[0] if isinstance(payload, list) and payload else None
    raw = only.as_bytes() if isinstance(only, Message) else _decoded(part)
    for block in re.split(rb"\r?\n[ \t]*\r?\n", raw):
        if block.strip():
            yield message_from_bytes(block + b"\r\n\r\n", policy=_LENIENT)


def _decoded(part: Message) -> bytes:
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _original(mail: Message) -> Message | None:
    """Return the mail that a report brings back, or as much as it brings."""
    for part in mail.walk():
        match part.get_content_type():
            case "message/rfc822" | "message/global":
                payload = part.get_payload()
                if isinstance(payload, list) and payload and isinstance(payload[0], Message):
                    return payload[0]
            case "text/rfc822-headers":
                return message_from_bytes(_decoded(part).lstrip(), policy=_LENIENT)
            case _:
                pass
    return None


def _text(mail: EmailMessage) -> str:
    """Return the readable text of a mail, from its HTML where there is nothing else."""
    body = mail.get_body(preferencelist=("plain", "html")) if not mail.get_content_type().startswith(
        "multipart/report"
    ) else next((part for part in mail.walk() if part.get_content_maintype() == "text"), None)  # fmt: skip
    if body is None:
        return ""
    charset = body.get_content_charset() or "utf-8"
    try:
        text = _decoded(body).decode(charset, "replace")
    except LookupError:  # a character set that nobody knows
        text = _decoded(body).decode("utf-8", "replace")
    text = text[:MOST_TEXT].replace("\r\n", "\n")
    return _TAGS.sub(" ", text) if body.get_content_subtype() == "html" else text


def _written_to(mail: Message) -> list[str]:
    names = ("To", "Delivered-To", "X-Original-To")
    fields = [str(value) for name in names for value in mail.get_all(name, [])]
    return [address for _, address in getaddresses(fields) if address]


def _token_in(address: str) -> str | None:
    found = _TOKEN.match(parseaddr(address)[1])
    return found[1] if found else None


def _word(value: object) -> str:
    words = str(value or "").split()
    return words[0].strip(";,").lower() if words else ""


def _typed(value: object) -> str:
    """Return the value of a field such as `rfc822; ben@example.com` without its type."""
    _, _, rest = " ".join(str(value or "").split()).partition(";")
    return rest.strip()


def _bare(address: str) -> str | None:
    found = _ADDRESS.search(address)
    return found[0] if found else (address.strip("<> ") or None)
