"""How Slack's hooks refuse: a status and one word in plain text.

What is not one such word comes from something in between, save for 429, which Slack says in many ways.
"""

import re
from datetime import datetime, timedelta

from cadenza.providers.errors import (
    Refusal,
    Row,
    Table,
    disconnected,
    forbidden,
    recipient_gone,
    rejected,
    try_later,
    unsure,
)
from cadenza.providers.http.outcome import Reply
from cadenza.providers.outcome import WaitScope
from cadenza.providers.waits import retry_after

NO_TEXT = "no_text"
_WORD = re.compile(r"[a-z]+(?:_[a-z]+)+")
_HOOK = "The hook is closed; make a new one in Slack"


def read(reply: Reply, now: datetime) -> Refusal | None:
    """Read the word."""
    word = reply.text.strip() if len(reply.body) <= 100 else ""
    known = word if _WORD.fullmatch(word) else None
    if known is None and reply.status != 429:
        return None
    wait = retry_after(reply, now)
    return Refusal(status=reply.status, code=known, words=known or "", wait=wait)


TABLE = Table(
    network="Slack",
    read=read,
    rows=(
        Row(400, "user_not_found", None, recipient_gone, "The person is gone"),
        Row(404, "channel_not_found", None, recipient_gone, "The channel is gone"),
        Row(410, "channel_is_archived", None, recipient_gone, "The channel is archived"),
        Row(404, "no_service", None, disconnected, _HOOK),
        Row(404, "no_active_hooks", None, disconnected, _HOOK),
        Row(404, "no_team", None, disconnected, _HOOK),
        Row(None, "team_disabled", None, disconnected, "The workspace is closed"),
        Row(403, "invalid_token", None, forbidden, "Slack does not accept the hook's address"),
        Row(403, None, None, forbidden, "The workspace does not let this hook post here"),
        Row(400, NO_TEXT, None, rejected, "There is nothing to post"),
        Row(400, None, None, rejected, "Slack does not take this content"),
        Row(404, None, None, disconnected, _HOOK),
        Row(410, None, None, disconnected, _HOOK),
        Row(
            429,
            None,
            None,
            try_later(WaitScope.ACCOUNT, timedelta(seconds=30)),
            "Slack asks this hook to slow down",
        ),
        Row(500, None, None, unsure, "Slack had trouble"),
    ),
)
