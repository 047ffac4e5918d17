"""What can stand in the headers of a mail, whoever carries it: one line each, and one click to leave a list.

For every network that sends mail. One-click unsubscribing (RFC 8058) is promised to receivers by a header
of its own, and only an https address can keep that promise.
"""

import re

from cadenza.providers.base import Problem
from cadenza.providers.message import Message

_CONTROL = re.compile(r"[\x00-\x1f\x7f\x80-\x9f\u2028\u2029]")
_ONE_CLICK = re.compile(r"https://[\x21-\x7e]+")


def header_problems(message: Message) -> list[Problem]:
    """Say what is wrong with the words that become headers."""
    name = message.recipient.name if message.recipient else ""
    found: list[Problem] = []
    if not message.subject.strip():
        found.append(Problem("no_subject", "Write a subject.", field="subject"))
    for field, text in (("subject", message.subject), ("recipient", name)):
        if _CONTROL.search(text):
            detail = f"The {field} holds a line break or control character: take it out."
            found.append(Problem("control_character", detail, field=field))
    url = message.unsubscribe_url
    if url is not None and (_ONE_CLICK.fullmatch(url) is None or re.search("[<>,]", url)):
        detail = "One-click unsubscribing needs a plain https address."
        found.append(Problem("unsubscribe_url", detail, field="unsubscribe_url"))
    return found
