"""Reads an address of a channel: checked, in its one spelling, and flagged where a person hardly reads it.

Mail addresses, LinkedIn profiles and Telegram names come in many spellings (links, with and without @); all of one
person's are one here, the same as the delivery pipeline folds recipients. Disposable domains come from a kept list
(`disposable-email-domains`); role addresses (info@, sales@) are the usual ones of RFC 2142 and of companies.
Limit: whether a mailbox exists, only its server knows.
"""

import re
from functools import cache
from urllib.parse import unquote, urlsplit

from cadenza.contacts.model import Address, Invalid
from cadenza.providers.mail_address import is_address

EMAIL, LINKEDIN, TELEGRAM = "email", "linkedin", "telegram"
LONGEST = 254
_CHANNEL = re.compile(r"[a-z][a-z0-9_]{0,29}")
_HOST = re.compile(r"(?!-)[\w-]{1,63}(?<!-)(?:\.(?!-)[\w-]{1,63}(?<!-))+")
_TELEGRAM_NAME = re.compile(r"[a-z][a-z0-9_]{3,31}")
_TELEGRAM_ID = re.compile(r"-?[1-9][0-9]{0,18}")
_LINKEDIN_NAME = re.compile(r"[\w.%-]{2,100}")
ROLES = frozenset(
    {
        *("abuse", "accounting", "accounts", "admin", "administrator", "billing", "bookings"),
        *("careers", "compliance", "contact", "customerservice", "enquiries", "feedback"),
        *("finance", "ftp", "hello", "help", "helpdesk", "hostmaster", "hr", "info"),
        *("inquiries", "invoice", "invoices", "it", "jobs", "kontakt", "legal", "list", "mail"),
        *("mailer-daemon", "marketing", "media", "news", "newsletter", "noc", "no-reply"),
        *("noreply", "office", "orders", "postmaster", "pr", "press", "privacy", "recruiting"),
        *("reception", "root", "sales", "security", "service", "shop", "spam", "subscribe"),
        *("support", "team", "tech", "unsubscribe", "usenet", "uucp", "webmaster", "www"),
    }
)


def read_address(channel: str, text: str) -> Address | Invalid:
    """Read one address; `channel` is email, linkedin, telegram or another network's name."""
    written = text.strip()
    if channel == EMAIL:
        return _read_email(written)
    if not _CHANNEL.fullmatch(channel):
        return Invalid("channel", "bad_channel", "a channel is a word such as telegram or x")
    if not written or len(written) > LONGEST or not written.isprintable():
        return _bad(channel, "1 to 254 characters, without control characters")
    if channel == TELEGRAM:
        return _read_telegram(written)
    if channel == LINKEDIN:
        return _read_linkedin(written)
    if " " in written:
        return _bad(channel, "a handle or a link, without spaces")
    return Address(channel, written.casefold(), written)


def is_host(text: str) -> bool:
    """Say whether this is a domain such as example.org."""
    return len(text) <= LONGEST and _HOST.fullmatch(text) is not None


def _read_email(text: str) -> Address | Invalid:
    written = text.removeprefix("mailto:").strip("<>").strip()
    local, _, domain = written.rpartition("@")
    domain = domain.casefold()
    if not is_address(written) or not written.isprintable() or not _HOST.fullmatch(domain):
        return _bad(EMAIL, "one plain address such as ada@example.org")
    if local.startswith(".") or local.endswith("."):
        return _bad(EMAIL, "one plain address such as ada@example.org")
    folded = written.casefold()
    role = folded.partition("@")[0].partition("+")[0]
    flag = "disposable" if _is_disposable(domain) else "role" if role in ROLES else None
    return Address(EMAIL, folded, f"{local}@{domain}", domain, flag)


def _read_telegram(text: str) -> Address | Invalid:
    name = text
    if "/" in text:
        parts = _link(text)
        hosts = ("t.me", "telegram.me", "www.t.me", "telegram.dog")
        if parts is None or parts[0] not in hosts or not parts[1]:
            return _bad(TELEGRAM, "a name such as @ada, a t.me link, or a chat id")
        name = parts[1][0]
    if _TELEGRAM_ID.fullmatch(name):
        return Address(TELEGRAM, name, name)
    plain = name.removeprefix("@")
    if not _TELEGRAM_NAME.fullmatch(plain.casefold()):
        return _bad(TELEGRAM, "a name such as @ada, a t.me link, or a chat id")
    return Address(TELEGRAM, f"@{plain.casefold()}", f"@{plain}")


def _read_linkedin(text: str) -> Address | Invalid:
    name = text.removeprefix("@")
    if "/" in text:
        parts = _link(text)
        if parts is None or not (parts[0] == "linkedin.com" or parts[0].endswith(".linkedin.com")):
            return _bad(LINKEDIN, "a profile link such as linkedin.com/in/ada, or its name")
        if len(parts[1]) < 2 or parts[1][0] not in ("in", "pub", "company"):
            return _bad(LINKEDIN, "a profile link such as linkedin.com/in/ada, or its name")
        name = parts[1][1]
    name = unquote(name)
    if not _LINKEDIN_NAME.fullmatch(name):
        return _bad(LINKEDIN, "a profile link such as linkedin.com/in/ada, or its name")
    return Address(LINKEDIN, name.casefold(), name)


def _link(text: str) -> tuple[str, list[str]] | None:
    """Return the host and the parts of the path of a link."""
    try:
        parts = urlsplit(text if "://" in text else f"https://{text}")
        host = (parts.hostname or "").casefold()
    except ValueError:
        return None
    return host, [part for part in parts.path.split("/") if part]


def _bad(channel: str, message: str) -> Invalid:
    return Invalid(channel, "bad_address", message)


def _is_disposable(domain: str) -> bool:
    listed = _disposable()
    while domain:
        if domain in listed:
            return True
        domain = domain.partition(".")[2]
    return False


@cache
def _disposable() -> frozenset[str]:
    from disposable_email_domains import blocklist

    return frozenset(blocklist)
