"""Is this one plain mail address? For every network that sends mail.

Checked is what would break a command, a header or a list; whether the mailbox exists only its server
knows. Quoted local parts and address literals are refused, though RFC 5321 allows them: nobody has one.
"""

import re

LONGEST_LOCAL, LONGEST = 64, 254
_SIGN = r"[^\s@<>,;:\"\\\[\]()\x00-\x1f\x7f\ud800-\udfff]"
_ONE = re.compile(rf"{_SIGN}+@{_SIGN}+")


def is_one(text: str) -> bool:
    """Say whether it can be nothing but one address; its domain may be a name of one's own network."""
    return _ONE.fullmatch(text) is not None and len(text) <= LONGEST


def is_address(text: str) -> bool:
    """Say whether it is one plain address, with nothing that could end a command or a header."""
    local, _, domain = text.rpartition("@")
    return (
        is_one(text)
        and len(local.encode()) <= LONGEST_LOCAL
        and "." in domain
        and not domain.startswith(".")
        and not domain.endswith(".")
        and ".." not in text
    )
