"""Post to a Discord channel through its webhook: one call that waits for the message's id.

Files travel in the same call. The webhook's address is the secret and stands for the account's token.
Limit: without an answer the id is unknown, and a webhook cannot list messages; a person must look.
Nobody is notified by a text (`@everyone`), unless the option `mentions` says so.
"""

import json
import re
from typing import Any
from urllib.parse import quote

from cadenza.core.channels import Channel
from cadenza.providers.base import (
    LONGEST,
    PACE,
    AttemptContext,
    Capabilities,
    Idempotency,
    Prepared,
    Problem,
    StillPreparing,
)
from cadenza.providers.discord.errors import TABLE
from cadenza.providers.discord.limits import problems
from cadenza.providers.first_comment import left_out
from cadenza.providers.http.redact import Secret
from cadenza.providers.http.request import Body, File, Json, Multipart, Request, Timeouts
from cadenza.providers.link_card import unseen_link
from cadenza.providers.message import AccountRef, Message, Tokens
from cadenza.providers.outcome import CannotTell, Disconnected, Finding, Outcome, Sent
from cadenza.providers.reply import HttpSuccess, ask, sent

SEND_TIME = Timeouts(connect=10, read=30, total=30)
UPLOAD_TIME = Timeouts(connect=10, read=60, total=LONGEST.total_seconds())
VERSION = "v10"
_VERSION = re.compile(r"/api/(?:v\d+/)?webhooks/")
MENTIONS = ("roles", "users", "everyone")
NAMED = "Discord accepted it without naming it."


class Discord:
    """The adapter."""

    name = "discord"
    channels = (Channel.DISCORD,)

    def capabilities(self, channel: Channel) -> Capabilities:
        """Say what the pipeline may count on."""
        return Capabilities(idempotency=Idempotency.NONE, findable=False, pace=PACE)

    def validate(self, message: Message, account: AccountRef) -> list[Problem]:
        """Say all that Discord would refuse."""
        found = problems(message)
        return [*found, *left_out(message, "Discord"), *unseen_link(message, "Discord")]

    async def prepare(self, call: AttemptContext) -> Prepared | StillPreparing | Outcome:
        """Do nothing: files go with the message."""
        return Prepared({})

    async def publish(self, call: AttemptContext) -> Outcome:
        """Post; the call that must not happen twice."""
        got = await ask(call, await _request(call), TABLE)
        if not isinstance(got, HttpSuccess):
            return got
        remote_id = got.text("id")
        if remote_id is None:
            return Sent(None, None, NAMED)
        return sent(got, remote_id, _url(call, got.text("channel_id"), remote_id))

    async def find_out(self, call: AttemptContext) -> Finding:
        """Say that nobody can know."""
        return CannotTell("A Discord webhook cannot list messages: look into the channel.")

    async def finish(self, call: AttemptContext, sent: Sent) -> Sent:
        """Leave it: there is nothing to add."""
        return sent

    async def refresh(self, call: AttemptContext) -> Tokens | Outcome:
        """Refuse: a webhook has no successor."""
        return Disconnected("A webhook is not renewed; make a new one in Discord and connect it.")


def versioned(hook: Secret) -> Secret:
    """Return the webhook's address in the version we know; as Discord copies it, it has the oldest."""
    return Secret(_VERSION.sub(f"/api/{VERSION}/webhooks/", hook.reveal(), count=1))


def hook_secrets(hook: Secret) -> tuple[Secret, ...]:
    """Return what must not show: the address, and its last part alone."""
    return hook, Secret(hook.reveal().rpartition("/")[2])


async def _request(call: AttemptContext) -> Request:
    hook, options = versioned(call.tokens.access), call.message.options
    thread = str(options.get("thread_id") or "")
    more = f"&thread_id={quote(thread, safe='')}" if thread else ""
    return Request(
        "POST",
        f"{hook.reveal()}?wait=true{more}",
        body=await _body(call.message),
        timeout=UPLOAD_TIME if call.message.media else SEND_TIME,
        secrets=hook_secrets(hook),
    )


async def _body(message: Message) -> Body:
    payload: dict[str, Any] = {"allowed_mentions": {"parse": _mentions(message)}}
    if message.text:
        payload["content"] = message.text
    for name in ("username", "avatar_url", "thread_name"):
        if message.options.get(name):
            payload[name] = message.options[name]
    if not message.media:
        return Json(payload)
    files: dict[str, File] = {}
    named: list[dict[str, Any]] = []
    for number, item in enumerate(message.media):
        name = item.name or f"file-{number}"
        files[f"files[{number}]"] = File(await item.read(), name, item.mime)
        named.append(
            {"id": number, "filename": name, **({"description": item.alt} if item.alt else {})}
        )
    payload["attachments"] = named
    return Multipart(files, {"payload_json": json.dumps(payload, ensure_ascii=False)})


def _mentions(message: Message) -> list[str]:
    wanted = message.options.get("mentions")
    return [each for each in wanted if each in MENTIONS] if isinstance(wanted, list) else []


def _url(call: AttemptContext, channel: str | None, remote_id: str) -> str | None:
    guild = call.account.settings.get("guild_id")
    if not guild or not channel:
        return None
    return f"https://discord.com/channels/{guild}/{channel}/{remote_id}"
