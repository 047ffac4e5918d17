"""Publish by a Telegram bot: one call that carries text and files, and no way back.

There is nothing to prepare: a bot's upload is the message itself. Telegram knows no key of ours and
shows a bot no history, so a lost reply stays an unconfirmed send for a person to settle; nothing is sent again on
it. A group that became a supergroup is written to at its new id at once: the refusal proves that
nothing went out, and `Sent.moved_to` tells the pipeline what to keep.
"""

import json
from dataclasses import replace
from typing import Any

from cadenza.core.channels import Channel
from cadenza.providers.base import (
    PACE,
    AttemptContext,
    Capabilities,
    Idempotency,
    Prepared,
    Problem,
    StillPreparing,
)
from cadenza.providers.first_comment import AS_PART, left_out
from cadenza.providers.http.redact import Secret
from cadenza.providers.http.request import File, Json, Multipart, Request, Timeouts
from cadenza.providers.link_card import unseen_link
from cadenza.providers.message import AccountRef, MediaItem, MediaKind, Message, Tokens
from cadenza.providers.outcome import (
    CannotTell,
    Disconnected,
    Finding,
    Outcome,
    RecipientGone,
    Rejected,
    Sent,
    TryLater,
    WaitScope,
)
from cadenza.providers.reply import HttpSuccess, ask, sent
from cadenza.providers.telegram.errors import MIGRATED, TABLE
from cadenza.providers.telegram.limits import mode_of, problems, texts_of, topic_of, wrong_topic

LIVE = "https://api.telegram.org"
SEND_TIME = Timeouts(connect=10, read=30, total=30)
UPLOAD_TIME = Timeouts(connect=10, read=60, total=300)
# How a file is sent alone: method and field. In an album the field is its type.
ALONE = {
    MediaKind.IMAGE: ("sendPhoto", "photo"),
    MediaKind.VIDEO: ("sendVideo", "video"),
    MediaKind.GIF: ("sendAnimation", "animation"),
    MediaKind.DOCUMENT: ("sendDocument", "document"),
}


class Telegram:
    """The adapter."""

    name = "telegram"
    channels = (Channel.TELEGRAM,)

    def capabilities(self, channel: Channel) -> Capabilities:
        """Say what the pipeline may count on."""
        return Capabilities(idempotency=Idempotency.NONE, findable=False, threads=True, pace=PACE)

    def validate(self, message: Message, account: AccountRef) -> list[Problem]:
        """Say all that Telegram would refuse."""
        found = problems(message, account)
        return [*found, *left_out(message, "Telegram", AS_PART), *unseen_link(message, "Telegram")]

    async def prepare(self, call: AttemptContext) -> Prepared | StillPreparing | Outcome:
        """Do nothing: what a bot uploads is seen at once."""
        return Prepared({})

    async def publish(self, call: AttemptContext) -> Outcome:
        """Send one part; the call that must not happen twice."""
        if (wrong := wrong_topic(call.message)) is not None:
            return Rejected(wrong.message, wrong.code)
        outcome = await _send(call, chat_of(call))
        moved_to = _moved_to(outcome)
        if moved_to is None:
            return outcome
        outcome = await _send(call, moved_to)
        return replace(outcome, moved_to=moved_to) if isinstance(outcome, Sent) else outcome

    async def find_out(self, call: AttemptContext) -> Finding:
        """Admit it: a bot cannot read what it has sent."""
        return CannotTell("Telegram shows a bot nothing of what it sent: look into the chat.")

    async def finish(self, call: AttemptContext, sent: Sent) -> Sent:
        """Add nothing: the reply held all."""
        return sent

    async def refresh(self, call: AttemptContext) -> Tokens | Outcome:
        """Refuse: a bot's token has no successor."""
        return Disconnected(
            "A bot's token is not renewed; get it from @BotFather and connect again."
        )


def chat_of(call: AttemptContext) -> str:
    """Return the chat that is written to: the recipient's, else the account's own."""
    recipient = call.message.recipient
    return recipient.address if recipient else str(call.account.settings.get("chat_id") or "")


def method_url(server: str, token: Secret, method: str) -> str:
    """Return a method's address; the token stands in it, so name it in the request's secrets."""
    return f"{(server or LIVE).rstrip('/')}/bot{token.reveal()}/{method}"


async def _send(call: AttemptContext, chat: str) -> Outcome:
    method, body = await _written(call, chat)
    token = call.tokens.access
    server = str(call.account.settings.get("server") or call.app.base_url)
    request = Request(
        "POST",
        method_url(server, token, method),
        body=body,
        timeout=UPLOAD_TIME if isinstance(body, Multipart) else SEND_TIME,
        secrets=(token,),
    )
    got = await ask(call, request, TABLE)
    if isinstance(got, HttpSuccess):
        return _sent(got)
    if isinstance(got, TryLater) and call.message.recipient and chat.startswith(("-", "@")):
        # Groups and channels have a rate of their own; for people only the bot's matters.
        return replace(got, reach=WaitScope.RECIPIENT)
    return got


async def _written(call: AttemptContext, chat: str) -> tuple[str, Json | Multipart]:
    """Write the call: its method and its body."""
    message = call.message
    text = texts_of(message)[call.part]
    fields = {"chat_id": chat, **_options(call)}
    media = list(message.media if call.part == 0 else ())
    if not media:
        fields["text"] = text
        if message.options.get("disable_preview"):
            fields["link_preview_options"] = {"is_disabled": True}
        return "sendMessage", Json(fields)
    if len(media) > 1:
        fields.pop("parse_mode", None)  # stands with the caption, inside the album
        fields["media"] = [_of_album(call, item, at, text) for at, item in enumerate(media)]
        files = {f"file{at}": await _file(item) for at, item in enumerate(media)}
        return "sendMediaGroup", Multipart(files, _as_form(fields))
    method, field = ALONE[media[0].kind]
    if text:
        fields["caption"] = text
    return method, Multipart({field: await _file(media[0])}, _as_form(fields))


def _options(call: AttemptContext) -> dict[str, Any]:
    options = call.message.options
    fields: dict[str, Any] = {}
    if (mode := mode_of(call.message)) is not None:
        fields["parse_mode"] = mode
    for ours, theirs in (("silent", "disable_notification"), ("protect", "protect_content")):
        if options.get(ours):
            fields[theirs] = True
    if (topic := topic_of(call.message)) is not None:
        fields["message_thread_id"] = topic
    before = call.sent_parts[-1] if call.part > 0 else ""
    if before:
        number = int(before.rpartition("/")[2])
        fields["reply_parameters"] = {"message_id": number}
    return fields


def _of_album(call: AttemptContext, item: MediaItem, at: int, text: str) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": ALONE[item.kind][1], "media": f"attach://file{at}"}
    # A caption on one item only shows for the whole album; with documents, below the last.
    last = len(call.message.media) - 1
    if text and at == (last if item.kind is MediaKind.DOCUMENT else 0):
        entry["caption"] = text
        if (mode := mode_of(call.message)) is not None:
            entry["parse_mode"] = mode
    return entry


async def _file(item: MediaItem) -> File:
    return File(await item.read(), item.name or "file", item.mime)


def _as_form(fields: dict[str, Any]) -> dict[str, str | Secret]:
    """Write fields for a multipart body: what is no text goes as JSON."""
    return {k: v if isinstance(v, str) else json.dumps(v) for k, v in fields.items()}


def _sent(got: HttpSuccess) -> Sent:
    """Read the message, of an album the first: its id, and its address where it has one."""
    result = got.at("result")
    first = HttpSuccess(got.reply, result[0] if isinstance(result, list) and result else result)
    number, chat = first.text("message_id"), first.text("chat", "id")
    if number is None or chat is None:
        return sent(got, None)
    return sent(got, f"{chat}/{number}", address(chat, first.text("chat", "username"), number))


def address(chat: str, username: str | None, number: str) -> str | None:
    """Return a message's address; private chats and basic groups have none."""
    if not chat.startswith("-"):
        return None
    if username:
        return f"https://t.me/{username}/{number}"
    return f"https://t.me/c/{chat[4:]}/{number}" if chat.startswith("-100") else None


def _moved_to(outcome: Outcome) -> str | None:
    if not isinstance(outcome, RecipientGone):
        return None
    code, _, moved_to = outcome.code.partition("/")
    return moved_to if code == MIGRATED and moved_to else None
