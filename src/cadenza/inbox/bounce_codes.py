"""What a bounce means for the address and for us, by its status code (RFC 3463) and its words.

HARD: the address is bad. SOFT: it may work later. POLICY: the address is fine and we are refused, so the
address is never suppressed for it. CONTENT: the message has to change. Codes win over words: qmail calls every
bounce permanent, and Exchange expires its queue with a permanent status.
"""

import re
from enum import StrEnum


class BounceClass(StrEnum):
    """Whose fault a bounce is."""

    HARD = "hard"
    SOFT = "soft"
    POLICY = "policy"
    CONTENT = "content"


ENHANCED = re.compile(r"(?<![\d.])([245]\.\d{1,3}\.\d{1,3})(?![\d.])")
_BASIC = re.compile(r"(?<![\d.])([45]\d\d)(?=[\s:.,-]|$)")
_GONE = re.compile(
    r"user unknown|unknown user|no such user|does ?n[o']t exist|not found|invalid mailbox|disabled|no longer"
    r"|unknown recipient|recipient rejected|no mailbox|mailbox unavailable",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"policy|spam|block(?:ed| ?list)|dmarc|\bspf\b|dkim|reputation|complaints|unauthenticated|TSS04",
    re.IGNORECASE,
)
# Exact codes first, then (class of code, subject) pairs: 5.2.x is another matter than 4.2.x.
_EXACT = {
    **dict.fromkeys(("5.1.0", "5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10"), BounceClass.HARD),
    **dict.fromkeys(("5.2.1", "5.4.1", "5.4.4", "5.4.310"), BounceClass.HARD),
    **dict.fromkeys(("5.7.13", "5.7.17", "5.7.18"), BounceClass.HARD),
    **dict.fromkeys(("5.2.3", "5.3.4"), BounceClass.CONTENT),
}
_BY_SUBJECT = {
    "1": BounceClass.HARD,
    "2": BounceClass.SOFT,
    "3": BounceClass.SOFT,
    "4": BounceClass.SOFT,
    "5": BounceClass.POLICY,
    "6": BounceClass.CONTENT,
    "7": BounceClass.POLICY,
}


def find_code(text: str) -> str | None:
    """Return the enhanced code that a text names, else its three-digit one."""
    found = ENHANCED.search(text) or _BASIC.search(text)
    return found[1] if found else None


def classify_bounce(code: str | None, text: str) -> BounceClass:
    """Say what a failed delivery means."""
    if code in _EXACT:
        return _EXACT[code]
    if code is not None and ENHANCED.fullmatch(code) and not code.endswith(".0.0"):
        return _by_subject(code, text)
    if _REFUSED.search(text):
        return BounceClass.POLICY
    if (code or "").startswith("5") and code != "552" and _GONE.search(text):
        return BounceClass.HARD
    return BounceClass.SOFT


def _by_subject(code: str, text: str) -> BounceClass:
    kind, subject, _ = code.split(".")
    if code == "5.7.1" and _GONE.search(text) and not _REFUSED.search(text):
        return BounceClass.HARD  # refused, because of the recipient
    found = _BY_SUBJECT.get(subject, BounceClass.SOFT)
    return BounceClass.SOFT if kind == "4" and found is BounceClass.HARD else found
