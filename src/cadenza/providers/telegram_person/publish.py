"""Write as a person on Telegram: find the chat, send the file up, then one message under our own id.

`random_id` is made from the attempt's key, so Telegram knows a repeated call as the same one and
answers RANDOM_ID_DUPLICATE instead of showing it twice. After silence the chat's history is read, which
a person may, unlike a bot. Limit: run against a stand-in that speaks Telegram's protocol with the real
Telethon, never against Telegram's servers; how long they remember an id is not documented.
"""

import hashlib
from datetime import datetime, timedelta
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
from cadenza.providers.link_card import unseen_link
from cadenza.providers.message import AccountRef, MediaItem, MediaKind, Message, Tokens
from cadenza.providers.outcome import (
    Absent,
    CannotTell,
    Disconnected,
    Finding,
    Found,
    Outcome,
    RecipientGone,
    Rejected,
    Sent,
)
from cadenza.providers.telegram_person.limits import PHOTO_BYTES, problems, whereto
from cadenza.providers.telegram_person.port import TelegramAnswer, TelegramConnection, open_line

PAGE = 50
SKEW = timedelta(minutes=2)  # between our clock and theirs
AGAIN = timedelta(minutes=1)


class TelegramPerson:
    """The adapter."""

    name = "telegram_person"
    channels = (Channel.TELEGRAM,)

    def capabilities(self, channel: Channel) -> Capabilities:
        """Say what the pipeline may count on."""
        return Capabilities(idempotency=Idempotency.OWN_ID, findable=True, threads=True)

    def validate(self, message: Message, account: AccountRef) -> list[Problem]:
        """Say all that Telegram would refuse."""
        found = problems(message, account)
        return [*found, *left_out(message, "Telegram", AS_PART), *unseen_link(message, "Telegram")]

    async def prepare(self, call: AttemptContext) -> Prepared | StillPreparing | Outcome:
        """Look the chat up, then send the file up."""
        state = dict(call.state)
        wants_file = call.part == 0 and bool(call.message.media)
        if state.get("peer") and (state.get("file") or not wants_file):
            return Prepared(state)
        async with open_line(call.http, call.app, call.tokens.access) as line:
            if not isinstance(line, TelegramConnection):
                return line
            if not state.get("peer"):
                peer = await _look_up(line, whereto(call.message, call.account))
                return StillPreparing({**state, "peer": peer}) if isinstance(peer, dict) else peer
            return await _send_up(line, call.message.media[0], state)

    async def publish(self, call: AttemptContext) -> Outcome:
        """Send one part; the call that must not happen twice, and is known if it does."""
        async with open_line(call.http, call.app, call.tokens.access) as line:
            if not isinstance(line, TelegramConnection):
                return line
            said = await line.ask(_request(call, line), irreversible=True)
            if not isinstance(said, TelegramAnswer):
                return said
            return _sent(call, _new_id(said.value, random_id(call)))

    async def find_out(self, call: AttemptContext) -> Finding:
        """Read the chat's newest messages."""
        if not call.state.get("peer") or call.began_at is None:
            return Absent() if call.began_at else CannotTell("It is not known since when to look.")
        async with open_line(call.http, call.app, call.tokens.access) as line:
            if not isinstance(line, TelegramConnection):
                return CannotTell(getattr(line, "message", ""), again=AGAIN)
            said = await line.ask(_history(call, line))
            if not isinstance(said, TelegramAnswer):
                wait = getattr(said, "wait", None) or AGAIN
                return CannotTell(getattr(said, "message", ""), again=max(wait, AGAIN))
            return _in_history(call, list(getattr(said.value, "messages", ())))

    async def finish(self, call: AttemptContext, sent: Sent) -> Sent:
        """Leave it: there is nothing to add."""
        return sent

    async def refresh(self, call: AttemptContext) -> Tokens | Outcome:
        """Refuse: a session lives until it is ended, and has no successor."""
        return Disconnected("A session with Telegram is not renewed; sign in again.")


def random_id(call: AttemptContext) -> int:
    """Return the message's own id: the same for the same attempt, and for no other."""
    digest = hashlib.sha256(f"{call.account.id}\n{call.key}\n{call.part}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True) or 1


def _text(call: AttemptContext) -> str:
    return (call.message.text, *call.message.parts)[call.part]


def _request(call: AttemptContext, line: TelegramConnection) -> Any:
    """Write the call: a text, or the file with its words."""
    types, messages = line.types, line.requests.messages
    answers = call.sent_parts[-1] if call.part > 0 else ""
    common: dict[str, Any] = {
        "peer": _peer(types, call.state["peer"]),
        "message": _text(call),
        "random_id": random_id(call),
        "silent": bool(call.message.options.get("silent")) or None,
        "reply_to": types.InputReplyToMessage(int(answers)) if answers.isdecimal() else None,
    }
    if call.part == 0 and call.state.get("file"):
        media = _media(types, call.message.media[0], call.state["file"])
        return messages.SendMediaRequest(media=media, **common)
    quiet = bool(call.message.options.get("no_preview")) or None
    return messages.SendMessageRequest(no_webpage=quiet, **common)


async def _look_up(line: TelegramConnection, name: str) -> dict[str, Any] | Outcome:
    """Find a chat by its name or number; what it takes to write there is kept as data."""
    if name == "me":
        return {"kind": "self", "id": 0, "hash": 0}
    contacts = line.requests.contacts
    if name.startswith("+"):
        request = contacts.ResolvePhoneRequest(name.removeprefix("+").replace(" ", ""))
    elif name.startswith("@"):
        request = contacts.ResolveUsernameRequest(name.removeprefix("@"))
    else:
        return Rejected("Name the chat as @name, a telephone number with +, or me.", "chat")
    said = await line.ask(request)
    if not isinstance(said, TelegramAnswer):
        return said
    people, chats = list(said.value.users), list(said.value.chats)
    if not people and not chats:
        return RecipientGone("Telegram knows nobody of this name.", "nobody")
    kind, entity = ("channel", chats[0]) if chats else ("user", people[0])
    return {"kind": kind, "id": entity.id, "hash": entity.access_hash or 0}


def _peer(types: Any, peer: dict[str, Any]) -> Any:
    match peer["kind"]:
        case "self":
            return types.InputPeerSelf()
        case "channel":
            return types.InputPeerChannel(int(peer["id"]), int(peer["hash"]))
        case _:
            return types.InputPeerUser(int(peer["id"]), int(peer["hash"]))


async def _send_up(
    line: TelegramConnection, item: MediaItem, state: dict[str, Any]
) -> StillPreparing | Outcome:
    """Upload the file; nobody sees it yet."""
    name = item.name or "file"
    work = line.client.upload_file(await item.read(), file_name=name)
    said = await line.run(work, "UploadFile", more=item.size / PACE)
    if not isinstance(said, TelegramAnswer):
        return said
    file = said.value
    check = getattr(file, "md5_checksum", None)
    kept = {"id": file.id, "parts": file.parts, "name": file.name, "md5": check}
    return StillPreparing({**state, "file": kept})


def _media(types: Any, item: MediaItem, kept: dict[str, Any]) -> Any:
    """Name the uploaded file: a picture as such, all else as a document."""
    if kept["md5"] is None:
        file = types.InputFileBig(int(kept["id"]), int(kept["parts"]), kept["name"])
    else:
        file = types.InputFile(int(kept["id"]), int(kept["parts"]), kept["name"], kept["md5"])
    if item.kind is MediaKind.IMAGE and item.size <= PHOTO_BYTES:
        return types.InputMediaUploadedPhoto(file)
    named = [types.DocumentAttributeFilename(kept["name"])]
    return types.InputMediaUploadedDocument(file, item.mime, named)


def _history(call: AttemptContext, line: TelegramConnection) -> Any:
    return line.requests.messages.GetHistoryRequest(
        peer=_peer(line.types, call.state["peer"]),
        offset_id=0,
        offset_date=None,
        add_offset=0,
        limit=PAGE,
        max_id=0,
        min_id=0,
        hash=0,
    )


def _in_history(call: AttemptContext, messages: list[Any]) -> Finding:
    """Compare words and time; absence is proven only if the page reaches back far enough."""
    assert call.began_at is not None
    since = call.began_at - SKEW
    dated = [each for each in messages if isinstance(getattr(each, "date", None), datetime)]
    for each in dated:
        ours = each.out or call.state["peer"]["kind"] == "channel"
        new = str(each.id) not in call.sent_parts
        if ours and new and each.date >= since and _same(each.message, _text(call)):
            return Found(str(each.id), _url(call, str(each.id)), each.date)
    if len(messages) < PAGE or any(each.date < since for each in dated):
        return Absent()
    return CannotTell("The chat's newest messages do not reach back so far.")


def _same(theirs: str | None, ours: str) -> bool:
    """Compare words alone: Telegram cuts space off the ends of a text."""
    return (theirs or "").split() == ours.split()


def _new_id(answer: Any, ours: int) -> str | None:
    """Find the message's number in what Telegram answers: short, or in a list of updates."""
    if getattr(answer, "updates", None) is None:
        number = getattr(answer, "id", None)
        return str(number) if isinstance(number, int) else None
    for update in answer.updates:
        if getattr(update, "random_id", None) == ours:
            return str(update.id)
    return None


def _sent(call: AttemptContext, remote_id: str | None) -> Outcome:
    if remote_id is None:
        return Sent(None, note="Telegram took it without naming it; its number is looked for.")
    return Sent(remote_id, _url(call, remote_id))


def _url(call: AttemptContext, remote_id: str) -> str | None:
    """Return a post's address; only those in public channels have one."""
    name = whereto(call.message, call.account)
    if call.state["peer"]["kind"] != "channel" or not name.startswith("@"):
        return None
    return f"https://t.me/{name.removeprefix('@')}/{remote_id}"
