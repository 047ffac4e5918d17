"""Tell that a post's link will not be seen, where a network shows no card of it.

Nothing is dropped silently: `validate` warns, and the post still goes. A link that stands in the words as well
is seen there, and nothing is told.
"""

from cadenza.providers.base import Problem
from cadenza.providers.message import Message


def unseen_link(message: Message, network: str) -> list[Problem]:
    """Warn if there is a link that nobody will see; empty otherwise."""
    link = (message.link or "").strip()
    if not link or any(link in text for text in (message.text, *message.parts)):
        return []
    detail = f"A link beside the text is not shown on {network}: put it into the text."
    return [Problem("link_left_out", detail, field="link", blocking=False)]
