"""Discord's webhooks: 204 or 200 by `wait`, nested form errors, buckets with fractions of seconds.

Also the guard before it, which answers with a web page once an address has sent too many bad requests.
Stricter than the original: unknown fields are refused, and so is an address without a version, which Discord
serves by its oldest one. Not reproduced: embeds, polls, components.
"""

import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, ClassVar

from cadenza.demo.simulator.counters import FixedWindows, Hit
from cadenza.demo.simulator.faults import gateway_page
from cadenza.demo.simulator.ledger import Entry
from cadenza.demo.simulator.network import Route, SimulatedNetwork, route
from cadenza.demo.simulator.wire import Answer, Part, Received, Unreadable, say

_MIB = 1024 * 1024
_FIELDS = {
    *("content", "username", "avatar_url", "allowed_mentions"),
    *("flags", "attachments", "thread_name", "tts"),
}
_SHUT = timedelta(hours=1)
_EPOCH_MS = 1_420_070_400_000


@dataclass(slots=True)
class Hook:
    id: str
    token: str
    channel: str
    channel_id: str
    guild_id: str
    forum: bool = False
    gone: bool = False
    muted: bool = False
    threads: set[str] = field(default_factory=set[str])


class SimulatedDiscord(SimulatedNetwork):
    """Discord, as far as webhooks go."""

    name: ClassVar[str] = "discord"

    def __init__(self) -> None:
        super().__init__()
        self.hooks: dict[str, Hook] = {}
        self.messages: dict[str, tuple[str, str]] = {}  # id -> webhook, text
        self.bucket = FixedWindows(5, timedelta(seconds=2))
        self.everyone = FixedWindows(50, timedelta(seconds=1))
        self.bad_requests = FixedWindows(10_000, timedelta(minutes=10))
        self._shut_until: datetime | None = None

    def add_hook(self, channel: str, *, token: str = "", forum: bool = False) -> str:
        """Make a webhook; return its address."""
        ids = self.shared.ids
        hook = Hook(
            id=ids.number(19),
            token=token or ids.letters(68),
            channel=channel,
            channel_id=ids.number(19),
            guild_id=ids.number(19),
            forum=forum,
        )
        self.hooks[hook.id] = hook
        return f"{self.url()}/api/webhooks/{hook.id}/{hook.token}"

    def add_thread(self, hook: Hook) -> str:
        """Open a thread in a webhook's channel; return its id."""
        thread = self.shared.ids.number(19)
        hook.threads.add(thread)
        return thread

    def account_of(self, call: Received) -> str | None:
        names = call.path.split("/")
        hook = self.hooks.get(names[4]) if len(names) > 4 else None
        return hook.channel if hook else None

    def expire_token(self, call: Received) -> None:
        if (hook := self.hooks.get(call.args.get("id", ""))) is not None:
            hook.gone = True

    def unreadable(self, call: Received, why: str) -> Answer:
        return _no(400, 50109, "The request body contains invalid JSON.")

    def not_found(self, call: Received) -> Answer:
        return say(404, {"message": "404: Not Found", "code": 0})

    async def answer(self, found: Route | None, call: Received) -> Answer:
        """Stand guard: bad requests are counted, and too many shut everyone out."""
        if self._shut_until is not None and self.now < self._shut_until:
            page = gateway_page(429)
            left = str(int((self._shut_until - self.now).total_seconds()))
            return Answer(429, page.body, (*page.headers, ("retry-after", left)))
        if not call.headers.get("user-agent"):
            return gateway_page(403)
        answer = await super().answer(found, call)
        bad = answer.status in {401, 403, 404, 429}
        if bad and not self.bad_requests.hit("address", self.now).allowed:
            self._shut_until = self.now + _SHUT
        return answer

    @route("GET", "/api/v10/webhooks/{id}/{token}")
    async def about(self, call: Received) -> Answer:
        hook, refusal = self._hook(call)
        if hook is None:
            return refusal
        return say(
            200,
            {
                "id": hook.id,
                "type": 1,
                "name": hook.channel,
                "channel_id": hook.channel_id,
                "guild_id": hook.guild_id,
                "token": hook.token,
            },
        )

    @route("POST", "/api/v10/webhooks/{id}/{token}")
    async def post(self, call: Received) -> Answer:
        hook, refusal = self._hook(call)
        if hook is None:
            return refusal
        if not self.everyone.hit("all", self.now).allowed:
            return _limited(None, 0.65)
        hit = self.bucket.hit(hook.id, self.now)
        if not hit.allowed:
            return _limited(hit, (hit.resets_at - self.now).total_seconds())
        wanted, files = _read(call)
        problem = self._problem(hook, wanted, files, call)
        if problem:
            return problem
        message = self.shared.ids.snowflake(self.now, epoch_ms=_EPOCH_MS, shift=22)
        self.messages[message] = (hook.id, wanted.get("content", ""))
        self.show(
            Entry(
                simulated=self.name,
                account=hook.channel,
                remote_id=message,
                text=wanted.get("content", ""),
                at=self.now,
                to=call.query.get("thread_id", ""),
                detail={
                    "files": [
                        each.get("description", "") for each in wanted.get("attachments", [])
                    ],
                    "mentions": wanted.get("allowed_mentions"),
                },
            )
        )
        if call.query.get("wait") != "true":
            return Answer(204, headers=_bucket(hit))
        shown = {"id": message, "channel_id": hook.channel_id, "content": wanted.get("content", "")}
        return say(200, shown, _bucket(hit))

    def _hook(self, call: Received) -> tuple[Hook | None, Answer]:
        hook = self.hooks.get(call.args["id"])
        if hook is None or hook.gone:
            return None, _no(404, 10015, "Unknown Webhook")
        if hook.token != call.args["token"]:
            return None, _no(401, 50027, "Invalid Webhook Token")
        if hook.muted:
            return None, _no(403, 50013, "Missing Permissions")
        return hook, Answer(200)

    def _problem(
        self, hook: Hook, wanted: dict[str, Any], files: list[Part], call: Received
    ) -> Answer | None:
        content = wanted.get("content", "")
        if not content and not files:
            return _no(400, 50006, "Cannot send an empty message")
        unknown = sorted(set(wanted) - _FIELDS)
        if unknown or not isinstance(content, str):
            return _form_error(unknown[0] if unknown else "content", "UNKNOWN", "Unknown field")
        if len(content) > 2000:
            words = "Must be 2000 or fewer in length."
            return _form_error("content", "BASE_TYPE_MAX_LENGTH", words)
        large = any(len(each.data) > 10 * _MIB for each in files)
        if large or len(call.body) > 25 * _MIB or len(files) > 10:
            return _no(413, 40005, "Request entity too large")
        if call.query.get("thread_id", "") not in {"", *hook.threads}:
            return _no(404, 10003, "Unknown Channel")
        threaded = "thread_id" in call.query or "thread_name" in wanted
        if hook.forum and not threaded:
            words = "Webhooks posted to forum channels must have a thread_name or thread_id"
            return _no(400, 220001, words)
        if "thread_name" in wanted and not hook.forum:
            return _no(400, 220003, "Webhooks can only create threads in forum channels")
        return None


def _read(call: Received) -> tuple[dict[str, Any], list[Part]]:
    if call.mime == "application/json":
        return call.json(), []
    parts = call.parts()
    wanted: dict[str, Any] = {}
    for part in parts:
        if part.name == "payload_json":
            wanted = json.loads(part.text)
    files = [part for part in parts if part.name != "payload_json"]
    if [part.name for part in files] != [f"files[{n}]" for n in range(len(files))]:
        raise Unreadable("files must be named files[n]")
    return wanted, files


def _no(status: int, code: int, words: str) -> Answer:
    return say(status, {"message": words, "code": code})


def _form_error(field: str, code: str, words: str) -> Answer:
    inner = {field: {"_errors": [{"code": code, "message": words}]}}
    return say(400, {"message": "Invalid Form Body", "code": 50035, "errors": inner})


def _bucket(hit: Hit) -> tuple[tuple[str, str], ...]:
    return (
        ("x-ratelimit-limit", str(hit.limit)),
        ("x-ratelimit-remaining", str(hit.remaining)),
        ("x-ratelimit-reset", f"{hit.resets_at.timestamp():.3f}"),
        ("x-ratelimit-bucket", "abcd1234"),
    )


def _limited(hit: Hit | None, seconds: float) -> Answer:
    body = {"message": "You are being rate limited.", "retry_after": seconds, "global": hit is None}
    scope = ("x-ratelimit-scope", "global" if hit is None else "user")
    wait = ("retry-after", str(int(seconds) + 1))
    return say(429, body, (scope, wait, *(_bucket(hit) if hit else ())))
