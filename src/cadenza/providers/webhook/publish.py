"""Send a message to a webhook, signed, under an id that stays the same when it is repeated.

Receivers drop what they have seen, by `webhook-id`; so an unconfirmed send is settled by sending the same message
again under the same id. Limit: that rests on the receiver, as the specification asks of it, and for a
day only; later a person decides.
"""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from cadenza.core.channels import Channel
from cadenza.providers.base import (
    AttemptContext,
    Capabilities,
    Idempotency,
    Prepared,
    Problem,
    StillPreparing,
)
from cadenza.providers.first_comment import left_out
from cadenza.providers.http.redact import Secret
from cadenza.providers.http.request import Request, Timeouts
from cadenza.providers.message import AccountRef, Message, Tokens
from cadenza.providers.outcome import (
    CannotTell,
    Disconnected,
    Finding,
    Forbidden,
    Found,
    Outcome,
    Sent,
)
from cadenza.providers.reply import HttpSuccess, ask, no_answer
from cadenza.providers.webhook.errors import TABLE
from cadenza.providers.webhook.limits import problems
from cadenza.providers.webhook.sign import message_id, read_key, signed_headers

WINDOW = timedelta(days=1)
AGAIN = timedelta(seconds=30)
TYPE = "message.published"


class Webhook:
    """The adapter."""

    name = "webhook"
    channels = (Channel.WEBHOOK,)

    def capabilities(self, channel: Channel) -> Capabilities:
        """Say what the pipeline may count on."""
        return Capabilities(
            idempotency=Idempotency.NATIVE,
            window=WINDOW,
            findable=True,
            repeats=True,
            threads=True,
            fetches_media=True,
        )

    def validate(self, message: Message, account: AccountRef) -> list[Problem]:
        """Say what would fail."""
        found = problems(message, account, len(_encoded({"data": _data(message, 0, ())})))
        return [*found, *left_out(message, "webhooks")]

    async def prepare(self, call: AttemptContext) -> Prepared | StillPreparing | Outcome:
        """Check that it can be signed; nothing is sent."""
        if read_key(call.tokens.access) is None:
            return Forbidden("The webhook's secret is not a whsec_ key: set a new one.", "secret")
        # Every attempt has the same id, so it must have the same bytes: the time is chosen once.
        return Prepared({"at": call.state.get("at") or _text(call.now)})

    async def publish(self, call: AttemptContext) -> Outcome:
        """Send one part; the call that must not happen twice."""
        got = await ask(call, _request(call, repeatable=False), TABLE)
        return Sent(message_id(call.key)) if isinstance(got, HttpSuccess) else got

    async def find_out(self, call: AttemptContext) -> Finding:
        """Send it again under the same id: the receiver drops what it has."""
        if call.began_at is None or call.now - call.began_at > WINDOW:
            return CannotTell("The receiver may have forgotten the message's id: ask there.")
        got = await ask(call, _request(call, repeatable=True), TABLE)
        if isinstance(got, HttpSuccess):
            return Found(message_id(call.key))
        if isinstance(got, Disconnected | Forbidden):
            return CannotTell(got.message)
        return no_answer(got, "The receiver did not answer.", AGAIN)

    async def finish(self, call: AttemptContext, sent: Sent) -> Sent:
        """Leave it: there is nothing to add."""
        return sent

    async def refresh(self, call: AttemptContext) -> Tokens | Outcome:
        """Refuse: a closed address has no successor."""
        return Disconnected("The address is closed; connect a new one.")


def _request(call: AttemptContext, *, repeatable: bool) -> Request:
    """Write and sign the message; its bytes are the same each time, only the signature's time is new."""
    body = _encoded(
        {
            "type": str(call.message.options.get("type") or TYPE),
            "timestamp": str(call.state.get("at") or _text(call.began_at or call.now)),
            "data": _data(call.message, call.part, call.sent_parts),
        }
    )
    # The secret before a change signs too, until it is dropped.
    before = call.tokens.extra.get("previous")
    secrets = (call.tokens.access, *((before,) if before else ()))
    headers = signed_headers(secrets, message=message_id(call.key), now=call.now, body=body)
    url = call.tokens.extra.get("url") or Secret(str(call.account.settings.get("url") or ""))
    return Request(
        "POST",
        url.reveal(),
        {"content-type": "application/json", **headers},
        body,
        timeout=Timeouts(connect=10, read=20, total=25),
        max_bytes=64 * 1024,
        idempotent=repeatable,
        secrets=(*secrets, url),  # whoever knows the address may write there
    )


def _data(message: Message, part: int, sent_parts: tuple[str, ...]) -> dict[str, Any]:
    data: dict[str, Any] = {"text": (message.text, *message.parts)[part]}
    if message.subject:
        data["subject"] = message.subject
    if message.link:
        data["link"] = message.link
    if part == 0 and message.media:
        data["media"] = [
            {
                "kind": item.kind.value,
                "mime": item.mime,
                "size": item.size,
                "url": item.url or item.own_url,
                "alt": item.alt,
            }
            for item in message.media
        ]
    if part > 0:
        data |= {"part": part, "after": sent_parts[-1] if sent_parts else None}
    return data


def _text(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _encoded(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
