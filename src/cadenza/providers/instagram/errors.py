"""How Instagram refuses: Meta's table; a container's status names a subcode inside a sentence.

A container that went bad for a reason that is not known is made again: nobody saw it, and tries end.
"""

import re

from cadenza.providers.errors import Refusal
from cadenza.providers.meta.errors import table
from cadenza.providers.outcome import Outcome, Transient

TABLE = table("Instagram")
# The one number in "Error: Media upload has failed with error code 2207026": all that a status tells.
_SUBCODE = re.compile(r"\b2207\d{3}\b")


def blame(status: str) -> Outcome:
    """Say what a container's error means."""
    found = _SUBCODE.search(status)
    refusal = Refusal(status=400, subcode=int(found.group()) if found else None, words=status)
    if TABLE.row(refusal) is TABLE.unknown:
        message = f"Instagram could not prepare this post. It said: {status[:200]}"
        return Transient(message, restart=True)
    return TABLE.judge(refusal)
