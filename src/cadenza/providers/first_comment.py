"""Tell that a first comment will not be sent, where a network has none or we do not write it.

Nothing is dropped silently: `validate` warns, and the post still goes. Networks with threads take the
same words as the next part.
"""

from cadenza.providers.base import Problem
from cadenza.providers.counting import is_blank
from cadenza.providers.message import Message

INSTEAD = "put the words into the text"
AS_PART = "make the words the next part of the thread"


def left_out(message: Message, network: str, instead: str = INSTEAD) -> list[Problem]:
    """Warn if there is a first comment; empty otherwise."""
    if is_blank(message.first_comment or ""):
        return []
    detail = f"First comments are not sent on {network}: {instead}."
    return [Problem("first_comment", detail, field="first_comment", blocking=False)]
