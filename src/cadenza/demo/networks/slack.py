"""Slack's incoming hooks: one word of plain text as an answer, no id, about one message a second.

Stricter than the original: unknown fields are an invalid payload. Not reproduced: attachments, `thread_ts`.
"""

import html
import math
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar

from cadenza.demo.simulator.counters import Buckets
from cadenza.demo.simulator.ledger import Entry
from cadenza.demo.simulator.network import SimulatedNetwork, route
from cadenza.demo.simulator.wire import Answer, Received

TROUBLES = {
    "no_service": 404,
    "no_active_hooks": 404,
    "no_team": 404,
    "team_disabled": 403,
    "channel_not_found": 404,
    "channel_is_archived": 410,
    "user_not_found": 400,
    "action_prohibited": 403,
    "posting_to_general_channel_denied": 403,
    "invalid_token": 403,
}


@dataclass(slots=True)
class Hook:
    """A hook of one channel; `trouble` is the word it answers with."""

    path: str
    channel: str
    trouble: str = ""


class SimulatedSlack(SimulatedNetwork):
    """Slack, as far as hooks go."""

    name: ClassVar[str] = "slack"

    def __init__(self) -> None:
        super().__init__()
        self.hooks: dict[str, Hook] = {}
        self.pace = Buckets(1, timedelta(seconds=1))

    def add_hook(self, channel: str, *, token: str = "") -> str:
        """Make a hook; return its address."""
        ids = self.shared.ids
        team, bot = (mark + ids.letters(10, "ABCDEFGHJKLMNPQRSTUVWXYZ0123456789") for mark in "TB")
        path = f"/services/{team}/{bot}/{token or ids.letters(24)}"
        self.hooks[path] = Hook(path, channel)
        return self.url() + path

    def account_of(self, call: Received) -> str | None:
        hook = self.hooks.get(call.path)
        return hook.channel if hook else None

    def expire_token(self, call: Received) -> None:
        if call.path in self.hooks:
            self.hooks[call.path].trouble = "no_service"

    def unreadable(self, call: Received, why: str) -> Answer:
        return _word(400, "invalid_payload")

    def not_found(self, call: Received) -> Answer:
        return _word(404, "no_service")

    @route("POST", "/services/{team}/{bot}/{token}")
    async def post(self, call: Received) -> Answer:
        hook = self.hooks.get(call.path)
        if hook is None:
            return _word(404, "no_service")
        if hook.trouble:
            return _word(TROUBLES[hook.trouble], hook.trouble)
        wanted = call.json()
        word = _problem(wanted)
        if word:
            return _word(400, word)
        wait = self.pace.wait(hook.path, self.now)
        if wait:
            seconds = str(math.ceil(wait.total_seconds()))
            return _word(429, "rate_limited", (("retry-after", seconds),))
        self.show(
            Entry(
                simulated=self.name,
                account=hook.channel,
                remote_id=self.shared.ids.number(16),
                text=html.unescape(wanted["text"]),
                at=self.now,
                detail={"blocks": wanted.get("blocks", [])},
            )
        )
        return _word(200, "ok")


def _problem(wanted: dict[str, Any]) -> str:
    text, blocks = wanted.get("text"), wanted.get("blocks")
    if set(wanted) - {"text", "blocks"} or not isinstance(text, str | None):
        return "invalid_payload"
    if not text:
        return "no_text"
    if "<" in text or ">" in text or len(text) > 40_000:
        return "invalid_payload"
    well_formed = blocks is None or (
        isinstance(blocks, list) and 0 < len(blocks) <= 50 and all(map(_block_is_good, blocks))
    )
    return "" if well_formed else "invalid_blocks"


def _block_is_good(block: Any) -> bool:
    if not isinstance(block, dict):
        return False
    if block.get("type") == "image":
        known = set(block) == {"type", "image_url", "alt_text"}
        return known and str(block["image_url"]).startswith("http") and bool(block["alt_text"])
    text = block.get("text")
    return (
        block.get("type") == "section"
        and isinstance(text, dict)
        and 0 < len(str(text.get("text", ""))) <= 3_000
    )


def _word(status: int, word: str, headers: tuple[tuple[str, str], ...] = ()) -> Answer:
    return Answer(status, word.encode(), (("content-type", "text/plain"), *headers))
