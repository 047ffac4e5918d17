"""How Instagram refuses: Meta's table; a container's status names a subcode inside a sentence."""

import re

from cadenza.providers.errors import Refusal
from cadenza.providers.meta.errors import table
from cadenza.providers.outcome import Outcome, Rejected

TABLE = table("Instagram")
# The one number in "Error: Media upload has failed with error code 2207026": all that a status tells.
_SUBCODE = re.compile(r"\b2207\d{3}\b")


def blame(status: str) -> Outcome:
    """Say what a container's error means."""
    found = _SUBCODE.search(status)
    if found is None:
        return Rejected(f"Instagram could not prepare this post. It said: {status[:200]}", "ERROR")
    return TABLE.judge(Refusal(status=400, subcode=int(found.group()), words=status))
